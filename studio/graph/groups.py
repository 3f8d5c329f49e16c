"""Rows of columns in groups, numbered in the order in which they appear, and put in order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer]
Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def order_by(*keys: Ints) -> Longs:
    """The rows in order: by the first key, among equals by the next, and last as they are."""
    return _sorted(keys)[0]


def _sorted(keys: tuple[Ints, ...]) -> tuple[Longs, Bools]:
    """(rows in order, whether each differs from the one before it).

    Keys and row numbers that fit into 63 bits are sorted as one number, which takes a tenth of a `lexsort`.
    """
    size = len(keys[0])
    is_new = np.ones(size, np.bool_)
    if not size:
        return np.zeros(0, np.int64), is_new
    lows = [int(key.min()) for key in keys]
    widths = [(int(key.max()) - low).bit_length() for key, low in zip(keys, lows)]
    row_bits = size.bit_length()
    if sum(widths) + row_bits > 63:
        order = np.lexsort(keys[::-1])
        is_new[1:] = np.logical_or.reduce([np.diff(key[order]) != 0 for key in keys])
        return order, is_new
    packed = np.zeros(size, np.int64)
    for key, low, width in zip(keys, lows, widths):
        packed <<= width
        packed += key
        packed -= low
    packed <<= row_bits
    packed += np.arange(size)
    packed.sort()
    is_new[1:] = np.diff(packed >> row_bits) != 0
    packed &= (1 << row_bits) - 1
    return packed, is_new


def ranks_of(values: npt.NDArray[np.floating]) -> Longs:
    """For every value how many different ones are smaller."""
    order = np.argsort(values)
    in_order = values[order]
    result = np.zeros(len(values), np.int64)
    result[order[1:]] = np.cumsum(in_order[1:] != in_order[:-1])
    return result


def number_rows(group: Ints, *keys: Ints) -> tuple[Longs, Longs]:
    """(number of every row, first row of every number): equal rows share a number.

    Numbers go up with the group, and within a group with the first appearance.
    """
    size = len(group)
    if not size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order, is_new = _sorted((group, *keys))
    first = order[is_new]  # equal rows are in the order of their appearance
    by_appearance = order_by(group[first], first)
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


def members(group: Ints, count: int) -> list[Longs]:
    """The rows of every group."""
    order = order_by(group)
    return [order[a:b] for a, b in pairwise(bounds_of(group, count).tolist())]


def ranges(starts: Ints, counts: Ints) -> Longs:
    """start, start + 1, … of every range, one range after the other."""
    total = int(counts.sum())
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(total)
