"""Fact files: one JSON file per profile or comparison of layers, beside the run files and only ever added.

`NAME.runs/<wall time>-<hash>[-<hash>]-<id>.<kind>.json`. The name holds the start of the hash of each file
that the fact is about, so that it is found again when that very file is looked at.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from studio.errors import InputError, StudioError
from studio.records import Record, from_json, to_json, write_atomically

R = TypeVar("R", bound=Record)
_HASH = 12
_LARGEST_BYTES = 64 << 20


def save_fact(folder: Path, kind: str, fact: Record, *, wall_time: str, hashes: tuple[str, ...]) -> Path:
    """The new file. It is whole or not there. Raises InputError when it cannot be written."""
    stamp = re.sub(r"[^0-9TZ]", "", wall_time.split(".")[0].replace("+00:00", "Z"))
    names = "-".join(h[:_HASH] for h in hashes)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"Cannot create {folder}: {error.strerror}.", hint="Choose a writable folder."
        ) from None
    path = folder / f"{stamp}-{names}-{secrets.token_hex(3)}.{kind}.json"
    write_atomically(path, to_json(fact, indent=1).encode())
    return path


def load_fact(path: Path, type_: type[R]) -> R:
    """The fact of a file. Raises InputError when it is not one."""
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise InputError(f"{path} is too large to be a fact.", hint="Delete it, or restore a copy.")
        return from_json(path.read_bytes(), type_, where=str(path))
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Check the path.") from None


def find_facts(folder: Path, kind: str, sha256: str) -> list[Path]:
    """The fact files about the file with that hash, newest first (names begin with the wall time)."""
    if not sha256 or not folder.is_dir():
        return []
    found = folder.glob(f"*-{sha256[:_HASH]}-*.{kind}.json")
    return sorted(found, key=lambda path: path.name, reverse=True)


def newest_fact(
    folders: Iterable[Path],
    kind: str,
    sha256: str,
    type_: type[R],
    *,
    fits: Callable[[R], bool],
    skipped: Callable[[Path, str], None] = lambda path, why: None,
) -> tuple[Path, R] | None:
    """The newest fact about the file with that hash and where it is; None when there is none.

    One that cannot be read (of a newer studio, or damaged) or does not fit the file is told to `skipped`:
    older ones may do.
    """
    found = [path for folder in folders for path in find_facts(folder, kind, sha256)]
    for path in sorted(found, key=lambda p: p.name, reverse=True):
        try:
            fact = load_fact(path, type_)
        except StudioError as error:
            skipped(path, str(error))
            continue
        if fits(fact):
            return path, fact
        skipped(path, "It is not about this file.")
    return None
