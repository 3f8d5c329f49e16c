"""Bodies (If branches, Loop bodies) in a layout: closed, opened in place, looked into."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from studio.graph import Graph, Subgraph, hidden
from studio.graph.layout import ItemKind, Layout, lay_out
from studio.graph.scopes import bodies_of, frame_words, scope_tree, toggle_bodies
from studio.graph.view import GraphView

MakeGraph = Callable[..., Graph]


@pytest.fixture
def branching(make_graph: MakeGraph) -> Graph:
    """x → Relu → If(c) → Add; its branches read the Relu's result from outside; one has a Loop inside."""
    rows = [
        ("Relu", ["x"], ["r"]),  # 0
        ("If", ["c"], ["i"]),  # 1
        ("Add", ["i", "x"], ["y"]),  # 2
        ("Neg", ["r"], ["n"]),  # 3, then
        ("Abs", ["n"], ["a"]),  # 4, then
        ("Loop", ["r"], ["l"]),  # 5, else
        ("Exp", ["s"], ["e"]),  # 6, body of the Loop
    ]
    graph = make_graph(rows, inputs=["x", "c"], outputs=["y"])
    number = graph.tensor_name.index
    graph.node_subgraph[:] = [0, 0, 0, 1, 1, 2, 3]
    graph.subgraphs += [
        Subgraph(name="g1", parent_node=1, attribute="then_branch", outputs=(number("a"),)),
        Subgraph(name="g2", parent_node=1, attribute="else_branch", outputs=(number("l"),)),
        Subgraph(
            name="g3",
            parent_node=5,
            attribute="body",
            inputs=(number("s"),),
            outputs=(number("e"), number("s")),
        ),
    ]
    return graph


def edges_of(layout: Layout) -> set[tuple[int, int]]:
    return set(zip(layout.edge_source.tolist(), layout.edge_target.tolist()))


def test_closed_body_shows_what_it_reads_as_read_by_its_node(branching: Graph) -> None:
    layout = lay_out(branching, GraphView())
    assert (layout.node_item >= 0).tolist() == [True] * 3 + [False] * 4
    assert (layout.node_item[0], layout.node_item[1]) in edges_of(layout)


def test_inputs_of_a_closed_body_are_not_inputs_of_what_is_around_it(branching: Graph) -> None:
    def pills(view: GraphView) -> set[str]:
        layout = lay_out(branching, view)
        refs = layout.item_ref[layout.item_kind == ItemKind.INPUT]
        return {branching.tensor_name[t] for t in refs.tolist()}

    assert pills(GraphView()) == {"x", "c"}  # the Loop's own input “s” is nothing that the graph is given
    assert pills(GraphView(subgraph=2)) == {"r"}  # read from outside by the body in it
    assert pills(GraphView(subgraph=3)) == {"s"}


def test_opened_bodies_are_frames_whose_results_flow_into_their_node(branching: Graph) -> None:
    view = toggle_bodies(branching, GraphView(), 1)
    assert view.opened == {1, 2}
    layout = lay_out(branching, view)
    item = layout.node_item
    assert (item[[0, 1, 2, 3, 4, 5]] >= 0).all() and item[6] < 0
    found = edges_of(layout)
    for a, b in ((0, 3), (3, 4), (4, 1), (0, 5), (5, 1), (1, 2)):
        assert (item[a], item[b]) in found
    assert (item[0], item[1]) not in found, "the branches are open: they read it themselves"
    scopes = sorted(layout.frame_scope.tolist())
    assert scopes == [scope_tree(branching).size + 1, scope_tree(branching).size + 2]
    assert frame_words(branching, scopes[0]) == ("then_branch", "If")
    assert toggle_bodies(branching, view, 1) == GraphView()


def test_bodies_open_inside_of_opened_bodies(branching: Graph) -> None:
    layout = lay_out(branching, GraphView(opened=frozenset({1, 2, 3})))
    assert (layout.node_item >= 0).all()
    pills = layout.item_ref[layout.item_kind == ItemKind.INPUT]
    assert branching.tensor_name.index("s") in pills.tolist()
    assert np.isfinite(layout.edge_points).all()


def test_body_within_a_closed_one_stays_closed(branching: Graph) -> None:
    layout = lay_out(branching, GraphView(opened=frozenset({3})))
    assert layout.node_item[6] < 0


def test_looked_into_body_shows_what_comes_from_outside_as_inputs(branching: Graph) -> None:
    layout = lay_out(branching, GraphView(subgraph=1))
    assert (layout.node_item >= 0).tolist() == [False] * 3 + [True] * 2 + [False] * 2
    pills = layout.item_ref[layout.item_kind == ItemKind.INPUT].tolist()
    assert pills == [branching.tensor_name.index("r")]
    assert bodies_of(branching, 1) == [1, 2] and bodies_of(branching, 0) == []


def test_bodies_that_hang_on_each_other_do_not_hang(branching: Graph) -> None:
    branching.subgraphs[1] = Subgraph(name="g1", parent_node=3, attribute="a")
    branching.subgraphs[2] = Subgraph(name="g2", parent_node=99, attribute="b")
    for view in (GraphView(), GraphView(opened=frozenset({1, 2, 3, 77})), GraphView(subgraph=1)):
        assert np.isfinite(lay_out(branching, view).item_x).all()


def test_hidden_nodes_are_sought_as_often_with_many_open_bodies_as_with_none(
    branching: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    sought = []
    real = hidden.constant_nodes
    monkeypatch.setattr(hidden, "constant_nodes", lambda graph: sought.append(1) or real(graph))
    lay_out(branching, GraphView())
    closed = len(sought)
    assert (lay_out(branching, GraphView(opened=frozenset({1, 2, 3}))).node_item >= 0).all()
    assert closed and len(sought) == 2 * closed
