"""Sprites: the pictures of empty cards, pills and scope cards, made once per look and zoom.

A rounded rectangle costs Qt 35 µs by software, a ready picture 2 to 5 µs; a screen has some hundred
cards of a dozen looks. A sprite is the card without its texts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap

from studio.graph.layout import ItemKind
from studio.ui.canvas.coloring import DIM
from studio.ui.canvas.colors import CanvasColors, heat_color, mix
from studio.ui.canvas.overlay import Category, Hatch
from studio.ui.canvas.shapes import draw_icon, fill_hatched

PAD = 4.0  # room round the card for shadow and stacked edges, in screen pixels
BAR = 7.0  # width of the status bar at zoom 1


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that changes the picture of a card."""

    kind: int
    width: float  # screen pixels
    height: float
    scale: float
    code: int = -1  # index into the overlay's categories
    heat: int = -1  # 0..255 on the heat scale, −1 = none
    shares: tuple[int, ...] = ()  # scope cards: eighths of each category
    is_dimmed: bool = False
    is_match: bool = False
    is_group: bool = False  # a scope drawn as a stack


class SpriteCache:
    """Card pictures by look, for one palette, one overlay's categories and one pixel ratio."""

    def __init__(
        self, colors: CanvasColors, categories: tuple[Category, ...], pixel_ratio: float, limit: int = 3000
    ) -> None:
        self.colors = colors
        self.categories = categories
        self.pixel_ratio = pixel_ratio
        self._limit = limit
        self._made: dict[object, QPixmap] = {}

    def get(self, key: object) -> QPixmap | None:
        """The picture made for a key; its card starts PAD pixels from the top left."""
        return self._made.get(key)

    def make(self, key: object, look: Look) -> QPixmap:
        """Makes the picture of a look and keeps it for a key."""
        if len(self._made) > self._limit:
            self._made.clear()
        found = self._made[key] = self._paint(look)
        return found

    def _paint(self, look: Look) -> QPixmap:
        ratio = self.pixel_ratio
        pixmap = QPixmap(
            max(round((look.width + 2 * PAD) * ratio), 1), max(round((look.height + 2 * PAD) * ratio), 1)
        )
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_card(painter, QRectF(PAD, PAD, look.width, look.height), look, self.colors, self.categories)
        painter.end()
        return pixmap


def draw_card(
    painter: QPainter, rect: QRectF, look: Look, colors: CanvasColors, categories: tuple[Category, ...]
) -> None:
    """Draws the empty card of a look into `rect`."""
    canvas = colors.role("canvas")

    def shade(role: str) -> QColor:
        color = colors.role(role)
        return mix(color, canvas, DIM) if look.is_dimmed else color

    category = categories[look.code] if 0 <= look.code < len(categories) else None
    status = shade(category.color) if category else None
    ground, border = shade("panel"), shade("line")
    is_pill = look.kind in (ItemKind.INPUT, ItemKind.OUTPUT)
    radius = rect.height() / 2 if is_pill else min(5.0 * look.scale + 0.5, rect.height() / 3)
    if category is not None and category.is_loud and status is not None:
        ground = mix(ground, status, 0.16 if colors.is_dark else 0.09)
        border = mix(border, status, 0.55)
    if is_pill:
        ground = mix(canvas, shade("quiet"), 0.14)
        border = mix(border, shade("quiet"), 0.35)
    pen = QPen(shade("accent"), 1.6) if look.is_match else QPen(border, 1.0)
    # half a pen inside, so that the border lies on whole pixels
    inner = rect.adjusted(0.5, 0.5, -0.5, -0.5)
    if look.is_group:
        painter.setPen(QPen(border, 1.0))
        painter.setBrush(mix(ground, border, 0.25))
        step = min(3.0 * look.scale, PAD - 1)
        painter.drawRoundedRect(inner.translated(step, step), radius, radius)
    painter.setPen(pen)
    painter.setBrush(ground)
    painter.drawRoundedRect(inner, radius, radius)
    bar_width = max(BAR * look.scale, 2.0)
    bar = QRectF(inner.left(), inner.top(), bar_width, inner.height())
    solid = None
    if look.heat >= 0:
        solid = shade(heat_color(look.heat / 255, colors.is_dark).name())
    elif status is not None and not look.shares and category is not None and category.hatch is Hatch.SOLID:
        solid = status
    shape = _bar_shape(bar, radius)
    if solid is not None:
        painter.fillPath(shape, solid)
    elif category is not None and status is not None:
        painter.save()
        painter.setClipPath(shape)
        if look.shares:
            _draw_shares(painter, bar, look.shares, categories, shade, ground)
        else:
            fill_hatched(painter, bar, category.hatch, status, ground)
        painter.restore()
        painter.setPen(QPen(border, 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(shape)
    if look.is_match:  # the bar has covered the mark's left side
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(inner, radius, radius)
    if category is not None and status is not None and look.scale >= 0.3 and look.heat < 0 and not is_pill:
        size = 10.0 * min(look.scale, 1.5) if look.scale >= 0.5 else 8.0 * look.scale + 2
        center = QPointF(rect.right() - max(14.0 * look.scale, 6.0), rect.center().y())
        draw_icon(painter, category.icon, center, size, status)


def _bar_shape(bar: QRectF, radius: float) -> QPainterPath:
    """The bar with the card's rounded corners at its left."""
    path = QPainterPath(bar.topRight())
    radius = min(radius, bar.width())
    path.lineTo(bar.left() + radius, bar.top())
    path.quadTo(bar.topLeft(), QPointF(bar.left(), bar.top() + radius))
    path.lineTo(bar.left(), bar.bottom() - radius)
    path.quadTo(bar.bottomLeft(), QPointF(bar.left() + radius, bar.bottom()))
    path.lineTo(bar.bottomRight())
    path.closeSubpath()
    return path


def _draw_shares(
    painter: QPainter,
    bar: QRectF,
    shares: tuple[int, ...],
    categories: tuple[Category, ...],
    shade: Callable[[str], QColor],
    ground: QColor,
) -> None:
    """A scope's bar: its categories stacked in proportion, the most severe at the top."""
    total = sum(shares)
    top = bar.top()
    for kind in sorted(range(len(shares)), key=lambda k: -categories[k].severity):
        height = bar.height() * shares[kind] / total
        if height:
            part = QRectF(bar.left(), top, bar.width(), height)
            fill_hatched(painter, part, categories[kind].hatch, shade(categories[kind].color), ground)
            top += height
