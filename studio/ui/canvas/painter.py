"""ScenePainter: one frame of a scene, from far away to close by, from arrays.

Levels of detail: a density picture below zoom .05 or when more than MOST_BOXES boxes are in sight;
flat rectangles below .25 or above MOST_CARDS; cards with the operator's name below .55; full
cards to zoom 1; edge labels from there on. Whatever is loud (a node that fails) stays at least
three pixels large at every zoom.
What does not live here: how each part is drawn (`far_paint`, `card_paint`, `edge_paint`,
`frame_paint`, `outlines`), the panels over the scene (`hud`), the widget (`canvas`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from studio.graph.layout import ItemKind
from studio.records import Choice
from studio.ui.canvas import far_paint
from studio.ui.canvas.card_paint import CardPainter
from studio.ui.canvas.coloring import Coloring
from studio.ui.canvas.colors import CanvasColors, mix
from studio.ui.canvas.density import DensityMap
from studio.ui.canvas.edge_paint import MOST_CURVES, EdgePainter
from studio.ui.canvas.far_maps import FarMaps
from studio.ui.canvas.frame_paint import paint_frame_titles, paint_frames
from studio.ui.canvas.outlines import OutlineBands
from studio.ui.canvas.overlay import Overlay
from studio.ui.canvas.portal_paint import PortalEnd, PortalPainter
from studio.ui.canvas.scene import Scene
from studio.ui.canvas.texts import CardTexts
from studio.ui.canvas.viewport import Viewport

Bools = npt.NDArray[np.bool_]
Look = tuple[CanvasColors, Overlay | None, Bools | None, Bools | None]  # …, dimmed, matched boxes

MOST_BOXES = 3000
MOST_CARDS = 320
FAR, FLAT, COMPACT, NEAR = 0.05, 0.25, 0.55, 1.0
FEW = 400  # so few boxes are drawn as rectangles however far away
MOST_HIGHLIGHTED = 400
LEAST_FRAME = 6.0  # pixels; smaller frames are not drawn
FEW_WAYS, MOST_WAYS = 8, 60  # cut edges whose whole way is drawn


class Detail(Choice):
    """How much a frame shows."""

    DENSITY = "density"
    FLAT = "flat"
    COMPACT = "compact"
    CARDS = "cards"
    LABELLED = "labelled"


def detail_for(scale: float, in_sight: int) -> Detail:
    """The level of detail for a zoom and a number of boxes in sight."""
    if (scale < FAR and in_sight > FEW) or in_sight > MOST_BOXES:
        return Detail.DENSITY
    if scale < FLAT or in_sight > MOST_CARDS:
        return Detail.FLAT
    if scale < COMPACT:
        return Detail.COMPACT
    return Detail.LABELLED if scale >= NEAR else Detail.CARDS


class ScenePainter:
    """Paints a scene with an overlay, a selection, matches and dimming."""

    def __init__(
        self,
        scene: Scene,
        colors: CanvasColors,
        font: QFont,
        overlay: Overlay | None = None,
        marks: tuple[Bools, Bools] | None = None,
        earlier: DensityMap | None = None,
    ) -> None:
        """`marks`: which boxes are dimmed and which are matches. `earlier`: see `far_maps`."""
        self.scene = scene
        self.font = font
        self.selected_item = -1
        self.selected_tensor = -1
        self.hovered_item = -1
        self.detail = Detail.CARDS
        self.portal_ends: list[PortalEnd] = []
        """Where the last frame drew portals."""
        self._is_unhurried = self._draws_vectors = False
        self.maps = FarMaps(scene, earlier)
        self._texts = CardTexts(scene, font)
        self._look: Look = (colors, overlay, *(marks or (None, None)))
        self._made: Coloring | None = None

    @property
    def coloring(self) -> Coloring:
        """The colours of the boxes."""
        return self._prepare()

    def _prepare(self) -> Coloring:
        """Colours everything as wished; only when a frame or a question needs it, as wishes come together."""
        if self._made is None:
            colors, overlay, dimmed, matched = self._look
            self._made = Coloring(self.scene, colors, overlay, dimmed=dimmed, matched=matched)
            self._dress(self._made)
            edge = colors.role("edge")
            self.maps.recolor(self._made.item_rgb, (edge.red(), edge.green(), edge.blue()))
            self._bands: OutlineBands | None = None
        return self._made

    def _dress(self, coloring: Coloring) -> None:
        self._cards = CardPainter(coloring, self._texts, self.font)
        self._edges = EdgePainter(coloring, self.font)
        self._portals = PortalPainter(coloring, self.font)

    @property
    def labels_end(self) -> float:
        """Where the rightmost label of an edge ends at zoom 1, in scene pixels; −inf without any."""
        self._prepare()
        return self._edges.right_end()

    @property
    def colors(self) -> CanvasColors:
        return self._look[0]

    def set_overlay(self, overlay: Overlay | None) -> None:
        self._look, self._made = (self._look[0], overlay, *self._look[2:]), None

    def set_colors(self, colors: CanvasColors) -> None:
        self._look, self._made = (colors, *self._look[1:]), None

    def set_marks(self, dimmed: Bools, matched: Bools) -> None:
        """Fades and marks boxes."""
        self._look, self._made = (*self._look[:2], dimmed, matched), None

    def set_font(self, font: QFont) -> None:
        self.font = font
        self._texts = CardTexts(self.scene, font)
        self._made = None

    @contextmanager
    def unhurried(self, *, as_vectors: bool = False) -> Iterator[None]:
        """For pictures: detail goes by the zoom alone, and cards are drawn as shapes if wanted."""
        self._is_unhurried, self._draws_vectors = True, as_vectors
        try:
            yield
        finally:
            self._is_unhurried = self._draws_vectors = False

    @property
    def is_coarse(self) -> bool:
        """Whether the last frame did without a far picture for haste; `refine` makes it."""
        self._prepare()
        return self.maps.lacks_sharp or self.maps.lacks_small

    def refine(self, most_ms: float = math.inf) -> bool:
        """Makes what the last frame did without, for about so long; whether all of it is made."""
        self._prepare()
        return self.maps.refine(most_ms)

    def portal_at(self, at: QPointF) -> PortalEnd | None:
        """The portal that the last frame drew at a point of the screen."""
        return next((end for end in self.portal_ends if end.place.contains(at)), None)

    def paint(self, painter: QPainter, viewport: Viewport) -> None:
        """Paints one frame: background, frames, edges, boxes, texts, selection."""
        self._prepare()
        screen = QRectF(0, 0, viewport.width, viewport.height)
        painter.fillRect(screen, self.colors.role("canvas"))
        self.portal_ends = []
        self.maps.lacks_sharp = self.maps.lacks_small = False
        window = viewport.visible(margin=8)
        items = self.scene.items_in(*window)
        self.detail = detail_for(viewport.scale, 0 if self._is_unhurried else len(items))
        least = LEAST_FRAME * (4 if self.detail is Detail.DENSITY else 1)
        paint_frames(painter, self.scene, viewport, self.colors, least)
        if self.detail is Detail.DENSITY:
            (self.maps.sharp() if self._is_unhurried else self.maps.far()).draw(painter, viewport)
            far_paint.paint_loud(painter, viewport, self.coloring)
            far_paint.paint_found(painter, viewport, self.coloring)
        elif self.detail is Detail.FLAT:
            edges = self.scene.edges_in(*window)
            faint = mix(self.colors.role("edge"), self.colors.role("canvas"), 0.35)
            self._edges.paint_lines(painter, viewport, edges, faint)
            self._edges.paint_weights(painter, viewport, edges, as_lines=True)
            paint_frame_titles(painter, self.scene, viewport, self.colors, self.font, least)
            far_paint.paint_flat(painter, viewport, self.coloring, items)
            far_paint.paint_loud(painter, viewport, self.coloring)
            self._paint_outlines(painter, viewport)
            far_paint.paint_found(painter, viewport, self.coloring)
        else:
            edges = self.scene.edges_in(*window)
            self._paint_edges(painter, viewport, edges)
            self._paint_outlines(painter, viewport)
            if self.detail is Detail.LABELLED:
                self._edges.paint_labels(painter, viewport, edges, spare=not self._is_unhurried)
            paint_frame_titles(painter, self.scene, viewport, self.colors, self.font, least)
            self._cards.paint(
                painter,
                viewport,
                items,
                is_compact=self.detail is Detail.COMPACT,
                as_vectors=self._draws_vectors,
            )
        self._paint_selection(painter, viewport)

    def _paint_edges(self, painter: QPainter, viewport: Viewport, edges: npt.NDArray[np.int32]) -> None:
        color = self.colors.role("edge")
        are_many = len(edges) > MOST_CURVES and not self._is_unhurried
        if are_many:
            self._edges.paint_lines(painter, viewport, edges, color)
        else:
            self._edges.paint_curves(painter, viewport, edges, QPen(color, 1.0))
        self._edges.paint_weights(painter, viewport, edges, as_lines=are_many)
        self.portal_ends = self._portals.paint(painter, viewport)

    def _paint_outlines(self, painter: QPainter, viewport: Viewport) -> None:
        overlay = self.coloring.overlay
        if overlay is None or not overlay.outlines:
            return
        if self._bands is None:
            self._bands = OutlineBands(self.scene, overlay.outlines)
        self._bands.paint(painter, viewport, self.colors, self.font)

    def _paint_selection(self, painter: QPainter, viewport: Viewport) -> None:
        """The selected box, its edges, the selected tensor's edges, and the box under the mouse."""
        scene, accent, item = self.scene, self.colors.role("accent"), self.selected_item
        edges: list[int] = []
        if 0 <= item < scene.count:
            edges = [
                *scene.edges_from(item)[:MOST_HIGHLIGHTED].tolist(),
                *scene.edges_to(item)[:MOST_HIGHLIGHTED].tolist(),
            ]
        if self.selected_tensor >= 0:
            tensor = np.flatnonzero(scene.layout.edge_tensor == self.selected_tensor)
            edges += tensor[:MOST_HIGHLIGHTED].tolist()
        if edges:
            chosen = np.unique(np.array(edges, np.int32))
            is_cut = scene.layout.edge_is_portal[chosen]
            in_sight = np.isin(chosen, scene.edges_in(*viewport.visible(margin=8)))
            chosen = chosen[is_cut | in_sight]
            pen = QPen(accent, 1.8)
            self._edges.paint_curves(painter, viewport, chosen, pen)
            cut = chosen[scene.layout.edge_is_portal[chosen]].tolist()
            if len(cut) > FEW_WAYS:  # a bundle: only a hint of where it leads
                pen = QPen(mix(accent, self.colors.role("canvas"), 0.75), 1.0)
            for edge in cut[:MOST_WAYS]:
                self._portals.paint_way(painter, viewport, edge, pen)
            if self.detail is not Detail.DENSITY:
                paint_frame_titles(painter, scene, viewport, self.colors, self.font, LEAST_FRAME)
        if 0 <= self.hovered_item < scene.count and self.hovered_item != item:
            faint = mix(accent, self.colors.role("line"), 0.4)
            self._outline(painter, viewport, self.hovered_item, faint, 1.2)
        if 0 <= item < scene.count:
            self._outline(painter, viewport, item, accent, 2.0)

    def _outline(self, painter: QPainter, viewport: Viewport, item: int, color: QColor, width: float) -> None:
        rects = far_paint.screen_rects(self.scene, viewport, np.array([item], np.int32))
        x, y, wide, high = far_paint.grown(rects, 6.0)[0].tolist()
        rect = QRectF(x, y, wide, high).adjusted(-1, -1, 1, 1)
        is_pill = self.scene.layout.item_kind[item] >= ItemKind.INPUT
        radius = rect.height() / 2 if is_pill else min(6.0 * viewport.scale + 1, rect.height() / 3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(color, width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(rect, radius, radius)
