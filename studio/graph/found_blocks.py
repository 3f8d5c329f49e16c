"""Blocks found in a graph that has no scopes: the repeated stretches between single-tensor cuts.

Where only one short-lived tensor passes from what is above to what is below, the graph can be cut.
Stretches between cuts get a structural hash; runs of stretches that repeat become blocks, long runs
are gathered in a parent, and what is left of a big graph is divided into parts.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph
from studio.graph.hidden import constant_nodes

Ints = npt.NDArray[np.int32]

MIN_GRAPH = 40  # nodes below which nobody needs blocks
MIN_BLOCK = 4  # nodes that a block has at least
LONG = 128  # nodes; a tensor that lives longer does not hinder a cut
MAX_PERIOD = 64  # stretches that a repeated block has at most
GATHER = 8  # alike neighbours from which on they get a parent
PART = 60  # nodes of a part of what is left


@dataclass(slots=True)
class FoundBlocks:
    """Scopes as columns, as in a Graph; scope 0 is the root."""

    name: list[str]
    type: list[str]
    parent: Ints
    node_scope: Ints


def find_blocks(graph: Graph) -> FoundBlocks:
    """The blocks of the main graph; only the root when nothing repeats and the graph is small."""
    found = FoundBlocks([""], [""], np.full(1, -1, np.int32), np.zeros(graph.node_count, np.int32))
    in_main = graph.node_subgraph == 0 if len(graph.node_subgraph) else np.ones(graph.node_count, np.bool_)
    nodes = np.flatnonzero(in_main & ~constant_nodes(graph)).astype(np.int32)
    if len(nodes) < MIN_GRAPH:
        return found
    source, target = _local_edges(graph, nodes)
    if (source >= target).any():
        return found  # not in topological order
    bounds = _cuts(len(nodes), source, target)
    codes = _stretch_codes(graph, nodes, source, target, bounds)
    _Namer(graph, nodes, bounds, found).add(_repeats(codes, bounds))
    return found


def _local_edges(graph: Graph, nodes: Ints) -> tuple[Ints, Ints]:
    """The edges between these nodes, by place in `nodes`."""
    place = np.full(graph.node_count, -1, np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    source, target, _ = graph.edges
    source, target = place[source], place[target]
    keep = (source >= 0) & (target >= 0)
    return source[keep], target[keep]


def _cuts(size: int, source: Ints, target: Ints) -> Ints:
    """Places where a stretch ends (exclusive), 0 and `size` included."""
    last = np.arange(size, dtype=np.int32)
    np.maximum.at(last, source, target)
    short = last - np.arange(size) <= LONG
    change = np.zeros(size + 1, np.int64)
    live = np.flatnonzero(short & (last > np.arange(size)))
    np.add.at(change, live + 1, 1)
    np.add.at(change, last[live] + 1, -1)
    passing = np.cumsum(change)[1:size]  # values that pass from place i to i + 1
    return np.concatenate([[0], np.flatnonzero(passing <= 1) + 1, [size]]).astype(np.int32)


def _stretch_codes(graph: Graph, nodes: Ints, source: Ints, target: Ints, bounds: Ints) -> Ints:
    """A number per stretch; equal numbers have equal operators and inner wiring."""
    codes: dict[bytes, int] = {}
    ops: dict[str, int] = {}
    op = np.array([ops.setdefault(graph.node_op[n], len(ops)) for n in nodes.tolist()], np.int32)
    order = np.lexsort((source, target))
    source, target = source[order], target[order]
    first = np.searchsorted(target, bounds)
    result = np.zeros(len(bounds) - 1, np.int32)
    for i in range(len(result)):
        a, b = int(bounds[i]), int(bounds[i + 1])
        inner = slice(int(first[i]), int(first[i + 1]))
        wires = np.stack([np.maximum(source[inner] - a, -1), target[inner] - a])
        key = op[a:b].tobytes() + b"|" + wires.tobytes()
        if len(key) > 64:
            key = hashlib.blake2b(key, digest_size=16).digest()
        result[i] = codes.setdefault(key, len(codes))
    return result


def _repeats(codes: Ints, bounds: Ints) -> list[tuple[int, int, int]]:
    """(first stretch, stretches per block, blocks) of the best repeated runs, without overlap, in order."""
    candidates: list[tuple[int, int, int, int]] = []
    for period in range(1, min(MAX_PERIOD, len(codes) // 2) + 1):
        same = np.concatenate([[False], codes[:-period] == codes[period:], [False]])
        edges = np.flatnonzero(same[1:] != same[:-1])
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist()):
            count = (end - start) // period + 1
            if count < 2 or bounds[start + period] - bounds[start] < MIN_BLOCK:
                continue
            covered = int(bounds[start + period * count] - bounds[start])
            candidates.append((covered, start, period, count))
    candidates.sort(key=lambda c: (-c[0], c[2], c[1]))
    taken = np.zeros(len(codes), np.bool_)
    chosen = []
    for _, start, period, count in candidates:
        if not taken[start : start + period * count].any():
            taken[start : start + period * count] = True
            chosen.append((start, period, count))
    return sorted(chosen)


class _Namer:
    """Turns runs into scopes with names and types."""

    def __init__(self, graph: Graph, nodes: Ints, bounds: Ints, found: FoundBlocks) -> None:
        self.graph = graph
        self.nodes = nodes
        self.bounds = bounds
        self.found = found
        self.parents = [-1]
        self.blocks = 0

    def add(self, runs: list[tuple[int, int, int]]) -> None:
        parts_wanted = len(self.nodes) > 10 * PART
        at = 0
        for start, period, count in [*runs, (len(self.bounds) - 1, 1, 0)]:
            if parts_wanted:
                self._parts(int(self.bounds[at]), int(self.bounds[start]))
            parent = 0
            if count > GATHER:
                one = self._summary(int(self.bounds[start]), int(self.bounds[start + period]))
                name = f"blocks {self.blocks + 1}–{self.blocks + count}"
                parent = self._scope(name, f"{count} × {one}", 0)
            for k in range(count):
                a = int(self.bounds[start + k * period])
                b = int(self.bounds[start + (k + 1) * period])
                self.blocks += 1
                scope = self._scope(f"block {self.blocks}", self._summary(a, b), parent)
                self.found.node_scope[self.nodes[a:b]] = scope
            at = start + period * count
        self.found.parent = np.array(self.parents, np.int32)

    def _parts(self, first: int, last: int) -> None:
        """Divides an unrepeated stretch of places into parts."""
        if last - first < PART:
            return
        count = round((last - first) / PART)
        marks = np.linspace(first, last, count + 1).astype(int)
        inner = np.searchsorted(self.bounds, marks[1:-1])
        cuts = sorted({first, last, *(int(self.bounds[i]) for i in inner if first < self.bounds[i] < last)})
        for a, b in pairwise(cuts):
            scope = self._scope(f"part {len(self.found.name)}", self._summary(a, b), 0)
            self.found.node_scope[self.nodes[a:b]] = scope

    def _scope(self, name: str, kind: str, parent: int) -> int:
        self.found.name.append(name)
        self.found.type.append(kind)
        self.parents.append(parent)
        return len(self.parents) - 1

    def _summary(self, first: int, last: int) -> str:
        """The most frequent operators of a stretch: `Conv ×3, Relu ×2, Add`."""
        counts = Counter(self.graph.node_op[n] for n in self.nodes[first:last].tolist())
        words = [f"{op} ×{n}" if n > 1 else op for op, n in counts.most_common(3)]
        return ", ".join(words) + ("…" if len(counts) > 3 else "")
