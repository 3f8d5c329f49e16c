"""Boxes seen from far: flat rectangles by colour and pattern, marks for what is loud or found."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from shiboken6 import Shiboken

from studio.ui.canvas.coloring import Coloring
from studio.ui.canvas.colors import mix
from studio.ui.canvas.overlay import Hatch
from studio.ui.canvas.scene import Scene
from studio.ui.canvas.shapes import hatch_brush
from studio.ui.canvas.viewport import Viewport

Items = npt.NDArray[np.int32]
Rects = npt.NDArray[np.float64]

HATCHED_FROM = 0.1  # zoom from which flat rectangles are large enough for a pattern
LOUD_SIZE = 3.0
MOST_MARKS = 4000
_HATCHES = tuple(Hatch)


def screen_rects(scene: Scene, viewport: Viewport, items: Items) -> Rects:
    """[n, 4] left, top, width, height of boxes on screen."""
    result = np.empty((len(items), 4))
    result[:, 0] = scene.left[items] * viewport.scale + viewport.offset_x
    result[:, 1] = scene.top[items] * viewport.scale + viewport.offset_y
    result[:, 2] = (scene.right[items] - scene.left[items]) * viewport.scale
    result[:, 3] = (scene.bottom[items] - scene.top[items]) * viewport.scale
    return result


def draw_rects(painter: QPainter, rects: Rects) -> None:
    """Draws rectangles straight from the array's memory."""
    rects = np.ascontiguousarray(rects)
    if len(rects):
        painter.drawRects(Shiboken.wrapInstance(rects.ctypes.data, QRectF), len(rects))  # type: ignore[call-overload]


def draw_lines(painter: QPainter, lines: Rects) -> None:
    """Draws lines ([n, 4]: from, to) straight from the array's memory."""
    lines = np.ascontiguousarray(lines)
    if len(lines):
        painter.drawLines(Shiboken.wrapInstance(lines.ctypes.data, QLineF), len(lines))  # type: ignore[call-overload]


def grown(rects: Rects, least: float) -> Rects:
    """The rectangles round the same middles, at least so large."""
    grow = np.maximum(least - rects[:, 2:], 0)
    result = rects.copy()
    result[:, :2] -= grow / 2
    result[:, 2:] += grow
    return result


def paint_flat(painter: QPainter, viewport: Viewport, coloring: Coloring, items: Items) -> None:
    """The boxes as rectangles, one call of Qt per colour and pattern."""
    if not len(items):
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    rects = screen_rects(coloring.scene, viewport, items)
    rects[:, 2:] = np.maximum(rects[:, 2:], 1.0)
    rgb = coloring.item_rgb[items].astype(np.int64)
    hatches = np.zeros(len(items), np.int64)
    if viewport.scale >= HATCHED_FROM and coloring.categories:
        by_code = np.array([0, *(_HATCHES.index(c.hatch) for c in coloring.categories)])
        hatches = by_code[coloring.items.code[items] + 1]
    keys = ((rgb[:, 0] << 16) | (rgb[:, 1] << 8) | rgb[:, 2]) + (hatches << 24)
    order = np.argsort(keys, kind="stable")
    keys, rects = keys[order], rects[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])).tolist()
    ground = mix(coloring.colors.role("canvas"), coloring.colors.role("text"), 0.04).rgb() & 0xFFFFFF
    for start, stop in zip(starts, [*starts[1:], len(keys)]):
        hatch = _HATCHES[int(keys[start]) >> 24]
        painter.setBrush(hatch_brush(hatch, int(keys[start]) & 0xFFFFFF, ground))
        draw_rects(painter, rects[start:stop])


def paint_loud(painter: QPainter, viewport: Viewport, coloring: Coloring) -> None:
    """What is loud once more, at least LOUD_SIZE pixels large; one mark per place, the most severe."""
    scene, overlay, loud = coloring.scene, coloring.overlay, coloring.loud
    if overlay is None or not len(loud) or viewport.scale * 44 >= LOUD_SIZE:
        return
    left, top, right, bottom = viewport.visible(margin=4)
    loud = loud[(scene.bottom[loud] >= top) & (scene.top[loud] <= bottom)]
    loud = loud[(scene.right[loud] >= left) & (scene.left[loud] <= right)]
    rects = screen_rects(scene, viewport, loud)
    cell = (rects[:, :2] + rects[:, 2:] / 2) // LOUD_SIZE
    severity = np.array([c.severity for c in overlay.categories])[coloring.items.code[loud]]
    order = np.argsort(-severity, kind="stable")
    _, first = np.unique((cell[:, 1] * 100_003 + cell[:, 0])[order], return_index=True)
    chosen = order[first]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    codes = coloring.items.code[loud[chosen]]
    marks = grown(rects[chosen], LOUD_SIZE)
    # the least severe first, so that the most severe lies on top
    for code in sorted(np.unique(codes).tolist(), key=lambda c: overlay.categories[c].severity):
        painter.setBrush(coloring.colors.role(overlay.categories[code].color))
        draw_rects(painter, marks[codes == code][:MOST_MARKS])


def paint_found(painter: QPainter, viewport: Viewport, coloring: Coloring) -> None:
    """Frames round search results."""
    if not coloring.matched.any():
        return
    inside = coloring.scene.items_in(*viewport.visible(margin=8))
    found = inside[coloring.matched[inside]][:MOST_MARKS]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(QPen(coloring.colors.role("accent"), 1.5 if len(found) < 500 else 1.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    draw_rects(painter, grown(screen_rects(coloring.scene, viewport, found), 4.0))
