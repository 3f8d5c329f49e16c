"""PortalPainter: edges that are cut: stubs at both ends, named; the whole way when selected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPainterPath, QPen, QStaticText, QTransform

from studio.graph.groups import order_by, ranks_of
from studio.ui.canvas.coloring import Coloring
from studio.ui.canvas.colors import label_ground, mix
from studio.ui.canvas.edge_paint import LABEL_PX, paint_arrows
from studio.ui.canvas.labels import tensor_name
from studio.ui.canvas.texts import plain, sized
from studio.ui.canvas.viewport import Viewport

STUB = 9.0
TURN = 5.0  # how far apart ends at one point are drawn
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
    """Paints the ends of portals. Ends of one tensor at one point are drawn once; the ends at one side
    of a box share one name, written to the left, where no line goes."""

    def __init__(self, coloring: Coloring, font: QFont) -> None:
        self.coloring = coloring
        self.scene = coloring.scene
        self.font = font
        self._names: dict[int, QStaticText] = {}
        layout = self.scene.layout
        cut = np.flatnonzero(layout.edge_is_portal).astype(np.int32)
        edge = np.concatenate([cut, cut])
        is_source = np.repeat([True, False], len(cut))
        at = np.concatenate([layout.edge_offsets[cut], layout.edge_offsets[cut + 1] - 1])
        points = layout.edge_points[at].astype(np.float64)
        item = np.where(is_source, layout.edge_source[edge], layout.edge_target[edge])
        tensor = layout.edge_tensor[edge]
        keys = np.column_stack([item, is_source, points[:, 0], tensor])
        order = order_by(item, is_source.astype(np.int8), ranks_of(points[:, 0]), tensor)
        unique = order[_runs(keys[order])[1]]  # by box, side, x
        self._edge, self._is_source, self._points = edge[unique], is_source[unique], points[unique]
        sides, self._first, self._size = _runs(keys[unique][:, :2])
        columns = _runs(keys[unique][:, :3])
        self._turn = np.arange(len(unique)) - columns[1][columns[0]]
        self._side = sides

    def paint(self, painter: QPainter, viewport: Viewport) -> list[PortalEnd]:
        """Paints the stubs in sight and says where they are."""
        left, top, right, bottom = viewport.visible(margin=40)
        x, y = self._points[:, 0], self._points[:, 1]
        seen = np.flatnonzero((x >= left) & (x <= right) & (y >= top) & (y <= bottom))[:MOST_STUBS]
        if not len(seen):
            return []
        colors, scale = self.coloring.colors, viewport.scale
        color = mix(colors.role("edge"), colors.role("accent"), 0.35)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = sized(self.font, LABEL_PX * scale)
        painter.setFont(font)
        painter.setPen(QPen(color, 1.2))
        painter.setBrush(color)
        radius = 2.4 * scale + 0.4
        ground = label_ground(colors)
        ends: list[PortalEnd] = []
        for k in seen.tolist():
            is_source = bool(self._is_source[k])
            sx, sy = viewport.to_screen(float(x[k]) + int(self._turn[k]) * TURN, float(y[k]))
            tip = sy + (STUB if is_source else -STUB) * scale
            painter.drawLine(QPointF(sx, sy), QPointF(sx, tip))
            painter.drawEllipse(QPointF(sx, tip), radius, radius)
            place = QRectF(sx - 4, min(sy, tip) - 4, 8, abs(tip - sy) + 8)
            if scale >= NAMES_FROM and k == self._first[self._side[k]]:
                text = self._name(k)
                text.prepare(QTransform(), font)
                size = text.size()
                box = QRectF(QPointF(sx - 5 * scale - size.width(), tip - size.height() / 2), size)
                painter.fillRect(box, ground)
                painter.drawStaticText(box.topLeft(), text)
                place = place.united(box)
            ends.append(PortalEnd(place, int(self._edge[k]), is_source))
        return ends

    def _name(self, k: int) -> QStaticText:
        """The name at one side of a box: the tensor's, and how many more there are."""
        found = self._names.get(k)
        if found is None:
            name = tensor_name(self.scene.graph, int(self.scene.layout.edge_tensor[self._edge[k]]))
            name = name if len(name) <= LONGEST_NAME else "…" + name[-LONGEST_NAME + 1 :]
            more = int(self._size[self._side[k]]) - 1
            found = self._names[k] = plain(f"{name} +{more}" if more else name)
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


def _runs(
    keys: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """(run of every row, first row of every run, its length) of rows that are equal and neighbours."""
    if not len(keys):
        empty = np.zeros(0, np.int64)
        return empty, empty, empty
    starts = np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)])
    first = np.flatnonzero(starts)
    return np.cumsum(starts) - 1, first, np.diff(np.append(first, len(keys)))
