"""Artifact: a file we made, what made it, and its hash.

An artifact's folder holds the file(s) and `artifact.json` (this record). Its key is the hash of
what made it (step, settings, inputs, tool versions), so nothing unchanged is made twice.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from studio.errors import InputError
from studio.records import Record, from_json, to_json, write_atomically


class Artifact(Record):
    """A made file. `path` is absolute at run time and relative to its folder on disk."""

    key: str
    path: str
    format: str
    sha256: str
    size_bytes: int
    made_by: str
    settings: dict[str, str | int | float | bool | None]
    inputs: tuple[str, ...]
    tool_versions: dict[str, str]
    made_at: str
    seconds: float
    notes: tuple[str, ...] = ()
    facts: dict[str, str | int | float | bool | None] = {}


def hash_file(path: Path) -> str:
    """The SHA-256 of a file's bytes, hex. Raises InputError when it cannot be read."""
    digest = hashlib.sha256()
    try:
        if path.exists() and not path.is_file():  # reading a pipe or a device may never end
            reason = "it is a folder" if path.is_dir() else "it is not a regular file"
            raise InputError(f"Cannot read {path}: {reason}.", hint="Check the path.")
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Check the path.") from None
    return digest.hexdigest()


def load_artifact(folder: Path) -> Artifact | None:
    """The artifact of a cache folder, or None when it is absent or was tampered with."""
    manifest = folder / "artifact.json"
    if not manifest.is_file():
        return None
    found = from_json(manifest.read_bytes(), Artifact, where=str(manifest))
    path = folder / found.path
    if not path.is_file() or path.stat().st_size != found.size_bytes:
        return None
    return Artifact(**{**{f: getattr(found, f) for f in found.__struct_fields__}, "path": str(path)})


def save_artifact(folder: Path, artifact: Artifact) -> None:
    """Writes `artifact.json`; `artifact.path` must be relative to `folder`."""
    write_atomically(folder / "artifact.json", to_json(artifact, indent=2).encode() + b"\n")
