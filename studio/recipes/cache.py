"""The artifact cache: one folder per key, made aside and renamed once, rebuilt when damaged.

A job may be killed at any moment: what is under its key is whole, and what is not whole is a
`KEY.partial-PID` folder, swept away by a later run once its process is gone.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

import msgspec

from studio.artifact import Artifact, load_artifact, save_artifact
from studio.errors import InputError
from studio.paths import artifacts_dir
from studio.recipes.fingerprint import file_hash

Value = str | int | float | bool | None
_ASIDE = re.compile(r".+\.(partial|old)-(\d+)$")


@dataclass(frozen=True)
class Making:
    """What a step left: the main file in its folder, and what is worth keeping about it."""

    path: Path
    format: str
    notes: tuple[str, ...] = ()
    facts: dict[str, Value] = field(default_factory=dict)


def find_cached(key: str) -> Artifact | None:
    """The artifact under a key, or None when it is absent or damaged (its hash is checked)."""
    try:
        found = load_artifact(artifacts_dir() / key)
        if found is None or found.key != key or file_hash(Path(found.path)) != found.sha256:
            return None
    except InputError:
        return None
    return found


def cached_or_made(
    key: str,
    make: Callable[[Path], Making],
    *,
    made_by: str,
    settings: Mapping[str, Value] | None = None,
    inputs: tuple[str, ...] = (),
    tool_versions: Mapping[str, str] | None = None,
    force: bool = False,
) -> tuple[Artifact, bool]:
    """(artifact, was it cached): `make` fills an empty folder, which becomes the artifact's.

    Raises what `make` raises, and InputError when the disk is full or the cache cannot be written;
    the cache is then as it was.
    """
    found = None if force else find_cached(key)
    if found is not None:
        return found, True
    home = artifacts_dir() / key
    aside = artifacts_dir() / f"{key}.partial-{os.getpid()}"
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        started = time.monotonic()
        made = make(aside)
        artifact = Artifact(
            key=key,
            path=made.path.relative_to(aside).as_posix(),
            format=made.format,
            sha256=file_hash(made.path),
            size_bytes=made.path.stat().st_size,
            made_by=made_by,
            settings=dict(settings or {}),
            inputs=inputs,
            tool_versions=dict(tool_versions or {}),
            made_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - started, 3),
            notes=made.notes,
            facts=made.facts,
        )
        save_artifact(aside, artifact)
        _put_in_place(aside, home)
    except OSError as error:
        raise InputError(
            f"Cannot write to the cache {artifacts_dir()}: {error.strerror or error}.",
            hint="Free some space, or set DEPLOYMENT_STUDIO_CACHE to another folder.",
        ) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return msgspec.structs.replace(artifact, path=str(home / artifact.path)), False


def _put_in_place(aside: Path, home: Path) -> None:
    """Renames the finished folder to its key; what stood there is moved away first."""
    if home.exists():
        old = home.with_name(f"{home.name}.old-{os.getpid()}")
        shutil.rmtree(old, ignore_errors=True)
        home.rename(old)
        aside.rename(home)
        shutil.rmtree(old, ignore_errors=True)
    else:
        aside.rename(home)


def sweep() -> None:
    """Removes what killed jobs left aside; folders of living processes stay."""
    for folder in artifacts_dir().iterdir():
        match = _ASIDE.match(folder.name)
        if match and not _is_alive(int(match[2])):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    if os.name == "nt":  # signal 0 would end a process there: leave the folder alone
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return True
