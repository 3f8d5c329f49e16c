"""Where the arrow keys lead: along edges up and down, to neighbours left and right."""

from __future__ import annotations

import numpy as np

from studio.ui.canvas.scene import Scene


def follow(scene: Scene, item: int, *, down: bool) -> int:
    """The box at the other end of an edge out of (`down`) or into a box: the one most straight ahead.

    −1 when no edge leads on.
    """
    edges = scene.edges_from(item) if down else scene.edges_to(item)
    if not len(edges):
        return -1
    ends = (scene.layout.edge_target if down else scene.layout.edge_source)[edges]
    ends = ends[ends != item]
    if not len(ends):
        return -1
    x, y = scene.center(item)
    aside = np.abs((scene.left[ends] + scene.right[ends]) / 2 - x)
    ahead = np.abs((scene.top[ends] + scene.bottom[ends]) / 2 - y)
    return int(ends[np.argmin(ahead + 0.5 * aside)])


def beside(scene: Scene, item: int, *, right: bool) -> int:
    """The nearest box to the left or right at about the same height, −1 when there is none."""
    top, bottom = float(scene.top[item]), float(scene.bottom[item])
    x, y = scene.center(item)
    near = scene.items_in(-np.inf, top - 30, np.inf, bottom + 30)
    middle = (scene.left[near] + scene.right[near]) / 2
    near = near[middle > x + 1] if right else near[middle < x - 1]
    if not len(near):
        return -1
    aside = np.abs((scene.left[near] + scene.right[near]) / 2 - x)
    off = np.abs((scene.top[near] + scene.bottom[near]) / 2 - y)
    return int(near[np.argmin(aside + 2 * off)])


def nearest_to(scene: Scene, x: float, y: float) -> int:
    """The box nearest to a layout point, −1 in an empty scene."""
    if not scene.count:
        return -1
    dx = (scene.left + scene.right) / 2 - x
    dy = (scene.top + scene.bottom) / 2 - y
    return int(np.argmin(dx * dx + dy * dy))
