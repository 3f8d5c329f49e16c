"""Paths through a graph: nodes of a pattern, and the nodes between two nodes."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph, Ints

Bools = npt.NDArray[np.bool_]


def match_path(graph: Graph, steps: Sequence[Bools | int]) -> Bools:
    """True for the nodes of every path that follows the steps along data edges.

    A step is a mask of the nodes that may stand there, or a number n: between one and n nodes of any kind.
    """
    source, target, _ = graph.edges
    everything = np.ones(graph.node_count, np.bool_)
    masks: list[tuple[Bools, int]] = [
        (everything, step) if isinstance(step, int) else (step, 1) for step in steps
    ]
    # forward[k][j]: nodes that can be the j-th node of step k on some path from the first step
    forward: list[list[Bools]] = []
    for k, (mask, most) in enumerate(masks):
        if k == 0:
            layer = [mask.copy()]
        else:
            start = np.zeros(graph.node_count, np.bool_)
            for before in forward[-1]:
                start |= _after(before, source, target)
            layer = [start & mask]
        for _ in range(most - 1):
            layer.append(_after(layer[-1], source, target) & mask)
        forward.append(layer)
    result = np.zeros(graph.node_count, np.bool_)
    alive: Bools | None = None  # nodes of the step below that are on a complete path
    for layer in reversed(forward):
        onward = None if alive is None else _after(alive, target, source)
        kept = np.zeros(graph.node_count, np.bool_)
        entry = np.zeros(graph.node_count, np.bool_)
        for at_place in reversed(layer):  # `entry` ends as what is kept at the step's first place
            here = at_place if onward is None else at_place & onward
            entry = here | (at_place & _after(entry, target, source))
            kept |= entry
        result |= kept
        alive = entry
    return result


def nodes_between(graph: Graph, start: int, end: int) -> list[int]:
    """The nodes on all paths from one node to the other, either way, both included; none without a path."""
    offsets, targets = _followers(graph)
    back_offsets, sources = _predecessors(graph)
    for a, b in ((start, end), (end, start)):
        down = _reach(a, offsets, targets, graph.node_count)
        if down[b]:
            return np.flatnonzero(down & _reach(b, back_offsets, sources, graph.node_count)).tolist()
    return []


def _after(mask: Bools, source: Ints, target: Ints) -> Bools:
    """The nodes one edge on from those in the mask."""
    result = np.zeros(len(mask), np.bool_)
    result[target[mask[source]]] = True
    return result


_forward: WeakKeyDictionary[Graph, tuple[list[int], list[int]]] = WeakKeyDictionary()
_backward: WeakKeyDictionary[Graph, tuple[list[int], list[int]]] = WeakKeyDictionary()


def _followers(graph: Graph) -> tuple[list[int], list[int]]:
    if graph not in _forward:
        source, target, _ = graph.edges
        _forward[graph] = _csr(source, target, graph.node_count)
    return _forward[graph]


def _predecessors(graph: Graph) -> tuple[list[int], list[int]]:
    if graph not in _backward:
        source, target, _ = graph.edges
        _backward[graph] = _csr(target, source, graph.node_count)
    return _backward[graph]


def _csr(key: Ints, value: Ints, size: int) -> tuple[list[int], list[int]]:
    order = np.argsort(key, kind="stable")
    return np.searchsorted(key[order], np.arange(size + 1)).tolist(), value[order].tolist()


def _reach(start: int, offsets: list[int], targets: list[int], size: int) -> Bools:
    """The nodes that can be reached from `start`, itself included."""
    seen = np.zeros(size, np.bool_)
    seen[start] = True
    stack = [start]
    while stack:
        node = stack.pop()
        for target in targets[offsets[node] : offsets[node + 1]]:
            if not seen[target]:
                seen[target] = True
                stack.append(target)
    return seen
