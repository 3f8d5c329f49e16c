"""Legend: what the colours, icons and patterns of an overlay mean, bottom left over the scene."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from studio.graph.labels import value_text
from studio.ui.canvas.colors import CanvasColors
from studio.ui.canvas.hud import MARGIN, NARROW, PanelPicture, is_too_large, paint_ground
from studio.ui.canvas.legend_parts import ROW, Row, paint_heat, paint_swatch
from studio.ui.canvas.legend_strip import paint_strip, strip_size
from studio.ui.canvas.overlay import ItemColors, Overlay
from studio.ui.canvas.texts import sized
from studio.ui.canvas.viewport import Viewport
from studio.ui.texts import fill, translate

HEAD = 29.0
MOST_ROWS = 7
LONGEST_TITLE = 260.0
SCALE_WIDTH, SCALE_HEIGHT = 236.0, 66.0

_V_CENTER = Qt.AlignmentFlag.AlignVCenter


class Legend:
    """Rows of categories with counts, or the scale of a heat map."""

    def __init__(self) -> None:
        self.rect = QRectF()
        self._picture = PanelPicture()
        self._key: object = None
        self._rows: list[Row] = []
        self._size = (0.0, 0.0)
        self.words = ""
        """The legend as text, for its tooltip."""

    def paint(
        self,
        painter: QPainter,
        viewport: Viewport,
        overlay: Overlay | None,
        counts: list[int],
        items: ItemColors,
        colors: CanvasColors,
        font: QFont,
        *,
        as_vectors: bool = False,
    ) -> None:
        """Paints the legend; `counts` are nodes per category, `items` has the scale's upper end.

        On a screen in one row, or not at all, where it would cover the cards; in a picture
        (`as_vectors`) always whole.
        """
        self.rect = QRectF()
        width, height = self.size(overlay, counts, items, colors, font)
        if overlay is None or not width:
            return
        is_strip = not as_vectors and (viewport.width < NARROW or is_too_large(viewport, width, height))
        if is_strip:
            width, height = strip_size(overlay, self._rows, items, font)
            if width > viewport.width - 2 * MARGIN or is_too_large(viewport, width, height):
                return
        self.words = "\n".join((overlay.name, *(f"{row.count:,}  {row.title}" for row in self._rows)))
        self.rect = QRectF(MARGIN, viewport.height - MARGIN - height, width, height)
        room = QRectF(0, 0, width, height)

        def picture(brush: QPainter) -> None:
            paint_ground(brush, room, colors)
            if is_strip:
                paint_strip(brush, overlay, self._rows, items, colors, font)
            elif overlay.values is not None:
                _paint_scale(brush, room, overlay, items, colors, font)
            else:
                _paint_rows(brush, room, overlay, self._rows, colors, font)

        if as_vectors:
            painter.save()
            painter.translate(self.rect.topLeft())
            picture(painter)
            painter.restore()
        else:
            self._picture.draw(painter, self.rect, viewport.pixel_ratio, (self._key, is_strip), picture)

    def size(
        self,
        overlay: Overlay | None,
        counts: list[int],
        items: ItemColors,
        colors: CanvasColors,
        font: QFont,
    ) -> tuple[float, float]:
        """(width, height) of the legend; (0, 0) when there is nothing to say."""
        if overlay is None or (overlay.values is None and not any(counts)):
            return 0.0, 0.0
        key = (id(overlay), tuple(counts), items.largest, items.exponent, id(colors), font.key())
        if key != self._key:
            self._key = key
            self._rows = rows_of(overlay, counts)
            if overlay.values is not None:
                self._size = SCALE_WIDTH, SCALE_HEIGHT + (ROW if overlay.unknown else 0)
            else:
                self._size = _table_size(overlay, self._rows, font)
        return self._size


def rows_of(overlay: Overlay, counts: list[int]) -> list[Row]:
    """The categories that have nodes, groups merged; the loud ones first where not all fit."""
    rows: dict[str, Row] = {}
    for index, (category, count) in enumerate(zip(overlay.categories, counts)):
        if not count:
            continue
        key = category.group or f"{index}"
        known = rows.get(key, Row(category.group or category.title, (), 0))
        rows[key] = Row(known.title, (*known.categories, category), known.count + count)
    found = list(rows.values())
    if len(found) > MOST_ROWS:
        found.sort(key=lambda row: -max(c.severity for c in row.categories))
    return found


def _table_size(overlay: Overlay, rows: list[Row], font: QFont) -> tuple[float, float]:
    metrics = QFontMetricsF(sized(font, 12))
    label = max((metrics.horizontalAdvance(r.title) for r in rows[:MOST_ROWS]), default=0.0)
    number = max((metrics.horizontalAdvance(f"{r.count:,}") for r in rows[:MOST_ROWS]), default=0.0)
    title = min(QFontMetricsF(sized(font, 11, bold=True)).horizontalAdvance(overlay.name), LONGEST_TITLE)
    lines = min(len(rows), MOST_ROWS) + (len(rows) > MOST_ROWS)
    return float(round(max(42 + label + 20 + number + 14, title + 28))), HEAD + ROW * lines + 6


def _paint_rows(
    painter: QPainter, room: QRectF, overlay: Overlay, rows: list[Row], colors: CanvasColors, font: QFont
) -> None:
    _paint_title(painter, room, overlay.name, colors, font)
    painter.setFont(sized(font, 12))
    y = HEAD
    for row in rows[:MOST_ROWS]:
        paint_swatch(painter, row, y, colors)
        painter.setPen(colors.role("text"))
        painter.drawText(QRectF(42, y, room.width() - 54, ROW), _V_CENTER, row.title)
        painter.setPen(colors.role("quiet"))
        box = QRectF(0, y, room.width() - 12, ROW)
        painter.drawText(box, _V_CENTER | Qt.AlignmentFlag.AlignRight, f"{row.count:,}")
        y += ROW
    if len(rows) > MOST_ROWS:
        words = fill(translate("Canvas", "and {count} more"), count=len(rows) - MOST_ROWS)
        painter.drawText(QRectF(42, y, room.width() - 54, ROW), _V_CENTER, words)


def _paint_title(painter: QPainter, room: QRectF, title: str, colors: CanvasColors, font: QFont) -> None:
    bold = sized(font, 11, bold=True)
    painter.setFont(bold)
    painter.setPen(colors.role("quiet"))
    title = QFontMetricsF(bold).elidedText(title, Qt.TextElideMode.ElideRight, room.width() - 24)
    painter.drawText(QRectF(12, 7, room.width() - 24, 18), _V_CENTER, title)


def _paint_scale(
    painter: QPainter, room: QRectF, overlay: Overlay, items: ItemColors, colors: CanvasColors, font: QFont
) -> None:
    """The heat scale with the values at its ends and its middle (it is not linear)."""
    _paint_title(painter, room, overlay.name, colors, font)
    bar = QRectF(12, HEAD, room.width() - 24, 9)
    painter.setFont(sized(font, 11))
    painter.setPen(colors.role("quiet"))
    row = QRectF(12, bar.bottom() + 3, bar.width(), 18)
    if items.largest > 0:
        paint_heat(painter, bar, colors)
        for place, align in (
            (0.0, Qt.AlignmentFlag.AlignLeft),
            (0.5, Qt.AlignmentFlag.AlignHCenter),
            (1.0, Qt.AlignmentFlag.AlignRight),
        ):
            painter.drawText(
                row,
                align | _V_CENTER,
                value_text(items.largest * place ** (1 / items.exponent), overlay.unit),
            )
    else:
        words = translate("Canvas", "No node has a figure above 0.")
        painter.drawText(row.translated(0, -10), _V_CENTER, words)
    if overlay.unknown:
        words = translate("Canvas", "unknown: {count} nodes")
        painter.drawText(row.translated(0, ROW - 1), _V_CENTER, fill(words, count=f"{overlay.unknown:,}"))
