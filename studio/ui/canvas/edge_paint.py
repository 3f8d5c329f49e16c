"""Edges: curves with arrow heads, stubs of portals, highlighted lines, and the labels on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath, QPen, QTransform
from shiboken6 import Shiboken

from studio.ui.canvas.colors import CanvasColors, mix
from studio.ui.canvas.labels import quantization_text, tensor_name, tensor_text
from studio.ui.canvas.overlay import Overlay
from studio.ui.canvas.scene import Scene
from studio.ui.canvas.shapes import curves_path, triangles_path
from studio.ui.canvas.texts import plain, sized
from studio.ui.canvas.viewport import Viewport

Indices = npt.NDArray[np.int32]

MOST_CURVES = 1800
MOST_LINES = 5000
MOST_LABELS = 160
LABEL_PX = 9.5
PORTAL_WIDTH = 96.0


@dataclass(frozen=True, slots=True)
class Brushes:
    """What edges are painted with."""

    colors: CanvasColors
    font: QFont
    overlay: Overlay | None


def transform_of(viewport: Viewport) -> QTransform:
    """Layout pixels → screen pixels."""
    return QTransform(viewport.scale, 0, 0, viewport.scale, viewport.offset_x, viewport.offset_y)


def paint_lines(painter: QPainter, scene: Scene, viewport: Viewport, edges: Indices, color: QColor) -> None:
    """Far away: straight pieces without arrow heads; the longest MOST_LINES of them."""
    layout = scene.layout
    edges = edges[~layout.edge_is_portal[edges]]
    counts = np.diff(layout.edge_offsets)[edges] - 1
    if not counts.sum():
        return
    first = np.repeat(layout.edge_offsets[edges], counts)
    first = first + np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    pieces = np.empty((len(first), 4))
    pieces[:, :2] = layout.edge_points[first]
    pieces[:, 2:] = layout.edge_points[first + 1]
    length = np.abs(pieces[:, 2:] - pieces[:, :2]).max(axis=1) * viewport.scale
    if len(pieces) > MOST_LINES:
        longest = np.argpartition(length, -MOST_LINES)[-MOST_LINES:]
        pieces, length = pieces[longest], length[longest]
    pieces = pieces[length >= 2.0]
    if not len(pieces):
        return
    pieces = np.ascontiguousarray(
        pieces * viewport.scale + np.array([viewport.offset_x, viewport.offset_y] * 2)
    )
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(QPen(color, 0))
    painter.drawLines(Shiboken.wrapInstance(pieces.ctypes.data, QLineF), len(pieces))  # type: ignore[call-overload]


def paint_curves(
    painter: QPainter, scene: Scene, viewport: Viewport, edges: Indices, pen: QPen, *, arrows: bool = True
) -> None:
    """The edges as smooth curves, with arrow heads at their targets. Portals are left out."""
    edges = edges[~scene.layout.edge_is_portal[edges]]
    if not len(edges):
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    path = transform_of(viewport).map(curves_path(scene.curve_offsets, scene.curves, edges))
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(path)
    if arrows and viewport.scale >= 0.35:
        paint_arrows(painter, viewport, scene.curves[scene.curve_offsets[edges + 1] - 1], pen.color())


def paint_arrows(
    painter: QPainter, viewport: Viewport, tips: npt.NDArray[np.floating], color: QColor
) -> None:
    """Small heads that point down at the ends of edges; one where many end."""
    points = tips * viewport.scale + np.array([viewport.offset_x, viewport.offset_y])
    points = np.unique(points.round(1), axis=0)
    size = min(max(6.5 * viewport.scale, 3.5), 9.0)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawPath(triangles_path(points, size * 0.9, size))


def portal_spots(scene: Scene, edges: Indices) -> list[tuple[int, float, float, bool]]:
    """(edge, x, y, is_source) of the portals' ends; ends that coincide are named once."""
    layout = scene.layout
    seen: set[tuple[float, float, int]] = set()
    result = []
    for edge in edges[layout.edge_is_portal[edges]].tolist():
        points = layout.edge_points[layout.edge_offsets[edge] : layout.edge_offsets[edge + 1]]
        tensor = int(layout.edge_tensor[edge])
        for point, is_source in ((points[0], True), (points[-1], False)):
            key = (float(point[0]), float(point[1]), tensor)
            if key not in seen:
                seen.add(key)
                result.append((edge, key[0], key[1], is_source))
    return result


def paint_portals(
    painter: QPainter, scene: Scene, viewport: Viewport, edges: Indices, brushes: Brushes, shown: QRectF
) -> list[tuple[QRectF, int, bool]]:
    """Stubs with the tensor's name. Returns their places on screen: (rectangle, edge, is_source)."""
    spots = portal_spots(scene, edges[:4000])
    if not spots:
        return []
    colors = brushes.colors
    color = mix(colors.role("edge"), colors.role("accent"), 0.35)
    scale = viewport.scale
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    stub = 9.0 * scale
    font = sized(brushes.font, LABEL_PX * scale)
    painter.setFont(font)
    result = []
    stacked: dict[tuple[float, float, bool], int] = {}
    for edge, x, y, is_source in spots:
        sx, sy = viewport.to_screen(x, y)
        if not shown.contains(sx, sy):
            continue
        down = 1.0 if is_source else -1.0
        turn = stacked.get((x, y, is_source), 0)
        stacked[x, y, is_source] = turn + 1
        shift = turn * (5.0 + 0.0) * scale
        painter.setPen(QPen(color, 1.2))
        end = sy + down * stub
        painter.drawLine(QPointF(sx + shift, sy), QPointF(sx + shift, end))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(QPointF(sx + shift, end), 2.4 * scale + 0.4, 2.4 * scale + 0.4)
        place = QRectF(sx + shift - 6, min(sy, end) - 4, 12, abs(end - sy) + 8)
        if scale >= 0.6 and turn == 0:
            name = tensor_name(scene.graph, int(scene.layout.edge_tensor[edge]))
            text = plain(("→ " if is_source else "") + name[-22:] + ("" if is_source else " →"))
            text.prepare(QTransform(), font)
            size = text.size()
            box = QRectF(sx + 6 * scale, end - size.height() / 2, size.width(), size.height())
            painter.fillRect(box, colors.role("canvas"))
            painter.setPen(color)
            painter.drawStaticText(box.topLeft(), text)
            place = place.united(box)
        result.append((place, edge, is_source))
    return result


def paint_portal_curve(painter: QPainter, scene: Scene, viewport: Viewport, edge: int, pen: QPen) -> None:
    """The whole way of a portal edge, dashed, for the edge that is selected."""
    points = scene.layout.edge_points[scene.layout.edge_offsets[edge] : scene.layout.edge_offsets[edge + 1]]
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


def paint_weights(
    painter: QPainter, scene: Scene, viewport: Viewport, edges: Indices, brushes: Brushes
) -> None:
    """Edges whose tensor crosses a border, thicker the more bytes cross (by the logarithm)."""
    overlay = brushes.overlay
    if overlay is None or not overlay.tensor_weight:
        return
    tensors = scene.layout.edge_tensor[edges]
    heavy = [(e, overlay.tensor_weight[t]) for e, t in zip(edges.tolist(), tensors.tolist())
             if t in overlay.tensor_weight]  # fmt: skip
    if not heavy:
        return
    most = float(np.log1p(max(overlay.tensor_weight.values()))) or 1.0
    classes: dict[int, list[int]] = {}
    for edge, weight in heavy[:2000]:
        classes.setdefault(round(1 + 4 * float(np.log1p(max(weight, 0))) / most), []).append(edge)
    color = brushes.colors.role("boundary")
    for width, members in sorted(classes.items()):
        pen = QPen(color, width * min(max(viewport.scale, 0.4), 1.5))
        paint_curves(painter, scene, viewport, np.array(members, np.int32), pen, arrows=False)


def edge_label(scene: Scene, edge: int, overlay: Overlay | None) -> str:
    """What is written on an edge: shape, quantisation, and the overlay's note."""
    tensor = int(scene.layout.edge_tensor[edge])
    if tensor < 0:
        return ""
    parts = [tensor_text(scene.graph, tensor)]
    quantization = scene.graph.tensor_quantization.get(tensor)
    if quantization is not None:
        parts.append(quantization_text(quantization))
    if overlay is not None and tensor in overlay.tensor_note:
        parts.append(overlay.tensor_note[tensor])
    return "  ".join(p for p in parts if p)


def paint_labels(
    painter: QPainter, scene: Scene, viewport: Viewport, edges: Indices, brushes: Brushes
) -> None:
    """Texts beside the beginnings of edges, once per tensor; those that would overlap are left out."""
    layout = scene.layout
    font = sized(brushes.font, LABEL_PX * viewport.scale)
    painter.setFont(font)
    colors = brushes.colors
    seen: set[tuple[int, int]] = set()
    taken: list[QRectF] = []
    for edge in edges[~layout.edge_is_portal[edges]].tolist():
        key = (int(layout.edge_source[edge]), int(layout.edge_tensor[edge]))
        if key in seen:
            continue
        seen.add(key)
        if len(seen) > MOST_LABELS:
            break
        words = edge_label(scene, edge, brushes.overlay)
        if not words:
            continue
        start = scene.curve(edge)[0]
        x, y = viewport.to_screen(float(start[0]), float(start[1]))
        text = plain(words)
        text.prepare(QTransform(), font)
        box = QRectF(QPointF(x + 6, y + 3 * viewport.scale), text.size())
        if any(box.intersects(other) for other in taken[-40:]):
            continue
        taken.append(box)
        painter.fillRect(box.adjusted(-2, 1, 2, -1), colors.role("canvas"))
        painter.setPen(colors.role("quiet"))
        painter.drawStaticText(box.topLeft(), text)
