"""CardPainter: boxes near enough to read, as cards with their texts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from studio.graph.labels import value_text
from studio.graph.layout import ItemKind
from studio.ui.canvas.coloring import DIM, Coloring
from studio.ui.canvas.colors import mix
from studio.ui.canvas.far_paint import screen_rects
from studio.ui.canvas.sprites import PAD, Look, SpriteCache, draw_card
from studio.ui.canvas.texts import (
    COMPACT_PX,
    DETAIL_PX,
    LINE,
    TEXT_LEFT,
    TITLE_PX,
    CardTexts,
    name_left,
    sized,
)
from studio.ui.canvas.viewport import Viewport

Items = npt.NDArray[np.int32]
SMALLEST_TEXT = 5  # pixels; what is smaller is not drawn
HEAT_STEPS = 31

_Base = tuple[int, int, int, tuple[int, ...], bool, bool]
"""Kind, category, heat, shares, dimmed, match."""


class CardPainter:
    """Paints cards; keeps their pictures and texts until colours, font or zoom change."""

    def __init__(self, coloring: Coloring, texts: CardTexts, font: QFont) -> None:
        self.coloring = coloring
        self.texts = texts
        self.font = font
        self._sprites: SpriteCache | None = None
        self._sprite_scale = 0.0
        self._bases: dict[int, int] = {}
        self._base_list: list[_Base] = []
        self._base_ids: dict[_Base, int] = {}

    def _base_of(self, item: int) -> int:
        """The number of a box's look, without its size."""
        found = self._bases.get(item)
        if found is None:
            coloring = self.coloring
            kind = int(coloring.scene.layout.item_kind[item])
            position = float(coloring.items.position[item])
            heat = round(position * HEAT_STEPS) * 255 // HEAT_STEPS if position == position else -1
            shares: tuple[int, ...] = ()
            if kind == ItemKind.SCOPE and coloring.items.counts[item].any():
                counts = coloring.items.counts[item]
                shares = tuple(np.ceil(8 * counts / counts.sum()).astype(int).tolist())
            base = (
                kind,
                int(coloring.items.code[item]),
                heat,
                shares,
                bool(coloring.dimmed[item]),
                bool(coloring.matched[item]),
            )
            found = self._base_ids.setdefault(base, len(self._base_list))
            if found == len(self._base_list):
                self._base_list.append(base)
            self._bases[item] = found
        return found

    def _look(self, base_id: int, width: float, height: float, scale: float) -> Look:
        kind, code, heat, shares, is_dimmed, is_match = self._base_list[base_id]
        return Look(
            kind, width, height, scale, code, heat, shares, is_dimmed, is_match, kind == ItemKind.SCOPE
        )

    def paint(
        self, painter: QPainter, viewport: Viewport, items: Items, *, is_compact: bool, as_vectors: bool
    ) -> None:
        """Paints boxes; compact ones carry the operator alone."""
        scale, ratio = viewport.scale, viewport.pixel_ratio
        coloring = self.coloring
        if self._sprites is None or self._sprites.pixel_ratio != ratio or self._sprite_scale != scale:
            self._sprites = SpriteCache(coloring.colors, coloring.categories, ratio)
            self._sprite_scale = scale
        rects = (np.round(screen_rects(coloring.scene, viewport, items) * ratio) / ratio).tolist()
        sprites = self._sprites
        for item, (x, y, width, height) in zip(items.tolist(), rects):
            key = (self._base_of(item), width, height)
            if as_vectors:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                look = self._look(*key, scale)
                draw_card(painter, QRectF(x, y, width, height), look, coloring.colors, coloring.categories)
                continue
            sprite = sprites.get(key)
            if sprite is None:
                sprite = sprites.make(key, self._look(*key, scale))
            painter.drawPixmap(QPointF(x - PAD, y - PAD), sprite)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if is_compact:
            self._paint_titles_alone(painter, scale, items, rects)
        else:
            self._paint_texts(painter, scale, items, rects)

    def _shades(self, role: str) -> tuple[QColor, QColor]:
        """A text colour, and the same for dimmed boxes."""
        color = self.coloring.colors.role(role)
        return color, mix(color, self.coloring.colors.role("canvas"), DIM)

    def _paint_titles_alone(
        self, painter: QPainter, scale: float, items: Items, rects: list[list[float]]
    ) -> None:
        font = sized(self.font, COMPACT_PX * scale)
        if font.pixelSize() < SMALLEST_TEXT:
            return
        painter.setFont(font)
        line = font.pixelSize() * LINE
        shades = self._shades("text")
        was_dim = -1
        for item, is_dim, (x, y, _, height) in zip(items.tolist(), self._dimmed(items), rects):
            if is_dim != was_dim:
                painter.setPen(shades[is_dim])
                was_dim = is_dim
            at = QPointF(x + TEXT_LEFT * scale, y + (height - line) / 2)
            painter.drawStaticText(at, self.texts.get(item).compact)

    def _dimmed(self, items: Items) -> list[bool]:
        return self.coloring.dimmed[items].tolist()  # type: ignore[no-any-return]

    def _paint_texts(self, painter: QPainter, scale: float, items: Items, rects: list[list[float]]) -> None:
        texts = [self.texts.get(item) for item in items.tolist()]
        is_dim = self._dimmed(items)
        title_font = sized(self.font, TITLE_PX * scale, bold=True)
        detail_font = sized(self.font, DETAIL_PX * scale)
        title_line, detail_line = title_font.pixelSize() * LINE, detail_font.pixelSize() * LINE
        tops = [
            y + height / 2 - title_line - 0.5 * scale if text.detail else y + (height - title_line) / 2
            for text, (_, y, _, height) in zip(texts, rects)
        ]
        shades = self._shades("text")
        painter.setFont(title_font)
        for text, faded, top, rect in zip(texts, is_dim, tops, rects):
            painter.setPen(shades[faded])
            painter.drawStaticText(QPointF(rect[0] + TEXT_LEFT * scale, top), text.title)
        shades = self._shades("quiet")
        painter.setFont(detail_font)
        drop = (title_line - detail_line) * 0.8  # the two sizes on one baseline
        figures = self._figures(items)
        for item, text, faded, top, (x, y, _, height) in zip(items.tolist(), texts, is_dim, tops, rects):
            painter.setPen(shades[faded])
            if text.detail is not None:
                at = QPointF(x + TEXT_LEFT * scale, y + height / 2 + 1.5 * scale)
                figure = figures.get(item, "")
                detail = self.texts.detail_beside(item, figure) if figure else text.detail
                painter.drawStaticText(at, detail)
            if text.name is not None:
                at = QPointF(x + name_left(text, title_font, scale), top + drop)
                painter.drawStaticText(at, text.name)
        self._paint_figures(painter, detail_font, figures, scale, items, rects)

    def _figures(self, items: Items) -> dict[int, str]:
        """The figure of a heat map on each box; none where it is unknown or 0."""
        overlay = self.coloring.overlay
        if overlay is None or overlay.values is None:
            return {}
        values = self.coloring.items.value[items].tolist()
        return {
            item: value_text(value, overlay.unit) for item, value in zip(items.tolist(), values) if value > 0
        }

    def _paint_figures(
        self,
        painter: QPainter,
        font: QFont,
        figures: dict[int, str],
        scale: float,
        items: Items,
        rects: list[list[float]],
    ) -> None:
        """The figures at the right of the second line."""
        if not figures:
            return
        shades = self._shades("text")
        metrics = QFontMetricsF(font)
        for item, faded, (x, y, width, height) in zip(items.tolist(), self._dimmed(items), rects):
            words = figures.get(item, "")
            if words:
                painter.setPen(shades[faded])
                at = x + width - 8 * scale - metrics.horizontalAdvance(words)
                painter.drawText(QPointF(at, y + height / 2 + 1.5 * scale + metrics.ascent()), words)
