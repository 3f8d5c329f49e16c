"""The order of a view's nodes is made once, and a saved one gives the same drawing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from studio.errors import InputError
from studio.graph import Graph, walked
from studio.graph.layout import lay_out
from studio.graph.view import GraphView
from studio.graph.walked import load_walk, save_walk

MakeGraph = Callable[..., Graph]
ROWS = [
    ("A", ["x"], ["a"]), ("B", ["a"], ["b"]), ("C", ["x"], ["c"]),
    ("D", ["b", "d"], ["d"]), ("E", ["d", "c"], ["e"]),
]  # fmt: skip
SCOPES = ["s", "", "s", "s/t", ""]


def make(make_graph: MakeGraph) -> Graph:
    return make_graph(ROWS, inputs=["x"], outputs=["e"], scopes=SCOPES)


def test_opening_a_scope_does_not_walk_again(make_graph: MakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = make(make_graph)
    lay_out(graph, GraphView(collapsed=frozenset({1})))
    counted = []
    real = walked.scope_order
    monkeypatch.setattr(walked, "scope_order", lambda *a: counted.append(1) or real(*a))
    opened = lay_out(graph, GraphView(collapsed=frozenset({2})))
    assert not counted
    fresh = lay_out(make(make_graph), GraphView(collapsed=frozenset({2})))
    assert np.array_equal(opened.edge_points, fresh.edge_points)
    lay_out(graph, GraphView(hide_constants=False))
    assert len(counted) == 2, "the fresh graph and the view that shows more"


def test_a_saved_walk_gives_the_same_drawing(make_graph: MakeGraph, tmp_path: Path) -> None:
    view = GraphView(collapsed=frozenset({2}))
    graph, other = make(make_graph), make(make_graph)
    wanted = lay_out(graph, view)
    save_walk(graph, view, tmp_path / "walk")
    load_walk(other, tmp_path / "walk")
    found = lay_out(other, view)
    assert np.array_equal(found.edge_points, wanted.edge_points)
    assert np.array_equal(found.edge_is_portal, wanted.edge_is_portal)


def test_a_walk_of_another_graph_is_refused(make_graph: MakeGraph, tmp_path: Path) -> None:
    save_walk(make(make_graph), GraphView(), tmp_path / "walk")
    other = make_graph(ROWS[:3], inputs=["x"], outputs=["c"])
    with pytest.raises(InputError, match="another graph"):
        load_walk(other, tmp_path / "walk")
    with pytest.raises(InputError):
        load_walk(other, tmp_path / "none")
