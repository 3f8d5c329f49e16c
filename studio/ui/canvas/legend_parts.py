"""What both forms of the legend are made of: rows of categories, their swatches, the heat scale's bar."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QLinearGradient, QPainter

from studio.ui.canvas.colors import CanvasColors, heat_color
from studio.ui.canvas.overlay import Category
from studio.ui.canvas.shapes import draw_icon, fill_hatched

ROW = 20.0


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: a category, or several of one group."""

    title: str
    categories: tuple[Category, ...]
    count: int


def paint_swatch(painter: QPainter, row: Row, y: float, colors: CanvasColors) -> None:
    """Bar and icon of a category, or a strip of the colours of a group."""
    if len(row.categories) == 1:
        category = row.categories[0]
        color = colors.role(category.color)
        bar = QRectF(12, y + 3, 8, ROW - 6)
        fill_hatched(painter, bar, category.hatch, color, colors.role("panel"))
        draw_icon(painter, category.icon, QPointF(31, y + ROW / 2), 10, color)
        return
    shown = row.categories[:8]
    for k, category in enumerate(shown):
        part = QRectF(12 + 24 * k / len(shown), y + 3, 24 / len(shown), ROW - 6)
        painter.fillRect(part, colors.role(category.color))


def paint_heat(painter: QPainter, bar: QRectF, colors: CanvasColors) -> None:
    """The colours of the heat scale, from low to high."""
    gradient = QLinearGradient(bar.topLeft(), bar.topRight())
    for k in range(17):
        gradient.setColorAt(k / 16, heat_color(k / 16, colors.is_dark))
    painter.fillRect(bar, gradient)
