"""PortalPainter: edges that are cut: a stub with the tensor's name at each end, the way when selected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPainterPath, QPen, QStaticText, QTransform

from studio.ui.canvas.coloring import Coloring
from studio.ui.canvas.colors import mix
from studio.ui.canvas.edge_paint import LABEL_PX, paint_arrows
from studio.ui.canvas.labels import tensor_name
from studio.ui.canvas.texts import plain, sized
from studio.ui.canvas.viewport import Viewport

STUB = 9.0
NAMES_FROM = 0.6  # zoom from which names are written
LONGEST_NAME = 22
MOST_STUBS = 600


@dataclass(frozen=True, slots=True)
class PortalEnd:
    """Where a stub is on the screen, and what it belongs to."""

    place: QRectF
    edge: int
    is_source: bool


class PortalPainter:
    """Paints the ends of portals; ends that coincide are drawn once."""

    def __init__(self, coloring: Coloring, font: QFont) -> None:
        self.coloring = coloring
        self.scene = coloring.scene
        self.font = font
        self._names: dict[tuple[int, bool], QStaticText] = {}
        layout = self.scene.layout
        cut = np.flatnonzero(layout.edge_is_portal).astype(np.int32)
        first, last = layout.edge_offsets[cut], layout.edge_offsets[cut + 1] - 1
        edge = np.concatenate([cut, cut])
        is_source = np.repeat([True, False], len(cut))
        points = layout.edge_points[np.concatenate([first, last])]
        keys = np.column_stack([points, layout.edge_tensor[edge], is_source])
        unique = np.sort(np.unique(keys, axis=0, return_index=True)[1]) if len(keys) else np.zeros(0, int)
        self._edge, self._is_source, self._points = edge[unique], is_source[unique], points[unique]
        self._turn = _turns(keys[unique][:, [0, 1, 3]] if len(keys) else np.zeros((0, 3)))

    def paint(self, painter: QPainter, viewport: Viewport) -> list[PortalEnd]:
        """Paints the stubs in sight and says where they are."""
        left, top, right, bottom = viewport.visible(margin=40)
        x, y = self._points[:, 0], self._points[:, 1]
        seen = np.flatnonzero((x >= left) & (x <= right) & (y >= top) & (y <= bottom))[:MOST_STUBS]
        if not len(seen):
            return []
        colors, scale = self.coloring.colors, viewport.scale
        color = mix(colors.role("edge"), colors.role("accent"), 0.35)
        ground = colors.role("canvas")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = sized(self.font, LABEL_PX * scale)
        painter.setFont(font)
        radius = 2.4 * scale + 0.4
        ends: list[PortalEnd] = []
        for k in seen.tolist():
            is_source, turn = bool(self._is_source[k]), int(self._turn[k])
            sx, sy = viewport.to_screen(float(x[k]), float(y[k]))
            sx += turn * 5.0 * scale
            tip = sy + (STUB if is_source else -STUB) * scale
            painter.setPen(QPen(color, 1.2))
            painter.setBrush(color)
            painter.drawLine(QPointF(sx, sy), QPointF(sx, tip))
            painter.drawEllipse(QPointF(sx, tip), radius, radius)
            place = QRectF(sx - 6, min(sy, tip) - 4, 12, abs(tip - sy) + 8)
            if scale >= NAMES_FROM and turn == 0:
                text = self._name(int(self.scene.layout.edge_tensor[self._edge[k]]), is_source)
                text.prepare(QTransform(), font)
                size = text.size()
                box = QRectF(QPointF(sx + 6 * scale, tip - size.height() / 2), size)
                painter.fillRect(box, ground)
                painter.drawStaticText(box.topLeft(), text)
                place = place.united(box)
            ends.append(PortalEnd(place, int(self._edge[k]), is_source))
        return ends

    def _name(self, tensor: int, is_source: bool) -> QStaticText:
        found = self._names.get((tensor, is_source))
        if found is None:
            name = tensor_name(self.scene.graph, tensor)
            name = name if len(name) <= LONGEST_NAME else "…" + name[-LONGEST_NAME + 1 :]
            found = plain(f"→ {name}" if is_source else f"{name} →")
            self._names[tensor, is_source] = found
        return found

    def paint_way(self, painter: QPainter, viewport: Viewport, edge: int, pen: QPen) -> None:
        """The whole way of a portal edge, dashed, for the edge that is selected."""
        layout = self.scene.layout
        points = layout.edge_points[layout.edge_offsets[edge] : layout.edge_offsets[edge + 1]]
        (x0, y0), (x1, y1) = (viewport.to_screen(float(p[0]), float(p[1])) for p in (points[0], points[-1]))
        path = QPainterPath(QPointF(x0, y0))
        bend = max(abs(y1 - y0) * 0.35, 60.0 * viewport.scale)
        path.cubicTo(QPointF(x0, y0 + bend), QPointF(x1, y1 - bend), QPointF(x1, y1))
        dashed = QPen(pen)
        dashed.setStyle(Qt.PenStyle.DashLine)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(dashed)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        paint_arrows(painter, viewport, points[-1:], pen.color())


def _turns(
    keys: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For every row how many equal rows come before it."""
    if not len(keys):
        return np.zeros(0, np.int64)
    _, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.reshape(-1)
    order = np.argsort(group, kind="stable")
    starts = np.concatenate([[True], group[order][1:] != group[order][:-1]])
    run = np.arange(len(order)) - np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
    turns = np.empty(len(order), np.int64)
    turns[order] = run
    return turns
