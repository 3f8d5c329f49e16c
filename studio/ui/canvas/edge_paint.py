"""EdgePainter: edges as curves or lines, with arrow heads, weights and labels."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QStaticText, QTransform

from studio.graph.labels import scale_text
from studio.graph.scales import weight_classes
from studio.ui.canvas.coloring import Coloring
from studio.ui.canvas.colors import label_ground
from studio.ui.canvas.far_paint import draw_lines
from studio.ui.canvas.labels import tensor_text
from studio.ui.canvas.shapes import curves_path, triangles_path
from studio.ui.canvas.texts import plain, sized
from studio.ui.canvas.viewport import Viewport

Indices = npt.NDArray[np.int32]

MOST_CURVES = 1800
MOST_LINES = 3000
SHORTEST = 3.0  # pixels; shorter lines far away say nothing
MOST_LABELS = 120
LONGEST_CURVE = 20_000.0  # screen pixels; what is longer is straight as far as one sees
LABEL_PX = 9.5
LONGEST_LABEL = 1000.0  # pixels: shape, scale and an overlay's note
ARROWS_FROM = 0.35  # zoom from which arrow heads are drawn
WEIGHTS_FROM = 0.12  # zoom from which edges that cross borders are thick


class EdgePainter:
    """Paints the edges of a scene; keeps their labels until overlay, font or zoom change."""

    def __init__(self, coloring: Coloring, font: QFont) -> None:
        self.coloring = coloring
        self.scene = coloring.scene
        self.font = font
        overlay = coloring.overlay
        weights = overlay.tensor_weight if overlay is not None else {}
        self._weight_class = weight_classes(coloring.scene.layout.edge_tensor, weights)
        self._has_weights = bool(self._weight_class.any())
        self._labels: dict[int, tuple[QStaticText, QSizeF] | None] = {}
        self._label_size = 0

    @cached_property
    def _labelled(self) -> npt.NDArray[np.bool_]:
        return _first_edges(self.coloring)

    def paint_lines(self, painter: QPainter, viewport: Viewport, edges: Indices, color: QColor) -> None:
        """Far away: straight pieces without arrow heads; the longest MOST_LINES of them."""
        pieces = self._pieces(viewport, edges)
        if len(pieces) > MOST_LINES:
            length = np.abs(pieces[:, 2:] - pieces[:, :2]).max(axis=1)
            pieces = pieces[np.argpartition(length, -MOST_LINES)[-MOST_LINES:]]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(color, 0))
        draw_lines(painter, pieces)

    def _pieces(self, viewport: Viewport, edges: Indices) -> npt.NDArray[np.float64]:
        """[n, 4] the straight pieces of edges that are longer than SHORTEST and in sight, on screen."""
        layout = self.scene.layout
        edges = edges[~layout.edge_is_portal[edges]]
        counts = np.diff(layout.edge_offsets)[edges] - 1
        first = np.repeat(layout.edge_offsets[edges], counts)
        first = first + np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
        shift = np.array([viewport.offset_x, viewport.offset_y])
        pieces = np.empty((len(first), 4))
        pieces[:, :2] = layout.edge_points[first] * viewport.scale + shift
        pieces[:, 2:] = layout.edge_points[first + 1] * viewport.scale + shift
        low, high = np.minimum(pieces[:, :2], pieces[:, 2:]), np.maximum(pieces[:, :2], pieces[:, 2:])
        keep = ((high - low).max(axis=1, initial=0) > SHORTEST) & (high >= 0).all(axis=1)
        shown: npt.NDArray[np.float64] = pieces[
            keep & (low[:, 0] <= viewport.width) & (low[:, 1] <= viewport.height)
        ]
        return shown

    def paint_curves(
        self, painter: QPainter, viewport: Viewport, edges: Indices, pen: QPen, *, arrows: bool = True
    ) -> None:
        """The edges as smooth curves, with arrow heads at their targets. Portals are left out."""
        scene = self.scene
        edges = edges[~scene.layout.edge_is_portal[edges]]
        if not len(edges):
            return
        painter.setPen(pen)
        extent = np.maximum(scene.edge_right - scene.edge_left, scene.edge_bottom - scene.edge_top)[edges]
        is_endless = extent * viewport.scale > LONGEST_CURVE
        if is_endless.any():
            draw_lines(painter, self._pieces(viewport, edges[is_endless])[:MOST_LINES])
            edges = edges[~is_endless]
        is_straight = scene.edge_is_straight[edges]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        # most edges are straight down: drawn on whole pixels, they are crisp and cost a tenth
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, pen.widthF() > 1.0)
        draw_lines(painter, self._columns(viewport, edges[is_straight]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shift = np.array([viewport.offset_x, viewport.offset_y])
        painter.drawPath(curves_path(*scene.curves(edges[~is_straight]), viewport.scale, shift))
        if arrows and viewport.scale >= ARROWS_FROM:
            paint_arrows(painter, viewport, scene.tips(edges), pen.color())

    def _columns(self, viewport: Viewport, edges: Indices) -> npt.NDArray[np.float64]:
        """[n, 4] straight edges as lines on whole pixels, cut to the screen."""
        scene, ratio = self.scene, viewport.pixel_ratio
        lines = np.empty((len(edges), 4))
        x = scene.edge_left[edges] * viewport.scale + viewport.offset_x
        lines[:, 0] = lines[:, 2] = (np.floor(x * ratio) + 0.5) / ratio
        lines[:, 1] = np.maximum(scene.edge_top[edges] * viewport.scale + viewport.offset_y, -10)
        lines[:, 3] = np.minimum(
            scene.edge_bottom[edges] * viewport.scale + viewport.offset_y, viewport.height + 10
        )
        return lines

    def paint_weights(self, painter: QPainter, viewport: Viewport, edges: Indices, *, as_lines: bool) -> None:
        """Edges whose tensor crosses a border, thicker the more bytes cross (by the logarithm)."""
        if not self._has_weights or viewport.scale < WEIGHTS_FROM:
            return
        crossing = edges[self._weight_class[edges] > 0]
        classes = self._weight_class[crossing]
        color = self.coloring.colors.role("boundary")
        for width in np.unique(classes).tolist():
            chosen = crossing[classes == width]
            pen = QPen(color, width * min(max(viewport.scale, 0.3), 1.5))
            if as_lines:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
                painter.setPen(pen)
                draw_lines(painter, self._pieces(viewport, chosen)[:MOST_LINES])
            else:
                self.paint_curves(painter, viewport, chosen, pen, arrows=False)

    def paint_labels(
        self, painter: QPainter, viewport: Viewport, edges: Indices, *, spare: bool = True
    ) -> None:
        """Texts beside the beginnings of edges, once per tensor; those that would overlap are left out.

        `spare`: only so many as a frame has time for.
        """
        font = sized(self.font, LABEL_PX * viewport.scale)
        if font.pixelSize() != self._label_size:
            self._labels.clear()
            self._label_size = font.pixelSize()
        painter.setFont(font)
        ground = label_ground(self.coloring.colors)
        painter.setPen(self.coloring.colors.role("quiet"))
        named = edges[self._labelled[edges]][: 4 * MOST_LABELS if spare else None]
        starts = self.scene.starts(named) * viewport.scale
        starts = starts + np.array([viewport.offset_x + 6, viewport.offset_y + 3 * viewport.scale])
        taken: list[QRectF] = []
        for edge, (x, y) in zip(named.tolist(), starts.tolist()):
            if not (-200 < x < viewport.width and -20 < y < viewport.height):
                continue
            found = self._label(edge, font)
            if found is None:
                continue
            text, size = found
            box = QRectF(QPointF(x, y), size)
            if any(box.intersects(other) for other in taken[-12:]):
                continue
            taken.append(box)
            painter.fillRect(box.adjusted(-2, 1, 2, -1), ground)
            painter.drawStaticText(box.topLeft(), text)
            if spare and len(taken) >= MOST_LABELS:
                break

    def right_end(self) -> float:
        """Where the rightmost label ends at zoom 1, in scene pixels: a whole picture needs that room."""
        edges = np.flatnonzero(self._labelled)
        starts = self.scene.starts(edges)[:, 0]
        metrics = QFontMetricsF(sized(self.font, LABEL_PX))
        furthest = -np.inf
        for edge, start in zip(edges[np.argsort(-starts)].tolist(), np.sort(starts)[::-1].tolist()):
            if start + LONGEST_LABEL < furthest:
                break
            furthest = max(furthest, start + 6 + metrics.horizontalAdvance(self.label_of(edge)) + 2)
        return float(furthest)

    def _label(self, edge: int, font: QFont) -> tuple[QStaticText, QSizeF] | None:
        if edge not in self._labels:
            words = self.label_of(edge)
            if words:
                text = plain(words)
                text.prepare(QTransform(), font)
                self._labels[edge] = text, text.size()
            else:
                self._labels[edge] = None
        return self._labels[edge]

    def label_of(self, edge: int) -> str:
        """What is written on an edge: shape, quantisation, and the overlay's note."""
        graph, overlay = self.scene.graph, self.coloring.overlay
        tensor = int(self.scene.layout.edge_tensor[edge])
        if tensor < 0:
            return ""
        parts = [tensor_text(graph, tensor)]
        if tensor in graph.tensor_quantization:
            parts.append(scale_text(graph.tensor_quantization[tensor]))
        if overlay is not None and tensor in overlay.tensor_note:
            parts.append(overlay.tensor_note[tensor])
        return "  ".join(p for p in parts if p)


def _first_edges(coloring: Coloring) -> npt.NDArray[np.bool_]:
    """True for the first edge of every tensor at every box that it leaves: the one that is labelled."""
    layout = coloring.scene.layout
    first = np.zeros(len(layout.edge_tensor), np.bool_)
    usable = np.flatnonzero(~layout.edge_is_portal & (layout.edge_tensor >= 0))
    keys = layout.edge_source[usable].astype(np.int64) << 32 | layout.edge_tensor[usable]
    first[usable[np.unique(keys, return_index=True)[1]]] = True
    return first


def paint_arrows(
    painter: QPainter, viewport: Viewport, tips: npt.NDArray[np.floating], color: QColor
) -> None:
    """Small heads that point down at the ends of edges; one where many end."""
    points = tips * viewport.scale + np.array([viewport.offset_x, viewport.offset_y])
    points = points[(points > -10).all(axis=1)]
    points = points[(points[:, 0] < viewport.width + 10) & (points[:, 1] < viewport.height + 10)]
    points = np.unique(points.round(1), axis=0)
    size = min(max(6.5 * viewport.scale, 3.5), 9.0)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawPath(triangles_path(points, size * 0.9, size))
