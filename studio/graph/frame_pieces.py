"""The frames of a drawing in columns: those whole in a column, and how wide the pieces of cut ones are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.graph import items
from studio.graph.drawing import Drawing
from studio.graph.groups import bounds_of, order_by, ranges

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]


@dataclass(slots=True, eq=False)
class Content:
    """What every column holds: boxes and drawn lines, by column, with where each column's begin."""

    boxes: Longs
    box_bounds: Longs
    lines: Longs  # a line over a cut is in both columns
    line_bounds: Longs


@dataclass(slots=True, eq=False)
class FramePieces:
    """Frames and pieces of cut ones, by column and outer ones first."""

    column: Longs
    name: Longs
    left: Floats
    right: Floats


def frame_pieces(drawing: Drawing, cuts: Floats, content: Content) -> FramePieces:
    """The frames of a drawing that is cut; a piece is drawn in round what it has of a column's content."""
    return _Pieces(drawing, cuts, content).result()


def _of_columns(column: Longs, bounds: Longs) -> tuple[Longs, Longs]:
    """(index of a column, row in it) for all rows of the given columns."""
    counts = np.diff(bounds)[column]
    return np.repeat(np.arange(len(column)), counts), ranges(bounds[column], counts)


class _Pieces:
    """The pieces of cut frames, made from the inside out; most frames are whole and only looked at."""

    def __init__(self, drawing: Drawing, cuts: Floats, content: Content) -> None:
        self.drawing, self.content = drawing, content
        frames = drawing.frames
        self.left, self.top = frames[:, 0], frames[:, 1]
        self.right, self.bottom = frames[:, 0] + frames[:, 2], frames[:, 1] + frames[:, 3]
        self.low, self.high = np.append(-np.inf, cuts), np.append(cuts, np.inf)
        begin = np.searchsorted(cuts, self.top, side="right")
        is_whole = self.bottom <= self.high[begin]
        whole = np.flatnonzero(is_whole)
        self.whole = whole[order_by(begin[whole])]
        self.whole_bounds = bounds_of(begin[whole], len(self.low))
        cut = np.flatnonzero(~is_whole)
        spans = np.searchsorted(cuts, self.bottom[cut]) - begin[cut] + 1
        name, column = np.repeat(cut, spans), ranges(begin[cut], spans)
        seen = np.minimum(self.bottom[name], self.high[column]) - np.maximum(self.top[name], self.low[column])
        is_seen = seen > items.NODE_HEIGHT
        name, column = name[is_seen], column[is_seen]
        order = order_by(column, -drawing.frame_depth[name], name)
        name, column = name[order], column[order]
        nth = np.arange(len(column)) - np.searchsorted(column, column)  # of its column, from the inside out
        self.found = FramePieces(column[:0], name[:0], np.zeros(0), np.zeros(0))
        for turn in range(int(nth.max(initial=-1)) + 1):
            self._draw_in(name[nth == turn], column[nth == turn])

    def result(self) -> FramePieces:
        """All frames in their columns."""
        found, whole = self.found, self.whole
        column = np.append(np.repeat(np.arange(len(self.low)), np.diff(self.whole_bounds)), found.column)
        name = np.append(whole, found.name)
        left, right = np.append(self.left[whole], found.left), np.append(self.right[whole], found.right)
        order = order_by(column, self.drawing.frame_depth[name], name)
        return FramePieces(column[order], name[order], left[order], right[order])

    def _draw_in(self, name: Longs, column: Longs) -> None:
        """Adds pieces, one per column, as wide as what they hold; those that hold no box are left out."""
        drawing, content, found = self.drawing, self.content, self.found
        x, end = self.left[name], self.right[name]
        low = self.low[column]
        top, bottom = np.maximum(low, self.top[name]), np.minimum(self.high[column], self.bottom[name])
        least, most = np.full(len(name), np.inf), np.full(len(name), -np.inf)

        def hold(piece: Longs, at: Floats, left: Floats, right: Floats) -> None:
            inside = (at >= x[piece]) & (at <= end[piece])
            np.minimum.at(least, piece[inside], left[inside])
            np.maximum.at(most, piece[inside], right[inside])

        piece, row = _of_columns(column, content.box_bounds)
        box = content.boxes[row]
        y = drawing.boxes[box, 1]
        inside = (y >= top[piece]) & (y <= bottom[piece])
        piece, box = piece[inside], box[inside]
        hold(
            piece, drawing.boxes[box, 0], drawing.boxes[box, 0], drawing.boxes[box, 0] + drawing.boxes[box, 2]
        )
        has_boxes = np.isfinite(least)
        piece, row = _of_columns(column, content.line_bounds)
        line = content.lines[row]
        start, stop = drawing.offsets[line], drawing.offsets[line + 1]
        near = (drawing.points[stop - 1, 1] >= top[piece]) & (drawing.points[start, 1] <= bottom[piece])
        counts = (stop - start)[near]
        piece, points = np.repeat(piece[near], counts), drawing.points[ranges(start[near], counts)]
        y = points[:, 1]
        inside = (y >= top[piece]) & (y > low[piece]) & (y <= bottom[piece])
        along = points[inside, 0]
        hold(piece[inside], along, along, along)
        order = order_by(found.column)
        found_bounds = bounds_of(found.column, len(self.low))
        for bounds, names, lefts, rights in (
            (self.whole_bounds, self.whole, self.left[self.whole], self.right[self.whole]),
            (found_bounds, found.name[order], found.left[order], found.right[order]),
        ):
            piece, row = _of_columns(column, bounds)
            is_above = self.top[names[row]] <= bottom[piece]
            piece, row = piece[is_above], row[is_above]
            hold(piece, self.left[names[row]], lefts[row], rights[row])
        self.found = FramePieces(
            np.append(found.column, column[has_boxes]),
            np.append(found.name, name[has_boxes]),
            np.append(found.left, np.maximum(least - items.FRAME_PAD, x)[has_boxes]),
            np.append(found.right, np.minimum(most + items.FRAME_PAD, end)[has_boxes]),
        )
