"""This computer as a device: starts the runner process and samples the machine beside it.

The runner's argv is given by the caller (`jobs`), since a device must not know backends. Real
measurements, so that the whole journey works on the first day, without a phone.
"""

from __future__ import annotations

import contextlib
import os
import platform
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from studio.devices.device import DeviceInfo, DeviceKind, DeviceState, RunRequest
from studio.devices.stream import End, Fault, Hello, Phase, StreamRecord, decode_record
from studio.devices.stream_errors import error_of
from studio.devices.this_computer_sensors import Sensors, cpu_name, ram_bytes
from studio.errors import InputError, ToolError
from studio.paths import PACKAGE_HOME
from studio.records import Record, to_json

DEVICE_ID = "this-computer"
_GRACE_SECONDS = 5.0


class RunnerSpec(Record):
    """The first line on the runner's stdin: what to run, and for which device."""

    request: RunRequest
    device_id: str = DEVICE_ID


class ThisComputer:
    """The machine that the studio runs on."""

    device_id = DEVICE_ID

    def __init__(self, runner_command: tuple[str, ...] = ()) -> None:
        self._command = runner_command

    def identify(self) -> DeviceInfo:
        """Name, processor, system and memory of this machine."""
        return DeviceInfo(
            id=DEVICE_ID,
            kind=DeviceKind.THIS_COMPUTER,
            name="This computer",
            state=DeviceState.READY,
            soc=cpu_name(),
            os_version=_os_version(),
            abi=platform.machine(),
            cpu_count=os.cpu_count(),
            ram_bytes=ram_bytes(),
        )

    def run(
        self, request: RunRequest, *, on_push: Callable[[int, int], None], should_stop: Callable[[], bool]
    ) -> Iterator[StreamRecord]:
        """The runner's records with samples of this machine between them; see `Device.run`."""
        if not self._command:
            raise InputError("No runner was given for this computer.", hint="Deploy through a job.")
        path = Path(request.artifact_path)
        if not path.is_file():
            raise InputError(f"There is no file {path}.", hint="Run the recipe first, or check the path.")
        size = path.stat().st_size
        on_push(size, size)  # nothing to push: it is already here
        with tempfile.TemporaryFile() as log:
            process = self._start(request, log)
            try:
                yield from self._follow(process, log, request, should_stop)
            finally:
                _kill(process)

    def _start(self, request: RunRequest, log: IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                cwd=PACKAGE_HOME,
            )
            assert process.stdin is not None
            process.stdin.write(to_json(RunnerSpec(request=request)).encode() + b"\n")
            process.stdin.flush()
        except OSError as error:
            raise ToolError(
                f"The runner did not start: {error.strerror}.",
                hint="Reinstall deployment-studio.",
                argv=self._command,
            ) from None
        return process

    def _follow(
        self,
        process: subprocess.Popen[bytes],
        log: IO[bytes],
        request: RunRequest,
        should_stop: Callable[[], bool],
    ) -> Iterator[StreamRecord]:
        lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=_read_lines, args=(process, lines), daemon=True).start()
        sensors = Sensors(process.pid)
        period = 1.0 / max(request.settings.sample_hz, 0.1)
        sample_at = float("inf")  # the first comes after the hello
        kill_at: float | None = None
        runs = 0
        fault: Fault | None = None
        end: End | None = None
        while True:
            now = time.monotonic()
            if now >= sample_at and end is None:
                yield sensors.sample()
                sample_at = max(sample_at + period, now)
            if should_stop() and kill_at is None:
                kill_at = now + _GRACE_SECONDS
                _close_stdin(process)
            if kill_at is not None and now >= kill_at:
                _kill(process)  # inside one long call of the runtime: it cannot be asked
            try:
                line = lines.get(timeout=min(max(sample_at - now, 0.0), 0.05))
            except queue.Empty:
                continue
            if line is None:
                break
            record = decode_record(line, where="runner")
            if isinstance(record, Fault):
                fault = record
            elif isinstance(record, End):
                end = record
            elif record.__struct_config__.tag == "run":
                runs += 1
            elif isinstance(record, Hello):
                sample_at = now
                record = msgspec.structs.replace(record, device=msgspec.to_builtins(self.identify()))
            yield record
        _close_stdin(process)
        try:
            returncode = process.wait(timeout=_GRACE_SECONDS)
        except subprocess.TimeoutExpired:  # it has said all; a destructor hangs
            _kill(process)
            returncode = process.returncode
        if end is None:
            if kill_at is not None:
                yield Phase(t_ns=time.monotonic_ns(), name="stopped", detail="the runner had to be killed")
                yield End(t_ns=time.monotonic_ns(), reason="stopped", runs=runs)
                return
            fault = _crash(returncode, log)
            yield fault
            yield End(t_ns=time.monotonic_ns(), reason="failed", runs=runs)
        if fault is not None:
            raise error_of(fault, argv=self._command, returncode=returncode)


def _read_lines(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    assert process.stdout is not None
    with process.stdout as stdout:
        for line in stdout:
            if line.endswith(b"\n"):  # a line cut by a crash is not a record
                lines.put(line)
    lines.put(None)


def _crash(returncode: int, log: IO[bytes]) -> Fault:
    """The fault of a runner that left without a word: signal or exit code, and its last lines."""
    log.seek(0, os.SEEK_END)
    log.seek(max(0, log.tell() - 8192))
    tail = deque(log.read().decode("utf-8", "replace").splitlines(), maxlen=20)
    if returncode < 0:
        try:
            name = signal.Signals(-returncode).name
        except ValueError:
            name = str(-returncode)
        how = f"was ended by {name}"
        hint = "Probably out of memory." if name == "SIGKILL" else "The runtime crashed on this model."
    else:
        how, hint = f"left with exit code {returncode}", "Its last lines say why."
    return Fault(t_ns=time.monotonic_ns(), message=f"The runner {how}.", hint=hint, detail="\n".join(tail))


def _close_stdin(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None and not process.stdin.closed:
        with contextlib.suppress(OSError):  # it may have gone already
            process.stdin.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    _close_stdin(process)
    if process.poll() is None:
        if sys.platform == "win32":
            process.kill()
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _os_version() -> str:
    try:
        release = platform.freedesktop_os_release()
    except (OSError, AttributeError):
        return f"{platform.system()} {platform.release()}"
    name = release.get("NAME", "Linux").removesuffix(" GNU/Linux")
    return f"{name} {release.get('VERSION_ID', '')}".strip()
