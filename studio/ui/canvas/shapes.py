"""Shapes: icons, hatch patterns and big paths from arrays.

Icons are paths, since fonts differ. Paths with thousands of pieces are handed to Qt as one
serialized QPainterPath (QDataStream's format, Qt 4.0 to now), which numpy fills at once; a call
per piece would cost a frame.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QByteArray, QDataStream, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPainterPath, QPen

from studio.ui.canvas.overlay import Hatch, Icon

Points = npt.NDArray[np.float64]

MOVE, LINE, CURVE, CURVE_DATA = 0, 1, 2, 3
_ELEMENT = np.dtype([("kind", ">i4"), ("x", ">f8"), ("y", ">f8")])


def path_from_arrays(kinds: npt.NDArray[np.int32], points: npt.NDArray[np.floating]) -> QPainterPath:
    """A path of elements `kinds` (MOVE, LINE, CURVE, then two CURVE_DATA) at `points` [n, 2]."""
    elements = np.zeros(len(kinds), _ELEMENT)
    elements["kind"] = kinds
    elements["x"] = points[:, 0]
    elements["y"] = points[:, 1]
    count = np.array([len(kinds)], ">i4").tobytes()
    rest = np.array([0, 0], ">i4").tobytes()  # start of the last subpath, fill rule
    path = QPainterPath()
    if len(kinds):
        stream = QDataStream(QByteArray(count + elements.tobytes() + rest))
        stream >> path
    return path


def curves_path(
    offsets: npt.NDArray[np.int32],
    curves: npt.NDArray[np.floating],
    scale: float,
    shift: npt.NDArray[np.float64],
) -> QPainterPath:
    """Cubic curves (see `graph.curves`) as one path, scaled and shifted."""
    counts = np.diff(offsets)
    place = np.arange(len(curves)) - np.repeat(offsets[:-1], counts)
    kinds = np.full(len(place), CURVE_DATA, np.int32)
    kinds[place % 3 == 1] = CURVE
    kinds[place == 0] = MOVE
    return path_from_arrays(kinds, curves * scale + shift)


def triangles_path(tips: npt.NDArray[np.floating], width: float, height: float) -> QPainterPath:
    """Arrow heads that point down at `tips` [n, 2], as one path."""
    corners = np.array([[0, 0], [-width / 2, -height], [width / 2, -height], [0, 0]])
    points = (tips[:, None, :] + corners[None]).reshape(-1, 2)
    return path_from_arrays(np.tile(np.array([MOVE, LINE, LINE, LINE], np.int32), len(tips)), points)


def draw_icon(painter: QPainter, icon: Icon, center: QPointF, size: float, color: QColor) -> None:
    """Draws an icon `size` wide round `center`."""
    if icon is Icon.NONE or size <= 0:
        return
    painter.save()
    painter.translate(center)
    painter.scale(size / 12, size / 12)
    pen = QPen(color, 1.9, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
    path, is_filled = _icon_path(icon)
    if is_filled:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
    else:
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(path)
    if icon is Icon.QUESTION:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(QPointF(0, 4.7), 1.2, 1.2)
    painter.restore()


@cache
def _icon_path(icon: Icon) -> tuple[QPainterPath, bool]:
    """The path of an icon in a 12 × 12 square round the origin, and whether it is filled."""
    path = QPainterPath()
    if icon is Icon.CHECK:
        _lines(path, (-4.6, 0.4), (-1.4, 3.8), (4.8, -3.6))
    elif icon is Icon.CROSS:
        _lines(path, (-3.8, -3.8), (3.8, 3.8))
        _lines(path, (3.8, -3.8), (-3.8, 3.8))
    elif icon is Icon.PLUS:
        _lines(path, (-4.4, 0), (4.4, 0))
        _lines(path, (0, -4.4), (0, 4.4))
    elif icon is Icon.MINUS:
        _lines(path, (-4.4, 0), (4.4, 0))
    elif icon is Icon.QUESTION:
        path.moveTo(-2.9, -2.6)
        path.cubicTo(-2.9, -6.2, 3.3, -6.2, 3.2, -2.5)
        path.cubicTo(3.1, -0.3, 0, -0.4, 0, 1.9)
    elif icon is Icon.DIAMOND:
        _lines(path, (0, -5.4), (5, 0), (0, 5.4), (-5, 0), (0, -5.4))
        return path, True
    elif icon is Icon.TRIANGLE:
        _lines(path, (0, -5), (5.6, 4.6), (-5.6, 4.6), (0, -5))
        return path, True
    elif icon is Icon.DELTA:
        _lines(path, (0, -4.2), (4.6, 3.8), (-4.6, 3.8), (0, -4.2))
    elif icon is Icon.DOT:
        path.addEllipse(QPointF(0, 0), 3.4, 3.4)
        return path, True
    return path, False


def _lines(path: QPainterPath, *points: tuple[float, float]) -> None:
    path.moveTo(*points[0])
    for point in points[1:]:
        path.lineTo(*point)


def fill_hatched(painter: QPainter, rect: QRectF, hatch: Hatch, color: QColor, ground: QColor) -> None:
    """Fills a rectangle with `color`, crossed by a pattern in `ground`."""
    painter.fillRect(rect, color)
    if hatch is Hatch.SOLID:
        return
    painter.save()
    painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
    step = max(rect.width() * 0.8, 3.0)
    thin = max(step * 0.38, 1.0)
    painter.setPen(QPen(ground, thin))
    left, right, top, bottom = rect.left(), rect.right(), rect.top(), rect.bottom()
    rows = math.ceil((rect.height() + 2 * rect.width()) / step) + 2
    if hatch is Hatch.DOTTED:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        radius = max(rect.width() * 0.22, 0.8)
        for k in range(rows):
            painter.drawEllipse(QPointF(rect.center().x(), top + (k + 0.5) * step), radius, radius)
    for k in range(rows):
        y = top + k * step
        if hatch in (Hatch.DIAGONAL, Hatch.CROSSED):
            painter.drawLine(QPointF(left, y), QPointF(right, y - rect.width()))
        if hatch is Hatch.CROSSED:
            painter.drawLine(QPointF(left, y - rect.width()), QPointF(right, y))
        if hatch is Hatch.STRIPES:
            painter.drawLine(QPointF(left, min(y, bottom)), QPointF(right, min(y, bottom)))
    painter.restore()


@lru_cache(maxsize=64)
def hatch_brush(hatch: Hatch, color_rgb: int, ground_rgb: int) -> QBrush:
    """A texture of the pattern for small rectangles far away."""
    color, ground = QColor.fromRgb(color_rgb), QColor.fromRgb(ground_rgb)
    if hatch is Hatch.SOLID:
        return QBrush(color)
    tile = QImage(6, 6, QImage.Format.Format_RGB32)
    tile.fill(color)
    for y in range(6):
        for x in range(6):
            on = {
                Hatch.DIAGONAL: (x + y) % 6 < 2,
                Hatch.STRIPES: y % 3 == 0,
                Hatch.CROSSED: (x + y) % 6 == 0 or (x - y) % 6 == 0,
                Hatch.DOTTED: x % 3 == 0 and y % 3 == 0,
            }[hatch]
            if on:
                tile.setPixelColor(x, y, ground)
    return QBrush(tile)
