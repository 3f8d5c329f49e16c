"""Times the nodes of a file on a phone: ONNX Runtime by its trace, LiteRT by `benchmark_model`'s table.

ONNX Runtime's trace has every inference, so it gives percentiles. `benchmark_model` prints means only:
such a profile says so, and has no percentiles of single nodes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from studio import paths
from studio.backends.backend import InputInfo
from studio.backends.op_profile import kernels_of, parse_op_profile
from studio.backends.profile import Trace
from studio.backends.profile_ort import fitting_runs, read_trace, with_names
from studio.devices.device import RunRequest, RunSettings
from studio.devices.registry import open_device
from studio.devices.stream import Hello, Inference, Loaded, Phase, Placement, Profiled, StreamRecord, Summary
from studio.errors import InputError, ToolError
from studio.graph import Graph
from studio.jobs import runner
from studio.jobs.job import Report
from studio.jobs.model_inputs import InputData, assumed_sizes, samples_for
from studio.jobs.profile_record import Timed, latency_of
from studio.measure.node_profile import NodeLatency, Statistic
from studio.targets import find_target

_MEANS_ONLY = "Only means are told by benchmark_model: single nodes have no percentiles."
_OWN_INPUTS = "The inputs are those of benchmark_model; the data that was named is not used."


def profile_on_phone(
    path: Path, graph: Graph, settings: RunSettings, device_id: str, inputs: InputData, report: Report
) -> Timed:
    """The nodes' times on a phone.

    Raises DeviceError, UnsupportedError for a target that no runner there serves, ToolError when the run gave
    no profile, InputError for inputs that do not fit or when it was stopped.
    """
    device = open_device(device_id, runner_command=runner.command())
    info = device.identify()
    with tempfile.TemporaryDirectory(prefix="profile-", dir=paths.cache_dir()) as name:
        folder = Path(name)
        request = RunRequest(
            artifact_path=str(path),
            artifact_format=graph.format,
            artifact_sha256=graph.file_sha256,
            settings=settings,
            profile_dir=str(folder / "profile"),
        )
        named, origin, notes = graph, "made by the runner", tuple[str, ...]()
        if find_target(settings.target).runtime == "ort":
            request, named, origin, notes = _with_inputs(request, path, graph, inputs, folder)
        elif inputs.data is not None:
            notes = (_OWN_INPUTS,)
        told = _follow(device.run(request, on_push=_pushing(report), should_stop=report.should_stop), report)
        if report.should_stop():
            raise InputError("The profile was stopped; nothing was kept.", hint="Start it again.")
        profiled = next((r for r in told if isinstance(r, Profiled)), None)
        loaded = next((r for r in told if isinstance(r, Loaded)), None)
        if profiled is None or loaded is None or not profiled.runs:
            raise ToolError("The phone's runner gave no profile.", hint="Its build may have no profiler.")
        take = _of_trace if profiled.form == "onnxruntime" else _of_table
        timed = take(told, profiled, loaded, named, Path(request.profile_dir))
    hello = next((r for r in told if isinstance(r, Hello)), None)
    return replace(
        timed,
        inputs=origin,
        device_id=device_id,
        device_name=info.name,
        runtime=(hello.runtime or hello.runner) if hello is not None else "",
        is_simulated=info.is_simulated,
        notes=(*notes, *timed.notes),
    )


def _with_inputs(
    request: RunRequest, path: Path, graph: Graph, inputs: InputData, folder: Path
) -> tuple[RunRequest, Graph, str, tuple[str, ...]]:
    """The request with inputs and a name of its own for every node; the graph so named, where the inputs are
    from, and notes."""
    declared = [
        InputInfo(name=graph.tensor_name[t], dtype=graph.tensor_dtype[t], shape=graph.tensor_shape[t] or ())
        for t in graph.main_inputs()
    ]
    samples = samples_for(declared, inputs, 1)
    place = folder / "inputs.npz"
    np.savez(place, **samples.feeds(0))  # type: ignore[arg-type]
    content, named = with_names(path, graph)
    if content is not None:
        path = folder / "named" / path.name
        path.parent.mkdir()
        path.write_bytes(content.SerializeToString())
        _bring_weights(graph, Path(request.artifact_path).parent, path.parent)
    runs, notes = fitting_runs(request.settings.runs, graph)
    request = msgspec.structs.replace(
        request,
        artifact_path=str(path),
        inputs_path=str(place),
        input_samples=1,
        settings=msgspec.structs.replace(request.settings, runs=runs),
    )
    return request, named, samples.origin, (*assumed_sizes(declared, inputs), *notes)


def _bring_weights(graph: Graph, source: Path, folder: Path) -> None:
    """External data beside the renamed file: linked where the disk allows it."""
    for name in sorted({d.path for d in graph.tensor_data.values() if d.path}):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source / name, folder / name)
        except OSError:
            shutil.copyfile(source / name, folder / name)


def _follow(records: Iterator[StreamRecord], report: Report) -> list[StreamRecord]:
    """Everything that the run told, but for telemetry."""
    told: list[StreamRecord] = []
    for record in records:
        if isinstance(record, Phase) and record.name in ("measure", "profile"):
            named = record.name == "profile"
            report.progress("Profiling the nodes" if named else "Timing without the profiler", 0)
        if isinstance(record, (Hello, Loaded, Inference, Summary, Placement, Profiled)):
            told.append(record)
    return told


def _pushing(report: Report) -> Callable[[int, int], None]:
    return lambda done, total: report.progress("pushing", done, total, "bytes")


def _of_trace(
    told: list[StreamRecord], profiled: Profiled, loaded: Loaded, graph: Graph, folder: Path
) -> Timed:
    """ONNX Runtime's trace: every inference of every kernel."""
    optimized = folder / "optimized.onnx"
    kernels, folded, whole = read_trace(
        folder / "trace.json", graph, optimized if optimized.is_file() else None, profiled.runs
    )
    plain = [r.latency_ns for r in told if isinstance(r, Inference)]
    if not whole or not plain:
        raise ToolError("The phone's trace holds no inference.", hint="Profile again.")
    return _timed(
        Trace(
            kernels=kernels,
            whole_ns=whole,
            target_ran=loaded.target_ran,
            evidence=loaded.evidence,
            folded=folded,
        ),
        latency_of(plain),
        latency_of(whole),
    )


def _of_table(
    told: list[StreamRecord], profiled: Profiled, loaded: Loaded, graph: Graph, folder: Path
) -> Timed:
    """The table of `benchmark_model`: the mean of every operator."""
    rows = parse_op_profile((folder / "op_profile.txt").read_text(encoding="utf-8"))
    placement = next((r for r in told if isinstance(r, Placement)), None)
    taken = [n.index for n in placement.nodes if n.is_taken] if placement is not None else []
    said = {r.name: r for r in told if isinstance(r, Summary)}
    if "measure" not in said or "profiled" not in said:
        raise ToolError("No times of whole inferences came from benchmark_model.", hint="Profile again.")
    timed = _timed(
        Trace(
            kernels=kernels_of(rows, graph, taken),
            whole_ns=[],
            target_ran=loaded.target_ran,
            evidence=loaded.evidence,
        ),
        _latency_of(said["measure"]),
        _latency_of(said["profiled"]),
    )
    return replace(timed, statistic=Statistic.MEAN, notes=(_MEANS_ONLY,))


def _timed(trace: Trace, plain: NodeLatency, profiled: NodeLatency) -> Timed:
    return Timed(
        trace=trace, plain=plain, profiled=profiled, inputs="", device_id="", device_name="", runtime=""
    )


def _latency_of(summary: Summary) -> NodeLatency:
    """A tool's own figures; the median only where it tells one."""
    return NodeLatency(
        mean=summary.mean_ns / 1e6,
        n=summary.count,
        p50=None if summary.median_ns is None else summary.median_ns / 1e6,
        std=None if summary.std_ns is None else summary.std_ns / 1e6,
    )
