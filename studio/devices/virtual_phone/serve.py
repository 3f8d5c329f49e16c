"""Switching a virtual phone on and off."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from studio.devices.adb.kit import host_abi
from studio.devices.adb.server import AdbServer
from studio.devices.virtual_phone import faults
from studio.devices.virtual_phone.faults import FaultKind, FaultOrder
from studio.devices.virtual_phone.profile import DaemonSpec, PhoneProfile, Ready, load_profile
from studio.devices.virtual_phone.root import build_root, need_programs
from studio.errors import DeviceError, ToolError
from studio.records import to_json

_START_SECONDS = 60.0
_SHARED = ("/usr", "/lib", "/lib64", "/proc", "/dev", "/etc")


class VirtualPhone:
    """A running virtual phone. A context manager; `serial` is what adb calls it once connected."""

    def __init__(self, profile: PhoneProfile, *, port: int = 0, control_port: int = 0) -> None:
        self.profile = profile
        self._wanted = (port, control_port)
        self._root: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.control_port = 0

    @property
    def serial(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Returns when the phone answers. Raises DeviceError when a program it needs is missing."""
        need_programs()
        abi = host_abi()
        if not abi or sys.platform != "linux":
            raise DeviceError(
                "The virtual phone runs on Linux on x86-64 and arm64 only.", hint="Plug in a real phone."
            )
        mark = secrets.token_hex(8)
        self._root = Path(tempfile.mkdtemp(prefix="deployment-studio-phone-"))
        build_root(self._root, self.profile, f"VIRTUAL{mark[:6].upper()}", abi)
        log = (self._root / "daemon.log").open("wb")
        with log:
            self._process = subprocess.Popen(
                self._command(self._root),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(_package_home())},
                start_new_session=True,
            )
        port, control_port = self._wanted
        spec = DaemonSpec(profile=self.profile, port=port, control_port=control_port, mark=mark)
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(to_json(spec).encode() + b"\n")
            self._process.stdin.flush()
        self._wait_ready()

    def _command(self, root: Path) -> list[str]:
        """proot with the phone's root, this interpreter and this package made visible inside."""
        state = root / "data/misc/phone"
        binds = [path for path in _SHARED if Path(path).exists()]
        binds += [sys.prefix, sys.base_prefix, str(_package_home())]
        argv = [need_programs()["proot"], "-r", str(root)]
        for path in dict.fromkeys(binds):
            argv += ["-b", path]
        argv += ["-b", f"{state}/meminfo:/proc/meminfo", "-w", "/"]
        return [*argv, sys.executable, "-m", "studio.devices.virtual_phone.daemon"]

    def _wait_ready(self) -> None:
        process = self._process
        assert process is not None and process.stdout is not None
        readable, _, _ = select.select([process.stdout], [], [], _START_SECONDS)
        line = process.stdout.readline() if readable else b""
        try:
            ready = msgspec.json.decode(line, type=Ready)
        except msgspec.DecodeError:
            words = self._log()
            self.stop()
            raise ToolError(
                "The virtual phone did not start.",
                hint=words[-1] if words else "Its port may be taken; choose another one.",
                last_lines=words,
            ) from None
        self.port, self.control_port = ready.port, ready.control_port

    def _log(self) -> tuple[str, ...]:
        try:
            assert self._root is not None
            return tuple((self._root / "daemon.log").read_text("utf-8", "replace").splitlines()[-20:])
        except OSError:
            return ()

    def connect(self, server: AdbServer | None = None) -> str:
        """Makes adb know the phone; returns its serial. Raises DeviceError."""
        server = server or AdbServer.default()
        server.start()
        return server.connect(self.serial)

    def fault(self, kind: FaultKind, *, seconds: float = 1.0, size: int = 0, celsius: float = 0.0) -> None:
        """Makes something go wrong, or right again."""
        wanted = FaultOrder(kind=kind, seconds=seconds, bytes=size, celsius=celsius)
        faults.order(self.control_port, wanted)

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Switches it off: its processes end and its folder goes."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None and process.stdout is not None
            with contextlib.suppress(OSError):
                process.stdin.close()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, 9)
                process.wait()
            process.stdout.close()
        if self._root is not None:
            shutil.rmtree(self._root, ignore_errors=True)
            self._root = None

    def __enter__(self) -> VirtualPhone:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def serve(
    profile: str = "tensor-g3",
    port: int = 0,
    *,
    on_ready: Callable[[VirtualPhone], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    connect: bool = True,
) -> None:
    """Runs a virtual phone until `should_stop`; with `connect` adb knows it when `on_ready` is called.

    Raises InputError for an unknown profile, DeviceError when a program is missing, ToolError.
    """
    phone = VirtualPhone(load_profile(profile), port=port)
    with phone:
        server = AdbServer.default()
        if connect:
            phone.connect(server)
        try:
            on_ready(phone)
            while phone.is_running and not should_stop():
                time.sleep(0.2)
        finally:
            if connect:
                with contextlib.suppress(DeviceError):
                    server.disconnect(phone.serial)


def _package_home() -> Path:
    return Path(__file__).resolve().parents[3]
