"""Panels: legend, minimap and bread crumb together, over the scene."""

from __future__ import annotations

from PySide6.QtCore import QPointF
from PySide6.QtGui import QFont, QPainter

from studio.ui.canvas.hud import Breadcrumb, Crumb, Minimap
from studio.ui.canvas.legend import Legend
from studio.ui.canvas.painter import ScenePainter
from studio.ui.canvas.scene import Scene
from studio.ui.canvas.viewport import Viewport


class Panels:
    """Paints the panels and knows where they are."""

    def __init__(self) -> None:
        self._legend, self._minimap, self._crumbs = Legend(), Minimap(), Breadcrumb()

    @property
    def crumbs(self) -> tuple[Crumb, ...]:
        return self._crumbs.crumbs

    def set_crumbs(self, crumbs: tuple[Crumb, ...]) -> None:
        """Says where one is."""
        self._crumbs.crumbs = crumbs

    def paint(self, painter: QPainter, view: Viewport, drawn: ScenePainter, font: QFont) -> None:
        """Paints what fits the scene and its overlay."""
        overlay, gathered = drawn.coloring.overlay, drawn.coloring.items
        counts = overlay.counts if overlay is not None else []
        self._legend.paint(painter, view, overlay, counts, gathered, drawn.colors, font)
        self._minimap.place(view, drawn.scene)
        if not self._minimap.rect.isEmpty():
            self._minimap.paint(painter, view, drawn.scene, drawn.maps.minimap(), drawn.colors)
        self._crumbs.paint(painter, view, drawn.colors, font)

    def press(self, at: QPointF) -> bool:
        """Lets the bread crumb or the legend take a press; False when neither is there."""
        crumb = self._crumbs.crumb_at(at)
        if crumb is not None and crumb.go is not None:
            crumb.go()
            return True
        return self._legend.rect.contains(at) or self._crumbs.rect.contains(at)

    def are_at(self, at: QPointF) -> bool:
        """Whether any panel is under a point."""
        return any(panel.rect.contains(at) for panel in (self._minimap, self._legend, self._crumbs))

    def words_at(self, at: QPointF) -> str:
        """What the legend says, when it is under a point; else empty."""
        return self._legend.words if self._legend.rect.contains(at) else ""

    def is_on_minimap(self, at: QPointF) -> bool:
        return self._minimap.rect.contains(at)

    def minimap_point(self, at: QPointF, scene: Scene) -> tuple[float, float]:
        """The layout point under a point of the minimap."""
        return self._minimap.layout_point(at, scene)
