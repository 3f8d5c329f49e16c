"""The canvas under fingers: a touch screen's pinch and pan, a touchpad's gestures, by synthesised events."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QInputDevice, QNativeGestureEvent, QPointingDevice
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.ui.canvas import GraphCanvas
from tests.ui.canvas_graphs import shown_chain


@pytest.fixture
def canvas(qtbot: QtBot) -> GraphCanvas:
    """A shown canvas with a chain of ten nodes at zoom 1."""
    canvas = shown_chain(qtbot)
    canvas.camera.zoom_to_scale(1.0)
    return canvas


@pytest.fixture
def screen(qapp: QApplication) -> QPointingDevice:
    return QTest.createTouchDevice(QInputDevice.DeviceType.TouchScreen)


def two_fingers(
    canvas: GraphCanvas, screen: QPointingDevice, start: tuple[QPoint, QPoint], end: tuple[QPoint, QPoint]
) -> None:
    """Puts two fingers down, moves them in steps, and lifts them."""
    QTest.touchEvent(canvas, screen, False).press(0, start[0], canvas).press(1, start[1], canvas).commit()
    steps = 10
    for k in range(1, steps + 1):
        now = [a + (b - a) * (k / steps) for a, b in zip(start, end)]
        QTest.touchEvent(canvas, screen, False).move(0, now[0], canvas).move(1, now[1], canvas).commit()
    QTest.touchEvent(canvas, screen, False).release(0, end[0], canvas).release(1, end[1], canvas).commit()


def test_spreading_two_fingers_zooms_and_keeps_what_is_between_them(
    canvas: GraphCanvas, screen: QPointingDevice
) -> None:
    middle = QPoint(400, 300)
    before = canvas.viewport.to_layout(middle.x(), middle.y())
    apart, wide = QPoint(60, 0), QPoint(180, 0)
    two_fingers(canvas, screen, (middle - apart, middle + apart), (middle - wide, middle + wide))
    assert canvas.viewport.scale == pytest.approx(3.0, rel=0.01)
    after = canvas.viewport.to_layout(middle.x(), middle.y())
    assert after == pytest.approx(before, abs=6)  # the camera stands on whole pixels


def test_closing_two_fingers_zooms_out(canvas: GraphCanvas, screen: QPointingDevice) -> None:
    middle = QPoint(400, 300)
    wide, apart = QPoint(160, 0), QPoint(80, 0)
    two_fingers(canvas, screen, (middle - wide, middle + wide), (middle - apart, middle + apart))
    assert canvas.viewport.scale == pytest.approx(0.5, rel=0.01)


def test_two_fingers_that_move_together_pan(canvas: GraphCanvas, screen: QPointingDevice) -> None:
    before = canvas.viewport.offset_y
    left, right, down = QPoint(340, 200), QPoint(460, 200), QPoint(0, 150)
    two_fingers(canvas, screen, (left, right), (left + down, right + down))
    assert canvas.viewport.scale == pytest.approx(1.0, abs=0.05)
    assert canvas.viewport.offset_y - before == pytest.approx(150, abs=2)


def test_a_pinch_selects_nothing(canvas: GraphCanvas, screen: QPointingDevice) -> None:
    chosen: list[int] = []
    canvas.node_selected.connect(chosen.append)
    x, y = canvas.viewport.to_screen(*canvas.scene.center(canvas.scene.item_of_node(2)))
    at = QPoint(round(x), round(y))
    two_fingers(canvas, screen, (at, at + QPoint(90, 0)), (at - QPoint(60, 0), at + QPoint(150, 0)))
    assert chosen == []


def one_finger(canvas: GraphCanvas, screen: QPointingDevice, *places: QPoint) -> None:
    """Puts a finger down, takes it along the places, and lifts it."""
    QTest.touchEvent(canvas, screen, False).press(0, places[0], canvas).commit()
    for place in places[1:]:
        QTest.touchEvent(canvas, screen, False).move(0, place, canvas).commit()
    QTest.touchEvent(canvas, screen, False).release(0, places[-1], canvas).commit()


def place_of(canvas: GraphCanvas, node: int) -> QPoint:
    x, y = canvas.viewport.to_screen(*canvas.scene.center(canvas.scene.item_of_node(node)))
    return QPoint(round(x), round(y))


def test_one_finger_pans_and_selects_nothing(canvas: GraphCanvas, screen: QPointingDevice) -> None:
    before = canvas.viewport.offset_y
    at = place_of(canvas, 2)
    one_finger(canvas, screen, at, at + QPoint(0, 40), at + QPoint(0, 100))
    assert canvas.viewport.offset_y - before == pytest.approx(100, abs=2)
    assert canvas.selected_node == -1


def test_a_tap_selects_and_a_second_one_activates(
    canvas: GraphCanvas, screen: QPointingDevice, qtbot: QtBot
) -> None:
    at = place_of(canvas, 3)
    one_finger(canvas, screen, at, at + QPoint(2, 1))
    assert canvas.selected_node == 3
    with qtbot.waitSignal(canvas.node_activated) as signal:
        one_finger(canvas, screen, at)
    assert signal.args == [3]


def test_a_finger_that_holds_asks_for_the_menu(
    canvas: GraphCanvas, screen: QPointingDevice, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.ui.canvas.fingers._HOLD_S", 0.0)
    at = place_of(canvas, 1)
    with qtbot.waitSignal(canvas.menu_requested) as signal:
        one_finger(canvas, screen, at)
    assert signal.args == [canvas.mapToGlobal(at)]
    assert canvas.selected_node == 1


def gesture(canvas: GraphCanvas, kind: Qt.NativeGestureType, value: float, delta: QPointF) -> bool:
    at = QPointF(400, 300)
    event = QNativeGestureEvent(
        kind,
        QPointingDevice.primaryPointingDevice(),
        2,
        at,
        at,
        QPointF(canvas.mapToGlobal(at)),
        value,
        delta,
    )
    QApplication.sendEvent(canvas, event)
    return event.isAccepted()


def test_a_touchpad_pinches_at_the_pointer(canvas: GraphCanvas) -> None:
    before = canvas.viewport.to_layout(400, 300)
    for _ in range(4):
        gesture(canvas, Qt.NativeGestureType.ZoomNativeGesture, 0.1, QPointF())
    assert canvas.viewport.scale == pytest.approx(1.1**4)
    assert canvas.viewport.to_layout(400, 300) == pytest.approx(
        before, abs=1
    )  # the camera stands on whole pixels


def test_a_touchpad_pans(canvas: GraphCanvas) -> None:
    before = canvas.viewport
    gesture(canvas, Qt.NativeGestureType.PanNativeGesture, 0, QPointF(12, -30))
    assert canvas.viewport.offset_x - before.offset_x == pytest.approx(12)
    assert canvas.viewport.offset_y - before.offset_y == pytest.approx(-30)


def test_a_double_tap_goes_to_full_size_and_back_to_the_whole_graph(canvas: GraphCanvas) -> None:
    canvas.fit(animated=False)
    whole = canvas.viewport.scale
    assert whole < 1
    gesture(canvas, Qt.NativeGestureType.SmartZoomNativeGesture, 0, QPointF())
    assert canvas.viewport.scale == pytest.approx(1.0)
    gesture(canvas, Qt.NativeGestureType.SmartZoomNativeGesture, 0, QPointF())
    assert canvas.viewport.scale == pytest.approx(whole)


def test_a_turn_means_nothing(canvas: GraphCanvas) -> None:
    before = canvas.viewport
    gesture(canvas, Qt.NativeGestureType.RotateNativeGesture, 12, QPointF())
    assert canvas.viewport == before
