"""Files to and from the phone: adb's sync service, with progress, 64-bit sizes and reasons.

Source: AOSP adb, file_sync_protocol.h and SYNC.TXT: ids of four letters, lengths uint32 LE, DATA
chunks of at most 64 KiB. `STA2` (feature `stat_v2`) has 64-bit sizes, `STAT` 32 bits, which is why
a v1 size is compared modulo 2^32.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

from studio.devices.adb.server import AdbServer, AdbSocket, LinkLost
from studio.errors import DeviceError, InputError
from studio.records import Record

CHUNK = 64 * 1024
_STAT_V2 = struct.Struct("<IQQIIIIQqqq")


class RemoteStat(Record):
    """A file on the phone; `size_bytes` is modulo 2^32 when `is_64_bit` is False."""

    mode: int
    size_bytes: int
    is_64_bit: bool

    @property
    def exists(self) -> bool:
        return self.mode != 0

    def has_size(self, size: int) -> bool:
        """Whether this is as long as `size`, as far as the phone can tell."""
        return self.exists and self.size_bytes == (size if self.is_64_bit else size & 0xFFFFFFFF)


def stat(server: AdbServer, serial: str, path: str) -> RemoteStat:
    """The file's mode and size; mode 0 when there is none."""
    has_v2 = "stat_v2" in server.features(serial)
    with _open(server, serial) as opened:
        _send(opened, b"STA2" if has_v2 else b"STAT", path.encode())
        if opened.read_exact(4) not in (b"STA2", b"STAT"):
            raise DeviceError("The phone answered a stat with something else.", hint="Restart adb.")
        if has_v2:
            fields = _STAT_V2.unpack(opened.read_exact(_STAT_V2.size))
            return RemoteStat(mode=0 if fields[0] else fields[3], size_bytes=fields[7], is_64_bit=True)
        mode, size, _ = struct.unpack("<III", opened.read_exact(12))
        return RemoteStat(mode=mode, size_bytes=size, is_64_bit=False)


def push(
    server: AdbServer,
    serial: str,
    source: Path,
    target: str,
    *,
    mode: int = 0o644,
    on_sent: Callable[[int], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> None:
    """Copies a file; `on_sent(bytes so far)`. What is at `target` is complete only on return.

    Raises DeviceError with the phone's reason, LinkLost, InputError when `source` cannot be read,
    InterruptedError when stopped.
    """
    try:
        file = source.open("rb")
    except OSError as error:
        raise InputError(f"Cannot read {source}: {error.strerror}.", hint="Check the file.") from None
    with file, _open(server, serial) as opened:
        _send(opened, b"SEND", f"{target},{0o100000 | mode}".encode())
        sent = 0
        try:
            while chunk := file.read(CHUNK):
                if should_stop():
                    raise InterruptedError
                opened.send(struct.pack("<4sI", b"DATA", len(chunk)) + chunk)
                sent += len(chunk)
                on_sent(sent)
            opened.send(struct.pack("<4sI", b"DONE", int(source.stat().st_mtime) & 0xFFFFFFFF))
        except LinkLost:
            # a full disk makes the phone say why and hang up while we still write: read that first
            _answer(opened, target, lost_is_quiet=True)
            raise
        _answer(opened, target)


def pull(server: AdbServer, serial: str, source: str, target: Path) -> int:
    """Copies a file from the phone; returns its size. Raises DeviceError with the phone's reason."""
    size = 0
    with _open(server, serial) as opened:
        _send(opened, b"RECV", source.encode())
        with target.open("wb") as file:
            while True:
                kind, length = struct.unpack("<4sI", opened.read_exact(8))
                if kind == b"DATA" and length <= CHUNK:
                    file.write(opened.read_exact(length))
                    size += length
                elif kind == b"DONE":
                    return size
                elif kind == b"FAIL":
                    raise _failed(opened.read_exact(length), source)
                else:
                    raise DeviceError(f"The phone sent {kind!r} while pulling {source}.", hint="Try again.")


def _open(server: AdbServer, serial: str) -> AdbSocket:
    return server.transport(serial, "sync:", timeout=30.0)


def _send(opened: AdbSocket, kind: bytes, data: bytes) -> None:
    opened.send(struct.pack("<4sI", kind, len(data)) + data)


def _answer(opened: AdbSocket, target: str, *, lost_is_quiet: bool = False) -> None:
    try:
        kind, length = struct.unpack("<4sI", opened.read_exact(8))
        reason = opened.read_exact(length) if kind == b"FAIL" else b""
    except LinkLost:
        if lost_is_quiet:
            return
        raise
    if kind == b"FAIL":
        raise _failed(reason, target)
    if kind != b"OKAY":
        raise DeviceError(f"The phone answered {kind!r} to a push.", hint="Try again.")


def _failed(reason: bytes, path: str) -> DeviceError:
    """The phone's words (adbd prints strerror) as an error with a next step."""
    text = reason.decode("utf-8", "replace").strip()
    low = text.lower()
    if "no space" in low:
        return DeviceError(
            f"There is no space left on the phone for {path}.", hint="Delete something on it and try again."
        )
    if "permission denied" in low:
        return DeviceError(
            f"The phone refuses to write {path}: permission denied.",
            hint="Remove what another user left there: adb shell rm -rf /data/local/tmp/deployment-studio",
        )
    if "read-only" in low:
        return DeviceError(f"{path} is on a read-only part of the phone.", hint="Use /data/local/tmp.")
    return DeviceError(f"The phone could not copy {path}: {text}.", hint="")
