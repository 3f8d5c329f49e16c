"""OutlineBands: dashed lines round groups of boxes that never cut through another box.

A group is drawn as the union of bands: in every row of boxes the stretches without strangers, each
grown to half the gap above and below. The lines of a union are the places where exactly one side
is inside; between two rows that is the exclusive or of two sets of intervals, and sorting all ends
and pairing them gives it without any polygon arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPen

from studio.ui.canvas.colors import CanvasColors, label_ground
from studio.ui.canvas.far_paint import draw_lines, draw_rects
from studio.ui.canvas.overlay import Outline
from studio.ui.canvas.scene import Scene
from studio.ui.canvas.texts import plain, sized
from studio.ui.canvas.viewport import Viewport

Floats = npt.NDArray[np.float64]

PAD_X = 9.0
PAD_Y = 9.0
FAR_APART = 120.0  # boxes of a row farther apart than this do not share a band
NEXT_ROW = 64.0  # rows farther apart than this are not joined
MOST_LINES = 6000
THICK = 1.5  # screen pixels
DASHED_FROM = 0.25  # zoom; below it lines are thin and whole


@dataclass(frozen=True, slots=True)
class _Band:
    """A stretch of one row that belongs to one group."""

    left: float
    right: float
    top: float
    bottom: float


class OutlineBands:
    """The lines round every group, and where its title goes, in layout pixels."""

    def __init__(self, scene: Scene, outlines: tuple[Outline, ...]) -> None:
        self._outlines = outlines
        group_of = np.full(scene.count, -1, np.int32)
        for index, outline in enumerate(outlines):
            items = scene.layout.node_item[outline.nodes]
            group_of[items[items >= 0]] = index
        lines: list[tuple[float, float, float, float]] = []
        owners: list[int] = []
        self._titles: list[tuple[float, float, int]] = []
        for group, bands in _bands_of(scene, group_of).items():
            for line in _lines_round(bands):
                lines.append(line)
                owners.append(group)
            first = min(bands, key=lambda b: (b.top, b.left))
            self._titles.append((first.left, first.top, group))
        self._lines = np.array(lines, float).reshape(-1, 4)
        self._columns = np.ascontiguousarray(self._lines.T, np.float32)
        self._owner = np.array(owners, np.int32)
        self._places = np.array([(x, y) for x, y, _ in self._titles], float).reshape(-1, 2)
        self._colors = sorted({outline.color for outline in outlines})
        self._color_of = np.array([self._colors.index(outline.color) for outline in outlines], np.int32)

    @property
    def lines(self) -> Floats:
        """[n, 4] every line as x1, y1, x2, y2."""
        return self._lines

    def paint(self, painter: QPainter, viewport: Viewport, colors: CanvasColors, font: QFont) -> None:
        """Paints what is in sight."""
        left, top, right, bottom = viewport.visible(margin=8)
        lines, (x0, y0, x1, y1) = self._lines, self._columns
        chosen = np.flatnonzero((y0 <= bottom) & (y1 >= top) & (x0 <= right) & (x1 >= left))
        if len(chosen) > MOST_LINES:
            return
        shift = np.array([viewport.offset_x, viewport.offset_y] * 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        color_of = self._color_of[self._owner[chosen]]
        for index in np.unique(color_of).tolist():
            mine = chosen[color_of == index]
            color = colors.role(self._colors[index])
            screen = np.round(lines[mine] * viewport.scale + shift)
            if viewport.scale < DASHED_FROM:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(color)
                screen[:, 2:] = screen[:, 2:] - screen[:, :2] + 1
                draw_rects(painter, screen)
                continue
            pen = QPen(color, THICK)
            pen.setDashPattern([4 / THICK, 3 / THICK])
            painter.setPen(pen)
            draw_lines(painter, screen)
        if viewport.scale >= 0.5:
            self._paint_titles(painter, viewport, colors, font)

    def _paint_titles(self, painter: QPainter, viewport: Viewport, colors: CanvasColors, font: QFont) -> None:
        small = sized(font, 10.0 * viewport.scale, bold=True)
        painter.setFont(small)
        high = small.pixelSize() * 1.25
        left, top, right, bottom = viewport.visible(margin=40)
        x, y = self._places[:, 0], self._places[:, 1]
        seen = (x >= left - 300) & (x <= right) & (y >= top) & (y <= bottom)
        for place in np.flatnonzero(seen).tolist():
            group = self._titles[place][2]
            sx, sy = viewport.to_screen(*self._places[place])
            outline = self._outlines[group]
            width = painter.fontMetrics().horizontalAdvance(outline.title)
            at = QPointF(sx + 8 * viewport.scale, sy - high / 2)
            painter.fillRect(QRectF(at.x() - 3, at.y(), width + 6, high), label_ground(colors))
            painter.setPen(colors.role(outline.color))
            painter.drawStaticText(at, plain(outline.title))


def _rows_of(scene: Scene) -> list[list[int]]:
    """Boxes grouped into rows (overlapping in y, near in x), every row from left to right."""
    rows: list[list[int]] = []
    open_rows: list[tuple[float, float, list[int]]] = []  # top, bottom, members
    top, bottom = scene.top.tolist(), scene.bottom.tolist()
    for item in range(scene.count):
        open_rows = [row for row in open_rows if row[1] > top[item] + 2]
        for index, (row_top, row_bottom, members) in enumerate(open_rows):
            middle = (top[item] + bottom[item]) / 2
            if abs((row_top + row_bottom) / 2 - middle) < 12:
                members.append(item)
                open_rows[index] = (min(row_top, top[item]), max(row_bottom, bottom[item]), members)
                break
        else:
            members = [item]
            rows.append(members)
            open_rows.append((top[item], bottom[item], members))
    left = scene.left.tolist()
    for members in rows:
        members.sort(key=left.__getitem__)
    return rows


def _bands_of(scene: Scene, group_of: npt.NDArray[np.int32]) -> dict[int, list[_Band]]:
    """The bands of every group, from top to bottom."""
    left, right = scene.left.tolist(), scene.right.tolist()
    top, bottom = scene.top.tolist(), scene.bottom.tolist()
    groups = group_of.tolist()
    result: dict[int, list[_Band]] = {}
    for members in _rows_of(scene):
        run: list[int] = []
        for item in [*members, -1]:
            joins = (
                item >= 0
                and run
                and groups[item] == groups[run[-1]]
                and left[item] - right[run[-1]] < FAR_APART
            )
            if run and not joins:
                if groups[run[0]] >= 0:
                    result.setdefault(groups[run[0]], []).append(
                        _Band(
                            left[run[0]] - PAD_X,
                            right[run[-1]] + PAD_X,
                            min(top[k] for k in run) - PAD_Y,
                            max(bottom[k] for k in run) + PAD_Y,
                        )
                    )
                run = []
            if item >= 0:
                run.append(item)
    return result


def _lines_round(bands: list[_Band]) -> list[tuple[float, float, float, float]]:
    """The outline of a group's bands as horizontal and vertical lines."""
    bands = sorted(bands, key=lambda b: (b.top, b.left))
    below: dict[int, list[int]] = {}
    above: dict[int, list[int]] = {}
    start = 0
    for index, band in enumerate(bands):
        while bands[start].bottom + NEXT_ROW < band.top:
            start += 1
        for other in range(start, index):
            upper = bands[other]
            gap = band.top - upper.bottom
            if -2 * PAD_Y <= gap <= NEXT_ROW and upper.left < band.right and band.left < upper.right:
                below.setdefault(other, []).append(index)
                above.setdefault(index, []).append(other)
    tops = {k: _meeting(bands, above.get(k, []), k, up=True) for k in range(len(bands))}
    bottoms = {k: _meeting(bands, below.get(k, []), k, up=False) for k in range(len(bands))}
    lines: list[tuple[float, float, float, float]] = []
    seams: dict[float, list[float]] = {}
    for k, band in enumerate(bands):
        lines.append((band.left, tops[k], band.left, bottoms[k]))
        lines.append((band.right, tops[k], band.right, bottoms[k]))
        for y in (tops[k], bottoms[k]):
            seams.setdefault(round(y, 2), []).extend((band.left, band.right))
    for y, ends in seams.items():
        ends.sort()
        lines += [(a, y, b, y) for a, b in zip(ends[::2], ends[1::2]) if b - a > 0.5]
    return lines


def _meeting(bands: list[_Band], others: list[int], index: int, *, up: bool) -> float:
    """Where a band ends: half way to its neighbour, or at its own edge when it has none."""
    band = bands[index]
    if not others:
        return band.top if up else band.bottom
    if up:
        return (max(bands[k].bottom for k in others) + band.top) / 2
    return (min(bands[k].top for k in others) + band.bottom) / 2
