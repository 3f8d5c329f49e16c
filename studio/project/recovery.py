"""Swap files: what was not saved when the window died, offered at the next start.

Every edit rewrites one small file in the data folder. While its owner lives it holds a lock on
the file beside it; a crash or a kill releases the lock, whatever happened, so "the owner is gone"
is never guessed from process ids (which are reused).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from studio.errors import InputError
from studio.paths import data_dir
from studio.project.project import Project
from studio.project.store import dump_project, parse_project
from studio.records import Record, from_json, to_json, write_atomically

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> bool:
        with contextlib.suppress(OSError):
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            return True
        return False
else:
    import fcntl

    def _lock(handle: int) -> bool:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False


class Swap(Record):
    """What the swap file holds. `project_path` is empty for a project that was never saved."""

    folder: str
    project_path: str
    saved_at: str
    project: str  # the text of the project file
    schema: int = 1


@dataclass(frozen=True, slots=True)
class Recovered:
    """An unsaved project whose window is gone."""

    swap_path: Path
    project: Project
    project_path: Path | None
    folder: Path
    saved_at: str


class SwapFile:
    """The swap file of one open window; `close` when the project was saved or given up."""

    def __init__(self) -> None:
        self._path = _folder() / f"{secrets.token_hex(8)}.swap"
        self._lock_path = self._path.with_suffix(".lock")
        self._handle: int | None = None

    def write(self, project: Project, *, project_path: Path | None, folder: Path) -> None:
        """Remembers this state. `folder` is what the project's relative paths start from."""
        if self._handle is None:
            self._handle = os.open(self._lock_path, os.O_RDWR | os.O_CREAT, 0o600)
            _lock(self._handle)
        swap = Swap(
            folder=str(folder),
            project_path=str(project_path or ""),
            saved_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            project=dump_project(project).decode(),
        )
        write_atomically(self._path, to_json(swap).encode())

    def clear(self) -> None:
        """Nothing is unsaved any more; `write` may follow."""
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Removes the swap file and its lock."""
        self.clear()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
            self._lock_path.unlink(missing_ok=True)


def find_recoverable() -> tuple[Recovered, ...]:
    """Unsaved projects whose window is gone, the newest first; unreadable swap files are skipped."""
    found = []
    for path in _folder().glob("*.swap"):
        if _has_owner(path):
            continue
        try:
            swap = from_json(path.read_bytes(), Swap, where=str(path))
            project = parse_project(swap.project.encode(), where=str(path))
        except (InputError, OSError):
            continue
        found.append(
            Recovered(
                swap_path=path,
                project=project,
                project_path=Path(swap.project_path) if swap.project_path else None,
                folder=Path(swap.folder),
                saved_at=swap.saved_at,
            )
        )
    return tuple(sorted(found, key=lambda r: r.saved_at, reverse=True))


def forget(recovered: Recovered) -> None:
    """Removes a swap file, after it was restored or declined."""
    recovered.swap_path.unlink(missing_ok=True)
    recovered.swap_path.with_suffix(".lock").unlink(missing_ok=True)


def _has_owner(swap_path: Path) -> bool:
    try:
        handle = os.open(swap_path.with_suffix(".lock"), os.O_RDWR)
    except OSError:
        return False
    try:
        return not _lock(handle)
    finally:
        os.close(handle)


def _folder() -> Path:
    path = data_dir() / "recovery"
    path.mkdir(exist_ok=True)
    return path
