"""The canvas under the hands: selecting, moving, zooming, keys, scopes, back and forward."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.graph.layout import ItemKind, lay_out, places_of
from studio.graph.scopes import toggle_scope
from studio.graph.view import GraphView
from studio.ui.canvas import GraphCanvas, verdict_overlay
from tests.ui.canvas_graphs import chain, graph_of, laid_out, shown_chain, verdicts_of


@pytest.fixture
def canvas(qtbot: QtBot) -> GraphCanvas:
    """A shown canvas with a chain of ten nodes."""
    return shown_chain(qtbot)


def place_of(canvas: GraphCanvas, node: int) -> QPoint:
    """Where a node's box is on the widget."""
    x, y = canvas.scene.center(canvas.scene.item_of_node(node))
    return QPointF(*canvas.viewport.to_screen(x, y)).toPoint()


def wheel(canvas: GraphCanvas, at: QPoint, angle: QPoint, *, phase: Qt.ScrollPhase, pixels: QPoint) -> None:
    event = QWheelEvent(
        QPointF(at), QPointF(at), pixels, angle, Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, phase, False,
    )  # fmt: skip
    QApplication.sendEvent(canvas, event)


def test_a_new_graph_is_fitted(canvas: GraphCanvas) -> None:
    left, top, right, bottom = canvas.scene.bounds
    seen = canvas.viewport.visible()
    assert seen[0] <= left and seen[1] <= top and seen[2] >= right and seen[3] >= bottom


def test_a_click_selects_the_node_and_says_so(canvas: GraphCanvas, qtbot: QtBot) -> None:
    with qtbot.waitSignal(canvas.node_selected) as signal:
        qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=place_of(canvas, 3))
    assert signal.args == [3]
    assert canvas.selected_node == 3
    assert "Relu" in canvas.accessibleDescription()


def test_a_click_beside_everything_clears_the_selection(canvas: GraphCanvas, qtbot: QtBot) -> None:
    canvas.select(3)
    with qtbot.waitSignal(canvas.node_selected) as signal:
        qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    assert signal.args == [-1]
    assert canvas.selected_item == -1


def test_a_click_on_an_edge_selects_its_tensor(canvas: GraphCanvas, qtbot: QtBot) -> None:
    canvas.camera.zoom_to_scale(1.0)
    first, second = place_of(canvas, 4), place_of(canvas, 5)
    with qtbot.waitSignal(canvas.tensor_selected) as signal:
        qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=(first + second) / 2)
    assert signal.args == [4]


def test_selecting_from_outside_sends_no_signal(canvas: GraphCanvas, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(canvas.node_selected):
        canvas.select(5)
    assert canvas.selected_node == 5


def test_select_brings_a_far_node_into_sight(canvas: GraphCanvas) -> None:
    canvas.camera.zoom_to_scale(2.0)
    canvas.select(9)
    at = place_of(canvas, 9)
    assert 0 < at.x() < canvas.width() and 0 < at.y() < canvas.height()


def test_dragging_pans_and_is_no_click(canvas: GraphCanvas, qtbot: QtBot) -> None:
    canvas.camera.zoom_to_scale(1.0)
    before = place_of(canvas, 5)
    with qtbot.assertNotEmitted(canvas.node_selected):
        qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=before)
        qtbot.mouseMove(canvas, before + QPoint(20, 10))
        qtbot.mouseMove(canvas, before + QPoint(40, 30))
        qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=before + QPoint(40, 30))
    assert place_of(canvas, 5) == before + QPoint(40, 30)


def test_the_wheel_zooms_round_the_cursor(canvas: GraphCanvas) -> None:
    at = place_of(canvas, 4)
    before = canvas.viewport.scale
    wheel(canvas, at, QPoint(0, 240), phase=Qt.ScrollPhase.NoScrollPhase, pixels=QPoint())
    assert canvas.viewport.scale > 1.3 * before
    assert (place_of(canvas, 4) - at).manhattanLength() <= 2


def test_two_fingers_pan(canvas: GraphCanvas) -> None:
    canvas.camera.zoom_to_scale(1.0)
    before, scale = place_of(canvas, 4), canvas.viewport.scale
    wheel(canvas, before, QPoint(0, 60), phase=Qt.ScrollPhase.ScrollUpdate, pixels=QPoint(-15, 25))
    assert canvas.viewport.scale == scale
    assert place_of(canvas, 4) - before == QPoint(-15, 25)


def test_the_graph_cannot_be_pushed_out_of_sight(canvas: GraphCanvas) -> None:
    for _ in range(50):
        canvas.camera.pan(900, -900)
    left, top, right, bottom = canvas.scene.bounds
    seen = canvas.viewport.visible()
    assert seen[0] < right and seen[2] > left and seen[1] < bottom and seen[3] > top


def test_arrows_walk_along_edges(canvas: GraphCanvas, qtbot: QtBot) -> None:
    canvas.select(4)
    qtbot.keyClick(canvas, Qt.Key.Key_Down)
    assert canvas.selected_node == 5
    qtbot.keyClick(canvas, Qt.Key.Key_Up)
    qtbot.keyClick(canvas, Qt.Key.Key_Up)
    assert canvas.selected_node == 3


def test_arrows_walk_to_siblings(qtbot: QtBot) -> None:
    graph = graph_of([(0, 1), (0, 2), (1, 3), (2, 3)], ops=["Split", "Conv", "Relu", "Add"])
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.set_view(graph, laid_out(graph))
    scene = canvas.scene
    ends = sorted((1, 2), key=lambda n: scene.center(scene.item_of_node(n))[0])
    canvas.select(ends[0])
    qtbot.keyClick(canvas, Qt.Key.Key_Right)
    assert canvas.selected_node == ends[1]
    qtbot.keyClick(canvas, Qt.Key.Key_Left)
    assert canvas.selected_node == ends[0]


def test_an_arrow_without_a_selection_begins_in_the_middle(canvas: GraphCanvas, qtbot: QtBot) -> None:
    qtbot.keyClick(canvas, Qt.Key.Key_Down)
    assert canvas.selected_item >= 0


def test_keys_zoom_and_fit(canvas: GraphCanvas, qtbot: QtBot) -> None:
    fitted = canvas.viewport
    qtbot.keyClick(canvas, Qt.Key.Key_Plus)
    assert canvas.viewport.scale > fitted.scale
    qtbot.keyClick(canvas, Qt.Key.Key_0)
    assert canvas.viewport.scale == pytest.approx(fitted.scale)
    qtbot.keyClick(canvas, Qt.Key.Key_1)
    assert canvas.viewport.scale == 1.0


def test_home_and_end_go_to_the_first_and_last_box(canvas: GraphCanvas, qtbot: QtBot) -> None:
    qtbot.keyClick(canvas, Qt.Key.Key_End)
    assert canvas.selected_item == canvas.scene.count - 1
    qtbot.keyClick(canvas, Qt.Key.Key_Home)
    assert canvas.selected_item == 0


def test_tab_walks_matches_and_otherwise_moves_the_focus(canvas: GraphCanvas, qtbot: QtBot) -> None:
    canvas.setFocus()
    canvas.set_matches([2, 7])
    chosen = []
    for _ in range(3):
        qtbot.keyClick(canvas, Qt.Key.Key_Tab)
        chosen.append(canvas.selected_node)
    qtbot.keyClick(canvas, Qt.Key.Key_Backtab)
    assert [*chosen, canvas.selected_node] == [2, 7, 2, 7]
    canvas.set_matches([])
    assert not canvas.next_match()


def test_back_and_forward_return_to_places(canvas: GraphCanvas) -> None:
    canvas.camera.zoom_to_scale(2.0)
    canvas.select(1)
    before = place_of(canvas, 1)
    canvas.select(9)
    assert canvas.can_go_back
    canvas.go_back()
    assert canvas.selected_node == 1
    assert (place_of(canvas, 1) - before).manhattanLength() <= 2
    canvas.go_forward()
    assert canvas.selected_node == 9


def test_a_double_click_wishes_a_scope_open_and_its_title_closed(qtbot: QtBot) -> None:
    graph = chain(8, scopes=["block"], node_scope=[0, 0, 1, 1, 1, 1, 0, 0])
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(700, 700)
    canvas.set_view(graph, laid_out(graph, collapsed=frozenset({1})))
    canvas.show()
    with qtbot.waitSignal(canvas.scope_toggled) as signal:
        qtbot.mouseDClick(canvas, Qt.MouseButton.LeftButton, pos=place_of(canvas, 3))
    assert signal.args == [1]
    canvas.set_view(graph, laid_out(graph))
    layout = canvas.scene.layout
    x, y = canvas.viewport.to_screen(float(layout.frame_x[0]) + 30, float(layout.frame_y[0]) + 8)
    with qtbot.waitSignal(canvas.scope_toggled) as signal:
        qtbot.mouseDClick(canvas, Qt.MouseButton.LeftButton, pos=QPoint(round(x), round(y)))
    assert signal.args == [1]


def test_enter_opens_and_backspace_closes_a_scope(qtbot: QtBot) -> None:
    graph = chain(8, scopes=["block"], node_scope=[0, 0, 1, 1, 1, 1, 0, 0])
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.set_view(graph, laid_out(graph, collapsed=frozenset({1})))
    canvas.select(3)
    assert canvas.scene.layout.item_kind[canvas.selected_item] == ItemKind.SCOPE
    with qtbot.waitSignal(canvas.scope_toggled):
        qtbot.keyClick(canvas, Qt.Key.Key_Return)
    canvas.set_view(graph, laid_out(graph))
    assert canvas.selected_node == 3
    with qtbot.waitSignal(canvas.scope_toggled) as signal:
        qtbot.keyClick(canvas, Qt.Key.Key_Backspace)
    assert signal.args == [1]


def test_expanding_a_scope_keeps_the_selected_box_in_place(qtbot: QtBot) -> None:
    graph = chain(40, scopes=["block"], node_scope=[0] * 5 + [1] * 20 + [0] * 15)
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.camera.motion_is_on = False
    canvas.resize(700, 500)
    canvas.set_view(graph, laid_out(graph, collapsed=frozenset({1}), wrap=False))
    with qtbot.waitExposed(canvas):
        canvas.show()
    canvas.camera.zoom_to_scale(0.9)
    canvas.select(28)
    before = place_of(canvas, 28)
    canvas.set_view(graph, laid_out(graph, wrap=False))
    assert (place_of(canvas, 28) - before).manhattanLength() <= 2


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("wraps", [True, False])
def test_a_scope_stays_under_the_pointer_when_it_is_toggled(qtbot: QtBot, share: float, wraps: bool) -> None:
    scopes = [f"block{k}" for k in range(40)]
    graph = chain(400, scopes=scopes, node_scope=[1 + i // 10 for i in range(400)])
    view = GraphView(collapsed=frozenset(range(1, 41)), wrap=wraps)
    layout = lay_out(graph, view)
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.camera.motion_is_on = False
    canvas.resize(640, 480)
    canvas.set_view(graph, layout)
    canvas.show()

    def toggle(scope: int) -> None:
        nonlocal view, layout
        view = toggle_scope(view, scope)
        canvas.hold_scope(scope)
        layout = lay_out(graph, view, places_of(layout))
        canvas.set_view(graph, layout)

    canvas.scope_toggled.connect(toggle)
    item = canvas.scene.item_of_scope(20)
    canvas.camera.show(canvas.viewport.centred(*canvas.scene.center(item), 0.9))
    left, top = canvas.viewport.to_screen(float(canvas.scene.left[item]), float(canvas.scene.top[item]))
    wide = float(canvas.scene.right[item] - canvas.scene.left[item]) * 0.9
    at = QPointF(left + share * wide, top + 12)
    canvas.activate_at(at)
    assert 20 not in view.collapsed
    x, y = canvas.viewport.to_layout(at.x(), at.y())
    frame = canvas.scene.frame_at(x, y, 24.0)
    assert layout.frame_scope[frame] == 20
    assert canvas.viewport.to_screen(0, float(layout.frame_y[frame]))[1] == pytest.approx(top, abs=1)
    canvas.activate_at(at)
    assert 20 in view.collapsed
    x, y = canvas.viewport.to_layout(at.x(), at.y())
    assert canvas.scene.scope_of_item(canvas.scene.item_at(x, y)) == 20


def test_closing_a_scope_far_below_its_title_brings_its_box_into_sight(qtbot: QtBot) -> None:
    graph = chain(120, scopes=["body"], node_scope=[0, *[1] * 118, 0])
    layout = laid_out(graph, wrap=False)
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.camera.motion_is_on = False
    canvas.resize(640, 480)
    canvas.set_view(graph, layout)
    canvas.show()
    canvas.camera.show(canvas.viewport.centred(*canvas.scene.center(100), 1.0))
    canvas.hold_scope(1)
    canvas.set_view(graph, laid_out(graph, wrap=False, collapsed=frozenset({1})))
    item = canvas.scene.item_of_scope(1)
    x, y = canvas.viewport.to_screen(*canvas.scene.center(item))
    assert 0 <= x <= 640 and 0 <= y <= 480


def test_selecting_a_scope_survives_a_listener_that_clears_the_node(qtbot: QtBot) -> None:
    graph = chain(8, scopes=["block"], node_scope=[0, 0, 1, 1, 1, 1, 0, 0])
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.set_view(graph, laid_out(graph, collapsed=frozenset({1})))
    canvas.node_selected.connect(lambda node: canvas.select(node if node >= 0 else None))
    canvas.select_item(canvas.scene.item_of_scope(1))
    assert canvas.scene.scope_of_item(canvas.selected_item) == 1


def test_hovering_tells_the_node_and_the_tooltip_the_reason(canvas: GraphCanvas, qtbot: QtBot) -> None:
    canvas.set_overlay(verdict_overlay(verdicts_of([0, 2] * 5)))
    with qtbot.waitSignal(canvas.hovered) as signal:
        qtbot.mouseMove(canvas, place_of(canvas, 3))
    assert signal.args == [3]
    words = canvas.tooltip_at(QPointF(place_of(canvas, 3)))
    assert "falls back" in words and "The test says so." in words and "Relu" in words


def test_panels_leave_a_narrow_canvas_to_the_cards(canvas: GraphCanvas) -> None:
    canvas.set_overlay(verdict_overlay(verdicts_of([0, 2] * 5)))
    panels, sizes = canvas._panels, {}
    for width in (900, 440):
        canvas.resize(width, 500)
        canvas.camera.zoom_to_scale(3.0)
        canvas.grab()
        sizes[width] = panels._legend.rect.size()
        assert panels._minimap.rect.isEmpty() == (width < 560)
    assert sizes[900].height() > 60 and sizes[440].height() == 24
    canvas.resize(440, 500)
    canvas.grab()
    words = canvas.tooltip_at(panels._legend.rect.center())
    assert "5  falls back" in words and "5  runs" in words


def test_a_press_on_the_minimap_goes_there(canvas: GraphCanvas, qtbot: QtBot) -> None:
    canvas.camera.zoom_to_scale(3.0)
    canvas.grab()
    rect = canvas._panels._minimap.rect
    assert not rect.isEmpty()
    before = canvas.viewport
    qtbot.mouseClick(
        canvas, Qt.MouseButton.LeftButton, pos=QPoint(round(rect.center().x()), round(rect.top()) + 8)
    )
    assert canvas.viewport.offset_y > before.offset_y
    assert canvas.selected_item == -1


def test_dimming_and_matches_reach_the_boxes(canvas: GraphCanvas) -> None:
    mask = np.ones(10, np.bool_)
    mask[4] = False
    canvas.set_dimmed(mask)
    canvas.set_matches([4])
    coloring = canvas._painter.coloring
    item = canvas.scene.item_of_node(4)
    assert not coloring.dimmed[item] and coloring.matched[item]
    assert coloring.dimmed[canvas.scene.item_of_node(5)]
    canvas.set_dimmed(None)
    assert not canvas._painter.coloring.dimmed.any()


def test_motion_ends_at_its_goal(canvas: GraphCanvas, qtbot: QtBot) -> None:
    canvas.camera.motion_is_on = True
    canvas.camera.zoom_to_scale(2.0)
    qtbot.waitUntil(lambda: canvas.viewport.scale == pytest.approx(2.0), timeout=3000)


def test_resizing_keeps_the_middle(canvas: GraphCanvas, qtbot: QtBot) -> None:
    canvas.camera.zoom_to_scale(1.5)
    before = canvas.viewport.to_layout(canvas.width() / 2, canvas.height() / 2)
    canvas.resize(500, 420)
    qtbot.waitUntil(lambda: canvas.viewport.width == 500)
    after = canvas.viewport.to_layout(canvas.width() / 2, canvas.height() / 2)
    assert after == pytest.approx(before, abs=2)


def test_a_resize_does_not_end_a_jump_halfway(canvas: GraphCanvas, qtbot: QtBot) -> None:
    canvas.camera.zoom_to_scale(2.0)
    canvas.camera.motion_is_on = True
    canvas.select(9)
    canvas.resize(canvas.width(), canvas.height() - 30)  # a line with words takes its place
    qtbot.waitUntil(lambda: canvas.viewport.height == canvas.height())
    _, y = canvas.viewport.to_screen(*canvas.scene.center(canvas.selected_item))
    assert 0 < y < canvas.height()


def test_a_theme_change_is_followed(canvas: GraphCanvas) -> None:
    from studio.ui import theme

    app = QApplication.instance()
    assert isinstance(app, QApplication)
    try:
        theme.apply(app, theme.ThemeChoice.DARK)
        QApplication.sendEvent(canvas, QEvent(QEvent.Type.PaletteChange))
        assert canvas._painter.colors.is_dark
    finally:
        theme.apply(app, theme.ThemeChoice.LIGHT)
