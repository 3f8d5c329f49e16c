"""The zip archives that torch writes: their members, and reading one with its size checked first."""

from __future__ import annotations

import re
import struct
import zipfile
from pathlib import Path

from studio.errors import InputError

BROKEN_ARCHIVE = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError)
"""What `zipfile` raises for archives that are damaged, or packed in ways that it does not know."""

MAX_MEMBER = 1 << 30
MAX_CODE = 64 * 1024 * 1024

_FILE_OPERATORS = re.compile(rb"\b((?:torch|ops\s*\.\s*\w+)\s*\.\s*(?:save|from_file))\b")


def members_of(path: Path) -> set[str]:
    """Names of the archive's members, with and without the leading folder that torch puts around them."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except BROKEN_ARCHIVE:
        raise InputError(f"{path} is a damaged or truncated archive.", hint="Copy it again.") from None
    return {name.partition("/")[2] for name in names} | set(names)


def read_member(archive: zipfile.ZipFile, name: str, *, limit: int = MAX_MEMBER) -> bytes:
    """A member's bytes. Raises InputError when it is damaged, or claims or has more than `limit` bytes."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise InputError(f"The archive lacks {name}.", hint="Save the model again.") from None
    return _read(archive, info, limit)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> bytes:
    name = info.filename
    try:
        if info.file_size > limit:
            raise InputError(f"{name} in the archive is larger than {limit} bytes.", hint="It is damaged.")
        with archive.open(info) as file:
            data = file.read(limit + 1)
    except (*BROKEN_ARCHIVE, RuntimeError):
        raise InputError(f"{name} in the archive cannot be read.", hint="The archive is damaged.") from None
    except InputError:
        raise
    except Exception as error:  # zlib.error and lzma.LZMAError have no base in common
        raise InputError(
            f"{name} in the archive cannot be unpacked: {error}.", hint="It is damaged."
        ) from None
    if len(data) > limit:
        raise InputError(f"{name} in the archive is larger than {limit} bytes.", hint="It is damaged.")
    return data


def refuse_file_operators(path: Path) -> None:
    """Raises InputError when the archive's TorchScript calls an operator that reaches files.

    TorchScript can name operators only as `torch.name` or `ops.namespace.name`, and of torch's own these
    two read or write files (torch/csrc/jit/runtime/register_special_ops.cpp, aten/native_functions.yaml).
    """
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():  # not by name: a name may be there twice
                if "code/" not in info.filename or not info.filename.endswith(".py"):
                    continue
                found = _FILE_OPERATORS.search(_read(archive, info, MAX_CODE))
                if found:
                    raise InputError(
                        f"The archive's code calls {found.group(1).decode()}, which reaches files.",
                        hint="Do not load this model: no network needs that.",
                    )
    except BROKEN_ARCHIVE:
        raise InputError(
            f"{path.name} is not a TorchScript program, or its archive is damaged.",
            hint="It may be weights or a pickled module; save the model with torch.jit.save.",
        ) from None


def member_offset(archive: zipfile.ZipFile, path: Path, name: str) -> tuple[int, int]:
    """(offset, length) of a stored member's bytes. Raises InputError for a compressed or absent one."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise InputError(f"The archive lacks {name}.", hint="Save the model again.") from None
    if info.compress_type != zipfile.ZIP_STORED:
        raise InputError(f"{name} in the archive is compressed.", hint="Save the model again with torch.")
    with path.open("rb") as file:
        file.seek(info.header_offset)
        head = file.read(30)
    if len(head) < 30 or head[:4] != b"PK\x03\x04":
        raise InputError(f"{name} in the archive is damaged.", hint="Copy the file again.")
    name_length, extra_length = struct.unpack("<HH", head[26:30])
    return info.header_offset + 30 + name_length + extra_length, info.file_size
