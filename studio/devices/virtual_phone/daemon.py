"""The process inside the phone's root: adbd, sensors, and the control port.

Started by `serve.py` through proot; `/` is the phone's. Prints one JSON line with its ports when it is
ready, and leaves when its stdin ends, taking all of the phone's processes with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from pathlib import Path

from studio.devices.virtual_phone.connection import Connection, Stream
from studio.devices.virtual_phone.faults import FaultKind, FaultOrder, Faults, serve_control
from studio.devices.virtual_phone.heat import Heat
from studio.devices.virtual_phone.peer import is_own_user
from studio.devices.virtual_phone.profile import DaemonSpec, Ready
from studio.devices.virtual_phone.root import STATE, set_free_bytes, write_state
from studio.devices.virtual_phone.shell_service import MARK, serve_shell
from studio.devices.virtual_phone.sync_service import serve_sync
from studio.records import from_json, to_json

_ROOT = Path("/")
_STEP_SECONDS = 0.5
_CORES_FOR_FULL_LOAD = 1.0
_TICKS = os.sysconf("SC_CLK_TCK")


class Daemon:
    """A phone that is switched on."""

    def __init__(self, spec: DaemonSpec) -> None:
        self._spec = spec
        self._profile = spec.profile
        self._faults = Faults()
        self._heat = Heat(spec.profile)
        self._connections: set[Connection] = set()
        self._cpu_ticks: dict[str, int] = {}

    async def run(self) -> None:
        """Serves until stdin ends."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", self._spec.port)
        control = await serve_control(self._spec.control_port, self._obey)
        ready = Ready(port=_port(server), control_port=_port(control))
        print(to_json(ready), flush=True)  # noqa: T201 — the line that `serve.py` waits for
        leave = asyncio.Event()
        asyncio.get_running_loop().add_reader(0, lambda: None if os.read(0, 1024) else leave.set())
        living = asyncio.create_task(self._live())
        await leave.wait()
        living.cancel()
        for connection in list(self._connections):
            connection.cut()
        self._kill_all()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._faults.refuses or not is_own_user(writer):
            writer.transport.abort()
            return
        properties = self._profile.properties
        names = ("ro.product.name", "ro.product.model", "ro.product.device")
        said = "".join(f"{name}={properties.get(name, '')};" for name in names)
        connection = Connection(
            reader, writer, banner=f"device::{said}features={','.join(self._profile.features)}",
            faults=self._faults, serve=self._serve,
        )  # fmt: skip
        self._connections.add(connection)
        try:
            await connection.run()
        finally:
            self._connections.discard(connection)

    async def _serve(self, stream: Stream, service: str) -> None:
        """Raises LookupError for a service that this phone does not have."""
        if service.startswith(("shell:", "shell,", "exec:")):
            await serve_shell(stream, service, self._spec.mark)
        elif service.startswith("sync:"):
            await serve_sync(stream, self._faults)
        elif service.startswith("reboot:"):
            self._reboot()
        else:
            raise LookupError(service)

    def _obey(self, wanted: FaultOrder) -> None:
        faults = self._faults
        match wanted.kind:
            case FaultKind.CUT:
                faults.refuse_until = time.monotonic() + wanted.seconds
                self._cut_all()
            case FaultKind.CUT_AFTER:
                faults.cut_after, faults.cut_seconds = wanted.bytes, wanted.seconds
            case FaultKind.UNAUTHORIZED:
                faults.is_unauthorized = True
                self._cut_all()
            case FaultKind.OFFLINE:
                faults.is_offline = True
                self._cut_all()
            case FaultKind.NO_SPACE:
                faults.space_bytes = wanted.bytes
                set_free_bytes(_ROOT, wanted.bytes)
            case FaultKind.LYING_SPACE:
                faults.space_bytes = wanted.bytes
            case FaultKind.SLOW:
                faults.bytes_per_second = wanted.bytes
            case FaultKind.HEAT:
                self._heat.set_skin(wanted.celsius)
                write_state(_ROOT, self._profile, self._heat)
            case FaultKind.NONE:
                self._faults.__init__()  # type: ignore[misc]
                set_free_bytes(_ROOT, self._profile.free_bytes)

    def _cut_all(self) -> None:
        for connection in list(self._connections):
            connection.cut()

    def _reboot(self) -> None:
        """Everything that runs ends, and the phone is away for a moment."""
        self._faults.refuse_until = time.monotonic() + 2.0
        self._kill_all()
        self._heat = Heat(self._profile)
        self._cut_all()

    async def _live(self) -> None:
        """Moves the heat on by what the phone's processes compute."""
        then = time.monotonic()
        while True:
            await asyncio.sleep(_STEP_SECONDS)
            now = time.monotonic()
            self._heat.step(self._busy_cores(now - then) / _CORES_FOR_FULL_LOAD, now - then)
            then = now
            write_state(_ROOT, self._profile, self._heat)
            if (_ROOT / STATE / "reboot").exists():
                (_ROOT / STATE / "reboot").unlink()
                self._reboot()

    def _busy_cores(self, seconds: float) -> float:
        """How many cores the phone's processes kept busy since the last call."""
        ticks: dict[str, int] = {}
        for pid in self._processes():
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks[pid] = int(fields[11]) + int(fields[12])  # utime, stime: proc(5)
        used = sum(now - self._cpu_ticks.get(pid, now) for pid, now in ticks.items())
        self._cpu_ticks = ticks
        return used / _TICKS / max(seconds, 0.05)

    def _processes(self) -> list[str]:
        """The phone's processes: those that carry its mark, whatever session they made."""
        wanted = f"{MARK}={self._spec.mark}".encode()
        found = []
        for entry in os.scandir("/proc"):
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                with contextlib.suppress(OSError):
                    if wanted in Path(f"/proc/{entry.name}/environ").read_bytes():
                        found.append(entry.name)
        return found

    def _kill_all(self) -> None:
        for pid in self._processes():
            with contextlib.suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)


def _port(server: asyncio.Server) -> int:
    return int(server.sockets[0].getsockname()[1])


def main() -> int:
    """Process entry; the spec is the first line on stdin."""
    line = b""
    while not line.endswith(b"\n"):
        chunk = os.read(0, 1)
        if not chunk:
            return 2
        line += chunk
    asyncio.run(Daemon(from_json(line, DaemonSpec, where="phone daemon")).run())
    return 0


if __name__ == "__main__":
    sys.exit(main())
