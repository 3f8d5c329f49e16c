"""Timed nodes → NodeProfile: shares, fused kernels' leading nodes, and what belongs to no node."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from studio.artifact import hash_file
from studio.backends.profile import Kernel, Trace
from studio.graph import Graph, node_costs
from studio.graph.op_family import op_family
from studio.measure.node_profile import NodeLatency, NodeProfile, NodeTime, RuntimeTime, Statistic
from studio.measure.statistics import latency_stats

_LEADING = frozenset({"conv", "deconv", "matmul", "lstm", "gru", "rnn", "attention"})
_NOT_LEADING = ("QuantizeLinear", "DequantizeLinear", "Cast", "Transpose", "Reshape")


@dataclass(frozen=True, slots=True)
class Timed:
    """A trace and what is told beside it: whole inferences without the profiler (`plain`) and with it."""

    trace: Trace
    plain: NodeLatency
    profiled: NodeLatency
    inputs: str
    device_id: str
    device_name: str
    runtime: str
    statistic: Statistic = Statistic.P50
    is_simulated: bool = False
    notes: tuple[str, ...] = ()


def latency_of(times_ns: list[int]) -> NodeLatency:
    """All figures of single times. They must be some."""
    found = latency_stats(times_ns)
    assert found is not None
    return NodeLatency(p50=found.p50, p90=found.p90, p99=found.p99, mean=found.mean, std=found.std, n=found.n)


def profile_record(
    timed: Timed, graph: Graph, path: Path, *, target: str, threads: int, warmup_runs: int, wall_time: str
) -> NodeProfile:
    """The profile of a file."""
    kernels = timed.trace.kernels
    whole = sum(_figure(k, timed) for k in kernels if not k.is_inside)
    macs = node_costs(graph).macs
    nodes = [
        NodeTime(
            nodes=(order := _leading_first(kernel.nodes, graph, macs.tolist())),
            names=tuple(graph.label(node) for node in order),
            op=graph.node_op[order[0]],
            kernel=kernel.op if kernel.op == kernel.name else f"{kernel.op} {kernel.name}".strip(),
            latency_ms=_latency([kernel], timed),
            share=_share(_figure(kernel, timed), whole),
            is_inside=kernel.is_inside,
        )
        for kernel in kernels
        if kernel.nodes and (_ran(kernel) or not kernel.is_inside)  # a branch not taken is not timed
    ]
    return NodeProfile(
        file=path.name,
        format=graph.format,
        sha256=graph.file_sha256 or hash_file(path),
        target=target,
        target_ran=timed.trace.target_ran,
        evidence=timed.trace.evidence,
        device_id=timed.device_id,
        device_name=timed.device_name,
        runtime=timed.runtime,
        threads=threads,
        warmup_runs=warmup_runs,
        wall_time=wall_time,
        inputs=timed.inputs,
        latency_ms=timed.plain,
        profiled_ms=timed.profiled,
        sum_ms=whole,
        nodes=tuple(sorted(nodes, key=lambda n: -n.latency_ms.figure(timed.statistic))),
        runtime_work=_runtime_work([k for k in kernels if not k.nodes], timed, whole),
        folded=timed.trace.folded,
        notes=(*timed.notes, *timed.trace.notes),
        statistic=timed.statistic,
        is_simulated=timed.is_simulated,
    )


def _ran(kernel: Kernel) -> bool:
    return any(kernel.times_ns) or kernel.mean_ns > 0


def _latency(kernels: list[Kernel], timed: Timed) -> NodeLatency:
    """The kernels' time together, per inference."""
    if timed.statistic is Statistic.MEAN:
        return NodeLatency(mean=sum(k.mean_ns for k in kernels) / 1e6, n=timed.profiled.n)
    return latency_of([sum(parts) for parts in zip(*(k.times_ns for k in kernels))])


def _figure(kernel: Kernel, timed: Timed) -> float:
    return _latency([kernel], timed).figure(timed.statistic)


def _leading_first(nodes: tuple[int, ...], graph: Graph, macs: list[int]) -> tuple[int, ...]:
    """The node that a fused kernel is mostly about, then the others in order: a convolution or product, else
    the one with the most MACs, else the first that does more than rearrange."""

    def weight(node: int) -> tuple[bool, int, bool, int]:
        op = graph.node_op[node]
        return op_family(op) in _LEADING, macs[node], op not in _NOT_LEADING, -node

    lead = max(nodes, key=weight)
    return (lead, *(node for node in nodes if node != lead))


def _runtime_work(kernels: list[Kernel], timed: Timed, whole: float) -> tuple[RuntimeTime, ...]:
    """What belongs to no node, one row per operator and reason."""
    groups: dict[tuple[str, str, bool], list[Kernel]] = defaultdict(list)
    for kernel in kernels:
        if _ran(kernel):
            groups[kernel.op, kernel.why, kernel.is_inside].append(kernel)
    rows = []
    for (op, why, is_inside), members in groups.items():
        latency = _latency(members, timed)
        rows.append(
            RuntimeTime(
                op=op,
                why=why,
                kernels=len(members),
                latency_ms=latency,
                share=_share(latency.figure(timed.statistic), whole),
                is_inside=is_inside,
            )
        )
    return tuple(sorted(rows, key=lambda row: -row.share))


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
