"""Commands on the phone: one quoting function, and a codec for `shell,v2,raw` that streams.

Source of the v2 packets: AOSP adb, shell_protocol.h (id byte, length uint32 LE; 0 stdin, 1 stdout,
2 stderr, 3 exit, 4 close stdin). Phones before Android 7 have only v1: no exit code, CR LF; there
a sentinel line carries the code.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from studio.devices.adb.server import AdbServer, AdbSocket, LinkLost
from studio.errors import DeviceError
from studio.records import Record

_SAFE = re.compile(r"[A-Za-z0-9_./:=@%+,-]+\Z")
_SENTINEL = b"__deployment_studio_exit__"
STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN = range(5)


class ShellResult(Record):
    """What a command said and how it ended."""

    stdout: str
    stderr: str
    returncode: int


def quote(*words: str) -> str:
    """The words as one command line of the phone's shell. Raises DeviceError for a NUL byte."""
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    if "\0" in word:
        raise DeviceError("A name holds a NUL byte.", hint="Rename the file.")
    if _SAFE.match(word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def run_shell(server: AdbServer, serial: str, command: str, *, timeout: float = 20.0) -> ShellResult:
    """Runs a command line to its end. Raises LinkLost when the phone goes, DeviceError otherwise."""
    with open_shell(server, serial, command, timeout=timeout) as shell:
        out, err = bytearray(), bytearray()
        try:
            for channel, data in shell.packets():
                (out if channel == STDOUT else err).extend(data)
        except TimeoutError:
            raise DeviceError(
                f"The phone did not finish “{command[:60]}” in {timeout:.0f} s.", hint="Try again."
            ) from None
        return ShellResult(
            stdout=out.decode("utf-8", "replace"),
            stderr=err.decode("utf-8", "replace"),
            returncode=shell.returncode if shell.returncode is not None else 1,
        )


def open_shell(server: AdbServer, serial: str, command: str, *, timeout: float | None = 20.0) -> Shell:
    """A running command. `timeout` bounds each wait for output (None = for ever)."""
    if "shell_v2" in server.features(serial):
        return Shell(server.transport(serial, f"shell,v2,raw:{command}", timeout=timeout), has_v2=True)
    wrapped = f"{command}\necho; echo {_SENTINEL.decode()}$?"
    return Shell(server.transport(serial, f"shell:{wrapped}", timeout=timeout), has_v2=False)


def _sentinel_start(text: bytes) -> int:
    """Where the sentinel, or what may become it, begins; the length when there is none.

    The sentinel stands on a line of its own after one line break of ours, which is held back only
    when it is known for ours: at the end of output that has just ended a line.
    """
    at = 0 if text.startswith(_SENTINEL) else text.find(b"\n" + _SENTINEL)
    if at >= 0:
        return at
    start = text.rfind(b"\n") + 1
    tail = text[start:]
    if tail.startswith(_SENTINEL) or (tail and _SENTINEL.startswith(tail)):
        return start
    return len(text) - (1 if text.endswith((b"\n\n", b"\r")) else 0)


class Shell:
    """A command on the phone; iterate `packets()`, then read `returncode`."""

    def __init__(self, opened: AdbSocket, *, has_v2: bool) -> None:
        self._socket = opened
        self._has_v2 = has_v2
        self._held = b""  # v1: what may still turn out to be the exit code
        self.returncode: int | None = None

    def packets(self) -> Iterator[tuple[int, bytes]]:
        """(STDOUT or STDERR, bytes) as they come. Raises LinkLost at an end without an exit code.

        Under v1 all is STDOUT and the last lines are held back for the exit code. May be called
        again after a TimeoutError, which comes only between packets.
        """
        return self._packets_v2() if self._has_v2 else self._packets_v1()

    def _packets_v2(self) -> Iterator[tuple[int, bytes]]:
        while True:
            head = self._socket.read(1)  # may wait: nothing of a packet has come yet
            if not head:
                raise LinkLost("The link to the phone was lost.", hint="Plug it in again.")
            channel = head[0]
            (length,) = struct.unpack("<I", self._socket.read_exact(4))
            data = self._socket.read_exact(length)
            if channel == EXIT:
                self.returncode = data[0] if data else 0
                return
            if channel in (STDOUT, STDERR):
                yield channel, data

    def _packets_v1(self) -> Iterator[tuple[int, bytes]]:
        while chunk := self._socket.read():
            self._held = (self._held + chunk).replace(b"\r\n", b"\n")
            at = _sentinel_start(self._held)
            if at > 0:
                ready, self._held = self._held[:at], self._held[at:]
                yield STDOUT, ready
        match = re.fullmatch(rb"\n?" + _SENTINEL + rb"(\d+)\s*", self._held)
        if match is None:
            raise LinkLost("The link to the phone was lost.", hint="Plug it in again.")
        self.returncode = int(match.group(1))

    def send(self, data: bytes) -> None:
        """Bytes for the command's stdin (v2 only; v1 sends them through the terminal)."""
        if self._has_v2:
            data = struct.pack("<BI", STDIN, len(data)) + data
        self._socket.send(data)

    def close(self) -> None:
        """Hangs up; the phone ends the command with SIGHUP."""
        self._socket.close()

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
