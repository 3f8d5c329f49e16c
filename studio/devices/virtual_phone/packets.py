"""ADB's packets: 24 bytes of header and a payload.

Source: AOSP adb, protocol.txt and adb.h: command, arg0, arg1, length, checksum (sum of the payload's bytes;
ignored from version 0x01000001 on), magic = command XOR 0xffffffff, all uint32 little-endian.
"""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass

_HEAD = struct.Struct("<6I")
MAX_PAYLOAD = 256 * 1024
VERSION = 0x01000001


def _word(text: str) -> int:
    return int.from_bytes(text.encode(), "little")


CNXN, AUTH, OPEN, OKAY, CLSE, WRTE, SYNC, STLS = map(
    _word, ("CNXN", "AUTH", "OPEN", "OKAY", "CLSE", "WRTE", "SYNC", "STLS")
)
AUTH_TOKEN, AUTH_SIGNATURE, AUTH_PUBLIC_KEY = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet; the meaning of the two arguments depends on the command."""

    command: int
    arg0: int
    arg1: int
    data: bytes = b""

    def encode(self) -> bytes:
        """Header and payload."""
        total = sum(self.data) if self.command in (CNXN, AUTH) else 0  # later packets are not checked
        head = _HEAD.pack(
            self.command, self.arg0, self.arg1, len(self.data), total, self.command ^ 0xFFFFFFFF
        )
        return head + self.data


async def read_packet(reader: asyncio.StreamReader) -> Packet:
    """The next packet. Raises ConnectionError for what is not ADB, IncompleteReadError at the end."""
    command, arg0, arg1, length, _, magic = _HEAD.unpack(await reader.readexactly(_HEAD.size))
    if command ^ 0xFFFFFFFF != magic or length > 4 * MAX_PAYLOAD:
        raise ConnectionError("not an ADB packet")
    return Packet(command, arg0, arg1, await reader.readexactly(length) if length else b"")
