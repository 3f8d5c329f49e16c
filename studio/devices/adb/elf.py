"""What an ELF file needs of a phone, read before it is pushed.

Source: the ELF specification (header, program headers, dynamic section). A glibc program without its
loader ends on a phone as “No such file or directory”; a library aligned to 4 KiB does not load on a
phone with 16 KiB pages (Android 15 and later).
"""

from __future__ import annotations

import struct
from pathlib import Path

from studio.errors import InputError
from studio.records import Record

MACHINES = {3: "x86", 40: "armeabi-v7a", 62: "x86_64", 183: "arm64-v8a", 243: "riscv64"}
"""e_machine → Android's name of the ABI."""

_LOAD, _DYNAMIC, _INTERP = 1, 2, 3
_NEEDED, _STRTAB, _SONAME = 1, 5, 14


class Elf(Record):
    """`interpreter` is empty for a library; `alignment` is the smallest of its LOAD segments."""

    abi: str
    interpreter: str = ""
    needed: tuple[str, ...] = ()
    soname: str = ""
    alignment: int = 0

    @property
    def is_bionic(self) -> bool:
        """Whether it was made for Android's own C library."""
        return "/system/bin/linker" in self.interpreter or bool(
            {"libc.so", "liblog.so", "libandroid.so"} & set(self.needed)
        )


def read_elf(path: Path) -> Elf:
    """The facts of a 64-bit little-endian ELF file. Raises InputError for anything else."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Check the file.") from None
    if data[:6] != b"\x7fELF\x02\x01":
        raise InputError(f"{path} is not a 64-bit program or library.", hint="Use the build for the phone.")
    try:
        return _parse(data)
    except (struct.error, IndexError, ValueError):
        raise InputError(f"{path} is damaged.", hint="Copy or download it again.") from None


def _parse(data: bytes) -> Elf:
    machine = struct.unpack_from("<H", data, 18)[0]
    (offset,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    loads: list[tuple[int, int, int]] = []
    alignments: list[int] = []
    interpreter = ""
    dynamic = (0, 0)
    for i in range(count):
        kind, _, at, address, _, length, _, align = struct.unpack_from("<IIQQQQQQ", data, offset + i * size)
        if kind == _LOAD:
            loads.append((address, at, length))
            alignments.append(align)
        elif kind == _INTERP:
            interpreter = data[at : at + length].split(b"\0")[0].decode()
        elif kind == _DYNAMIC:
            dynamic = (at, length)
    entries = [struct.unpack_from("<QQ", data, dynamic[0] + i) for i in range(0, dynamic[1], 16)]
    tables = [value for tag, value in entries if tag == _STRTAB]
    strings = next((at + tables[0] - a for a, at, n in loads if tables and a <= tables[0] < a + n), 0)

    def text(value: int) -> str:
        return data[strings + value : data.index(b"\0", strings + value)].decode()

    return Elf(
        abi=MACHINES.get(machine, f"machine {machine}"),
        interpreter=interpreter,
        needed=tuple(text(value) for tag, value in entries if tag == _NEEDED),
        soname=next((text(value) for tag, value in entries if tag == _SONAME), ""),
        alignment=min(alignments, default=0),
    )
