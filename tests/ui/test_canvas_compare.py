"""Two graphs side by side: they move and select together, and say what became of every node."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from studio.graph.diff import diff_graphs
from studio.ui.canvas import CompareCanvas
from tests.ui.canvas_graphs import chain, graph_of, laid_out


@pytest.fixture
def compare(qtbot: QtBot) -> CompareCanvas:
    """A chain of 12 against the same chain with a Softmax put in after the sixth node."""
    first = chain(12)
    ops = ["Conv" if i % 2 == 0 else "Relu" for i in range(12)]
    edges = [(i, i + 1) for i in range(5)] + [(5, 12), (12, 6)] + [(i, i + 1) for i in range(6, 11)]
    names = [f"node{i}" for i in range(12)]
    second = graph_of(edges, ops=[*ops, "Softmax"], names=[*names, "new"])
    compare = CompareCanvas()
    qtbot.addWidget(compare)
    compare.resize(1000, 500)
    with qtbot.waitExposed(compare):
        compare.show()
    compare.set_graphs(
        (first, laid_out(first, wrap=False)),
        (second, laid_out(second, wrap=False)),
        diff_graphs(first, second),
        titles=("before", "after"),
    )
    return compare


def offset(compare: CompareCanvas, node_a: int, node_b: int) -> QPointF:
    """How far two nodes are from facing each other, on the screen."""
    places = []
    for canvas, node in ((compare.first, node_a), (compare.second, node_b)):
        x, y = canvas.scene.center(canvas.scene.item_of_node(node))
        places.append(QPointF(*canvas.viewport.to_screen(x, y)))
    return places[1] - places[0]


def test_an_added_node_is_coloured_added(compare: CompareCanvas) -> None:
    overlay = compare.second.overlay
    assert overlay is not None and overlay.codes is not None
    assert overlay.categories[int(overlay.codes[12])].title == "added"
    assert -1 - 12 not in compare.differences().tolist() and 12 in compare.differences().tolist()


def test_panning_one_side_moves_the_other(compare: CompareCanvas) -> None:
    compare.first.camera.zoom_to_scale(1.0)
    compare.first.select(8)
    compare.first.camera.pan(13, -21)
    assert compare.second.viewport.scale == compare.first.viewport.scale
    assert offset(compare, 8, 8).manhattanLength() <= 2


def test_moving_the_second_side_moves_the_first(compare: CompareCanvas) -> None:
    compare.second.camera.zoom_to_scale(0.7)
    compare.second.select(3)
    compare.second.camera.pan(5, 40)
    assert compare.first.viewport.scale == compare.second.viewport.scale
    assert offset(compare, 3, 3).manhattanLength() <= 2


def test_selecting_selects_the_partner(compare: CompareCanvas, qtbot: QtBot) -> None:
    with qtbot.waitSignal(compare.node_selected) as signal:
        compare.second.select_item(compare.second.scene.item_of_node(9))
    assert signal.args == [9, 9]
    assert compare.first.selected_node == 9


def test_selecting_what_has_no_partner_clears_the_other_side(compare: CompareCanvas, qtbot: QtBot) -> None:
    compare.first.select(2)
    with qtbot.waitSignal(compare.node_selected) as signal:
        compare.second.select_item(compare.second.scene.item_of_node(12))
    assert signal.args == [-1, 12]
    assert compare.first.selected_node == -1


def test_sides_can_be_moved_apart(compare: CompareCanvas) -> None:
    compare.is_synchronised = False
    before = compare.second.viewport
    compare.first.camera.pan(50, 50)
    assert compare.second.viewport == before
