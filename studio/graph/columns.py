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
from studio.graph.drawing import Drawing, moved
from studio.graph.frame_pieces import Content, FramePieces, frame_pieces
from studio.graph.groups import bounds_of, order_by, ranges
from studio.graph.portals import STUB

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer]

LANE = 8.0
MAX_LANES = 24  # lines of one cut that run through a gutter; more become portals
_ROOM = 18.0  # between a column's end and the first lane
_CORNER = 8.0
_CORNERS = 8  # points of a detour


def wrap(drawing: Drawing, tensors: Ints, anchors: Ints) -> Drawing:
    """The drawing in columns, or as it is when it is not tall.

    `tensors` is per line. `anchors`: boxes at which columns began in an earlier drawing.
    """
    cuts = choose_cuts(drawing, anchors)
    return drawing if not len(cuts) else _Wrap(drawing, tensors, cuts).result()


class _Wrap:
    """One wrap: which column everything is in, how far columns move, and what is cut."""

    def __init__(self, drawing: Drawing, tensors: Ints, cuts: Floats) -> None:
        self.old = drawing
        self.tensors = tensors
        self.cuts = cuts
        self.columns = len(cuts) + 1
        self.low, self.high = np.append(-np.inf, cuts), np.append(cuts, np.inf)
        self.counts = np.diff(drawing.offsets)
        self.box_column = np.searchsorted(cuts, drawing.boxes[:, 1])
        y = drawing.points[:, 1]
        self.first = np.searchsorted(cuts, y[drawing.offsets[:-1]])
        self.last = np.searchsorted(cuts, y[drawing.offsets[1:] - 1])
        self.is_portal = drawing.is_portal | (np.abs(self.last - self.first) > 1)
        over = np.flatnonzero(~self.is_portal & (self.last > self.first))  # lines over one cut
        over = over[np.argsort(self.first[over], kind="stable")]
        self.over_x = dict(zip(over.tolist(), self._x_at_cut(over)))
        bounds = np.searchsorted(self.first[over], np.arange(self.columns)).tolist()
        self.lanes = [self._lanes(over[a:b].tolist()) for a, b in pairwise(bounds)]
        self.shift = np.zeros((self.columns, 2))
        self.top = np.zeros(self.columns)  # of each column's content, moved
        self.bottom = np.zeros(self.columns)
        self.gutter = np.zeros(self.columns)

    def result(self) -> Drawing:
        by_column = order_by(self.box_column)
        drawn = np.flatnonzero(~self.is_portal)
        over = drawn[self.first[drawn] != self.last[drawn]]
        lines, line_column = np.append(drawn, over), np.append(self.first[drawn], self.last[over])
        content = Content(
            by_column,
            bounds_of(self.box_column, self.columns),
            lines[order_by(line_column)],
            bounds_of(line_column, self.columns),
        )
        pieces = frame_pieces(self.old, self.cuts, content)
        frames = self._place(content, pieces, over)
        boxes = self.old.boxes.copy()
        for axis in (0, 1):  # one by one: numpy is slow along an axis of two
            boxes[:, axis] += self.shift[self.box_column, axis]
        points, offsets = self._lines()
        return Drawing(
            boxes,
            frames,
            self.old.frame_of[pieces.name],
            self.old.frame_depth[pieces.name],
            points,
            offsets,
            self.is_portal,
            self.box_column,
        )

    def _place(self, content: Content, pieces: FramePieces, over: Ints) -> Floats:
        """Moves every column to where the one before ends; the frames [n, 4] in their columns."""
        old, column = self.old, pieces.column
        left, right = self._sides(content, pieces, over)
        box_starts = content.box_bounds[:-1]
        tops = old.boxes[content.boxes, 1]
        top = np.minimum.reduceat(tops, box_starts)
        bottom = np.maximum.reduceat(tops + old.boxes[content.boxes, 3], box_starts)
        starts = old.frames[pieces.name, 1]
        ends = starts + old.frames[pieces.name, 3]
        is_continued, is_cut_off = starts < self.low[column], ends > self.high[column]
        np.minimum.at(top, column[~is_continued], starts[~is_continued])
        np.maximum.at(bottom, column[~is_cut_off], ends[~is_cut_off])
        continued = np.bincount(column[is_continued], minlength=self.columns)
        cut_off = np.bincount(column[is_cut_off], minlength=self.columns)
        lanes = np.array([len(lanes) for lanes in self.lanes])
        self.top[1:] = _ROOM + LANE * lanes
        title_height = np.where(continued > 0, items.FRAME_TITLE * continued + items.FRAME_PAD / 2, 0)
        down = self.top + title_height - top
        end = bottom + down
        self.bottom = end + items.FRAME_PAD / 2 * cut_off
        begins, at = [], 0.0
        for width, lanes_after in zip((right - left).tolist(), [*lanes.tolist(), 0]):
            begins.append(at)
            at = at + width + GUTTER + LANE * lanes_after
        begin = np.array(begins)
        self.shift = np.stack([begin - left, down], axis=1)
        self.gutter = begin + (right - left) + GUTTER / 2
        uppers, lowers = starts + down[column], ends + down[column]
        outer = np.flatnonzero(is_continued)
        uppers[outer] = self.top[column[outer]] + items.FRAME_TITLE * _nth(column[outer])
        outer = np.flatnonzero(is_cut_off)
        from_inside = cut_off[column[outer]] - _nth(column[outer])
        lowers[outer] = end[column[outer]] + items.FRAME_PAD / 2 * from_inside
        x = pieces.left + begin[column] - left[column]
        return np.stack([x, uppers, pieces.right - pieces.left, lowers - uppers], axis=1)

    def _sides(self, content: Content, pieces: FramePieces, over: Ints) -> tuple[Floats, Floats]:
        """(left, right) of the boxes, lines and frames of every column."""
        old = self.old
        box_starts = content.box_bounds[:-1]
        lefts = old.boxes[content.boxes, 0]
        left = np.minimum.reduceat(lefts, box_starts)
        right = np.maximum.reduceat(lefts + old.boxes[content.boxes, 2], box_starts)
        is_drawn = np.repeat(~self.is_portal, self.counts)
        column = np.repeat(self.first, self.counts)
        parted = ranges(old.offsets[over], self.counts[over])
        column[parted] = np.searchsorted(self.cuts, old.points[parted, 1])
        x, column = old.points[is_drawn, 0], column[is_drawn]
        np.minimum.at(left, column, x)
        np.maximum.at(right, column, x)
        np.minimum.at(left, pieces.column, pieces.left)
        np.maximum.at(right, pieces.column, pieces.right)
        return left, right

    def _lanes(self, over: list[int]) -> dict[tuple[int, float], int]:
        """For every line over a cut, as (tensor, x), its lane: the rightmost line has lane 0."""
        found = {(int(self.tensors[edge]), self.over_x[edge]) for edge in over}
        if len(found) > MAX_LANES:
            self.is_portal[over] = True
            return {}
        return {key: lane for lane, key in enumerate(sorted(found, key=lambda k: (-k[1], k[0])))}

    def _x_at_cut(self, over: Ints) -> list[float]:
        """Where lines are at the cut they cross, to a tenth of a pixel."""
        old, cut = self.old, self.cuts[self.first[over]]
        counts = self.counts[over]
        is_above = old.points[ranges(old.offsets[over], counts), 1] < np.repeat(cut, counts)
        owner = np.repeat(np.arange(len(over)), counts)
        after = old.offsets[over] + np.bincount(owner, is_above, len(over)).astype(np.int64)
        (x1, y1), (x2, y2) = old.points[after - 1].T, old.points[after].T
        return [round(x, 1) for x in (x1 + (x2 - x1) * (cut - y1) / np.maximum(y2 - y1, 1e-6)).tolist()]

    def _lines(self) -> tuple[Floats, npt.NDArray[np.int32]]:
        """Points and offsets of the moved lines: whole ones together, cut ones and new portals one by one."""
        old = self.old
        points = moved(old.points, self.shift[self.first], self.counts)
        stubs = np.flatnonzero(old.is_portal & (self.first != self.last))
        second = np.stack([old.offsets[stubs] + 2, old.offsets[stubs] + 3], axis=1)
        points[second] = old.points[second] + self.shift[self.last[stubs], None]
        special = np.flatnonzero(
            (self.is_portal != old.is_portal) | (~self.is_portal & (self.first != self.last))
        )
        if not len(special):
            return points, old.offsets
        cut, parted = special[self.is_portal[special]], special[~self.is_portal[special]]
        lengths = self.counts.copy()
        lengths[cut] = 4
        lengths[parted] += _CORNERS
        offsets = np.zeros(len(lengths) + 1, np.int32)
        np.cumsum(lengths, out=offsets[1:])
        begins, ends = old.offsets[special].tolist(), old.offsets[special + 1].tolist()
        pieces, at = [], 0
        for length, begin, end in zip(lengths[special].tolist(), begins, ends):
            pieces += [points[at:begin], np.empty((length, 2))]
            at = end
        result = np.concatenate([*pieces, points[at:]])
        starts, targets = old.points[old.offsets[cut]], old.points[old.offsets[cut + 1] - 1]
        starts, targets = starts + self.shift[self.first[cut]], targets + self.shift[self.last[cut]]
        stub = np.array([0, STUB])
        stubs = np.stack([starts, starts + stub, targets - stub, targets], axis=1)
        result[ranges(offsets[cut], lengths[cut])] = stubs.reshape(-1, 2)
        if len(parted):
            self._detour(parted, offsets, result)
        return result, offsets

    def _detour(self, over: Ints, offsets: Ints, result: Floats) -> None:
        """Writes lines to the next column: down, right, up through the gutter, right, and on."""
        old, column = self.old, self.first[over]
        counts = self.counts[over]
        points, owner = old.points[ranges(old.offsets[over], counts)], np.repeat(np.arange(len(over)), counts)
        x = np.array([self.over_x[edge] for edge in over.tolist()])
        lane = np.array(
            [
                self.lanes[at][tensor, x_at]
                for at, tensor, x_at in zip(column.tolist(), self.tensors[over].tolist(), x.tolist())
            ]
        )
        last_lane = np.array([len(lanes) - 1 for lanes in self.lanes])[column]
        bottom = self.bottom[column] + _ROOM / 2 + LANE * lane
        gutter = self.gutter[column] + LANE * lane
        top = self.top[column + 1] - _ROOM / 2 - LANE * (last_lane - lane)
        here, there, r = x + self.shift[column, 0], x + self.shift[column + 1, 0], _CORNER
        is_below = points[:, 1] >= self.cuts[column][owner]
        points = points + self.shift[column[owner] + is_below]
        points[:, 1] = np.where(
            is_below,
            np.maximum(points[:, 1], (top + r)[owner]),
            np.minimum(points[:, 1], (bottom - r)[owner]),
        )
        result[ranges(offsets[over], counts) + _CORNERS * is_below] = points
        corners = (
            (here, bottom - r), (here + r, bottom), (gutter - r, bottom), (gutter, bottom - r),
            (gutter, top + r), (gutter + r, top), (there - r, top), (there, top + r),
        )  # fmt: skip
        above = counts - np.bincount(owner, is_below, len(over)).astype(np.int64)
        for k, corner in enumerate(corners):
            result[offsets[over] + above + k] = np.stack(corner, axis=1)


def _nth(group: Ints) -> Ints:
    """For rows sorted by group the place of each in its group."""
    place: Ints = np.arange(len(group)) - np.searchsorted(group, group)
    return place
