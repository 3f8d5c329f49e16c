"""Rows of columns in groups, numbered in the order in which they appear."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer]
Longs = npt.NDArray[np.int64]


def number_rows(group: Ints, *keys: Ints) -> tuple[Longs, Longs]:
    """(number of every row, first row of every number): equal rows share a number.

    Numbers go up with the group, and within a group with the first appearance.
    """
    size = len(group)
    if not size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.lexsort((*keys[::-1], group))
    is_new = np.zeros(size, np.bool_)
    is_new[0] = True
    for column in (group, *keys):
        in_order = column[order]
        is_new[1:] |= in_order[1:] != in_order[:-1]
    first = order[np.flatnonzero(is_new)]  # lexsort is stable
    by_appearance = np.lexsort((first, group[first]))
    rank = np.empty(len(first), np.int64)
    rank[by_appearance] = np.arange(len(first))
    numbers = np.empty(size, np.int64)
    numbers[order] = rank[np.cumsum(is_new) - 1]
    return numbers, first[by_appearance]


def bounds_of(group: Ints, count: int) -> Longs:
    """[count + 1] where each group's rows begin, of rows sorted by group."""
    result = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(group, minlength=count), out=result[1:])
    return result


def ranges(starts: Ints, counts: Ints) -> Longs:
    """start, start + 1, … of every range, one range after the other."""
    total = int(counts.sum())
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(total)
