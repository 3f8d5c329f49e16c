"""AdbPhone: a phone over ADB as a Device. The virtual phone is one as well."""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec

from studio.artifact import hash_file
from studio.devices.adb import cache
from studio.devices.adb.benchmark_model import BENCHMARK_FLAGS, BenchmarkFollower, find_benchmark_kit
from studio.devices.adb.cache import PushFile
from studio.devices.adb.detached import DetachedRun
from studio.devices.adb.follower import RunFollower
from studio.devices.adb.identity import identify
from studio.devices.adb.kit import Kit, find_ort_kit
from studio.devices.adb.listing import list_entries
from studio.devices.adb.preparation import Preparation
from studio.devices.adb.server import AdbServer
from studio.devices.adb.shell import quote, run_shell
from studio.devices.device import DeviceInfo, DeviceKind, DeviceState, RunRequest
from studio.devices.stream import End, Hello, StreamRecord
from studio.errors import DeviceError, StudioError, UnsupportedError

_PAGE_16K_LEVEL = 35  # Android 15: the first with phones of 16 KiB pages


class AdbPhone:
    """A phone that the adb server knows by its serial."""

    def __init__(self, server: AdbServer, serial: str) -> None:
        self._server = server
        self.device_id = serial

    def identify(self) -> DeviceInfo:
        """Who it is now; a bad state is in the info."""
        try:
            entry = next((e for e in list_entries(self._server) if e.serial == self.device_id), None)
        except StudioError as error:
            return self._absent(str(error))
        if entry is None:
            return self._absent("Plug it in, and switch USB debugging on.")
        return identify(self._server, entry)

    def _absent(self, hint: str) -> DeviceInfo:
        return DeviceInfo(
            id=self.device_id, kind=DeviceKind.ANDROID, name=self.device_id, state=DeviceState.OFFLINE,
            state_hint=hint,
        )  # fmt: skip

    def run(
        self, request: RunRequest, *, on_push: Callable[[int, int], None], should_stop: Callable[[], bool]
    ) -> Iterator[StreamRecord]:
        """See `Device.run`. The folder on the phone is removed at the end, unless the link was lost."""
        info = self.identify()
        if info.state is not DeviceState.READY:
            raise DeviceError(f"{info.name} is {info.state}.", hint=info.state_hint)
        kit, follower = self._choose(request, info)
        self._check_pages(kit, info)
        with tempfile.TemporaryDirectory(prefix="deployment-studio-push-") as scratch:
            prepared = follower.prepare(request, Path(scratch))
            folder = f"{cache.ROOT}/runs/{secrets.token_hex(6)}"
            try:
                self._push(prepared, kit, folder, on_push, should_stop)
            except InterruptedError:
                yield self._hello(request, info, "")
                yield End(t_ns=time.monotonic_ns(), reason="stopped", runs=0)
                return
        run = DetachedRun(self._server, self.device_id, folder)
        run.start(kit.argv)
        reader = follower(
            run, request, name=info.name, inputs=prepared.inputs,
            hello=lambda runtime: self._hello(request, info, runtime),
        )  # fmt: skip
        yield from reader.records(should_stop)

    def _choose(self, request: RunRequest, info: DeviceInfo) -> tuple[Kit, type[RunFollower]]:
        """The runner of a target and who reads it. Raises as `find_ort_kit` does."""
        target = request.settings.target
        if target == "ort/cpu":
            return find_ort_kit(info.abi), RunFollower
        if target in BENCHMARK_FLAGS:
            is_profiled = bool(request.profile_dir)
            return find_benchmark_kit(request.settings, info.abi, is_profiled=is_profiled), BenchmarkFollower
        raise UnsupportedError(
            f"The studio has no runner for {target} on phones yet.",
            hint=f"On phones it runs ort/cpu, and {', '.join(BENCHMARK_FLAGS)} by benchmark_model.",
        )

    def _check_pages(self, kit: Kit, info: DeviceInfo) -> None:
        if (info.android_level or 0) < _PAGE_16K_LEVEL:
            return
        said = run_shell(self._server, self.device_id, "getconf PAGE_SIZE").stdout.strip()
        if said.isdigit() and int(said) > kit.alignment:
            raise UnsupportedError(
                f"{info.name} has pages of {int(said) // 1024} KiB, and a library of the runner is aligned "
                f"to {kit.alignment // 1024} KiB.",
                hint="Use a newer build of ONNX Runtime.",
            )

    def _push(
        self,
        prepared: Preparation,
        kit: Kit,
        folder: str,
        on_push: Callable[[int, int], None],
        should_stop: Callable[[], bool],
    ) -> None:
        """Brings everything to the phone's cache and links it into the run's folder."""
        named = dict(prepared.files)
        for file in kit.files:
            named[file.name] = PushFile(
                path=file.path, sha256=file.sha256, size_bytes=file.size_bytes, is_program=file.is_program
            )
        files = tuple(named.values())
        cache.push_missing(self._server, self.device_id, files, on_push=on_push, should_stop=should_stop)
        lines = [quote("mkdir", "-p", folder), quote("cd", folder)]
        for name, pushed in named.items():
            if "/" in name:
                lines.append(quote("mkdir", "-p", name.rpartition("/")[0]))
            lines.append(quote("ln", "-sf", pushed.remote, name))
        done = run_shell(self._server, self.device_id, " && ".join(lines))
        if done.returncode:
            raise DeviceError(
                f"Cannot prepare the run on the phone: {done.stderr.strip()[:300]}",
                hint="Check its free space.",
            )

    def _hello(self, request: RunRequest, info: DeviceInfo, runtime: str) -> Hello:
        """The host's own `hello`: the runner on the phone knows only itself and its runtime."""
        target = request.settings.target
        settings: dict[str, Any] = msgspec.to_builtins(request.settings)
        device: dict[str, Any] = msgspec.to_builtins(info)
        return Hello(
            runner="ort_runner 1" if target == "ort/cpu" else "benchmark_model",
            runtime=runtime,
            target=request.settings.target,
            device_id=self.device_id,
            wall_time=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            is_simulated=info.is_simulated,
            artifact_sha256=request.artifact_sha256 or hash_file(Path(request.artifact_path)),
            artifact_format=request.artifact_format,
            artifact_path=Path(request.artifact_path).name,
            settings=settings,
            device=device,
            tool_versions={target.partition("/")[0]: runtime.rpartition(" ")[2]} if runtime else {},
        )
