"""Problems: one level of the scope tree to arrange, and what comes out; in plain lists."""

from __future__ import annotations

from dataclasses import dataclass, field

from studio.graph.routes import OUTSIDE

__all__ = ["OUTSIDE", "Arrangement", "Net", "Point", "Problem"]

Point = tuple[float, float]


@dataclass(slots=True)
class Net:
    """One tensor at one level: from `source` (−1 = enters through the top) to `targets` (−1 = leaves).

    `source_dx` and `target_dx` say where on the box the line ends, relative to the box's axis.
    """

    source: int
    targets: list[int]
    source_dx: float = 0.0
    target_dx: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Problem:
    """Boxes in topological order (extents left and right of their axis, height, weight) and nets."""

    left: list[float]
    right: list[float]
    height: list[float]
    weight: list[int]
    nets: list[Net]
    before: list[int] = field(
        default_factory=list
    )  # ranks from left to right in an earlier drawing, −1 = new


@dataclass(slots=True)
class Arrangement:
    """Where the boxes of a problem are: axis `x`, top `y`; the axis of the whole is x = 0, its top y = 0."""

    x: list[float]
    y: list[float]
    paths: list[list[Point]]
    """Per target of each net, one after the other: points from the source's bottom to the target's top; none
    where a crowd's member is an end."""
    left: float
    right: float
    height: float
    effort: int = 0  # entity-sweeps that it took
    neighbours: list[tuple[int, int]] = field(default_factory=list)
    """Boxes of nodes that are next to each other in a layer, those without nodes between them left out."""
