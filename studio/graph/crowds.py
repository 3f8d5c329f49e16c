"""Crowds: layers of so many boxes that no row can show them, folded into grids.

One node with 100,000 readers would be a row 20 million pixels wide. Such a layer becomes one big box, inside
which its members stand in rows. Lines to and from members are not drawn, since they would run through the
other rows: they become portals. What is left is a small problem, and is arranged like any other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

CROWD = 120
"""Boxes of one layer beyond which they are folded: a row of 120 is 24,000 pixels wide."""
ASPECT = 1.6  # width : height of a grid
COLUMN_GAP = 24.0
ROW_GAP = 44.0  # two stubs and some air


@dataclass(slots=True)
class Grid:
    """The members of a folded layer and where they stand: axis and top, from the grid's axis and top."""

    members: list[int]
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    half_width: float = 0.0
    height: float = 0.0


def crowded_layers(layer: list[int]) -> list[int]:
    """The layers that are too wide for a row, the topmost first; `layer` is per box."""
    return sorted(at for at, count in Counter(layer).items() if count > CROWD)


def make_grid(members: list[int], left: list[float], right: list[float], height: list[float]) -> Grid:
    """The members in rows, in their order; extents and heights are of all boxes."""
    grid = Grid(members)
    area = sum((left[m] + right[m] + COLUMN_GAP) * (height[m] + ROW_GAP) for m in members)
    wide = max((area * ASPECT) ** 0.5, max(left[m] + right[m] for m in members))
    at = top = tallest = widest = 0.0
    for member in members:
        width = left[member] + right[member]
        if at and at + width > wide:
            top, at, tallest = top + tallest + ROW_GAP, 0.0, 0.0
        grid.x.append(at + left[member])
        grid.y.append(top)
        widest = max(widest, at + width)
        tallest = max(tallest, height[member])
        at += width + COLUMN_GAP
    grid.half_width = widest / 2
    grid.x = [x - grid.half_width for x in grid.x]
    grid.height = top + tallest
    return grid
