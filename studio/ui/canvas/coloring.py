"""Coloring: which colour every box has, from overlay, palette, dimming and matches."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.graph.layout import ItemKind
from studio.graph.scales import heat_table
from studio.ui.canvas.colors import CanvasColors, mix
from studio.ui.canvas.overlay import Category, ItemColors, Overlay, gather_on_items
from studio.ui.canvas.scene import Scene

DIM = 0.72  # how far a dimmed box goes towards the canvas colour
CALM = 0.5  # how far a category that is not loud goes towards it when far away


class Coloring:
    """The overlay on the boxes of a scene, in one palette. Made anew when any of them changes."""

    def __init__(
        self,
        scene: Scene,
        colors: CanvasColors,
        overlay: Overlay | None = None,
        *,
        dimmed: npt.NDArray[np.bool_] | None = None,
        matched: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        self.scene = scene
        self.colors = colors
        self.overlay = overlay
        self.dimmed = np.zeros(scene.count, np.bool_) if dimmed is None else dimmed
        self.matched = np.zeros(scene.count, np.bool_) if matched is None else matched
        self.items: ItemColors = gather_on_items(overlay, scene.layout.node_item, scene.count)
        canvas = colors.role("canvas")
        table = [mix(colors.role("edge"), canvas, 0.35)]
        loud = [False]
        for category in self.categories:
            color = colors.role(category.color)
            table.append(color if category.is_loud else mix(color, canvas, CALM))
            loud.append(category.is_loud)
        rgb = np.array([[c.red(), c.green(), c.blue()] for c in table], np.uint8)
        self.item_rgb = rgb.take(self.items.code + 1, axis=0)
        """[boxes, 3] colours for boxes that are plain rectangles."""
        has_heat = np.isfinite(self.items.position)
        if has_heat.any():
            self.item_rgb[has_heat] = heat_table(colors.is_dark)[
                (self.items.position[has_heat] * 255).astype(int)
            ]
        quiet = colors.role("quiet")
        pills = scene.layout.item_kind >= ItemKind.INPUT
        self.item_rgb[pills] = (quiet.red(), quiet.green(), quiet.blue())
        if self.dimmed.any():
            back = np.array([canvas.red(), canvas.green(), canvas.blue()], float)
            kept = self.item_rgb[self.dimmed] * (1 - DIM) + back * DIM
            self.item_rgb[self.dimmed] = kept.astype(np.uint8)
        is_loud = np.array(loud)[self.items.code + 1] & ~self.dimmed
        self.loud: npt.NDArray[np.int32] = np.flatnonzero(is_loud).astype(np.int32)
        """Boxes that must be seen from however far."""

    @property
    def categories(self) -> tuple[Category, ...]:
        return self.overlay.categories if self.overlay is not None else ()
