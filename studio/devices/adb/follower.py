"""The stream of a run on a phone: the runner's lines and the phone's telemetry, as records."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np

from studio.devices.adb import sync
from studio.devices.adb.detached import DetachedRun, Line, LinkChanged, News, Over
from studio.devices.adb.preparation import OPTIMIZED, TRACE, Preparation, prepare
from studio.devices.adb.server import LinkLost
from studio.devices.adb.telemetry import Telemetry
from studio.devices.device import RunRequest
from studio.devices.stream import (
    End,
    Fault,
    Hello,
    Inference,
    Loaded,
    Output,
    Phase,
    Profiled,
    Sample,
    StreamRecord,
    decode_record,
)
from studio.devices.stream_errors import error_of
from studio.errors import DeviceError, InputError, StudioError

_HARD_STOP_SECONDS = 10.0


class RunFollower:
    """Turns the news of a detached run and the phone's telemetry into one stream of records."""

    greets = True  # whether the runner itself says hello

    def __init__(
        self,
        run: DetachedRun,
        request: RunRequest,
        *,
        name: str,
        inputs: str,
        hello: Callable[[str], Hello],
    ) -> None:
        self._run, self._request, self._name, self._inputs, self._hello = run, request, name, inputs, hello
        self._news: queue.SimpleQueue[News | BaseException | Sample] = queue.SimpleQueue()
        self._runs = 0
        self._last_t_ns = 0
        self._end: End | None = None
        self._fault: Fault | None = None
        self._outputs: list[Output] = []
        self._profiled: Profiled | None = None
        self._is_lost = False

    @staticmethod
    def prepare(request: RunRequest, scratch: Path) -> Preparation:
        """What the runner needs besides itself."""
        return prepare(request, scratch)

    def records(self, should_stop: Callable[[], bool]) -> Iterator[StreamRecord]:
        """Every record; then the outputs are pulled, `End` is told, and faults become errors."""
        leave = threading.Event()
        follower = threading.Thread(target=self._run.follow, args=(self._news, leave), daemon=True)
        telemetry = Telemetry(
            self._run.server, self._run.serial, pid_file=self._run.pid_file,
            hz=self._request.settings.sample_hz, on_sample=self._news.put,
        )  # fmt: skip
        follower.start()
        telemetry.start()
        is_finished = False
        try:
            yield from self._until_over(should_stop)
            is_finished = True
        finally:
            leave.set()
            telemetry.stop()
            follower.join(timeout=5.0)
            self._leave(is_finished)
        yield from self._close()

    def _until_over(self, should_stop: Callable[[], bool]) -> Iterator[StreamRecord]:
        has_hello = not self.greets
        if has_hello:
            yield self._hello("")
        asked_at: float | None = None
        while True:
            if should_stop():
                asked_at = self._stop(asked_at)
            try:
                item = self._news.get(timeout=0.1)
            except queue.Empty:
                continue
            if isinstance(item, Over):
                if self._end is None:
                    yield from self._left(item, has_hello, asked_at is not None)
                return
            if isinstance(item, BaseException):
                raise item
            for record in self._records_of(item):
                if isinstance(record, Hello):
                    has_hello = True
                elif not has_hello:
                    continue  # a sample that was faster than the runner
                if isinstance(record, Sample) and self._end is not None:
                    continue
                if isinstance(record, End):
                    self._end = record  # told last, after the outputs have come
                    continue
                yield record

    def _records_of(self, item: News | Sample) -> Iterator[StreamRecord]:
        if isinstance(item, Sample):
            yield item
        elif isinstance(item, LinkChanged):
            self._is_lost = item.is_lost
            name = "link lost" if item.is_lost else "link back"
            yield Phase(t_ns=self._last_t_ns, name=name, detail=item.reason)
        elif isinstance(item, Line):
            yield from self._record_of(item.text)

    def _record_of(self, line: bytes) -> Iterator[StreamRecord]:
        if line.startswith(b'{"type":"hello"'):
            said = msgspec.json.decode(line)
            runtime = str(said.get("runtime", ""))
            yield self._hello(runtime)
            return
        if not line.startswith(b"{"):
            return  # a library that prints to stdout
        try:
            record = decode_record(line, where=f"runner on {self._run.serial}")
        except InputError:
            return
        self._last_t_ns = getattr(record, "t_ns", self._last_t_ns)
        if isinstance(record, Inference):
            self._runs += 1
        elif isinstance(record, Fault):
            self._fault = record
        elif isinstance(record, Output):
            self._outputs.append(record)
            path = Path(self._request.outputs_dir) / record.path
            record = msgspec.structs.replace(record, path=str(path))
        elif isinstance(record, Profiled):
            record = self._profiled = msgspec.structs.replace(record, path=self._request.profile_dir)
        yield record
        if isinstance(record, Loaded):
            yield Phase(t_ns=record.t_ns, name="inputs", detail=self._inputs)

    def _stop(self, asked_at: float | None) -> float:
        now = time.monotonic()
        if asked_at is None:
            self._try_stop(hard=False)
            return now
        if self._is_lost and now - asked_at > _HARD_STOP_SECONDS / 2:
            raise LinkLost(
                "The run could not be stopped: the phone is away.",
                hint=f"It goes on there, in {self._run.folder}.",
            )
        if now - asked_at > _HARD_STOP_SECONDS:
            self._try_stop(hard=True)
            return now
        return asked_at

    def _try_stop(self, *, hard: bool) -> None:
        with contextlib.suppress(StudioError):  # the link is lost: asked again when it is back
            self._run.stop(hard=hard)

    def _left(self, over: Over, has_hello: bool, was_asked: bool) -> Iterator[StreamRecord]:
        """The runner left without `end`."""
        if not has_hello:
            yield self._hello("")
        if was_asked:
            self._end = End(t_ns=self._last_t_ns, reason="stopped", runs=self._runs)
            return
        yield from self._crash(over.returncode)

    def _crash(self, code: int | None) -> Iterator[StreamRecord]:
        """The fault of a runner that ended badly, in words; `End` is told later."""
        how = "was ended by the phone" if code is None else f"left with exit code {code}"
        hint = "Its last lines say why."
        if code is not None and code > 128:
            how = f"was ended by signal {code - 128}"
            hint = "Probably out of memory." if code == 137 else "The runtime crashed on this model."
        self._fault = Fault(
            t_ns=self._last_t_ns,
            message=f"The runner on {self._name} {how}.",
            hint=hint,
            detail=self._run.last_words(),
        )
        yield self._fault
        self._end = End(t_ns=self._last_t_ns, reason="failed", runs=self._runs)

    def _leave(self, is_finished: bool) -> None:
        """Ends what is left on the phone and removes the folder, when the phone can be reached."""
        try:
            if not is_finished:
                self._run.stop(hard=True)
            else:
                if self._request.outputs_dir and self._outputs:
                    self._pull_outputs()
                if self._request.profile_dir and self._profiled is not None:
                    self._pull_profile(Path(self._request.profile_dir))
            self._run.remove()
        except LinkLost:
            pass  # it is away; its next deploy finds the folder and the user can clean

    def _pull_profile(self, folder: Path) -> None:
        """Fetches the runtime's trace, and the graph that it speaks of where the runtime changed it."""
        folder.mkdir(parents=True, exist_ok=True)
        names = (TRACE, OPTIMIZED) if self._request.artifact_format == "onnx" else (TRACE,)
        for name in names:
            sync.pull(self._run.server, self._run.serial, f"{self._run.folder}/{name}", folder / name)

    def _pull_outputs(self) -> None:
        """Fetches `outputs.bin` and cuts it into one raw file per output and sample."""
        folder = Path(self._request.outputs_dir)
        folder.mkdir(parents=True, exist_ok=True)
        whole = folder / "outputs.bin"
        sync.pull(self._run.server, self._run.serial, f"{self._run.folder}/outputs.bin", whole)
        with whole.open("rb") as file:
            for output in self._outputs:
                size = int(np.prod(output.shape)) * np.dtype(output.dtype).itemsize
                data = file.read(size)
                if len(data) < size:
                    raise DeviceError("The outputs arrived cut from the phone.", hint="Run again.")
                (folder / Path(output.path).name).write_bytes(data)
        whole.unlink()

    def _close(self) -> Iterator[StreamRecord]:
        if self._end is not None:
            yield self._end
        if self._fault is not None:
            raise error_of(self._fault)
