"""Column wrap: a tall drawing cut at quiet heights and continued in further columns, as text is.

Works on the finished drawing. Boxes move with their column, a frame that is cut becomes several
frames of one scope, a line that is cut once runs through the gutter to the top of the next column,
and a line over more than one cut becomes a portal.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.graph import items
from studio.graph.cuts import GUTTER, choose_cuts
from studio.graph.drawing import Drawing
from studio.graph.portals import STUB

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer]
Bools = npt.NDArray[np.bool_]

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


def _split(rows: Floats, group: npt.NDArray[np.int64], count: int) -> list[Floats]:
    """The rows of every group."""
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(count + 1))
    ordered = rows[order]
    return [ordered[a:b] for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist())]


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
        self.lanes = [self._lanes(cut) for cut in range(len(cuts))]
        drawn = drawing.points[np.repeat(~self.is_portal, np.diff(drawing.offsets))]
        self.column_boxes = _split(drawing.boxes, self.box_column, self.columns)
        self.column_points = _split(drawn, np.searchsorted(cuts, drawn[:, 1]), self.columns)
        self.shift = np.zeros((self.columns, 2))
        self.top = np.zeros(self.columns)  # of each column's content, moved
        self.bottom = np.zeros(self.columns)
        self.gutter = np.zeros(self.columns)
        self.frames: list[tuple[float, float, float, float]] = []
        self.frame_of: list[int] = []
        self.frame_depth: list[int] = []

    def result(self) -> Drawing:
        at = 0.0
        for column in range(self.columns):
            at = self._place_column(column, at)
        boxes = self.old.boxes.copy()
        boxes[:, :2] += self.shift[self.box_column]
        points, offsets = self._lines()
        return Drawing(
            boxes,
            np.array(self.frames).reshape(-1, 4),
            self.frame_of,
            self.frame_depth,
            points,
            offsets,
            self.is_portal,
            self.box_column,
        )

    def _lanes(self, cut: int) -> dict[tuple[int, float], int]:
        """For every line over a cut, as (tensor, x), its lane: the rightmost line has lane 0."""
        over = np.flatnonzero(~self.is_portal & (self.first == cut) & (self.last == cut + 1)).tolist()
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
        pieces = self._pieces(column, low, high)
        boxes, lines = self.column_boxes[column], self.column_points[column]
        names = np.array([frame for frame, _, _ in pieces], np.int64)
        sides = np.array([(left, right) for _, left, right in pieces]).reshape(-1, 2)
        starts = self.old.frames[names, 1]
        ends = starts + self.old.frames[names, 3]
        left = np.concatenate([boxes[:, 0], lines[:, 0], sides[:, 0]]).min()
        right = np.concatenate([boxes[:, 0] + boxes[:, 2], lines[:, 0], sides[:, 1]]).max()
        top = np.concatenate([boxes[:, 1], starts[starts >= low]]).min()
        bottom = np.concatenate([boxes[:, 1] + boxes[:, 3], ends[ends <= high]]).max()
        continued, cut_off = names[starts < low].tolist(), names[ends > high].tolist()
        lanes_before = len(self.lanes[column - 1]) if column else 0
        lanes_after = len(self.lanes[column]) if column < len(self.lanes) else 0
        self.top[column] = _ROOM + LANE * lanes_before if column else 0.0
        head = self.top[column] + (
            items.FRAME_TITLE * len(continued) + items.FRAME_PAD / 2 if continued else 0
        )
        self.shift[column] = (at - left, head - top)
        end = bottom + self.shift[column, 1]
        self.bottom[column] = end + items.FRAME_PAD / 2 * len(cut_off)
        down = float(self.shift[column, 1])
        uppers, lowers = (starts + down).tolist(), (ends + down).tolist()
        for (frame, piece_left, piece_right), upper, lower in zip(pieces, uppers, lowers):
            if frame in continued:
                upper = self.top[column] + items.FRAME_TITLE * continued.index(frame)
            if frame in cut_off:
                lower = end + items.FRAME_PAD / 2 * (len(cut_off) - cut_off.index(frame))
            self.frames.append((piece_left + at - left, upper, piece_right - piece_left, lower - upper))
            self.frame_of.append(self.old.frame_of[frame])
            self.frame_depth.append(self.old.frame_depth[frame])
        at += right - left
        self.gutter[column] = at + GUTTER / 2
        return float(at + GUTTER + LANE * lanes_after)

    def _pieces(self, column: int, low: float, high: float) -> list[tuple[int, float, float]]:
        """(frame, left, right) of the frames in a column, outer ones first; cut ones are drawn in."""
        frames = self.old.frames
        if not len(frames):
            return []
        ends = frames[:, 1] + frames[:, 3]
        inside = np.flatnonzero(np.minimum(ends, high) - np.maximum(frames[:, 1], low) > items.NODE_HEIGHT)
        is_cut = (frames[inside, 1] < low) | (ends[inside] > high)
        pieces = {f: (frames[f, 0], frames[f, 0] + frames[f, 2]) for f in inside[~is_cut].tolist()}
        for frame in sorted(inside[is_cut].tolist(), key=lambda f: -self.old.frame_depth[f]):
            found = self._content(column, frame, low, high, pieces)
            if found:
                pieces[frame] = found
        rows = [(frame, float(a), float(b)) for frame, (a, b) in pieces.items()]
        return sorted(rows, key=lambda row: (self.old.frame_depth[row[0]], row[0]))

    def _content(
        self, column: int, frame: int, low: float, high: float, pieces: dict[int, tuple[float, float]]
    ) -> tuple[float, float] | None:
        """(left, right) of a cut frame round what it holds in this column; None when that is nothing."""
        x, y, width, height = self.old.frames[frame].tolist()
        low, high = max(low, y), min(high, y + height)

        def within(left: Floats, top: Floats) -> Bools:
            inside: Bools = (left >= x) & (left <= x + width) & (top >= low) & (top <= high)
            return inside

        boxes, points, frames = self.column_boxes[column], self.column_points[column], self.old.frames
        held = boxes[within(boxes[:, 0], boxes[:, 1])]
        if not len(held):
            return None
        lines = points[within(points[:, 0], points[:, 1]), 0]
        names = np.fromiter(pieces, np.int64, len(pieces))
        rims = np.array([pieces[f] for f in names.tolist()]).reshape(-1, 2)
        rims = rims[within(frames[names, 0], np.maximum(frames[names, 1], low))]
        left = float(np.concatenate([held[:, 0], lines, rims[:, 0]]).min())
        right = float(np.concatenate([held[:, 0] + held[:, 2], lines, rims[:, 1]]).max())
        return max(left - items.FRAME_PAD, x), min(right + items.FRAME_PAD, x + width)

    def _lines(self) -> tuple[Floats, npt.NDArray[np.int32]]:
        """Points and offsets of the moved lines: whole ones together, cut ones and new portals one by one."""
        counts = np.diff(self.old.offsets)
        edge = np.repeat(np.arange(len(counts)), counts)
        column = self.first[edge]
        half = np.arange(len(edge)) - self.old.offsets[:-1][edge] >= 2  # a portal's second stub
        column = np.where(self.old.is_portal[edge] & half, self.last[edge], column)
        moved = self.old.points + self.shift[column]
        special = np.flatnonzero(
            (self.is_portal != self.old.is_portal) | (~self.is_portal & (self.first != self.last))
        )
        if not len(special):
            return moved, self.old.offsets
        replaced = {e: self._portal(e) if self.is_portal[e] else self._detour(e) for e in special.tolist()}
        lengths = counts.copy()
        for e, rows in replaced.items():
            lengths[e] = len(rows)
        offsets = np.zeros(len(counts) + 1, np.int32)
        np.cumsum(lengths, out=offsets[1:])
        points = np.zeros((int(offsets[-1]), 2))
        kept = ~np.isin(edge, special)
        index = np.arange(len(edge)) - self.old.offsets[:-1][edge]
        points[offsets[:-1][edge[kept]] + index[kept]] = moved[kept]
        for e, rows in replaced.items():
            points[offsets[e] : offsets[e + 1]] = rows
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
