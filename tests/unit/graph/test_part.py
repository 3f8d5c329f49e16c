"""A part of a graph as a graph, and two alike blocks compared."""

from __future__ import annotations

from collections.abc import Callable

from studio.graph import Graph
from studio.graph.diff import ChangeKind
from studio.graph.part import diff_scopes, nodes_of_scope, part_of
from studio.graph.scopes import scope_tree

MakeGraph = Callable[..., Graph]


def two_layers(make_graph: MakeGraph) -> Graph:
    rows = [
        ("Conv", ["x", "w0"], ["a0"]), ("Relu", ["a0"], ["b0"]), ("Add", ["b0", "x"], ["y0"]),
        ("Conv", ["y0", "w1"], ["a1"]), ("Relu", ["a1"], ["b1"]), ("Add", ["b1", "y0"], ["y1"]),
    ]  # fmt: skip
    return make_graph(
        rows,
        inputs=["x"],
        outputs=["y1"],
        constants=["w0", "w1"],
        scopes=["l/0", "l/0/act", "l/0", "l/1", "l/1/act", "l/1"],
        names=[f"/l/{k}/{n}" for k in "01" for n in ("conv", "act/relu", "add")],
        attributes=[{"group": 1}, {}, {}, {"group": 2}, {}, {}],
    )


def test_part_has_the_interface_of_its_cut(make_graph: MakeGraph) -> None:
    graph = two_layers(make_graph)
    layer = next(s for s in range(scope_tree(graph).size) if scope_tree(graph).path(s) == "l/1")
    nodes = nodes_of_scope(graph, layer)
    part = part_of(graph, nodes)
    assert nodes == [3, 4, 5] and part.node_op == ["Conv", "Relu", "Add"]
    assert part.node_name == ["conv", "act/relu", "add"]
    assert [part.tensor_name[t] for t in part.main_inputs()] == ["y0"]
    assert [part.tensor_name[t] for t in part.main_outputs()] == ["y1"]
    assert part.edges[0].tolist() == [0, 1]


def test_alike_blocks_are_compared_node_by_node(make_graph: MakeGraph) -> None:
    graph = two_layers(make_graph)
    tree = scope_tree(graph)
    first, second = (next(s for s in range(tree.size) if tree.path(s) == f"l/{k}") for k in "01")
    ours, theirs, diff = diff_scopes(graph, first, graph, second)
    assert [theirs[j] for j in diff.match_a.tolist()] == [3, 4, 5] and ours == [0, 1, 2]
    assert [(c.kind, c.before, c.after) for c in diff.changes] == [(ChangeKind.ATTRIBUTE, "1", "2")]


def test_empty_part_is_an_empty_graph(make_graph: MakeGraph) -> None:
    assert part_of(two_layers(make_graph), []).node_count == 0
