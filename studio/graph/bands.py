"""Bands: lines round groups of boxes that never cut through another box.

A group is drawn as the union of bands: in every row of boxes the stretches without strangers, each
grown to half the gap above and below. The lines of a union are the places where exactly one side
is inside; between two rows that is the exclusive or of two sets of intervals, and sorting all ends
and pairing them gives it without any polygon arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

PAD_X = 9.0
PAD_Y = 9.0
FAR_APART = 120.0  # boxes of a row farther apart than this do not share a band
NEXT_ROW = 64.0  # rows farther apart than this are not joined


class Boxes(Protocol):
    """Boxes from top to bottom, one value each, in layout pixels."""

    @property
    def left(self) -> Floats: ...
    @property
    def right(self) -> Floats: ...
    @property
    def top(self) -> Floats: ...
    @property
    def bottom(self) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of one row that belongs to one group."""

    left: float
    right: float
    top: float
    bottom: float


def _rows_of(boxes: Boxes) -> list[list[int]]:
    """Boxes grouped into rows (overlapping in y, near in x), every row from left to right."""
    rows: list[list[int]] = []
    open_rows: list[tuple[float, float, list[int]]] = []  # top, bottom, members
    top, bottom = boxes.top.tolist(), boxes.bottom.tolist()
    for item in range(len(boxes.top)):
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
    left = boxes.left.tolist()
    for members in rows:
        members.sort(key=left.__getitem__)
    return rows


def bands_of(boxes: Boxes, group_of: npt.NDArray[np.int32]) -> dict[int, list[Band]]:
    """The bands of every group, from top to bottom."""
    left, right = boxes.left.tolist(), boxes.right.tolist()
    top, bottom = boxes.top.tolist(), boxes.bottom.tolist()
    groups = group_of.tolist()
    result: dict[int, list[Band]] = {}
    for members in _rows_of(boxes):
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
                        Band(
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


def lines_round(bands: list[Band]) -> list[tuple[float, float, float, float]]:
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


def _meeting(bands: list[Band], others: list[int], index: int, *, up: bool) -> float:
    """Where a band ends: half way to its neighbour, or at its own edge when it has none."""
    band = bands[index]
    if not others:
        return band.top if up else band.bottom
    if up:
        return (max(bands[k].bottom for k in others) + band.top) / 2
    return (min(bands[k].top for k in others) + band.bottom) / 2
