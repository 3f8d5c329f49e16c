"""Job: times every node of a file on this computer with the runtime's own profiler, and keeps the profile.

The inference is timed without the profiler first, so that the profile says what the profiler costs.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from datetime import datetime, timezone
from pathlib import Path

from studio import paths
from studio.artifact import hash_file
from studio.backends.backend import Array, LoadedModel
from studio.backends.explain import tool_error
from studio.backends.profile import Asked, Kernel, Trace, profiler_of
from studio.backends.registry import open_backend
from studio.devices.device import RunSettings, check_run_settings
from studio.devices.stream import Inference
from studio.devices.this_computer import DEVICE_ID
from studio.devices.this_computer_sensors import cpu_name
from studio.errors import InputError, StudioError, UnsupportedError
from studio.graph import Graph, node_costs, open_graph
from studio.graph.op_family import op_family
from studio.jobs.deploy import default_target
from studio.jobs.job import Report
from studio.jobs.model_inputs import InputData, assumed_sizes, made_up_refused, samples_for
from studio.jobs.timing import measure
from studio.measure.fact_file import save_fact
from studio.measure.measurement import LatencyStats
from studio.measure.node_profile import PROFILE, NodeProfile, NodeTime, RuntimeTime
from studio.measure.statistics import latency_stats
from studio.records import Record
from studio.targets import find_target

RUNS = 30
_LEADING = frozenset({"conv", "deconv", "matmul", "lstm", "gru", "rnn", "attention"})
_NOT_LEADING = ("QuantizeLinear", "DequantizeLinear", "Cast", "Transpose", "Reshape")


class ProfileNodes(Record):
    """Which file, how, on which inputs. `target` "" = the CPU of the file's runtime; `runs_dir` "" = the
    studio's own folder."""

    path: str
    target: str = ""
    threads: int = 1
    runs: int = RUNS
    warmup_runs: int = 3
    inputs: InputData = InputData()
    runs_dir: str = ""


class NodesProfiled(Record):
    """Where the profile is (`measure.node_profile.NodeProfile`)."""

    fact_path: str
    sha256: str


def run(spec: ProfileNodes, report: Report) -> NodesProfiled:
    """The profile's file. A job that fails or is stopped leaves none.

    Raises UnsupportedError when the target cannot run or be profiled here, InputError for inputs that
    do not fit, ToolError when the file does not run.
    """
    path = Path(spec.path).absolute()
    report.progress("Reading the graph", 0)
    graph = open_graph(path)
    target = spec.target or default_target(graph.format)
    _check(spec, graph, target)
    profiler = profiler_of(find_target(target).runtime)
    report.progress("Loading the model", 0)
    backend = open_backend(find_target(target).runtime)
    probe = backend.probe()
    if not probe.is_available:
        raise UnsupportedError(f"{probe.title} is not on this computer: {probe.reason}", hint=probe.fix)
    model = backend.load(path, target=target, threads=spec.threads)
    samples = samples_for(model.inputs, spec.inputs, 1)
    feeds = samples.feeds(0)
    try:
        plain = _plain_ns(model, feeds, spec, report)
        report.progress("Profiling the nodes", 0)
        with tempfile.TemporaryDirectory(prefix="profile-", dir=paths.cache_dir()) as folder:
            trace = profiler(
                Asked(
                    path=path,
                    graph=graph,
                    target=target,
                    threads=spec.threads,
                    feeds=feeds,
                    runs=spec.runs,
                    warmup_runs=spec.warmup_runs,
                    folder=Path(folder),
                    should_stop=report.should_stop,
                )
            )
    except UnsupportedError:
        raise
    except StudioError as error:
        raise made_up_refused(samples, error) from None
    if report.should_stop() or not trace.whole_ns:
        raise InputError("The profile was stopped; nothing was kept.", hint="Start it again.")
    notes = (*assumed_sizes(model.inputs, spec.inputs), *trace.notes)
    wall_time = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    runtime = f"{probe.title} {probe.version.split(',')[0]}".strip()
    profile = _profile(spec, graph, path, trace, plain, samples.origin, wall_time, target, runtime, notes)
    place = Path(spec.runs_dir) if spec.runs_dir else paths.data_dir() / "runs"
    fact = save_fact(place, PROFILE, profile, wall_time=wall_time, hashes=(profile.sha256,))
    return NodesProfiled(fact_path=str(fact), sha256=profile.sha256)


def _check(spec: ProfileNodes, graph: Graph, target: str) -> None:
    if graph.format not in find_target(target).formats:
        raise InputError(
            f"{target} does not run .{graph.format} files.",
            hint=f"Formats of {target}: {', '.join(find_target(target).formats) or 'none'}.",
        )
    check_run_settings(_settings(spec, target), field="--")


def _settings(spec: ProfileNodes, target: str) -> RunSettings:
    return RunSettings(
        target=target, threads=spec.threads, warmup_runs=spec.warmup_runs, runs=spec.runs, seconds=0.0
    )


def _plain_ns(model: LoadedModel, feeds: dict[str, Array], spec: ProfileNodes, report: Report) -> list[int]:
    """Nanoseconds of each inference without the profiler."""
    report.progress("Timing without the profiler", 0)
    found: list[int] = []

    def take(*records: object) -> None:
        found.extend(r.latency_ns for r in records if isinstance(r, Inference))

    try:
        model.bind(feeds)
        for _ in range(max(spec.warmup_runs, 1)):
            model.invoke()
        measure(model.invoke, _settings(spec, model.target_ran), take, report.should_stop)
    except StudioError:
        raise
    except Exception as error:  # any runtime, any reason
        raise tool_error(
            f"{model.target_ran} fails while running the file.", str(error), tools=(model.target_ran,)
        ) from None
    return found


def _profile(
    spec: ProfileNodes,
    graph: Graph,
    path: Path,
    trace: Trace,
    plain_ns: list[int],
    inputs: str,
    wall_time: str,
    target: str,
    runtime: str,
    notes: tuple[str, ...],
) -> NodeProfile:
    whole = sum(_stats(k.times_ns).p50 for k in trace.kernels if not k.is_inside)
    macs = node_costs(graph).macs
    timed = [kernel for kernel in trace.kernels if kernel.nodes]
    nodes = [
        NodeTime(
            nodes=(order := _leading_first(kernel.nodes, graph, macs.tolist())),
            names=tuple(graph.label(node) for node in order),
            op=graph.node_op[order[0]],
            kernel=kernel.op if kernel.op == kernel.name else f"{kernel.op} {kernel.name}".strip(),
            latency_ms=_stats(kernel.times_ns),
            share=_share(_stats(kernel.times_ns).p50, whole),
            is_inside=kernel.is_inside,
        )
        for kernel in timed
        if any(kernel.times_ns) or not kernel.is_inside  # a branch that was not taken is not timed
    ]
    sha256 = graph.file_sha256 or hash_file(path)
    return NodeProfile(
        file=path.name,
        format=graph.format,
        sha256=sha256,
        target=target,
        target_ran=trace.target_ran,
        evidence=trace.evidence,
        device_id=DEVICE_ID,
        device_name=cpu_name() or "This computer",
        runtime=runtime,
        threads=spec.threads,
        warmup_runs=spec.warmup_runs,
        wall_time=wall_time,
        inputs=inputs,
        latency_ms=_stats(plain_ns),
        profiled_ms=_stats(trace.whole_ns),
        sum_ms=whole,
        nodes=tuple(sorted(nodes, key=lambda n: -n.latency_ms.p50)),
        runtime_work=_runtime_work([k for k in trace.kernels if not k.nodes], whole),
        folded=trace.folded,
        notes=notes,
    )


def _leading_first(nodes: tuple[int, ...], graph: Graph, macs: list[int]) -> tuple[int, ...]:
    """The node that a fused kernel is mostly about, then the others in order: a convolution or product, else
    the one with the most MACs, else the first that does more than rearrange."""

    def weight(node: int) -> tuple[bool, int, bool, int]:
        op = graph.node_op[node]
        return op_family(op) in _LEADING, macs[node], op not in _NOT_LEADING, -node

    lead = max(nodes, key=weight)
    return (lead, *(node for node in nodes if node != lead))


def _runtime_work(kernels: list[Kernel], whole: float) -> tuple[RuntimeTime, ...]:
    """What belongs to no node, one row per operator and reason."""
    groups: dict[tuple[str, str, bool], list[Kernel]] = defaultdict(list)
    for kernel in kernels:
        if any(kernel.times_ns):
            groups[kernel.op, kernel.why, kernel.is_inside].append(kernel)
    rows = []
    for (op, why, is_inside), members in groups.items():
        times = [sum(parts) for parts in zip(*(kernel.times_ns for kernel in members))]
        rows.append(
            RuntimeTime(
                op=op,
                why=why,
                kernels=len(members),
                latency_ms=_stats(times),
                share=_share(_stats(times).p50, whole),
                is_inside=is_inside,
            )
        )
    return tuple(sorted(rows, key=lambda row: -row.share))


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def _stats(times_ns: list[int]) -> LatencyStats:
    found = latency_stats(times_ns)
    assert found is not None
    return found


__all__ = ["RUNS", "NodesProfiled", "ProfileNodes", "run"]
