"""The rows of the table of actions that move the canvas: each does what its title says."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from studio.ui.actions import ACTIONS
from studio.ui.canvas import GraphCanvas
from tests.ui.canvas_graphs import chain, laid_out


class OnCanvas:
    """Commands that reach a canvas alone."""

    def __init__(self, canvas: GraphCanvas) -> None:
        self.canvas = canvas

    def on_canvas(self, method: str, *arguments: object) -> None:
        getattr(self.canvas, method)(*arguments)


@pytest.fixture
def canvas(qtbot: QtBot) -> GraphCanvas:
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(800, 500)
    canvas.camera.motion_is_on = False
    with qtbot.waitExposed(canvas):
        canvas.show()
    graph = chain(30)
    canvas.set_view(graph, laid_out(graph, wrap=False))
    return canvas


def run(canvas: GraphCanvas, action: str) -> None:
    next(a for a in ACTIONS if a.id == action).run(OnCanvas(canvas))  # type: ignore[arg-type]


def test_actual_size_is_one_to_one(canvas: GraphCanvas) -> None:
    run(canvas, "view.fit")
    assert canvas.viewport.scale < 1.0
    run(canvas, "view.actual")
    assert canvas.viewport.scale == 1.0


def test_the_width_fits_where_one_looks(canvas: GraphCanvas) -> None:
    run(canvas, "view.fit")
    _, before = canvas.viewport.to_layout(400, 250)
    run(canvas, "view.width")
    left, _, right, _ = canvas.scene.bounds
    x, y = canvas.viewport.to_layout(400, 250)
    assert abs(x - (left + right) / 2) < 1 and abs(y - before) < 1
    assert canvas.viewport.to_screen(left, y)[0] >= 0 and canvas.viewport.to_screen(right, y)[0] <= 800
