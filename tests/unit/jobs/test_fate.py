"""What became of each node: by name, by number, as the file says, and traced back to where it came from."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from studio.devices.stream import Hello, PlacedNode
from studio.jobs.fate import fate_of, trace
from studio.measure.evidence import RunEvidence, Share
from tests.unit.support.conftest import Sketch


def chain(ops: tuple[str, ...], names: tuple[str, ...]) -> Any:
    """A graph of operators in a row."""
    s = Sketch()
    tensor = s.input(1, 4)
    for op in ops:
        tensor = s.node(op, [tensor], (1, 4))
    graph = s.graph(tensor)
    graph.node_name[:] = list(names)
    return graph


def run_of(share: Share, *nodes: PlacedNode) -> RunEvidence:
    hello = Hello(runner="r", runtime="x", target="litert/gpu", device_id="d", wall_time="2026-11-30")
    return RunEvidence(Path("r"), hello, share, nodes=nodes)


def placed(index: int, op: str, is_taken: bool, name: str = "") -> PlacedNode:
    return PlacedNode(name=name, op=op, is_taken=is_taken, index=index)


def test_all_or_none_is_every_node_and_counts_are_none() -> None:
    graph = chain(("Relu", "Erf"), ("a", "b"))
    assert fate_of(graph, run_of(Share.ALL)) == {0: True, 1: True}
    assert fate_of(graph, run_of(Share.NONE)) == {0: False, 1: False}
    assert fate_of(graph, run_of(Share.COUNTS)) == {}


def test_numbers_without_operators_count_when_the_known_ones_fit() -> None:
    graph = chain(("Relu", "Erf", "Tanh"), ("", "", ""))
    fits = (placed(0, "", True), placed(1, "Erf", False), placed(2, "", True))
    assert fate_of(graph, run_of(Share.NODES, *fits)) == {0: True, 1: False, 2: True}
    other = (placed(0, "", True), placed(1, "Tanh", False), placed(2, "", True))
    assert fate_of(graph, run_of(Share.NODES, *other)) == {}


def test_names_are_found_with_their_operator() -> None:
    graph = chain(("Relu", "Erf"), ("a", "b"))
    nodes = (placed(-1, "Relu", True, "a"), placed(-1, "Tanh", False, "b"), placed(-1, "X", True, "c"))
    assert fate_of(graph, run_of(Share.NODES, *nodes)) == {0: True}


def test_mixed_fates_are_traced_by_name_only_and_one_fate_to_all() -> None:
    source = chain(("Relu", "Erf", "Tanh"), ("a", "b", "c"))
    made = chain(("Relu", "Erf", "Tanh"), ("a", "renamed", "c"))
    for graph in (source, made):
        graph.tensor_name[:] = [str(i) for i in range(graph.tensor_count)]  # numbers: no names
    assert trace(source, made, {0: True, 1: False, 2: True}) == {0: True, 2: True}
    assert trace(source, made, {0: True, 1: True, 2: True}) == {0: True, 1: True, 2: True}


def test_a_node_of_several_parts_needs_all_of_them() -> None:
    source = chain(("Gelu",), ("g",))
    made = chain(("Erf", "Mul"), ("e", "m"))
    origin = SimpleNamespace(original="", module="net.act", file="net.py", line=7)
    source.node_provenance[0] = origin
    made.node_provenance.update({0: origin, 1: origin})
    assert trace(source, made, {0: True, 1: False}) == {0: False}


@pytest.mark.parametrize("taken", [True, False])
def test_a_pte_file_says_by_its_delegates(taken: bool) -> None:
    graph = chain(("XnnpackBackend", "aten.cumsum.out"), ("delegate 0", ""))
    graph.node_domain[:] = ["delegate" if taken else "", ""]
    assert fate_of(graph, run_of(Share.FILE)) == {0: taken, 1: False}
