"""Stacking: layers one below the other, and the points of the lines between them."""

from __future__ import annotations

from itertools import pairwise

from studio.graph.layers import Layers
from studio.graph.nets import Arrangement, Point, Problem

LAYER_GAP = 30.0
PORT_GAP = 12.0  # between a frame's rim and its first boxes
SLANT = 0.06  # how much a gap grows with the longest sideways step in it
SLANT_MAX = 40.0


def stack(problem: Problem, layer: list[int], proper: Layers, x: list[float]) -> Arrangement:
    """Heights and paths: layers are stacked, and lines bend only in the gaps between them."""
    n = len(layer)
    heights = [0.0] * len(proper.layers)
    for box in range(n):
        heights[layer[box]] = max(heights[layer[box]], problem.height[box])
    tops = [0.0] * len(heights)
    at = 0.0
    last = len(heights) - 1
    for index in range(last):
        if proper.layers[index]:
            at += heights[index] + _gap(proper, index, last, x)
        tops[index + 1] = at
    height = tops[-1]
    if not proper.layers[-1]:
        height = tops[-2] + heights[-2]
    y = [
        tops[layer[b]] + (max(heights[layer[b]] - problem.height[b], 0) / 2 if heights[layer[b]] <= 64 else 0)
        for b in range(n)
    ]
    paths: list[list[Point]] = []
    for net, chain in zip(problem.nets, proper.chains):
        for index, target in enumerate(net.targets):
            points: list[Point] = []
            source = chain[0]
            dx = net.source_dx if net.source >= 0 else 0.0
            first = proper.layer_of[source]
            end = layer[target] if target >= 0 else len(tops) - 1
            if net.source >= 0:
                points.append((x[source] + dx, y[source] + problem.height[source]))
            points.append((x[source] + dx, tops[first] + heights[first]))
            for dummy in chain[1 : end - first]:
                row = proper.layer_of[dummy]
                points.append((x[dummy], tops[row]))
                points.append((x[dummy], tops[row] + heights[row]))
            if target >= 0:
                there = x[target] + (net.target_dx[index] if net.target_dx else 0.0)
                points.append((there, tops[end]))
                points.append((there, y[target]))
            else:
                points.append((x[chain[-1]], height))
            paths.append(simplify(points))
    extents = [(x[e] - proper.left[e], x[e] + proper.right[e]) for e in range(len(x))]
    return Arrangement(
        x=x[:n],
        y=y,
        paths=paths,
        left=max((-a for a, _ in extents), default=0.0),
        right=max((b for _, b in extents), default=0.0),
        height=height,
        neighbours=[
            pair
            for entities in proper.layers
            for pair in pairwise([e for e in entities if proper.net_of[e] < 0 and problem.weight[e] > 0])
        ],
    )


def _gap(proper: Layers, index: int, last: int, x: list[float]) -> float:
    """The room below a layer: more where lines step far sideways."""
    if index + 1 == last and not proper.layers[last]:
        return 0.0
    reach = 0.0
    for entity in proper.layers[index]:
        here = x[entity]
        for other, there, own in proper.down[entity]:
            step = abs(x[other] + there - here - own)
            if step > reach:
                reach = step
    base = PORT_GAP if index in (0, last - 1) and (index or proper.layers[0]) else LAYER_GAP
    if reach > 1:
        base = LAYER_GAP
    return base + min(reach * SLANT, SLANT_MAX)


def simplify(points: list[Point]) -> list[Point]:
    """The points without repeats and without those inside a vertical run."""
    result: list[Point] = []
    for point in points:
        if result and point == result[-1]:
            continue
        if len(result) > 1 and result[-2][0] == result[-1][0] == point[0] and result[-1][1] <= point[1]:
            result[-1] = point
        else:
            result.append(point)
    return result if len(result) > 1 else [points[0], points[-1]]
