"""Merged dims: neighbouring dims of a tensor taken as one, where an operator cannot tell the difference.

Used both to say that a 5-D operator can be taken as 4-D and to do it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

Dims = Sequence[int]


def broadcast_groups(shapes: Sequence[Dims], out: Dims, most: int = 4) -> list[list[int]] | None:
    """Groups of neighbouring axes of `out`, at most `most`, None when there are none.

    In every group each operand is either as long as `out` or 1 along all axes, so elementwise operators
    broadcast the merged operands as they did the separate ones. Shorter shapes are aligned at the end.
    """
    rank = len(out)
    aligned = [[1] * (rank - len(s)) + list(s) for s in shapes]
    if any(len(s) > rank or any(d not in (1, o) for d, o in zip(s, out)) for s in aligned):
        return None
    wide = [[d == o for d, o in zip(s, out)] for s in aligned]
    groups: list[list[int]] = []
    patterns: list[list[bool | None]] = []  # per group and operand: None = says nothing, out is 1 there
    for axis in range(rank):
        mine = [None if out[axis] == 1 else is_wide[axis] for is_wide in wide]
        if groups and all(a is None or b is None or a == b for a, b in zip(patterns[-1], mine)):
            groups[-1].append(axis)
            patterns[-1] = [b if a is None else a for a, b in zip(patterns[-1], mine)]
        else:
            groups.append([axis])
            patterns.append(mine)
    return groups if len(groups) <= most else None


def spread(groups: list[list[int]], most: int = 4) -> list[list[int]]:
    """The same axes in as many groups as allowed, so that batch and channel dims stay dims of their own."""
    result = [list(g) for g in groups]
    index = 0
    while len(result) < most and index < len(result):
        if len(result[index]) > 1:
            first, rest = result[index][:1], result[index][1:]
            result[index : index + 1] = [first, rest]
        index += 1
    return result


def merged(shape: Dims, groups: list[list[int]], rank: int) -> list[int]:
    """The shape of an operand, aligned at the end to `rank`, after merging."""
    aligned = [1] * (rank - len(shape)) + list(shape)
    return [prod(aligned[axis] for axis in group) for group in groups]


def transpose_groups(shape: Dims, perm: Sequence[int], most: int = 4) -> list[list[int]] | None:
    """Axes of the input, in the order of the output, grouped where they stay neighbours; None if too many.

    Axes of size 1 go with any neighbour.
    """
    groups: list[list[int]] = []
    for axis in perm:
        if not 0 <= axis < len(shape):
            return None
        last = [a for a in groups[-1] if shape[a] != 1][-1:] if groups else []
        if groups and (shape[axis] == 1 or last == [axis - 1]):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return groups if len(groups) <= most else None
