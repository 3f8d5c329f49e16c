"""Smooth curves through the points of edges: one rule, so that pictures and the canvas draw alike.

Steps along an axis are straight. A slanted step is a cubic that leaves and arrives vertically,
except next to a horizontal step, where it is horizontal: so a cut corner becomes a quarter round
and a step down and sideways becomes an S.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

_FLAT = 0.01  # px under which two coordinates count as the same
_ROUND = 0.55228  # control points of a quarter circle: 4/3 · (√2 − 1)


def curves_of(offsets: Ints, points: Floats) -> tuple[Ints, Floats]:
    """(offsets, points) of cubic curves: for every edge its start, then two controls and an end per step.

    `offsets` [edges + 1] into `points` [n, 2], as in `Layout.edge_offsets` and `Layout.edge_points`.
    An edge of k points gives 1 + 3·(k − 1) points.
    """
    counts = np.diff(offsets)
    new_offsets = np.zeros(len(offsets), np.int32)
    np.cumsum(np.where(counts > 0, 3 * counts - 2, 0), out=new_offsets[1:])
    result = np.empty((int(new_offsets[-1]), 2), np.float32)
    if not len(result):
        return new_offsets, result
    place = np.arange(0, 3 * len(points), 3) - 2 * np.repeat(np.arange(len(counts)), counts)
    result[place] = points
    is_last = np.ones(len(points), np.bool_)  # the point that ends each step
    is_last[offsets[:-1][counts > 0]] = False
    last = np.flatnonzero(is_last)
    here = place[last]
    follows = np.zeros(len(last), np.bool_)  # the step before belongs to the same edge
    follows[1:] = np.diff(last) == 1
    x, y = (points[:, axis].astype(np.float64) for axis in (0, 1))
    before_x, before_y = x[last - 1], y[last - 1]
    delta_x, delta_y = x[last] - before_x, y[last] - before_y
    is_horizontal = np.abs(delta_y) < _FLAT
    is_slanted = ~is_horizontal & (np.abs(delta_x) >= _FLAT)
    third_x, third_y = delta_x / 3, delta_y / 3
    result[here - 2, 0], result[here - 2, 1] = before_x + third_x, before_y + third_y
    result[here - 1, 0], result[here - 1, 1] = x[last] - third_x, y[last] - third_y
    slanted = np.flatnonzero(is_slanted)
    after_horizontal = np.zeros(len(last), np.bool_)
    after_horizontal[1:] = is_horizontal[:-1] & follows[1:]
    before_horizontal = np.zeros(len(last), np.bool_)
    before_horizontal[:-1] = is_horizontal[1:] & follows[1:]
    after, to = after_horizontal[slanted], before_horizontal[slanted]
    reach = np.where(after == to, 0.5, _ROUND)
    wide, high = delta_x[slanted] * reach, delta_y[slanted] * reach
    at = here[slanted]
    start_x, start_y, end_x, end_y = (v[slanted] for v in (before_x, before_y, x[last], y[last]))
    result[at - 2, 0], result[at - 2, 1] = (
        start_x + np.where(after, wide, 0),
        start_y + np.where(after, 0, high),
    )
    result[at - 1, 0], result[at - 1, 1] = end_x - np.where(to, wide, 0), end_y - np.where(to, 0, high)
    return new_offsets, result


def svg_path(curve: npt.NDArray[np.floating]) -> str:
    """One edge's curve (a slice of `curves_of`) as the `d` of an SVG path, to a tenth of a pixel."""
    rows = curve.tolist()
    parts = [f"M{rows[0][0]:.1f} {rows[0][1]:.1f}"]
    for k in range(1, len(rows) - 2, 3):
        (ax, ay), (bx, by), (x, y) = rows[k : k + 3]
        x0 = rows[k - 1][0]
        if abs(ax - x0) < _FLAT and abs(bx - x0) < _FLAT and abs(x - x0) < _FLAT:
            parts.append(f"V{y:.1f}")
        else:
            parts.append(f"C{ax:.1f} {ay:.1f} {bx:.1f} {by:.1f} {x:.1f} {y:.1f}")
    return "".join(parts)
