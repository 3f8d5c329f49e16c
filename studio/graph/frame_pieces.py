"""The frames of a drawing in columns: those whole in a column, and how wide the pieces of cut ones are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.graph import items
from studio.graph.drawing import Drawing
from studio.graph.groups import bounds_of, order_by

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def least(values: Floats) -> float:
    """The smallest value, infinity when there is none."""
    return float(values.min(initial=np.inf))


def most(values: Floats) -> float:
    """The largest value, minus infinity when there is none."""
    return float(values.max(initial=-np.inf))


class FramePieces:
    """The frames of a drawing by column; nearly all are whole, only those that are cut are looked into."""

    def __init__(self, drawing: Drawing, cuts: Floats) -> None:
        frames = self.frames = drawing.frames
        self.depth = drawing.frame_depth
        self.top, self.bottom = frames[:, 1], frames[:, 1] + frames[:, 3]
        self.sides = np.stack([frames[:, 0], frames[:, 0] + frames[:, 2]], axis=1)
        column = np.searchsorted(cuts, self.top, side="right")
        is_whole = self.bottom <= np.append(cuts, np.inf)[column]
        whole = np.flatnonzero(is_whole)
        order = order_by(column[whole], self.depth[whole])
        self._whole: Longs = whole[order]
        self._bounds = bounds_of(column[whole], len(cuts) + 1).tolist()
        cut = np.flatnonzero(~is_whole)
        self._cut: Longs = cut[np.argsort(-self.depth[cut], kind="stable")]  # inner ones first

    def of_column(
        self, column: int, low: float, high: float, boxes: Floats, points: Floats
    ) -> tuple[Longs, Floats]:
        """(frames, their left and right sides [n, 2]) in one column, outer ones first.

        The column is between the heights `low` and `high`; a frame that is cut is drawn in round what it has
        of the column's `boxes` [4, n] and `points` [2, n], and left out when that is nothing.
        """
        names = self._whole[self._bounds[column] : self._bounds[column + 1]]
        sides = self.sides[names]
        seen = np.minimum(self.bottom[self._cut], high) - np.maximum(self.top[self._cut], low)
        inside = self._cut[seen > items.NODE_HEIGHT]
        if not len(inside):
            return names, sides
        for frame in inside.tolist():
            found = self._content(frame, low, high, boxes, points, names, sides)
            if found is not None:
                names = np.append(names, frame)
                sides = np.concatenate([sides, [found]])
        order = order_by(self.depth[names], names)
        return names[order], sides[order]

    def _content(
        self, frame: int, low: float, high: float, boxes: Floats, points: Floats, names: Longs, sides: Floats
    ) -> tuple[float, float] | None:
        """(left, right) of a cut frame round what it holds in a column, its inner frames `names` included."""
        x, y, width, height = self.frames[frame].tolist()
        top, bottom = max(low, y), min(high, y + height)

        def within(left: Floats, top_of: Floats) -> Bools:
            inside: Bools = (left >= x) & (left <= x + width) & (top_of >= top) & (top_of <= bottom)
            return inside

        held = np.flatnonzero(within(boxes[0], boxes[1]))
        if not len(held):
            return None
        lines = points[0, within(points[0], points[1])]
        rims = sides[within(self.frames[names, 0], np.maximum(self.top[names], top))]
        left = min(least(boxes[0, held]), least(lines), least(rims[:, 0]))
        right = max(most(boxes[0, held] + boxes[2, held]), most(lines), most(rims[:, 1]))
        return max(left - items.FRAME_PAD, x), min(right + items.FRAME_PAD, x + width)
