"""Partitions as runtimes form them, against a slow and obvious model of the same walk."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from studio.graph.builder import GraphBuilder
from studio.graph.graph import Graph
from studio.support.partitions import Wiring, describe


def random_dag(edges: list[tuple[int, int]], count: int) -> Graph:
    b = GraphBuilder("onnx")
    body = b.subgraph("main")
    outputs = [b.tensor(f"o{i}", "float32", (4,)) for i in range(count)]
    for i in range(count):
        sources = sorted({a for a, c in edges if c == i and a < i})
        b.node("Relu", [outputs[a] for a in sources], [outputs[i]])
    b.close_subgraph(body, [], outputs[-1:])
    return b.finish()


def onnxruntime_walk(graph: Graph, taken: list[bool]) -> list[set[int]]:
    """CreateSupportedPartitions of onnxruntime, written down step by step."""
    wiring = Wiring(graph, np.zeros(graph.node_count, np.bool_))
    after: list[list[int]] = [[] for _ in taken]
    for node, before in enumerate(wiring.before):
        for b in before:
            after[b].append(node)
    degree = [len(b) for b in wiring.before]
    ready = deque(i for i, d in enumerate(degree) if d == 0)
    later: deque[int] = deque()
    group: set[int] = set()
    border: set[int] = set()
    groups: list[set[int]] = []
    while ready or later:
        if not ready:
            if group:
                groups.append(group)
            group, border = set(), set()
            ready, later = later, ready
            continue
        node = ready.popleft()
        if not taken[node] and node in border:
            later.append(node)
            continue
        if taken[node]:
            group.add(node)
            border.discard(node)
            border.update(after[node])
        for b in after[node]:
            degree[b] -= 1
            if degree[b] == 0:
                ready.append(b)
    if group:
        groups.append(group)
    return groups


@given(
    count=st.integers(1, 12),
    edges=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30),
    bits=st.integers(0, 2**12 - 1),
)
def test_phases_are_the_groups_of_onnxruntime(count: int, edges: Any, bits: int) -> None:
    graph = random_dag([(a, b) for a, b in edges if a < b < count], count)
    taken = [bool(bits >> i & 1) for i in range(count)]
    wiring = Wiring(graph, np.zeros(count, np.bool_))
    found = wiring.phases(np.asarray(taken, np.bool_), "phases")
    groups = [set(np.flatnonzero(found == i).tolist()) for i in range(int(found.max(initial=-1)) + 1)]
    assert groups == onnxruntime_walk(graph, taken)


def test_connected_partitions_are_not_joined_by_chance() -> None:
    graph = random_dag([(0, 1), (2, 3)], 4)
    wiring = Wiring(graph, np.zeros(4, np.bool_))
    found = wiring.phases(np.ones(4, np.bool_), "connected")
    assert found.tolist() == [0, 0, 1, 1]


def test_a_cycle_still_gets_partitions() -> None:
    b = GraphBuilder("onnx")
    body = b.subgraph("main")
    x, y = b.tensor("x", "float32", (1,)), b.tensor("y", "float32", (1,))
    b.node("Relu", [x], [y])
    b.node("Relu", [y], [x])
    b.close_subgraph(body, [], [y])
    graph = b.finish()
    wiring = Wiring(graph, np.zeros(2, np.bool_))
    found = wiring.phases(np.ones(2, np.bool_), "phases")
    assert len(describe(wiring, found, None)) >= 1


def test_unknown_sizes_at_a_border_are_counted() -> None:
    b = GraphBuilder("onnx")
    body = b.subgraph("main")
    x, y, z = (
        b.tensor("x", "float32", ("N", 4)),
        b.tensor("y", "float32", ("N", 4)),
        b.tensor("z", "float32", (4,)),
    )
    b.node("Relu", [x], [y])
    b.node("Relu", [y], [z])
    b.close_subgraph(body, [x], [z])
    graph = b.finish()
    wiring = Wiring(graph, np.zeros(2, np.bool_))
    first, second = describe(wiring, np.array([0, 1], np.int32), None)
    assert (first.boundary_in_bytes, first.boundary_out_bytes, first.unknown_sizes) == (0, 0, 2)
    assert (second.boundary_in_bytes, second.boundary_out_bytes, second.unknown_sizes) == (0, 16, 1)
