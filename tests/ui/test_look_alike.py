"""A model that a step made anew is shown as it was shown before."""

from __future__ import annotations

import numpy as np

from studio.graph import Graph
from studio.graph.layout import lay_out, places_of
from studio.graph.scopes import initial_view, scope_tree
from studio.graph.view import GraphView
from studio.ui.opened import look_alike
from studio.ui.stages import OpenedGraph
from tests.ui.canvas_graphs import graph_of


def stacked(blocks: int, removed: int = -1) -> Graph:
    """Blocks of 30 nodes, one scope each; one node left out."""
    count = 30 * blocks
    names = [f"node{i}" for i in range(count) if i != removed]
    scopes = [f"block{k}" for k in range(blocks)]
    node_scope = [1 + i // 30 for i in range(count) if i != removed]
    size = len(names)
    edges = [(i, i + 1) for i in range(size - 1)]
    return graph_of(edges, ops=["Relu"] * size, names=names, scopes=scopes, node_scope=node_scope)


def opened(graph: Graph, view: GraphView | None = None) -> OpenedGraph:
    view = view or initial_view(graph)
    return OpenedGraph(graph=graph, layout=lay_out(graph, view), view=view)


def test_a_changed_model_keeps_open_what_was_open_and_its_columns() -> None:
    before = opened(stacked(40))
    tree = scope_tree(before.graph)
    view = GraphView(collapsed=frozenset({tree.name.index(f"block{k}") for k in range(0, 40, 2)}))
    before.view, before.layout = view, lay_out(before.graph, view)
    after = opened(stacked(40, removed=777))
    assert after.view != view
    look_alike(after, before)
    names = scope_tree(after.graph).name
    assert {names[s] for s in after.view.collapsed} == {f"block{k}" for k in range(0, 40, 2)}
    starts = [before.graph.node_name[n] for n in before.layout.column_nodes.tolist()]
    assert len(starts) > 1
    assert [after.graph.node_name[n] for n in after.layout.column_nodes.tolist()] == starts
    assert np.isfinite(places_of(after.layout).node_x).all()


def test_another_model_is_shown_in_its_own_way() -> None:
    before = opened(stacked(40), GraphView())
    after = opened(stacked(40))
    after.graph.node_name = [f"other{i}" for i in range(after.graph.node_count)]
    view = after.view
    look_alike(after, before)
    assert after.view == view
    look_alike(after, None)
    assert after.view == view
