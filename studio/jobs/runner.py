"""The process that runs a model on this computer and streams one record per inference.

`python -m studio.jobs.runner`: the first line on stdin is a `RunnerSpec`
(`studio.devices.this_computer`); records leave as JSON lines on a private descriptor, since
libraries print to 1 and 2; end of stdin or SIGTERM means stop, which still leaves a whole stream.

Why a process of its own: a runtime that crashes costs one run, its memory is its own, and the
window's garbage does not disturb the clock. The timed loop itself is in `timing.py`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
import numpy.typing as npt

from studio import __version__
from studio.backends.backend import LoadedModel
from studio.backends.explain import tool_error
from studio.devices.device import RunSettings
from studio.devices.run_inputs import RunInputs, read_inputs
from studio.devices.stream import (
    End,
    Fault,
    Hello,
    Loaded,
    Output,
    Phase,
    PlacedNode,
    Placement,
    StreamRecord,
    Warm,
    encode_record,
)
from studio.devices.this_computer import RunnerSpec
from studio.errors import DeviceError, InputError, StudioError, UnsupportedError
from studio.jobs.timing import measure
from studio.paths import own_process
from studio.records import from_json

_ORPHAN_SECONDS = 30.0
"""How long the last call may take once stdin has ended."""


def command() -> tuple[str, ...]:
    """The argv that starts this runner: the interpreter, or the frozen app itself."""
    return own_process("runner", "studio.jobs.runner")


def backend_of(target: str) -> str:
    """The id of the backend that runs a target here: the target's runtime."""
    return target.split("/", maxsplit=1)[0]


class _Pipe:
    """Writes records to the private descriptor; buffers while the clock runs."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def send(self, *records: StreamRecord) -> None:
        self._file.write(b"".join(encode_record(r) for r in records))
        self._file.flush()


def run(spec: RunnerSpec, send: Callable[..., None], should_stop: Callable[[], bool]) -> End:
    """Loads, checks outputs, warms up, measures; sends every record, returns the last one.

    Raises StudioError when the model cannot be loaded or run; nothing after that is sent.
    """
    from studio.backends.registry import open_backend

    request, settings = spec.request, spec.request.settings
    backend = open_backend(backend_of(settings.target))
    probe = backend.probe()
    send(_hello(spec, probe.title or probe.backend_id, probe.version))
    if not probe.is_available:
        raise UnsupportedError(f"{probe.title} is not on this computer: {probe.reason}", hint=probe.fix)
    send(Phase(t_ns=time.monotonic_ns(), name="load"))
    started = time.perf_counter_ns()
    try:
        model = backend.load(Path(request.artifact_path), target=settings.target, threads=settings.threads)
    except UnsupportedError as error:
        send(Placement(t_ns=time.monotonic_ns(), refused=error.message))
        raise
    load_ns = time.perf_counter_ns() - started
    send(
        Loaded(
            t_ns=time.monotonic_ns(),
            load_ns=load_ns,
            target_ran=model.target_ran,
            evidence=model.evidence,
            delegated_nodes=model.delegated_nodes,
            total_nodes=model.total_nodes,
            rss_bytes=_status_bytes("VmRSS"),
        )
    )
    send(_placement(model))
    inputs = read_inputs(request, model.inputs)
    send(Phase(t_ns=time.monotonic_ns(), name="inputs", detail=inputs.description))
    try:
        if request.outputs_dir:
            _write_outputs(model, inputs, Path(request.outputs_dir), send, should_stop)
        model.bind(inputs.sample(0))
        _warm_up(model, settings, send, should_stop)
    except Exception as error:  # any runtime, any reason: made-up inputs are the likeliest one
        if not inputs.is_made_up:
            raise
        raise _made_up_failed(inputs, error) from error
    runs = 0
    if settings.runs > 0 or settings.seconds > 0:
        send(Phase(t_ns=time.monotonic_ns(), name="measure", detail=str(settings.mode)))
        runs = measure(model.invoke, settings, send, should_stop)
    reason = "stopped" if should_stop() else "done"
    return End(t_ns=time.monotonic_ns(), reason=reason, runs=runs, peak_rss_bytes=_status_bytes("VmHWM"))


def _placement(model: LoadedModel) -> Placement:
    return Placement(
        t_ns=time.monotonic_ns(),
        is_whole=model.is_whole,
        nodes=tuple(
            PlacedNode(name=n.name, op=n.op, is_taken=n.taken, index=n.index)
            for n in model.placed
            if n.taken is not None
        ),
    )


def _warm_up(
    model: LoadedModel, settings: RunSettings, send: Callable[..., None], should_stop: Callable[[], bool]
) -> None:
    latency = 0
    done = 0
    for _ in range(settings.warmup_runs):
        if should_stop():
            break
        begin = time.perf_counter_ns()
        model.invoke()
        latency = time.perf_counter_ns() - begin
        done += 1
    send(Warm(t_ns=time.monotonic_ns(), runs=done, latency_ns=latency))


def _write_outputs(
    model: LoadedModel,
    inputs: RunInputs,
    folder: Path,
    send: Callable[..., None],
    should_stop: Callable[[], bool],
) -> None:
    """One raw little-endian file per output and sample, and its record."""
    folder.mkdir(parents=True, exist_ok=True)
    send(Phase(t_ns=time.monotonic_ns(), name="outputs", detail=f"{inputs.count} samples"))
    for index in range(inputs.count):
        if should_stop():
            return
        for number, (name, array) in enumerate(model.run(inputs.sample(index)).items()):
            path = folder / f"{index:06d}-{number}.raw"
            raw: npt.NDArray[Any] = np.ascontiguousarray(array)
            raw.astype(raw.dtype.newbyteorder("<"), copy=False).tofile(path)
            send(
                Output(
                    t_ns=time.monotonic_ns(),
                    name=name,
                    dtype=raw.dtype.name,
                    shape=raw.shape,
                    path=str(path),
                    index=index,
                )
            )


def _hello(spec: RunnerSpec, runtime: str, version: str) -> Hello:
    request = spec.request
    settings: Mapping[str, Any] = msgspec.to_builtins(request.settings)
    return Hello(
        runner=f"deployment-studio {__version__}",
        runtime=f"{runtime} {version}".strip(),
        target=request.settings.target,
        device_id=spec.device_id,
        wall_time=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        artifact_sha256=request.artifact_sha256,
        artifact_format=request.artifact_format,
        artifact_path=Path(request.artifact_path).name,
        settings=dict(settings),
        tool_versions={backend_of(request.settings.target): version},
    )


def _status_bytes(key: str) -> int | None:
    """VmRSS or VmHWM of this process; not ru_maxrss, which survives exec from a bigger parent."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _made_up_failed(inputs: RunInputs, error: Exception) -> StudioError:
    """A model that refuses made-up inputs is not broken: it needs real ones."""
    sizes = f", or sizes for its open dimensions (--dim {inputs.open_dims[0]}=N)" if inputs.open_dims else ""
    return InputError(
        f"The model does not run on inputs {inputs.description}.",
        hint=f"Give real inputs as an .npz{sizes}. The runtime said: {str(error).splitlines()[0][:300]}",
    )


def _fault(error: BaseException, target: str) -> Fault:
    """Any exception as a record; what a runtime says is looked up in the catalogue of messages."""
    now = time.monotonic_ns()
    if isinstance(error, MemoryError):
        return Fault(t_ns=now, message="The model does not fit into memory.", hint="Use a smaller model.")
    if not isinstance(error, StudioError):
        error = tool_error(
            f"{type(error).__name__} in the runtime of {target}.", str(error), tools=(backend_of(target),)
        )
    kinds = {InputError: "input", UnsupportedError: "unsupported", DeviceError: "device"}
    return Fault(
        t_ns=now,
        message=error.message,
        hint=error.hint,
        error=next((name for cls, name in kinds.items() if isinstance(error, cls)), "tool"),
        nodes=getattr(error, "nodes", ()),
        detail="\n".join(getattr(error, "last_lines", ())),
    )


def main() -> int:
    """Process entry; the exit code is 0 when the stream ended whole, 1 after an error record."""
    private = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever libraries print goes to the log, not between the records
    pipe = _Pipe(private)
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    line = sys.stdin.buffer.readline()

    def watch() -> None:
        sys.stdin.buffer.read()
        stopping.set()
        # Whoever started us may be gone, and a runtime may sit in one call for ever: then nobody
        # would end this process.
        time.sleep(_ORPHAN_SECONDS)
        os._exit(1)

    target = "this model"
    try:
        spec = from_json(line, RunnerSpec, where="runner spec")
        target = spec.request.settings.target
        threading.Thread(target=watch, daemon=True).start()
        end = run(spec, pipe.send, stopping.is_set)
        pipe.send(end)
        return 0
    except BrokenPipeError:
        return 1
    except Exception as error:  # the edge of the process: everything becomes a record
        traceback.print_exc()  # into the log; the reader of the pipe gets the record
        pipe.send(_fault(error, target), End(t_ns=time.monotonic_ns(), reason="failed", runs=0))
        return 1


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # runtimes hang or crash in their destructors; the stream is already whole
