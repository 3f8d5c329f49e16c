"""Fingers: what a touch screen does to a canvas.

One finger pans, taps (a click), taps twice (opens or closes a scope) and holds (the menu); two fingers
zoom and pan, and what is between them stays between them. Why not Qt's pinch gesture: with Qt 6.11 its
recogniser counts every move of synthesised touches twice, and so zooms by the square.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QEvent, QLineF, QPointF
from PySide6.QtGui import QEventPoint, QGuiApplication, QInputDevice, QTouchEvent

from studio.ui.canvas.pointing import PointedSurface

_SLOP = 12.0  # pixels that a finger may move and still tap
_HOLD_S = 0.6


class Fingers:
    """Turns touches into calls of the canvas; keeps where the fingers were."""

    def __init__(self, canvas: PointedSurface) -> None:
        self._canvas = canvas
        self._middle = QPointF()
        self._apart = 0.0  # between two fingers, 0 = there is one
        self._start = QPointF()
        self._began = 0.0
        self._may_tap = False
        self._last_tap = (-1e9, QPointF())

    def touch(self, event: QTouchEvent) -> bool:
        """Takes a touch; False for a touchpad's, whose gestures come by another way."""
        device = event.device()
        if device is not None and device.type() is QInputDevice.DeviceType.TouchPad:
            return False
        points = [p for p in event.points() if p.state() is not QEventPoint.State.Released]
        if event.type() is QEvent.Type.TouchBegin:
            self._start, self._began = event.points()[0].position(), time.monotonic()
            self._may_tap = len(points) == 1
            self._settle(points)
        elif event.type() is QEvent.Type.TouchUpdate:
            self._move(points)
        elif event.type() is QEvent.Type.TouchEnd and self._may_tap:
            self._may_tap = False
            self._tap()
        return True

    def _settle(self, points: list[QEventPoint]) -> None:
        """Remembers where the fingers are, without moving anything."""
        if points:
            self._middle = _middle(points)
            self._apart = _apart(points)

    def _move(self, points: list[QEventPoint]) -> None:
        apart = _apart(points)
        if not points or (apart > 0) != (self._apart > 0):  # a finger came or went
            self._may_tap = self._may_tap and len(points) < 2
            self._settle(points)
            return
        middle = _middle(points)
        if self._may_tap:
            if QLineF(self._start, middle).length() < _SLOP:
                return
            self._may_tap = False
        moved = middle - self._middle
        self._canvas.camera.pan(moved.x(), moved.y())
        if apart and apart != self._apart:
            self._canvas.zoom(apart / self._apart, middle)
        self._middle, self._apart = middle, apart

    def _tap(self) -> None:
        canvas, at, now = self._canvas, self._start, time.monotonic()
        if now - self._began >= _HOLD_S:
            canvas.select_for_menu(at)
            canvas.menu_requested.emit(canvas.mapToGlobal(at.toPoint()))
            return
        before, there = self._last_tap
        is_second = now - before < QGuiApplication.styleHints().mouseDoubleClickInterval() / 1000
        if is_second and QLineF(there, at).length() < 2 * _SLOP:
            self._last_tap = (-1e9, at)
            canvas.activate_at(at)
            return
        self._last_tap = (now, at)
        if not canvas.press_panel(at):
            canvas.click(at)


def _middle(points: list[QEventPoint]) -> QPointF:
    """Half way between the first two fingers, or where the only one is."""
    pair = points[:2]
    return QPointF(
        sum(p.position().x() for p in pair) / len(pair), sum(p.position().y() for p in pair) / len(pair)
    )


def _apart(points: list[QEventPoint]) -> float:
    """How far apart the first two fingers are; 0 when there is one."""
    if len(points) < 2:
        return 0.0
    return max(QLineF(points[0].position(), points[1].position()).length(), 1.0)
