"""Record, the one base class of everything that is saved or sent, and how records travel.

What lives here: `Record` (frozen msgspec struct, unknown fields refused), `Choice` (an enum
that is its own text), JSON and TOML in and out with errors that name file and field, atomic
writing, and the packed file (one msgpack header + raw numpy arrays) that carries graphs,
layouts and verdicts from a worker to the window. What does not: any record in particular.

Why msgspec: one type serves disk, pipe and JSON Schema, and a bad file is named by its path
(`$.steps[0].kind`) in one line. Why no pickle: projects come from strangers.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import tempfile
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from typing_extensions import dataclass_transform

from studio.errors import InputError

R = TypeVar("R")


class Choice(str, Enum):
    """A string enum whose `str()` is its value (StrEnum needs Python 3.11)."""

    def __str__(self) -> str:
        return str(self.value)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(msgspec.field,))
class _KeywordOnly(msgspec.StructMeta):
    """msgspec does not inherit `kw_only`; every Record wants it."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> Any:
        config.setdefault("kw_only", True)
        return super().__new__(cls, name, bases, namespace, **config)


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, metaclass=_KeywordOnly):
    """Base of everything saved or sent: keyword-only, frozen. Change one with `msgspec.structs.replace`."""


def to_json(value: object, *, indent: int = 0) -> str:
    """JSON text with fields in declared order; NaN and infinities become null."""
    raw = msgspec.json.encode(value)
    return (msgspec.json.format(raw, indent=indent) if indent else raw).decode()


def from_json(text: str | bytes, kind: type[R], *, where: str) -> R:
    """A `kind` from JSON. Raises InputError naming `where` and the field's path."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{where}: {error}", hint="Correct the file or restore a copy.") from None


def check_replaceable(path: Path) -> None:
    """Raises InputError where a file must not be put: renaming onto /dev/null would end it for everybody."""
    try:
        if path.is_dir():
            raise InputError(f"Cannot write {path}: it is a folder.", hint="Name a file in it.")
        if path.exists() and not path.is_file():
            raise InputError(f"Cannot write {path}: it is not a regular file.", hint="Choose another name.")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"Cannot write {path}: {reason}.", hint="Choose another name.") from None


def check_writable(path: Path) -> None:
    """Raises InputError where `write_atomically` would: asked first, work is not done for nothing.

    A file without a name is made in the folder, since only that knows read-only mounts and full disks.
    """
    check_replaceable(path)
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"Cannot write {path}: {reason}.", hint="Choose another folder.") from None


def write_atomically(path: Path, data: bytes) -> None:
    """Writes aside, fsyncs, renames once: the old file stays whole until the new one is.

    Raises InputError when the folder is missing, read-only or full, or when a folder or a device
    stands at the path.
    """
    check_replaceable(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}.", hint="Choose another folder.") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(OSError):
            os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else 0o644)
        os.replace(name, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise InputError(
            f"Cannot write {path}: {error.strerror}.", hint="Free some space or choose another folder."
        ) from None
    except BaseException:  # Ctrl+C: nothing half-written stays
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


_MAGIC = b"DSPACK1\n"


def write_packed(path: Path, header: object, arrays: dict[str, np.ndarray[Any, Any]]) -> None:
    """Writes `header` (msgpack) and named numpy arrays as one file, atomically."""
    index = []
    blobs = []
    offset = 0
    for name, array in arrays.items():
        blob = np.ascontiguousarray(array).tobytes()
        index.append([name, array.dtype.str, list(array.shape), offset, len(blob)])
        blobs.append(blob)
        offset += len(blob)
    head = msgspec.msgpack.encode([index, header])
    write_atomically(path, b"".join([_MAGIC, struct.pack("<Q", len(head)), head, *blobs]))


def read_packed(path: Path, kind: type[R]) -> tuple[R, dict[str, np.ndarray[Any, Any]]]:
    """The header as `kind` and the arrays of a packed file (read-only views of one buffer)."""
    data = path.read_bytes()
    start = len(_MAGIC) + 8
    if data[: len(_MAGIC)] != _MAGIC or len(data) < start:
        raise InputError(f"{path} is not a packed studio file.", hint="Clear the cache and retry.")
    size = struct.unpack("<Q", data[len(_MAGIC) : start])[0]
    try:
        index, header = msgspec.msgpack.decode(
            data[start : start + size],
            type=tuple[list[tuple[str, str, list[int], int, int]], kind],  # type: ignore[valid-type]
        )
        base = start + size
        arrays = {
            name: np.frombuffer(
                data, dtype=dtype, count=length // np.dtype(dtype).itemsize, offset=base + offset
            ).reshape(shape)
            for name, dtype, shape, offset, length in index
        }
    except (msgspec.DecodeError, ValueError) as error:
        raise InputError(f"{path} is damaged: {error}.", hint="Clear the cache and retry.") from None
    return header, arrays


def plain(value: object) -> Any:
    """Builtins (dict, list, str, …) of a record, without None fields: TOML has no null."""

    def strip(item: Any) -> Any:
        if isinstance(item, dict):
            return {k: strip(v) for k, v in item.items() if v is not None}
        if isinstance(item, list):
            return [strip(v) for v in item]
        return item

    return strip(json.loads(msgspec.json.encode(value)))
