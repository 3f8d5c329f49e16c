"""Frames: the grounds, rims and titles of open scopes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from studio.ui.canvas.colors import CanvasColors, frame_tint
from studio.ui.canvas.far_paint import draw_rects
from studio.ui.canvas.labels import alike_text, scope_title
from studio.ui.canvas.scene import Scene
from studio.ui.canvas.texts import plain, sized
from studio.ui.canvas.viewport import Viewport

MOST_FRAMES = 1500
MOST_ROUND = 60
TITLE_PX = 11.0
SMALLEST_TITLE = 5.5


def paint_frames(
    painter: QPainter, scene: Scene, viewport: Viewport, colors: CanvasColors, smallest: float
) -> None:
    """The frames in sight of at least `smallest` pixels, outer ones first; every second level is tinted."""
    layout, scale = scene.layout, viewport.scale
    frames, rects = _in_sight(scene, viewport, smallest)
    if not len(frames):
        return
    depths = layout.frame_depth[frames]
    canvas = colors.role("canvas")
    tint = frame_tint(colors)
    # grounds are square: a rounded one costs five times as much, and the corner is not seen
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    for depth in np.unique(depths).tolist():
        painter.setBrush(tint if depth % 2 else canvas)
        draw_rects(painter, rects[depths == depth])
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if len(frames) <= MOST_ROUND and scale > 0.1:
        radius = min(8 * scale, 10.0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colors.role("line"), 1))
        for x, y, width, height in rects.tolist():
            painter.drawRoundedRect(QRectF(x, y, width, height), radius, radius)
    else:
        painter.setPen(QPen(colors.role("line"), 0))
        draw_rects(painter, rects)


def _in_sight(
    scene: Scene, viewport: Viewport, smallest: float
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """The frames to be drawn, and where they are on the screen: x, y, width, height."""
    layout, scale = scene.layout, viewport.scale
    frames = scene.frames_in(*viewport.visible(margin=8))
    least = np.minimum(layout.frame_width[frames], layout.frame_height[frames]) * scale
    frames = frames[least > smallest][:MOST_FRAMES]
    rects = np.column_stack(
        [
            np.round(layout.frame_x[frames] * scale + viewport.offset_x) + 0.5,
            np.round(layout.frame_y[frames] * scale + viewport.offset_y) + 0.5,
            np.round(layout.frame_width[frames] * scale),
            np.round(layout.frame_height[frames] * scale),
        ]
    ).astype(np.float64)
    return frames, rects


def paint_frame_titles(
    painter: QPainter, scene: Scene, viewport: Viewport, colors: CanvasColors, font: QFont, smallest: float
) -> None:
    """The titles of the same frames, on their own ground: edges that enter a frame pass under its title."""
    scale = viewport.scale
    if TITLE_PX * scale < SMALLEST_TITLE:
        return
    frames, rects = _in_sight(scene, viewport, smallest)
    small = sized(font, TITLE_PX * scale)
    painter.setFont(small)
    painter.setPen(colors.role("quiet"))
    metrics = QFontMetricsF(small)
    grounds = colors.role("canvas"), frame_tint(colors)
    depths = scene.layout.frame_depth[frames].tolist()
    for frame, depth, (x, y, width, _) in zip(frames.tolist(), depths, rects.tolist()):
        scope = int(scene.layout.frame_scope[frame])
        name, kind = scope_title(scene.graph, scope)
        alike = alike_text(scene.graph, scope)
        words = " ".join(part for part in (name, f"· {kind}" if kind else "", alike) if part)
        room = width - 20 * scale
        if metrics.horizontalAdvance(words) > room:
            words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
        at = QPointF(x + 10 * scale, y + 3.5 * scale)
        size = QSizeF(metrics.horizontalAdvance(words), metrics.height())
        painter.fillRect(QRectF(at, size).adjusted(-2, 0, 3, 0), grounds[depth % 2])
        painter.drawStaticText(at, plain(words))
