"""Marks: which nodes are search results and which are faded, and what that makes of the boxes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.graph.layout import ItemKind
from studio.ui.canvas.scene import Scene

Bools = npt.NDArray[np.bool_]


class Marks:
    """Matches in the order that Tab walks, and a mask of faded nodes (None = no node is)."""

    def __init__(self) -> None:
        self.dimmed: Bools | None = None
        self._matches: npt.NDArray[np.int32] = np.zeros(0, np.int32)
        self._at = -1

    def clear(self) -> None:
        """Forgets all: another graph is shown."""
        self.set_matches(np.zeros(0, np.int32))
        self.dimmed = None

    def set_matches(self, nodes: npt.NDArray[np.int32]) -> None:
        self._matches, self._at = nodes, -1

    def next(self, step: int) -> int:
        """The next (1) or previous (−1) match, −1 when there are none."""
        count = len(self._matches)
        if not count:
            return -1
        first = 0 if step > 0 else count - 1
        self._at = (self._at + step) % count if self._at >= 0 else first
        return int(self._matches[self._at])

    def on_boxes(self, scene: Scene) -> tuple[Bools, Bools]:
        """(dimmed, matched) per box; a box is faded when all its nodes are."""
        count, node_item = scene.count, scene.layout.node_item
        matched = np.zeros(count, np.bool_)
        inside = self._matches[(self._matches >= 0) & (self._matches < len(node_item))]
        items = node_item[inside]
        matched[items[items >= 0]] = True
        dimmed = np.zeros(count, np.bool_)
        mask = self.dimmed
        if mask is not None and len(mask) == len(node_item):
            bright = node_item[~mask]
            dimmed = scene.layout.item_kind < ItemKind.INPUT
            dimmed[bright[bright >= 0]] = False
        return dimmed, matched
