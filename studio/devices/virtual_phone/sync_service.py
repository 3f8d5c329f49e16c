"""The sync service: stat, list, send and receive files, as adbd does it.

Source: AOSP adb, SYNC.TXT and file_sync_protocol.h. v1 sizes are 32 bits (larger ones wrap, as on a
phone); `STA2` and `LST2` have 64.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from pathlib import Path

from studio.devices.virtual_phone.connection import Stream
from studio.devices.virtual_phone.faults import Faults

_CHUNK = 64 * 1024
_STAT_V2 = struct.Struct("<4sIQQIIIIQqqq")


async def serve_sync(stream: Stream, faults: Faults) -> None:
    """Serves requests until the host quits or closes."""
    while True:
        try:
            kind, length = struct.unpack("<4sI", await stream.read_exact(8))
            text = (await stream.read_exact(length)).decode("utf-8", "surrogateescape")
        except ConnectionError:
            return
        if kind == b"QUIT":
            return
        if kind == b"STAT":
            await stream.send(_stat_v1(text))
        elif kind in (b"STA2", b"LST2"):
            await stream.send(_stat_v2(kind, text))
        elif kind == b"LIST":
            await _list(stream, text)
        elif kind == b"RECV":
            await _receive(stream, text)
        elif kind == b"SEND":
            await _send(stream, text, faults)
        else:
            await _fail(stream, f"unknown command {kind!r}")
            return


def _stat_v1(path: str) -> bytes:
    try:
        found = os.lstat(path)
    except OSError:
        return struct.pack("<4sIII", b"STAT", 0, 0, 0)
    return struct.pack(
        "<4sIII", b"STAT", found.st_mode, found.st_size & 0xFFFFFFFF, int(found.st_mtime) & 0xFFFFFFFF
    )


def _stat_v2(kind: bytes, path: str) -> bytes:
    try:
        s = Path(path).stat() if kind == b"STA2" else Path(path).lstat()
    except OSError as error:
        return _STAT_V2.pack(kind, error.errno or errno.EIO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    times = (int(s.st_atime), int(s.st_mtime), int(s.st_ctime))
    return _STAT_V2.pack(
        kind, 0, s.st_dev, s.st_ino, s.st_mode, s.st_nlink, s.st_uid, s.st_gid, s.st_size, *times
    )


async def _list(stream: Stream, path: str) -> None:
    try:
        entries = sorted(os.scandir(path), key=lambda e: e.name)
    except OSError:
        entries = []
    for entry in entries:
        s = entry.stat(follow_symlinks=False)
        name = os.fsencode(entry.name)
        row = (s.st_mode, s.st_size & 0xFFFFFFFF, int(s.st_mtime) & 0xFFFFFFFF, len(name))
        await stream.send(struct.pack("<4sIIII", b"DENT", *row) + name)
    await stream.send(struct.pack("<4sIIII", b"DONE", 0, 0, 0, 0))


async def _receive(stream: Stream, path: str) -> None:
    try:
        with open(path, "rb") as file:
            while data := file.read(_CHUNK):
                await stream.send(struct.pack("<4sI", b"DATA", len(data)) + data)
    except OSError as error:
        await _fail(stream, f"open failed: {error.strerror}")
        return
    await stream.send(struct.pack("<4sI", b"DONE", 0))


async def _send(stream: Stream, text: str, faults: Faults) -> None:
    """Writes what comes; after a failure the rest is read and thrown away, as adbd does."""
    path, _, mode = text.rpartition(",")
    reason = ""
    file = None
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "wb")  # noqa: SIM115 — closed below, after the last chunk
    except OSError as error:
        reason = f"couldn't create file: {error.strerror}"
    left = faults.space_bytes
    while True:
        kind, length = struct.unpack("<4sI", await stream.read_exact(8))
        if kind == b"DONE":
            break
        if kind != b"DATA" or length > _CHUNK:
            reason = reason or "invalid data message"
            break
        data = await stream.read_exact(length)
        if reason or file is None:
            continue
        if left is not None:
            left -= length
            if left < 0:
                reason = "write failed: No space left on device"
                continue
        try:
            file.write(data)
        except OSError as error:
            reason = f"write failed: {error.strerror}"
    if file is not None:
        file.close()
        if reason:
            os.unlink(path)
        else:
            os.chmod(path, stat.S_IMODE(int(mode or "420")))
    if reason:
        await _fail(stream, reason)
    else:
        if left is not None:
            faults.space_bytes = left
        await stream.send(struct.pack("<4sI", b"OKAY", 0))


async def _fail(stream: Stream, reason: str) -> None:
    data = reason.encode()
    await stream.send(struct.pack("<4sI", b"FAIL", len(data)) + data)
