"""Partitions: the runs of nodes that an accelerator gets, as the runtime forms them.

Runtimes walk the graph in topological order and alternate between taken and not taken nodes: a
*phase* ends when no more taken nodes are ready. Sources: onnxruntime/core/providers/partitioning_utils.cc
(CreateSupportedPartitions), tflite/core/graph_info.cc (PartitionGraphIntoIndependentNodeSubsets),
torch/fx/passes/infra/partitioner.py (CapabilityBasedPartitioner).
"""

from __future__ import annotations

from collections import deque
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.graph.cost import Costs
from studio.graph.graph import Graph, Ints
from studio.support.lowered import lowered
from studio.support.verdict import Partition

Mask = npt.NDArray[np.bool_]


class Wiring:
    """A graph's data flow for partitioning, without the nodes that folding removes; made once."""

    def __init__(self, graph: Graph, folded: Mask) -> None:
        self.graph = graph
        self.folded = folded
        source, target, tensor = graph.edges
        same = ~folded[source] & ~folded[target] if len(source) else np.zeros(0, np.bool_)
        self.source, self.target, self.tensor = source[same], target[same], tensor[same]
        self.lowered = lowered(graph)
        self._phases: dict[tuple[bytes, str], Ints] = {}

    @cached_property
    def before(self) -> list[list[int]]:
        """For every node, in topological order of use, the nodes it waits for."""
        result: list[list[int]] = [[] for _ in range(self.graph.node_count)]
        for a, b in zip(self.source.tolist(), self.target.tolist(), strict=True):
            result[b].append(a)
        return result

    @cached_property
    def after(self) -> list[list[int]]:
        """For every node the nodes that read it."""
        result: list[list[int]] = [[] for _ in range(self.graph.node_count)]
        for a, b in zip(self.source.tolist(), self.target.tolist(), strict=True):
            result[a].append(b)
        return result

    @cached_property
    def order(self) -> list[int]:
        """A topological order; nodes of cycles come last, in file order."""
        count = self.graph.node_count
        waiting = np.bincount(self.target, minlength=count)
        if len(self.source) == 0 or bool(np.all(self.source < self.target)):
            return list(range(count))
        after = self.after
        left = waiting.tolist()
        ready = deque(i for i, n in enumerate(left) if n == 0)
        order: list[int] = []
        while ready:
            node = ready.popleft()
            order.append(node)
            for b in after[node]:
                left[b] -= 1
                if left[b] == 0:
                    ready.append(b)
        if len(order) < count:
            done = set(order)
            order += [i for i in range(count) if i not in done]
        return order

    def phases(self, taken: Mask, style: str, vanished: Mask | None = None) -> Ints:
        """The partition of every node, numbered from 0 in order of their first phase; −1 = in none.

        `vanished` nodes (fused, removed) neither make nor cut a partition: they go with what feeds them,
        else with what reads them. A compiled call is a partition of its own, with all that is inside of it.
        """
        if vanished is not None and vanished.any():
            taken = self._adopted(taken, vanished)
        key = (np.packbits(taken).tobytes(), style)
        known = self._phases.get(key)
        if known is None:
            compiled = self.lowered.call_of >= 0
            known = self._find(taken & ~compiled, style)
            if compiled.any():
                known = self.lowered.partitions(taken, known)
            self._phases[key] = known
        return known

    def _adopted(self, taken: Mask, vanished: Mask) -> Mask:
        """`taken` with each vanished node counted to its neighbour's side."""
        sides: list[bool | None] = [None if v else bool(t) for t, v in zip(taken.tolist(), vanished.tolist())]
        for node in self.order:
            if sides[node] is None:
                sides[node] = next((sides[p] for p in self.before[node] if sides[p] is not None), None)
        for node in reversed(self.order):
            if sides[node] is None:
                sides[node] = next((sides[r] for r in self.after[node] if sides[r] is not None), None)
        return np.asarray([bool(side) for side in sides], np.bool_)

    def _find(self, taken: Mask, style: str) -> Ints:
        result = np.full(self.graph.node_count, -1, np.int32)
        if not taken.any():
            return result
        if style == "whole":  # one refused node fails the whole conversion
            if bool((taken | self.folded).all()):
                result[taken] = 0
            return result
        phase = [0] * self.graph.node_count
        before, is_taken = self.before, taken.tolist()
        both = style == "epochs"
        for node in self.order:
            mine = is_taken[node]
            best = 0
            for p in before[node]:
                step = phase[p]
                if is_taken[p] != mine and (both or not mine):
                    step += 1
                if step > best:
                    best = step
            if both and best == 0 and not mine:
                best = 1  # the first epoch is the taken kind's here; its parity only numbers them
            phase[node] = best
        columns = np.asarray(phase, np.int64)
        if style == "connected":
            columns = self._components(taken, columns)
        _, index = np.unique(columns[taken], return_inverse=True)
        result[taken] = index.astype(np.int32)
        return result

    def _components(self, taken: Mask, phase: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Phases split into connected parts: a number per node, ordered by phase."""
        parent = list(range(self.graph.node_count))

        def root(node: int) -> int:
            while parent[node] != node:
                parent[node] = parent[parent[node]]
                node = parent[node]
            return node

        inner = taken[self.source] & taken[self.target] & (phase[self.source] == phase[self.target])
        for a, b in zip(self.source[inner].tolist(), self.target[inner].tolist(), strict=True):
            ra, rb = root(a), root(b)
            if ra != rb:
                parent[max(ra, rb)] = min(ra, rb)
        roots = np.asarray([root(i) for i in range(self.graph.node_count)], np.int64)
        return phase * self.graph.node_count + roots


def describe(wiring: Wiring, partition_of: Ints, costs: Costs | None) -> tuple[Partition, ...]:
    """The partitions with their nodes, MACs, weights and the bytes that cross their borders."""
    count = int(partition_of.max(initial=-1)) + 1
    if count == 0:
        return ()
    inside = np.flatnonzero((partition_of >= 0) & ~wiring.lowered.inside)  # a call stands for what is in it
    order = inside[np.argsort(partition_of[inside], kind="stable")]
    ends = np.cumsum(np.bincount(partition_of[inside], minlength=count))
    macs = weights = np.zeros(count, np.int64)
    unknown = set(range(count))
    if costs is not None:
        macs = _sums(partition_of, costs.macs, count)
        blind = np.unique(partition_of[(partition_of >= 0) & (costs.macs < 0)])
        unknown = set(blind.tolist())
        weights = _sums(partition_of, costs.weight_bytes, count)
    bytes_in, bytes_out, unsized = _borders(wiring, partition_of, count)
    start = 0
    result = []
    for index in range(count):
        end = int(ends[index])
        result.append(
            Partition(
                nodes=tuple(order[start:end].tolist()),
                macs=None if index in unknown else int(macs[index]),
                weight_bytes=int(weights[index]),
                boundary_in_bytes=int(bytes_in[index]),
                boundary_out_bytes=int(bytes_out[index]),
                unknown_sizes=int(unsized[index]),
            )
        )
        start = end
    return tuple(result)


def _sums(partition_of: Ints, values: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    known = (partition_of >= 0) & (values > 0)
    sums = np.bincount(partition_of[known], weights=values[known].astype(np.float64), minlength=count)
    return np.minimum(sums, float(1 << 62)).astype(np.int64)


def _borders(wiring: Wiring, partition_of: Ints, count: int) -> tuple[Any, Any, Any]:
    """Bytes of the distinct activations that enter and leave each partition, unknown sizes as 0; and how
    many of them have no known size."""
    graph = wiring.graph
    sizes = np.maximum(graph.tensor_bytes, 0).astype(np.float64)
    crossing = partition_of[wiring.source] != partition_of[wiring.target]
    tensor, source, target = wiring.tensor[crossing], wiring.source[crossing], wiring.target[crossing]
    owner_in, owner_out = partition_of[target], partition_of[source]
    readers = np.repeat(np.arange(graph.node_count), np.diff(graph.input_offsets))
    ends = [(tensor[owner_in >= 0], owner_in[owner_in >= 0])]
    inputs = set(graph.main_inputs())
    if inputs:
        fed = np.isin(graph.input_tensors, np.fromiter(inputs, np.int64)) & (partition_of[readers] >= 0)
        ends.append((graph.input_tensors[fed], partition_of[readers[fed]]))
    starts = [(tensor[owner_out >= 0], owner_out[owner_out >= 0])]
    results = np.asarray([t for t in graph.main_outputs() if 0 <= t < graph.tensor_count], np.int64)
    if len(results):
        makers = graph.producer_of[results]
        made = (makers >= 0) & (partition_of[makers] >= 0)
        starts.append((results[made], partition_of[makers[made]]))
    unsized = (graph.tensor_bytes < 0).astype(np.float64)
    return (
        _distinct(ends, sizes, count),
        _distinct(starts, sizes, count),
        _distinct(ends + starts, unsized, count),
    )


def _distinct(pairs: list[tuple[Any, Any]], sizes: npt.NDArray[np.float64], count: int) -> Any:
    tensor = np.concatenate([p[0] for p in pairs]).astype(np.int64)
    owner = np.concatenate([p[1] for p in pairs]).astype(np.int64)
    if not len(tensor):
        return np.zeros(count, np.int64)
    keys = np.unique(tensor * count + owner)
    return np.bincount(keys % count, weights=sizes[keys // count], minlength=count).astype(np.int64)
