"""The connection to the adb server: one socket per request, as its protocol wants.

Source: docs/dev/services.md and protocol of AOSP `packages/modules/adb` (host services, length
as four hexadecimal digits, OKAY or FAIL + reason). The address follows adb's own variables,
`ANDROID_ADB_SERVER_ADDRESS`/`_HOST` and `ANDROID_ADB_SERVER_PORT`.
"""

from __future__ import annotations

import contextlib
import os
import socket
from dataclasses import dataclass

from studio.devices.adb.binary import find_adb, run_adb
from studio.errors import DeviceError

OPEN_TIMEOUT = 10.0


class LinkLost(DeviceError):
    """The phone or the server went away in the middle of something."""


@dataclass(frozen=True, slots=True)
class AdbServer:
    """Where the adb server listens."""

    host: str
    port: int

    @staticmethod
    def default() -> AdbServer:
        """The server that adb itself would use."""
        host = os.environ.get("ANDROID_ADB_SERVER_ADDRESS") or os.environ.get("ANDROID_ADB_SERVER_HOST")
        port = os.environ.get("ANDROID_ADB_SERVER_PORT", "5037")
        return AdbServer(host or "127.0.0.1", int(port) if port.isdigit() else 5037)

    def start(self) -> None:
        """Makes sure a server listens; starts the local one when it does not. Raises DeviceError."""
        try:
            socket.create_connection((self.host, self.port), 2.0).close()
        except OSError as error:
            if self.host not in ("127.0.0.1", "localhost"):
                raise DeviceError(
                    f"No adb server answers at {self.host}:{self.port}: {error.strerror or error}.",
                    hint="Start it there with: adb -a nodaemon server start",
                ) from None
            run_adb(find_adb(), "-P", str(self.port), "start-server")

    def open(self, service: str, *, timeout: float | None = OPEN_TIMEOUT) -> AdbSocket:
        """A socket on which the server has said OKAY to `service`.

        `timeout` bounds each wait, also afterwards; None = for ever. Raises DeviceError with the
        server's reason, LinkLost when it hangs up.
        """
        try:
            raw = socket.create_connection((self.host, self.port), timeout or OPEN_TIMEOUT)
        except OSError as error:
            raise LinkLost(
                f"The adb server at {self.host}:{self.port} does not answer: {error.strerror or error}.",
                hint="It starts again with the next command.",
            ) from None
        opened = AdbSocket(raw)
        try:
            raw.settimeout(timeout)
            opened.request(service)
        except BaseException:
            opened.close()
            raise
        return opened

    def transport(self, serial: str, service: str, *, timeout: float | None = OPEN_TIMEOUT) -> AdbSocket:
        """A socket to `service` on the phone with that serial."""
        opened = self.open(f"host:transport:{serial}", timeout=timeout)
        try:
            opened.request(service)
        except BaseException:
            opened.close()
            raise
        return opened

    def ask(self, service: str, *, timeout: float = OPEN_TIMEOUT) -> str:
        """The text that a host service answers."""
        with self.open(service, timeout=timeout) as opened:
            return opened.read_block().decode("utf-8", "replace")

    def features(self, serial: str) -> frozenset[str]:
        """What the phone's adb can do: `shell_v2`, `stat_v2`, …; empty before Android 7."""
        return frozenset(self.ask(f"host-serial:{serial}:features").split(",")) - {""}

    def connect(self, address: str) -> str:
        """Connects to a phone over TCP (`host:port`); returns its serial. Raises DeviceError."""
        import adbutils

        self.start()  # adbutils would start one too, but prints what adb says
        try:
            client = adbutils.AdbClient(host=self.host, port=self.port)
            answer = str(client.connect(address, timeout=30.0)).strip()
        except Exception as error:  # adbutils raises its own errors, sockets theirs
            raise LinkLost(
                f"adb could not connect to {address}: {error}", hint="Check address and port."
            ) from None
        if not answer.startswith(("connected to", "already connected to")):
            raise DeviceError(
                f"{answer[:1].upper()}{answer[1:]}.", hint="Check address and port, and that both are online."
            )
        return answer.rsplit(" ", 1)[-1]

    def disconnect(self, address: str) -> None:
        """Ends a connection over TCP; one that is gone already is fine."""
        with contextlib.suppress(DeviceError):
            self.ask(f"host:disconnect:{address}")


class AdbSocket:
    """A socket to the adb server. A context manager; closing it from another thread ends a read."""

    def __init__(self, raw: socket.socket) -> None:
        self._raw = raw

    def request(self, service: str) -> None:
        """Sends a service request and reads the answer. Raises DeviceError with the reason."""
        data = service.encode()
        if len(data) > 0xFFFF:
            raise DeviceError("The command for the phone is too long.", hint="Use shorter paths.")
        self.send(b"%04x" % len(data) + data)
        status = self.read_exact(4)
        if status == b"OKAY":
            return
        if status == b"FAIL":
            raise _refusal(self.read_block().decode("utf-8", "replace"))
        raise DeviceError(
            f"What listens on the adb port is not an adb server (it said {status!r}).",
            hint="Another program uses the port; set ANDROID_ADB_SERVER_PORT.",
        )

    def send(self, data: bytes) -> None:
        try:
            self._raw.sendall(data)
        except OSError as error:
            raise LinkLost(f"The link to the phone was lost: {error.strerror or error}.") from None

    def read(self, limit: int = 65536) -> bytes:
        """Up to `limit` bytes; empty at the end. Raises LinkLost, or TimeoutError when it is silent."""
        try:
            return self._raw.recv(limit)
        except TimeoutError:
            raise
        except OSError as error:
            raise LinkLost(f"The link to the phone was lost: {error.strerror or error}.") from None

    def read_exact(self, count: int) -> bytes:
        """Exactly `count` bytes. Raises LinkLost when the other side ends before."""
        parts = bytearray()
        while len(parts) < count:
            try:
                chunk = self.read(min(count - len(parts), 1 << 20))
            except TimeoutError:
                raise LinkLost("The phone does not answer.", hint="Unlock it, or plug it in again.") from None
            if not chunk:
                raise LinkLost("The link to the phone was lost.", hint="Plug it in again.")
            parts += chunk
        return bytes(parts)

    def read_block(self) -> bytes:
        """A block with its length before it, four hexadecimal digits."""
        head = self.read_exact(4)
        try:
            return self.read_exact(int(head, 16))
        except ValueError:
            raise DeviceError(f"The adb server sent {head!r} for a length.", hint="Restart adb.") from None

    def set_timeout(self, seconds: float | None) -> None:
        self._raw.settimeout(seconds)

    def close(self) -> None:
        self._raw.close()

    def __enter__(self) -> AdbSocket:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _refusal(reason: str) -> DeviceError:
    """The server's reason as an error with a next step. Reasons: adb's transport.cpp."""
    low = reason.lower()
    if "unauthorized" in low:
        return DeviceError(
            "The phone has not authorised this computer.",
            hint="Unlock it and accept “Allow USB debugging”.",
        )
    if "not found" in low or "no devices" in low:
        return LinkLost("The phone is not there.", hint="Plug it in, and switch USB debugging on.")
    if "offline" in low:
        return LinkLost("The phone is offline.", hint="Unplug it and plug it in again, or restart adb.")
    if low.startswith("closed"):
        return LinkLost("The phone closed the connection.", hint="Try again.")
    return DeviceError(f"adb says: {reason}.", hint="")
