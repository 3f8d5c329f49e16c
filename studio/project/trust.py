"""Which folders may execute Python: remembered per folder and content, in the settings folder.

Opening never executes. A Python source or metric runs only when its folder was trusted *as it is
now*: the decision is tied to a hash of everything in the folder that Python can import, so that a
file that came with the next `git pull` asks again.

Whoever imports from a trusted folder must set `sys.pycache_prefix` to a place of its own: the
folder's `__pycache__` is not hashed (Python writes to it), so it must not be read either.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from studio.artifact import hash_file
from studio.errors import InputError
from studio.paths import config_dir
from studio.records import Record, from_json, to_json, write_atomically

_IMPORTABLE = frozenset({".py", ".pyc", ".pyd", ".so", ".pth", ".pt2"})  # a .pt2 can name any function
_MOST_FILES = 2_000  # a folder with more is a home or a checkout of everything, not a project


class TrustedFolder(Record):
    """One decision: this folder with exactly this content."""

    folder: str
    content_sha256: str


class TrustList(Record):
    """All decisions of this user on this machine."""

    schema: int = 1
    folders: tuple[TrustedFolder, ...] = ()


def is_trusted(folder: Path) -> bool:
    """Whether the user trusted this folder with the Python files that are in it now."""
    root = str(folder.resolve())
    decisions = {f.folder: f.content_sha256 for f in _load().folders}
    return root in decisions and decisions[root] == hash_python(folder)


def trust_folder(folder: Path) -> None:
    """Remembers that Python in this folder, as it is now, may run."""
    root = str(folder.resolve())
    decision = TrustedFolder(folder=root, content_sha256=hash_python(folder))
    _save(TrustList(folders=(*(f for f in _load().folders if f.folder != root), decision)))


def distrust_folder(folder: Path) -> None:
    """Forgets the decision for this folder."""
    root = str(folder.resolve())
    _save(TrustList(folders=tuple(f for f in _load().folders if f.folder != root)))


def python_files(folder: Path) -> tuple[Path, ...]:
    """What trusting the folder would let run, sorted: every file that Python can import there.

    Virtual environments, hidden folders and `__pycache__` are left out. Raises InputError when
    there are too many files for a person to trust.
    """
    found: list[Path] = []
    for path in _walk(folder.resolve()):
        found.append(path)
        if len(found) > _MOST_FILES:
            raise InputError(
                f"{folder} holds more than {_MOST_FILES:,} Python files.",
                hint="Move the project into a folder of its own.",
            )
    return tuple(sorted(found))


def hash_python(folder: Path) -> str:
    """The SHA-256 over names and contents of `python_files`, hex."""
    digest = hashlib.sha256()
    root = folder.resolve()
    for path in python_files(folder):
        digest.update(f"{path.relative_to(root).as_posix()}\0{hash_file(path)}\n".encode())
    return digest.hexdigest()


def _walk(root: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(root):
        here = Path(parent)
        folders[:] = [
            f
            for f in folders
            if f != "__pycache__" and not f.startswith(".") and not (here / f / "pyvenv.cfg").exists()
        ]
        yield from (here / name for name in files if Path(name).suffix in _IMPORTABLE)


def _load() -> TrustList:
    path = config_dir() / "trust.json"
    if not path.is_file():
        return TrustList()
    return from_json(path.read_bytes(), TrustList, where=str(path))


def _save(decisions: TrustList) -> None:
    write_atomically(config_dir() / "trust.json", to_json(decisions, indent=2).encode() + b"\n")
