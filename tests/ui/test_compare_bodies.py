"""Comparing where one stage looks into a body: both sides show bodies that face each other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from models import save_branches
from onnx import helper
from pytestqt.qtbot import QtBot

from studio.graph.diff import diff_graphs
from studio.graph.facing import facing_body
from studio.graph.read_onnx import read_onnx

Open = Callable[..., Any]


def save_with_more_inside(path: Path) -> Path:
    """The model with bodies, a Relu more in the else branch."""
    model = onnx.load(str(save_branches(path)))
    body = next(a.g for a in model.graph.node[5].attribute if a.name == "else_branch")
    body.node.insert(0, helper.make_node("Relu", ["d"], ["dd"], name="inner_extra"))
    body.node[1].input[0] = "dd"
    onnx.save(model, str(path))
    return path


@pytest.fixture
def compared(qtbot: QtBot, open_inline: Open, tmp_path: Path) -> Any:
    """The window on both; the first was looked into after they were compared."""
    studio = open_inline(save_with_more_inside(tmp_path / "one.onnx"))
    session, area = studio.session, studio.window.stage_area
    qtbot.waitUntil(lambda: session.opened is not None, timeout=60_000)
    session.open_beside(save_branches(tmp_path / "other.onnx"))
    qtbot.waitUntil(lambda: session.opened is not None, timeout=60_000)
    area.show_tab("compare")
    qtbot.waitUntil(lambda: area._compare.table.rowCount() > 0, timeout=60_000)
    look_into(studio, "else_branch")
    return studio


def look_into(studio: Any, attribute: str, *, stage: int = 0) -> None:
    """Shows a body in the tab of a stage, then turns to the comparison."""
    session, area = studio.session, studio.window.stage_area
    area.show_tab(session.stages[stage].id)
    bodies = [body.attribute for body in session.opened.graph.subgraphs]
    area.graph_view.show_subgraph(bodies.index(attribute))
    area.show_tab("compare")


def shown(studio: Any) -> list[tuple[str, list[str]]]:
    """For each side: the body that is shown, and the operators that are drawn."""
    found = []
    for canvas, opened in zip(studio.window.stage_area._compare.canvas.sides, opened_of(studio)):
        drawn = canvas.scene.layout.node_item >= 0
        ops = [op for op, is_drawn in zip(canvas.scene.graph.node_op, drawn) if is_drawn]
        found.append((opened.graph.subgraphs[opened.view.subgraph].attribute, ops))
    return found


def opened_of(studio: Any) -> list[Any]:
    stages = studio.session.stages
    return [stages[0].opened, stages[-1].opened]


def test_the_other_side_turns_to_the_body_that_faces(compared: Any) -> None:
    assert shown(compared) == [("else_branch", ["Relu", "Tanh"]), ("else_branch", ["Tanh"])]


def test_a_removed_row_is_shown_beside_the_body_where_it_was(compared: Any) -> None:
    compare = compared.window.stage_area._compare
    look_into(compared, "then_branch", stage=-1)
    assert shown(compared) == [("then_branch", ["Sigmoid"])] * 2
    row = next(r for r in range(compare.table.rowCount()) if compare.table.change(r).kind == "removed")
    compare._go(row)
    assert shown(compared) == [("else_branch", ["Relu", "Tanh"]), ("else_branch", ["Tanh"])]
    assert compare.canvas.first.selected_node == compare.table.change(row).node_a
    for canvas in compare.canvas.sides:
        left, top = canvas.viewport.to_screen(canvas.scene.left[0], canvas.scene.top[0])
        assert 0 <= left < canvas.width() and 0 <= top < canvas.height()


def test_the_bread_crumb_leads_both_sides_out(compared: Any) -> None:
    canvas = compared.window.stage_area._compare.canvas.second
    canvas._panels.crumbs[0].go()
    assert [opened.view.subgraph for opened in opened_of(compared)] == [0, 0]


def test_the_tab_of_a_stage_shows_what_comparing_turned_to(compared: Any) -> None:
    area = compared.window.stage_area
    area.show_tab(compared.session.stages[-1].id)
    scene, opened = area.graph_view.canvas.scene, opened_of(compared)[1]
    assert opened.view.subgraph and scene.layout is opened.layout


def test_counts_stay_together_with_their_words(compared: Any) -> None:
    words = compared.window.stage_area._compare._counts.text().split(" ")
    assert words == ["8\N{NO-BREAK SPACE}same", "·", "0\N{NO-BREAK SPACE}changed", "·",
                     "0\N{NO-BREAK SPACE}added", "·", "1\N{NO-BREAK SPACE}removed"]  # fmt: skip


def test_bodies_face_each_other_by_attribute_and_the_graph_around_when_gone(tmp_path: Path) -> None:
    graph = read_onnx(save_branches(tmp_path / "both.onnx"))
    match = diff_graphs(graph, graph).match_a
    assert [facing_body(graph, graph, match, body) for body in range(3)] == [0, 1, 2]
    match[graph.node_subgraph > 0] = -1  # the nodes inside are gone, the If is not
    assert [facing_body(graph, graph, match, body) for body in range(3)] == [0, 1, 2]
    match[:] = -1
    assert [facing_body(graph, graph, match, body) for body in range(3)] == [0, 0, 0]
