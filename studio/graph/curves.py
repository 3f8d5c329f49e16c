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
    edge = np.repeat(np.arange(len(counts)), counts)
    index = np.arange(len(points)) - offsets[:-1][edge]
    place = new_offsets[:-1][edge] + 3 * index
    result[place] = points
    last = np.flatnonzero(index > 0)  # the point that ends each step
    before, here = points[last - 1].astype(np.float64), points[last].astype(np.float64)
    delta = here - before
    is_axial = (np.abs(delta[:, 0]) < _FLAT) | (np.abs(delta[:, 1]) < _FLAT)
    is_horizontal = np.abs(delta[:, 1]) < _FLAT
    follows = np.zeros(len(last), np.bool_)  # the step before belongs to the same edge
    follows[1:] = edge[last[1:]] == edge[last[:-1]]
    after_horizontal = np.zeros(len(last), np.bool_)
    after_horizontal[1:] = is_horizontal[:-1] & follows[1:]
    before_horizontal = np.zeros(len(last), np.bool_)
    before_horizontal[:-1] = is_horizontal[1:] & follows[1:]
    reach = np.where(after_horizontal == before_horizontal, 0.5, _ROUND)[:, None]
    along_x, along_y = delta * (1.0, 0.0), delta * (0.0, 1.0)
    leave = np.where(after_horizontal[:, None], along_x, along_y) * reach
    arrive = np.where(before_horizontal[:, None], along_x, along_y) * reach
    third = delta / 3
    result[place[last] - 2] = before + np.where(is_axial[:, None], third, leave)
    result[place[last] - 1] = here - np.where(is_axial[:, None], third, arrive)
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
