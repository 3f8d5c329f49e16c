"""NodeProfile: how long each node of a file took on a device, as the runtime's own profiler tells it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from studio.records import Choice, Record

PROFILE = "profile"
"""The kind of its fact file (`fact_file`)."""


class Statistic(Choice):
    """Which figure of a profile's times is shown: what the profiler tells of single nodes."""

    P50 = "p50"
    MEAN = "mean"


class NodeLatency(Record):
    """Latency in milliseconds over n inferences; what the profiler does not tell is None, never made up."""

    mean: float
    n: int
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    std: float | None = None

    def figure(self, statistic: Statistic) -> float:
        """The figure of that name; the mean where it is not told."""
        return self.p50 if statistic is Statistic.P50 and self.p50 is not None else self.mean


class NodeTime(Record):
    """One kernel and the nodes that it computes; times are per inference, all its executions added up.

    `nodes`: indices into the file's graph, the one that carries the time first; more than one = fused.
    `share`: of the sum of all kernels. `is_inside`: it ran inside another listed node (a branch, a body,
    a delegate), so its time is already in that node's.
    """

    nodes: tuple[int, ...]
    names: tuple[str, ...]
    op: str
    kernel: str
    latency_ms: NodeLatency
    share: float
    is_inside: bool = False


class RuntimeTime(Record):
    """What ran and is no node of the file: layout changes, casts, or kernels that cannot be attributed."""

    op: str
    why: str
    kernels: int
    latency_ms: NodeLatency
    share: float
    is_inside: bool = False


class NodeProfile(Record):
    """One profile. `latency_ms` is the whole inference without the profiler, `profiled_ms` with it.

    `statistic`: which figure of the nodes' times counts, since some profilers tell means only.
    `sum_ms`: the sum of the kernels' figures; shares are of it. `folded`: nodes computed once, at load.
    No path of this machine is in it: it is shared with the project.
    """

    file: str
    format: str
    sha256: str
    target: str
    target_ran: str
    evidence: str
    device_id: str
    device_name: str
    runtime: str
    threads: int
    warmup_runs: int
    wall_time: str
    inputs: str
    latency_ms: NodeLatency
    profiled_ms: NodeLatency
    sum_ms: float
    nodes: tuple[NodeTime, ...]
    runtime_work: tuple[RuntimeTime, ...] = ()
    folded: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    statistic: Statistic = Statistic.P50
    is_simulated: bool = False

    @property
    def device(self) -> str:
        """The device's name, marked when its times are simulated."""
        return f"{self.device_name} (simulated)" if self.is_simulated else self.device_name

    @property
    def overhead(self) -> float:
        """How much longer an inference takes with the profiler: 0.1 = 10 %. Below 0 is noise."""
        both = self.latency_ms.p50 is not None and self.profiled_ms.p50 is not None
        statistic = Statistic.P50 if both else Statistic.MEAN
        plain = self.latency_ms.figure(statistic)
        return self.profiled_ms.figure(statistic) / plain - 1 if plain else 0.0

    @property
    def attributed(self) -> float:
        """The share of the kernels' time that belongs to nodes of the file, 0..1."""
        return sum(time.share for time in self.nodes if not time.is_inside)

    def is_about(self, sha256: str, node_count: int) -> bool:
        """Whether it is of the file with that hash, and every node that it names is there."""
        named = (*self.folded, *(node for time in self.nodes for node in time.nodes))
        return (
            bool(sha256)
            and self.sha256 == sha256
            and all(time.nodes and time.names for time in self.nodes)
            and all(0 <= node < node_count for node in named)
        )


def node_milliseconds(profile: NodeProfile, node_count: int) -> npt.NDArray[np.float64]:
    """[nodes] the time of each node, by the profile's statistic; NaN = not timed. Fused nodes: the first
    has it all, the others 0; folded ones 0."""
    found = np.full(node_count, np.nan)
    others = [node for time in profile.nodes for node in time.nodes[1:]]
    _set(found, (*profile.folded, *others), 0.0)
    for time in profile.nodes:
        if time.nodes and 0 <= time.nodes[0] < node_count:
            before = found[time.nodes[0]]
            found[time.nodes[0]] = time.latency_ms.figure(profile.statistic) + (
                0.0 if np.isnan(before) else before
            )
    return found


def latency_column(profile: NodeProfile, node_count: int) -> dict[str, npt.NDArray[np.float64]]:
    """The column of a table of nodes, named after the figure that it holds: `latency_p50_ms` or
    `latency_mean_ms`."""
    return {f"latency_{profile.statistic}_ms": node_milliseconds(profile, node_count)}


def _set(values: npt.NDArray[np.float64], nodes: Sequence[int], value: float) -> None:
    for node in nodes:
        if 0 <= node < len(values):
            values[node] = value
