"""ScenePainter: one frame of a scene, from far away to close by, from arrays.

Levels of detail: a density picture below zoom .05 or when more than MOST_BOXES boxes are in sight;
flat rectangles below .25 or above MOST_CARDS; cards with the operator's name below .55; full
cards to zoom 1; edge labels from there on. Whatever is loud (a node that fails) stays at least
three pixels large at every zoom.
What does not live here: the panels over the scene (`hud`), the widget (`canvas`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen
from shiboken6 import Shiboken

from studio.graph.layout import ItemKind
from studio.records import Choice
from studio.ui.canvas import edge_paint
from studio.ui.canvas.colors import CanvasColors, heat_table, mix
from studio.ui.canvas.density import DensityMap
from studio.ui.canvas.labels import scope_title
from studio.ui.canvas.outlines import OutlineBands
from studio.ui.canvas.overlay import Hatch, ItemColors, Overlay, gather_on_items
from studio.ui.canvas.scene import Scene
from studio.ui.canvas.shapes import hatch_brush
from studio.ui.canvas.sprites import DIM, PAD, Look, SpriteCache, draw_card
from studio.ui.canvas.texts import (
    COMPACT_PX,
    DETAIL_PX,
    TEXT_LEFT,
    TITLE_PX,
    CardTexts,
    plain,
    sized,
)
from studio.ui.canvas.viewport import Viewport

MOST_BOXES = 7000
MOST_CARDS = 650
FAR, FLAT, COMPACT, NEAR = 0.05, 0.25, 0.55, 1.0
FRAME_TITLE_PX = 11.0
LOUD_SIZE = 3.0


class Detail(Choice):
    """How much a frame shows."""

    DENSITY = "density"
    FLAT = "flat"
    COMPACT = "compact"
    CARDS = "cards"
    LABELLED = "labelled"


def detail_for(scale: float, in_sight: int) -> Detail:
    """The level of detail for a zoom and a number of boxes in sight."""
    if (scale < FAR and in_sight > 400) or in_sight > MOST_BOXES:
        return Detail.DENSITY
    if scale < FLAT or in_sight > MOST_CARDS:
        return Detail.FLAT
    if scale < COMPACT:
        return Detail.COMPACT
    return Detail.LABELLED if scale >= NEAR else Detail.CARDS


class ScenePainter:
    """Paints a scene with an overlay, a selection, matches and dimming."""

    def __init__(
        self, scene: Scene, colors: CanvasColors, font: QFont, overlay: Overlay | None = None
    ) -> None:
        self.scene = scene
        self.colors = colors
        self.font = font
        self.overlay = overlay
        self.selected_item = -1
        self.selected_tensor = -1
        self.hovered_item = -1
        self.dimmed = np.zeros(scene.count, np.bool_)
        self.matched = np.zeros(scene.count, np.bool_)
        self.texts = CardTexts(scene, font)
        self.portal_places: list[tuple[QRectF, int, bool]] = []
        self.detail = Detail.CARDS
        self._is_unhurried = self._draws_vectors = False
        self._density: DensityMap | None = None
        self._density_is_fresh = False
        self._sprites: SpriteCache | None = None
        self._sprite_scale = 0.0
        self._looks: dict[int, tuple[int, int, tuple[int, ...]]] = {}
        self._bands: OutlineBands | None = None
        self.recolor()

    # What is shown

    def set_overlay(self, overlay: Overlay | None) -> None:
        self.overlay = overlay
        self.recolor()

    def set_colors(self, colors: CanvasColors) -> None:
        self.colors = colors
        self.recolor()

    def set_dimmed(self, dimmed: npt.NDArray[np.bool_]) -> None:
        self.dimmed = dimmed
        self.recolor()

    def set_matched(self, matched: npt.NDArray[np.bool_]) -> None:
        self.matched = matched

    def set_font(self, font: QFont) -> None:
        self.font = font
        self.texts = CardTexts(self.scene, font)

    @contextmanager
    def unhurried(self, *, as_vectors: bool = False) -> Iterator[None]:
        """For pictures: detail goes by the zoom alone, and cards are drawn as shapes if wanted."""
        self._is_unhurried, self._draws_vectors = True, as_vectors
        try:
            yield
        finally:
            self._is_unhurried = self._draws_vectors = False
            self._sprites = None

    def recolor(self) -> None:
        """Gathers the overlay onto the boxes again and forgets pictures made with other colours."""
        scene, colors = self.scene, self.colors
        self.items: ItemColors = gather_on_items(self.overlay, scene.layout.node_item, scene.count)
        self._sprites = None
        self._looks.clear()
        self._density_is_fresh = False
        self._bands = None
        canvas = colors.role("canvas")
        plain_color = mix(colors.role("edge"), canvas, 0.35)
        table = [plain_color]
        loud = [False]
        for category in self.overlay.categories if self.overlay else ():
            color = colors.role(category.color)
            table.append(color if category.is_loud else mix(color, canvas, 0.5))
            loud.append(category.is_loud)
        rgb = np.array([[c.red(), c.green(), c.blue()] for c in table], np.uint8)
        self.item_rgb = rgb[self.items.code + 1]
        has_heat = np.isfinite(self.items.position)
        if has_heat.any():
            heat = heat_table()
            self.item_rgb[has_heat] = heat[(self.items.position[has_heat] * 255).astype(int)]
        pills = scene.layout.item_kind >= ItemKind.INPUT
        quiet = colors.role("quiet")
        self.item_rgb[pills] = (quiet.red(), quiet.green(), quiet.blue())
        if self.dimmed.any():
            back = np.array([canvas.red(), canvas.green(), canvas.blue()], float)
            kept = self.item_rgb[self.dimmed] * (1 - DIM) + back * DIM
            self.item_rgb[self.dimmed] = kept.astype(np.uint8)
        self._loud = np.flatnonzero(np.array(loud)[self.items.code + 1] & ~self.dimmed).astype(np.int32)

    @property
    def density(self) -> DensityMap:
        """The far picture in the present colours."""
        if self._density is None:
            self._density = DensityMap(self.scene)
        if not self._density_is_fresh:
            edge = self.colors.role("edge")
            self._density.recolor(self.item_rgb, (edge.red(), edge.green(), edge.blue()))
            self._density_is_fresh = True
        return self._density

    # Painting

    def paint(self, painter: QPainter, viewport: Viewport) -> None:
        """Paints one frame: background, frames, edges, boxes, texts, selection."""
        screen = QRectF(0, 0, viewport.width, viewport.height)
        painter.fillRect(screen, self.colors.role("canvas"))
        self.portal_places = []
        window = viewport.visible(margin=8)
        items = self.scene.items_in(*window)
        self.detail = detail_for(viewport.scale, 0 if self._is_unhurried else len(items))
        if self.detail is Detail.DENSITY:
            self._paint_frames(painter, viewport, window)
            self.density.draw(painter, viewport)
            self._paint_loud(painter, viewport)
        else:
            self._paint_frames(painter, viewport, window)
            edges = self.scene.edges_in(*window)
            if self.detail is Detail.FLAT:
                self._paint_edges_flat(painter, viewport, edges)
                self._paint_flat(painter, viewport, items)
                self._paint_loud(painter, viewport)
                self._paint_outlines(painter, viewport)
            else:
                self._paint_edges(painter, viewport, edges, screen)
                self._paint_outlines(painter, viewport)
                self._paint_cards(painter, viewport, items)
        self._paint_matches(painter, viewport)
        self._paint_selection(painter, viewport)

    def _rects(self, viewport: Viewport, items: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        """[n, 4] left, top, width, height of boxes on screen."""
        scene = self.scene
        result = np.empty((len(items), 4))
        result[:, 0] = scene.left[items] * viewport.scale + viewport.offset_x
        result[:, 1] = scene.top[items] * viewport.scale + viewport.offset_y
        result[:, 2] = (scene.right[items] - scene.left[items]) * viewport.scale
        result[:, 3] = (scene.bottom[items] - scene.top[items]) * viewport.scale
        return result

    def _paint_flat(self, painter: QPainter, viewport: Viewport, items: npt.NDArray[np.int32]) -> None:
        if not len(items):
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        rects = self._rects(viewport, items)
        rects[:, 2:] = np.maximum(rects[:, 2:], 1.0)
        rgb = self.item_rgb[items].astype(np.int64)
        hatches = np.zeros(len(items), np.int64)
        if self.overlay is not None and viewport.scale >= 0.1 and self.overlay.values is None:
            kinds = list(Hatch)
            by_code = np.array([0, *(kinds.index(c.hatch) for c in self.overlay.categories)])
            hatches = by_code[self.items.code[items] + 1]
        keys = ((rgb[:, 0] << 16) | (rgb[:, 1] << 8) | rgb[:, 2]) + (hatches << 24)
        order = np.argsort(keys, kind="stable")
        keys, rects = keys[order], np.ascontiguousarray(rects[order])
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        ground = mix(self.colors.role("canvas"), self.colors.role("text"), 0.04).rgb()
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(keys)]):
            hatch = list(Hatch)[int(keys[start]) >> 24]
            painter.setBrush(hatch_brush(hatch, int(keys[start]) & 0xFFFFFF, ground & 0xFFFFFF))
            _draw_rects(painter, rects[start:stop])

    def _paint_loud(self, painter: QPainter, viewport: Viewport) -> None:
        """What is loud again, at least LOUD_SIZE pixels large, when it would be smaller."""
        if not len(self._loud) or viewport.scale * 44 >= LOUD_SIZE:
            return
        left, top, right, bottom = viewport.visible(margin=4)
        scene = self.scene
        loud = self._loud
        loud = loud[(scene.bottom[loud] >= top) & (scene.top[loud] <= bottom)]
        loud = loud[(scene.right[loud] >= left) & (scene.left[loud] <= right)]
        # a pixel grid keeps one mark per place, the most severe
        x = ((scene.left[loud] + scene.right[loud]) / 2 * viewport.scale + viewport.offset_x) // LOUD_SIZE
        y = ((scene.top[loud] + scene.bottom[loud]) / 2 * viewport.scale + viewport.offset_y) // LOUD_SIZE
        overlay = self.overlay
        assert overlay is not None
        severity = np.array([c.severity for c in overlay.categories])[self.items.code[loud]]
        order = np.argsort(-severity, kind="stable")
        _, first = np.unique((y * 100_003 + x)[order], return_index=True)
        chosen = order[first]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        rects = self._rects(viewport, loud[chosen])
        grow = np.maximum(LOUD_SIZE - rects[:, 2:], 0)
        rects[:, :2] -= grow / 2
        rects[:, 2:] += grow
        codes = self.items.code[loud[chosen]]
        for code in np.unique(codes).tolist():
            painter.setBrush(self.colors.role(overlay.categories[code].color))
            _draw_rects(painter, rects[codes == code][:6000])

    def _paint_frames(
        self, painter: QPainter, viewport: Viewport, window: tuple[float, float, float, float]
    ) -> None:
        layout, scale = self.scene.layout, viewport.scale
        frames = self.scene.frames_in(*window)
        big = (layout.frame_width[frames] * scale > 6) & (layout.frame_height[frames] * scale > 6)
        frames = frames[big][:1500]
        if not len(frames):
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, len(frames) < 200 and scale > 0.1)
        canvas, line = self.colors.role("canvas"), self.colors.role("line")
        tint = mix(canvas, self.colors.role("quiet"), 0.045 if not self.colors.is_dark else 0.07)
        font = sized(self.font, FRAME_TITLE_PX * min(max(scale, 0.4), 1.6))
        painter.setFont(font)
        titled = FRAME_TITLE_PX * scale >= 5.5
        for frame in frames.tolist():
            x, y = viewport.to_screen(float(layout.frame_x[frame]), float(layout.frame_y[frame]))
            rect = QRectF(
                round(x) + 0.5,
                round(y) + 0.5,
                round(float(layout.frame_width[frame]) * scale),
                round(float(layout.frame_height[frame]) * scale),
            )
            is_odd = int(layout.frame_depth[frame]) % 2 == 1
            painter.setPen(QPen(line, 1))
            painter.setBrush(tint if is_odd else canvas)
            radius = min(8 * scale, 10.0)
            if radius > 2:
                painter.drawRoundedRect(rect, radius, radius)
            else:
                painter.drawRect(rect)
            if titled and rect.width() > 40:
                name, kind = scope_title(self.scene.graph, int(layout.frame_scope[frame]))
                text = plain(f"{name} · {kind}" if kind else name)
                painter.save()
                painter.setClipRect(rect.adjusted(6, 0, -6, 0))
                painter.setPen(self.colors.role("quiet"))
                painter.drawStaticText(QPointF(rect.left() + 10 * scale, rect.top() + 5 * scale), text)
                painter.restore()

    def _paint_edges_flat(self, painter: QPainter, viewport: Viewport, edges: npt.NDArray[np.int32]) -> None:
        color = mix(self.colors.role("edge"), self.colors.role("canvas"), 0.35)
        edge_paint.paint_lines(painter, self.scene, viewport, edges, color)
        edge_paint.paint_weights(painter, self.scene, viewport, edges, self._brushes())

    def _brushes(self) -> edge_paint.Brushes:
        return edge_paint.Brushes(self.colors, self.font, self.overlay)

    def _paint_edges(
        self, painter: QPainter, viewport: Viewport, edges: npt.NDArray[np.int32], screen: QRectF
    ) -> None:
        scene, color = self.scene, self.colors.role("edge")
        if len(edges) > edge_paint.MOST_CURVES:
            edge_paint.paint_lines(painter, scene, viewport, edges, color)
        else:
            edge_paint.paint_curves(painter, scene, viewport, edges, QPen(color, 1.0))
        brushes = self._brushes()
        edge_paint.paint_weights(painter, scene, viewport, edges, brushes)
        self.portal_places = edge_paint.paint_portals(
            painter, scene, viewport, edges, brushes, screen.adjusted(-40, -40, 40, 40)
        )
        if self.detail is Detail.LABELLED:
            edge_paint.paint_labels(painter, scene, viewport, edges, brushes)

    def _paint_outlines(self, painter: QPainter, viewport: Viewport) -> None:
        if self.overlay is None or not self.overlay.outlines:
            return
        if self._bands is None:
            self._bands = OutlineBands(self.scene, self.overlay.outlines)
        self._bands.paint(painter, viewport, self.colors, self.font)

    def look_of(self, item: int, width: float, height: float, scale: float) -> Look:
        """The look of a box's card at a size on screen."""
        found = self._looks.get(item)
        if found is None:
            code = int(self.items.code[item])
            position = float(self.items.position[item])
            heat = round(position * 31) * 8 if position == position else -1
            shares: tuple[int, ...] = ()
            if self.scene.layout.item_kind[item] == ItemKind.SCOPE and self.items.counts.shape[1]:
                counts = self.items.counts[item]
                total = max(int(counts.sum()), 1)
                if counts.any():
                    shares = tuple(int(np.ceil(8 * c / total)) for c in counts.tolist())
            found = self._looks[item] = (code, min(heat, 255), shares)
        kind = int(self.scene.layout.item_kind[item])
        return Look(
            kind, width, height, scale, found[0], found[1], found[2],
            bool(self.dimmed[item]), bool(self.matched[item]), kind == ItemKind.SCOPE,
        )  # fmt: skip

    def _paint_cards(self, painter: QPainter, viewport: Viewport, items: npt.NDArray[np.int32]) -> None:
        scale, ratio = viewport.scale, viewport.pixel_ratio
        categories = self.overlay.categories if self.overlay else ()
        if self._sprites is None or self._sprites.pixel_ratio != ratio or self._sprite_scale != scale:
            self._sprites = SpriteCache(self.colors, categories, ratio)
            self._sprite_scale = scale
        rects = (np.round(self._rects(viewport, items) * ratio) / ratio).tolist()
        for item, (x, y, width, height) in zip(items.tolist(), rects):
            look = self.look_of(item, width, height, scale)
            if self._draws_vectors:
                draw_card(painter, QRectF(x, y, width, height), look, self.colors, categories)
            else:
                painter.drawPixmap(QPointF(x - PAD, y - PAD), self._sprites.get(look))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.detail is Detail.COMPACT:
            self._paint_compact_texts(painter, scale, items, rects)
        else:
            self._paint_texts(painter, scale, items, rects)

    def _paint_compact_texts(
        self, painter: QPainter, scale: float, items: npt.NDArray[np.int32], rects: list[list[float]]
    ) -> None:
        font = sized(self.font, COMPACT_PX * scale)
        if font.pixelSize() < 5:
            return
        painter.setFont(font)
        painter.setPen(self.colors.role("text"))
        ascent = font.pixelSize() * 1.17
        dim = mix(self.colors.role("text"), self.colors.role("canvas"), DIM)
        is_dim = self.dimmed[items].tolist()
        for item, faded, (x, y, _, height) in zip(items.tolist(), is_dim, rects):
            painter.setPen(dim if faded else self.colors.role("text"))
            at = QPointF(x + TEXT_LEFT * scale, y + (height - ascent) / 2)
            painter.drawStaticText(at, self.texts.get(item).compact)

    def _paint_texts(
        self, painter: QPainter, scale: float, items: npt.NDArray[np.int32], rects: list[list[float]]
    ) -> None:
        colors = self.colors
        canvas = colors.role("canvas")
        texts = [self.texts.get(item) for item in items.tolist()]
        is_dim = self.dimmed[items].tolist()
        title_font = sized(self.font, TITLE_PX * scale, bold=True)
        detail_font = sized(self.font, DETAIL_PX * scale)
        title_high, detail_high = title_font.pixelSize() * 1.17, detail_font.pixelSize() * 1.17
        text_color, quiet = colors.role("text"), colors.role("quiet")
        text_dim, quiet_dim = mix(text_color, canvas, DIM), mix(quiet, canvas, DIM)
        painter.setFont(title_font)
        for text, faded, (x, y, _, height) in zip(texts, is_dim, rects):
            painter.setPen(text_dim if faded else text_color)
            top = (
                y + height / 2 - title_high - 0.5 * scale
                if text.detail is not None
                else y + (height - title_high) / 2
            )
            painter.drawStaticText(QPointF(x + TEXT_LEFT * scale, top), text.title)
        painter.setFont(detail_font)
        for text, faded, (x, y, _, height) in zip(texts, is_dim, rects):
            painter.setPen(quiet_dim if faded else quiet)
            if text.detail is not None:
                painter.drawStaticText(
                    QPointF(x + TEXT_LEFT * scale, y + height / 2 + 1.5 * scale), text.detail
                )
            if text.name is not None:
                drop = (title_high - detail_high) * 0.8
                top = (
                    y + height / 2 - title_high - 0.5 * scale
                    if text.detail is not None
                    else y + (height - title_high) / 2
                )
                painter.drawStaticText(
                    QPointF(x + (TEXT_LEFT + text.title_width + 7) * scale, top + drop), text.name
                )
        if self.overlay is not None and self.overlay.values is not None:
            self._paint_values(painter, scale, items, rects)

    def _paint_values(
        self, painter: QPainter, scale: float, items: npt.NDArray[np.int32], rects: list[list[float]]
    ) -> None:
        from studio.ui.canvas.overlays import value_text

        assert self.overlay is not None
        painter.setPen(self.colors.role("text"))
        metrics = painter.fontMetrics()
        for item, (x, y, width, height) in zip(items.tolist(), rects):
            value = float(self.items.value[item])
            if value == value:
                words = value_text(value, self.overlay.unit)
                at = x + width - 8 * scale - metrics.horizontalAdvance(words)
                painter.drawText(QPointF(at, y + height / 2 + 12 * scale), words)

    def _paint_matches(self, painter: QPainter, viewport: Viewport) -> None:
        """Search results stay visible when cards are not drawn."""
        if self.detail in (Detail.CARDS, Detail.COMPACT, Detail.LABELLED) or not self.matched.any():
            return
        found = np.intersect1d(
            np.flatnonzero(self.matched), self.scene.items_in(*viewport.visible(margin=8))
        ).astype(np.int32)
        rects = self._rects(viewport, found[:4000])
        grow = np.maximum(4.0 - rects[:, 2:], 0)
        rects[:, :2] -= grow / 2
        rects[:, 2:] += grow
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(self.colors.role("accent"), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        _draw_rects(painter, np.ascontiguousarray(rects))

    def _paint_selection(self, painter: QPainter, viewport: Viewport) -> None:
        scene, accent = self.scene, self.colors.role("accent")
        item = self.selected_item
        edges: list[int] = []
        if 0 <= item < scene.count:
            edges = [*scene.edges_from(item)[:400].tolist(), *scene.edges_to(item)[:400].tolist()]
        if self.selected_tensor >= 0:
            edges += np.flatnonzero(scene.layout.edge_tensor == self.selected_tensor)[:400].tolist()
        if edges:
            chosen = np.unique(np.array(edges, np.int32))
            pen = QPen(accent, 1.8)
            edge_paint.paint_curves(painter, scene, viewport, chosen, pen)
            for edge in chosen[scene.layout.edge_is_portal[chosen]][:60].tolist():
                edge_paint.paint_portal_curve(painter, scene, viewport, edge, pen)
        if 0 <= self.hovered_item < scene.count and self.hovered_item != item:
            self._outline(
                painter, viewport, self.hovered_item, mix(accent, self.colors.role("line"), 0.4), 1.2
            )
        if 0 <= item < scene.count:
            self._outline(painter, viewport, item, accent, 2.0)

    def _outline(self, painter: QPainter, viewport: Viewport, item: int, color: QColor, width: float) -> None:
        x, y, wide, high = self._rects(viewport, np.array([item], np.int32))[0].tolist()
        grow = max(6.0 - wide, 0.0) / 2, max(6.0 - high, 0.0) / 2
        rect = QRectF(x, y, wide, high).adjusted(-grow[0] - 1, -grow[1] - 1, grow[0] + 1, grow[1] + 1)
        is_pill = self.scene.layout.item_kind[item] >= ItemKind.INPUT
        radius = rect.height() / 2 if is_pill else min(6.0 * viewport.scale + 1, rect.height() / 3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(color, width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(rect, radius, radius)


def _draw_rects(painter: QPainter, rects: npt.NDArray[np.float64]) -> None:
    """Draws rectangles straight from the array's memory."""
    rects = np.ascontiguousarray(rects)
    if len(rects):
        first = Shiboken.wrapInstance(rects.ctypes.data, QRectF)
        painter.drawRects(first, len(rects))  # type: ignore[call-overload]
