"""The legend of a narrow canvas: one row with a swatch and a count each; the tooltip says the words."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from studio.graph.labels import value_text
from studio.ui.canvas.colors import CanvasColors
from studio.ui.canvas.legend_parts import Row, paint_heat, paint_swatch
from studio.ui.canvas.overlay import ItemColors, Overlay
from studio.ui.canvas.texts import sized

HEIGHT = 24.0
SWATCH = 40.0  # from a row's left edge to its count
GAP = 4.0
BAR = 72.0
EDGE = 10.0

_V_CENTER = Qt.AlignmentFlag.AlignVCenter


def strip_size(overlay: Overlay, rows: list[Row], items: ItemColors, font: QFont) -> tuple[float, float]:
    """(width, height) of the row."""
    metrics = QFontMetricsF(sized(font, 11))
    if overlay.values is not None:
        ends = metrics.horizontalAdvance(_ends(overlay, items)[0] + _ends(overlay, items)[1])
        return float(round(2 * EDGE + BAR + 2 * 6 + ends + 2)), HEIGHT
    return float(round(EDGE + sum(_advance(row, metrics) for row in rows))), HEIGHT


def paint_strip(
    painter: QPainter, overlay: Overlay, rows: list[Row], items: ItemColors, colors: CanvasColors, font: QFont
) -> None:
    """Paints the row from (0, 0)."""
    small = sized(font, 11)
    metrics = QFontMetricsF(small)
    painter.setFont(small)
    x = 0.0
    if overlay.values is not None:
        painter.setPen(colors.role("quiet"))
        low, high = _ends(overlay, items)
        width = metrics.horizontalAdvance(low) + 1
        painter.drawText(QRectF(EDGE, 0, width, HEIGHT), _V_CENTER, low)
        bar = QRectF(EDGE + width + 6, HEIGHT / 2 - 4, BAR, 8)
        paint_heat(painter, bar, colors)
        painter.drawText(QRectF(bar.right() + 6, 0, 200, HEIGHT), _V_CENTER, high)
        return
    for row in rows:
        painter.save()
        painter.translate(x, (HEIGHT - 20) / 2)
        paint_swatch(painter, row, 0.0, colors)
        painter.restore()
        painter.setPen(colors.role("text"))
        advance = _advance(row, metrics)
        painter.drawText(QRectF(x + SWATCH, 0, advance - SWATCH + 4, HEIGHT), _V_CENTER, f"{row.count:,}")
        x += advance


def _advance(row: Row, metrics: QFontMetricsF) -> float:
    return SWATCH + metrics.horizontalAdvance(f"{row.count:,}") + GAP


def _ends(overlay: Overlay, items: ItemColors) -> tuple[str, str]:
    return value_text(0.0, overlay.unit), value_text(items.largest, overlay.unit)
