"""Cuts: the heights at which a tall drawing is continued in another column.

Between boxes, where few lines and frames are, near equal columns. Where an earlier drawing was cut, this one
is cut again, so that opening a scope does not make everything after it move to other columns: a column that
became too long is cut once more, and one that became very short joins its neighbour.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from studio.graph.drawing import Drawing

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer]

MIN_HEIGHT = 2400.0  # px that a column has at least: about 30 layers
ASPECT = 1.6  # width : height that the whole should come near to
GUTTER = 44.0
LONGEST, SHORTEST = 1.7, 0.35  # of the ideal height: what a column that was there before may become
MANY, FEW = 1.8, 0.55  # of the ideal number of columns: beyond it all are chosen anew
_NEAR = 160.0  # px above an anchor within which its cut is looked for


def choose_cuts(drawing: Drawing, anchors: Ints) -> Floats:
    """The heights to cut at, none when the drawing is not tall."""
    boxes = drawing.boxes
    if not len(boxes):
        return np.zeros(0)
    top, bottom = float(boxes[:, 1].min()), float((boxes[:, 1] + boxes[:, 3]).max())
    width = float((boxes[:, 0] + boxes[:, 2]).max() - boxes[:, 0].min()) + GUTTER
    count = int(min(round((ASPECT * (bottom - top) / width) ** 0.5), (bottom - top) // MIN_HEIGHT))
    if count < 2:
        return np.zeros(0)
    gaps = _Gaps(drawing)
    if len(anchors):
        kept = _kept(gaps, boxes[anchors, 1], top, bottom, (bottom - top) / count)
        if FEW * count <= len(kept) + 1 <= MANY * count:
            return np.array(kept)
    return np.array(gaps.even_cuts(top, bottom, count))


def _kept(gaps: _Gaps, tops: Floats, top: float, bottom: float, ideal: float) -> list[float]:
    """The cuts above the given boxes, without those that make short columns, and with more in long ones."""
    cuts: list[float] = []
    for at in np.sort(tops).tolist():
        cut = gaps.above(at)
        if cut is not None and cut - (cuts[-1] if cuts else top) >= SHORTEST * ideal:
            cuts.append(cut)
    while cuts and bottom - cuts[-1] < SHORTEST * ideal:
        cuts.pop()
    result: list[float] = []
    for start, end in pairwise([top, *cuts, bottom]):
        if end - start > LONGEST * ideal:
            result += gaps.even_cuts(start, end, round((end - start) / ideal))
        if end < bottom:
            result.append(end)
    return result


class _Gaps:
    """The heights at which no box is, and what it costs to cut there."""

    def __init__(self, drawing: Drawing) -> None:
        self._drawing, boxes = drawing, drawing.boxes
        order = np.argsort(boxes[:, 1])
        tops = boxes[order, 1]
        reach = np.maximum.accumulate(tops + boxes[order, 3])
        gaps = np.flatnonzero(tops[1:] - reach[:-1] >= 12)
        self.heights = (reach[gaps] + tops[gaps + 1]) / 2

    @cached_property
    def cost(self) -> Floats:
        """What it costs to cut at every height; not asked for where all cuts stay."""
        drawing, frames = self._drawing, self._drawing.frames
        lines = ~drawing.is_portal
        starts = drawing.points[drawing.offsets[:-1][lines], 1]
        ends = drawing.points[drawing.offsets[1:][lines] - 1, 1]
        in_frames = _open_at(frames[:, 1], frames[:, 1] + frames[:, 3], self.heights)
        return _open_at(starts, ends, self.heights) + 2.0 * in_frames

    def above(self, y: float) -> float | None:
        """The nearest gap above a height, None when there is none near."""
        at = int(np.searchsorted(self.heights, y)) - 1
        return float(self.heights[at]) if at >= 0 and y - self.heights[at] <= _NEAR else None

    def even_cuts(self, top: float, bottom: float, count: int) -> list[float]:
        """Cheap cuts that leave `count` columns of about one height."""
        cuts: list[float] = []
        start = top
        for left in range(count, 1, -1):
            ideal = (bottom - start) / left
            low, high = np.searchsorted(self.heights, [start + 0.7 * ideal, start + 1.15 * ideal])
            if low >= high:
                continue
            total = self.cost[low:high] + 4 * np.abs(self.heights[low:high] - start - ideal) / ideal
            start = float(self.heights[low + int(np.argmin(total))])
            cuts.append(start)
        return cuts


def _open_at(starts: Floats, ends: Floats, heights: Floats) -> npt.NDArray[np.int64]:
    """How many of the spans (start, end) every height lies in."""
    return np.searchsorted(np.sort(starts), heights) - np.searchsorted(np.sort(ends), heights)
