"""Column wrap: a tall drawing cut at quiet heights and continued in further columns, as text is.

Works on the finished drawing. Boxes move with their column, a frame that is cut becomes several
frames of one scope, a line that is cut once runs through the gutter to the top of the next column,
and a line over more than one cut becomes a portal.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from studio.graph import items
from studio.graph.cuts import GUTTER, choose_cuts
from studio.graph.drawing import Drawing
from studio.graph.frame_pieces import FramePieces, least, most
from studio.graph.groups import bounds_of, order_by, ranges
from studio.graph.portals import STUB

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer]

LANE = 8.0
MAX_LANES = 24  # lines of one cut that run through a gutter; more become portals
_ROOM = 18.0  # between a column's end and the first lane
_CORNER = 8.0


def wrap(drawing: Drawing, tensors: Ints, anchors: Ints) -> Drawing:
    """The drawing in columns, or as it is when it is not tall.

    `tensors` is per line. `anchors`: boxes at which columns began in an earlier drawing.
    """
    cuts = choose_cuts(drawing, anchors)
    return drawing if not len(cuts) else _Wrap(drawing, tensors, cuts).result()


def _split(table: Floats, rows: Ints, group: Ints, count: int) -> list[Floats]:
    """[columns of the table, n] the chosen rows of every group, turned so that each column lies together."""
    ordered = np.ascontiguousarray(table.take(rows[order_by(group)], axis=0).T)
    return [ordered[:, a:b] for a, b in pairwise(bounds_of(group, count).tolist())]


class _Wrap:
    """One wrap: which column everything is in, how far columns move, and what is cut."""

    def __init__(self, drawing: Drawing, tensors: Ints, cuts: Floats) -> None:
        self.old = drawing
        self.tensors = tensors
        self.cuts = cuts
        self.columns = len(cuts) + 1
        self.bounds = np.concatenate([[-np.inf], cuts, [np.inf]])
        self.box_column = np.searchsorted(cuts, drawing.boxes[:, 1])
        self.first = np.searchsorted(cuts, drawing.points[drawing.offsets[:-1], 1])
        self.last = np.searchsorted(cuts, drawing.points[drawing.offsets[1:] - 1, 1])
        self.is_portal = drawing.is_portal | (np.abs(self.last - self.first) > 1)
        over = np.flatnonzero(~self.is_portal & (self.last > self.first))  # lines over one cut
        over = over[np.argsort(self.first[over], kind="stable")]
        bounds = np.searchsorted(self.first[over], np.arange(self.columns)).tolist()
        self.lanes = [self._lanes(cut, over[a:b].tolist()) for cut, (a, b) in enumerate(pairwise(bounds))]
        self.column_boxes = _split(
            drawing.boxes, np.arange(len(drawing.boxes)), self.box_column, self.columns
        )
        self.column_points = self._points()
        self.pieces = FramePieces(drawing, cuts)
        self.shift = np.zeros((self.columns, 2))
        self.top = np.zeros(self.columns)  # of each column's content, moved
        self.bottom = np.zeros(self.columns)
        self.gutter = np.zeros(self.columns)
        self.frames: list[Floats] = []  # of every column
        self.frame_names: list[Ints] = []

    def _points(self) -> list[Floats]:
        """The points of the drawn lines in every column; a line's points go down."""
        old = self.old
        counts = np.diff(old.offsets)
        drawn = np.flatnonzero(np.repeat(~self.is_portal, counts))
        column = np.repeat(self.first, counts)
        over = np.flatnonzero(~self.is_portal & (self.first != self.last))
        parted = ranges(old.offsets[over], counts[over])
        column[parted] = np.searchsorted(self.cuts, old.points[parted, 1])
        return _split(old.points, drawn, column[drawn], self.columns)

    def result(self) -> Drawing:
        at = 0.0
        for column in range(self.columns):
            at = self._place_column(column, at)
        boxes = self.old.boxes.copy()
        boxes[:, :2] += self.shift[self.box_column]
        points, offsets = self._lines()
        names = np.concatenate(self.frame_names)
        return Drawing(
            boxes,
            np.concatenate(self.frames),
            self.old.frame_of[names],
            self.old.frame_depth[names],
            points,
            offsets,
            self.is_portal,
            self.box_column,
        )

    def _lanes(self, cut: int, over: list[int]) -> dict[tuple[int, float], int]:
        """For every line over a cut, as (tensor, x), its lane: the rightmost line has lane 0."""
        found = {(int(self.tensors[edge]), self._x_at(edge, cut)) for edge in over}
        if len(found) > MAX_LANES:
            self.is_portal[over] = True
            return {}
        return {key: lane for lane, key in enumerate(sorted(found, key=lambda k: (-k[1], k[0])))}

    def _x_at(self, edge: int, cut: int) -> float:
        """Where a line is at a cut, to a tenth of a pixel."""
        y = float(self.cuts[cut])
        points = self.old.points[self.old.offsets[edge] : self.old.offsets[edge + 1]]
        after = int(np.searchsorted(points[:, 1], y))
        (x1, y1), (x2, y2) = points[after - 1].tolist(), points[after].tolist()
        return float(round(x1 + (x2 - x1) * (y - y1) / max(y2 - y1, 1e-6), 1))

    def _place_column(self, column: int, at: float) -> float:
        """Moves one column to start at x = `at`; returns where the next one starts."""
        low, high = float(self.bounds[column]), float(self.bounds[column + 1])
        boxes, lines = self.column_boxes[column], self.column_points[column]
        names, sides = self.pieces.of_column(column, low, high, boxes, lines)
        starts = self.old.frames[names, 1]
        ends = starts + self.old.frames[names, 3]
        left = min(least(boxes[0]), least(lines[0]), least(sides[:, 0]))
        right = max(most(boxes[0] + boxes[2]), most(lines[0]), most(sides[:, 1]))
        top = min(least(boxes[1]), least(starts[starts >= low]))
        bottom = max(most(boxes[1] + boxes[3]), most(ends[ends <= high]))
        continued, cut_off = np.flatnonzero(starts < low), np.flatnonzero(ends > high)
        lanes_before = len(self.lanes[column - 1]) if column else 0
        lanes_after = len(self.lanes[column]) if column < len(self.lanes) else 0
        self.top[column] = _ROOM + LANE * lanes_before if column else 0.0
        title_height = items.FRAME_TITLE * len(continued) + items.FRAME_PAD / 2 if len(continued) else 0
        down = float(self.top[column]) + title_height - top
        self.shift[column] = (at - left, down)
        end = bottom + down
        self.bottom[column] = end + items.FRAME_PAD / 2 * len(cut_off)
        uppers, lowers = starts + down, ends + down
        uppers[continued] = self.top[column] + items.FRAME_TITLE * np.arange(len(continued))
        lowers[cut_off] = end + items.FRAME_PAD / 2 * np.arange(len(cut_off), 0, -1)
        wide = sides[:, 1] - sides[:, 0]
        self.frames.append(np.stack([sides[:, 0] + at - left, uppers, wide, lowers - uppers], axis=1))
        self.frame_names.append(names)
        at += right - left
        self.gutter[column] = at + GUTTER / 2
        return float(at + GUTTER + LANE * lanes_after)

    def _lines(self) -> tuple[Floats, npt.NDArray[np.int32]]:
        """Points and offsets of the moved lines: whole ones together, cut ones and new portals one by one."""
        old = self.old
        counts = np.diff(old.offsets)
        moved = old.points + np.repeat(self.shift[self.first], counts, axis=0)
        stubs = np.flatnonzero(old.is_portal & (self.first != self.last))
        second = np.stack([old.offsets[stubs] + 2, old.offsets[stubs] + 3], axis=1)
        moved[second] = old.points[second] + self.shift[self.last[stubs], None]
        special = np.flatnonzero(
            (self.is_portal != old.is_portal) | (~self.is_portal & (self.first != self.last))
        )
        if not len(special):
            return moved, old.offsets
        replaced = [self._portal(e) if self.is_portal[e] else self._detour(e) for e in special.tolist()]
        lengths = counts.copy()
        lengths[special] = [len(rows) for rows in replaced]
        offsets = np.zeros(len(counts) + 1, np.int32)
        np.cumsum(lengths, out=offsets[1:])
        pieces, at = [], 0
        begins, ends = old.offsets[special].tolist(), old.offsets[special + 1].tolist()
        for rows, begin, end in zip(replaced, begins, ends):
            pieces += [moved[at:begin], np.array(rows)]
            at = end
        points = np.concatenate([*pieces, moved[at:]])
        return points, offsets

    def _portal(self, edge: int) -> list[tuple[float, float]]:
        start, end = self.old.offsets[edge], self.old.offsets[edge + 1]
        x, y = (self.old.points[start] + self.shift[self.first[edge]]).tolist()
        there, top = (self.old.points[end - 1] + self.shift[self.last[edge]]).tolist()
        return [(x, y), (x, y + STUB), (there, top - STUB), (there, top)]

    def _detour(self, edge: int) -> list[tuple[float, float]]:
        """A line to the next column: down, right, up through the gutter, right, and on."""
        column = int(self.first[edge])
        points = self.old.points[self.old.offsets[edge] : self.old.offsets[edge + 1]]
        x = self._x_at(edge, column)
        lanes = self.lanes[column]
        lane = lanes[int(self.tensors[edge]), x]
        bottom = self.bottom[column] + _ROOM / 2 + LANE * lane
        gutter = self.gutter[column] + LANE * lane
        top = self.top[column + 1] - _ROOM / 2 - LANE * (len(lanes) - 1 - lane)
        here, there, r = x + self.shift[column, 0], x + self.shift[column + 1, 0], _CORNER
        before = points[:, 1] < self.cuts[column]
        above, below = points[before] + self.shift[column], points[~before] + self.shift[column + 1]
        above[:, 1] = np.minimum(above[:, 1], bottom - r)
        below[:, 1] = np.maximum(below[:, 1], top + r)
        return [
            *above.tolist(),
            (here, bottom - r), (here + r, bottom), (gutter - r, bottom), (gutter, bottom - r),
            (gutter, top + r), (gutter + r, top), (there - r, top), (there, top + r),
            *below.tolist(),
        ]  # fmt: skip
