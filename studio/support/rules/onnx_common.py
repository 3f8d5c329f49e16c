"""Readings of ONNX nodes that several rules need."""

from __future__ import annotations

import math

from studio.support.op_node import OpNode

FLOAT32_MAX = 3.4028234663852886e38


def clip_bounds(node: OpNode) -> tuple[float, float] | None:
    """(lowest, highest) of a Clip, infinite when left out; None when computed."""
    result = []
    for index, name, default in ((1, "min", -math.inf), (2, "max", math.inf)):
        if node.has(index):
            values = node.input(index).values
            if not values:
                return None
            result.append(float(values[0]))
        else:
            result.append(node.number(name, default))
    return result[0], result[1]


def reduced_axes(node: OpNode) -> tuple[int, ...] | None:
    """Axes of a Reduce operator, non-negative where the rank is known; None when computed."""
    axes = node.ints_of(1, "axes")
    rank = node.input(0).rank
    if node.has(1) and axes is None:
        return None
    if axes is None:
        return tuple(range(rank)) if rank is not None else None
    return tuple(sorted(a + rank if a < 0 and rank is not None else a for a in axes))
