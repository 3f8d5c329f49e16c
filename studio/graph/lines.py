"""Lines: the hops of every edge joined to one line, and the stubs of portals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.graph.groups import ranges
from studio.graph.portals import STUB

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.integer]

_SAME = 1e-6  # px under which two coordinates are one


@dataclass(slots=True, eq=False)
class Lines:
    """Points [n, 2] of all edges, one after the other, with offsets [edges + 1]."""

    points: Floats
    offsets: npt.NDArray[np.int32]


def join_hops(
    edge: Integers, counts: Integers, points: Floats, is_portal: Bools, source: Floats, target: Floats
) -> Lines:
    """The lines of all edges. `edge` and `counts` are per hop, with `points` in the same order.

    `source` and `target`: the boxes (left, top, width, height) at the ends of every edge; portals are made
    from them.
    """
    owner = np.repeat(edge, counts)
    keep = np.ones(len(owner), np.bool_)
    is_joined = np.bincount(edge, minlength=len(is_portal))[edge] > 1  # a line of one hop is as it is
    inner = np.flatnonzero(np.repeat(is_joined, counts))
    keep[inner] = _needed(owner[inner], points.take(inner, axis=0))
    lengths = np.bincount(owner[keep], minlength=len(is_portal))
    lengths[is_portal] = 4
    offsets = np.zeros(len(is_portal) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    cut = np.flatnonzero(is_portal)
    joined = points.take(np.flatnonzero(keep), axis=0)
    if not len(cut):
        return Lines(joined, offsets)
    result = np.empty((int(offsets[-1]), 2))
    result[np.flatnonzero(np.repeat(~is_portal, lengths))] = joined
    result[ranges(offsets[cut], lengths[cut])] = portal_stubs(source[cut], target[cut])
    return Lines(result, offsets)


def portal_stubs(source: Floats, target: Floats) -> Floats:
    """[4 · n, 2] the points of portals between boxes: down from the source, down to the target."""
    x, y = source[:, 0] + source[:, 2] / 2, source[:, 1] + source[:, 3]
    there, top = target[:, 0] + target[:, 2] / 2, target[:, 1]
    rows = np.stack([x, y, x, y + STUB, there, top - STUB, there, top], axis=1)
    return rows.reshape(-1, 2)


def _needed(owner: Integers, points: Floats) -> Bools:
    """False for points that repeat the one before, and for those inside a vertical run."""
    size = len(points)
    keep = np.ones(size, np.bool_)
    if size < 2:
        return keep
    same_line = owner[1:] == owner[:-1]
    along = np.ascontiguousarray(points[:, 0])
    is_beside = np.abs(np.diff(along)) < _SAME
    beside = np.flatnonzero(is_beside & same_line)
    keep[beside + 1] = np.abs(points[beside + 1, 1] - points[beside, 1]) >= _SAME
    left = np.flatnonzero(keep)
    if len(left) > 2:
        x, line = along[left], owner[left]
        upright = (np.abs(np.diff(x)) < _SAME) & (line[1:] == line[:-1])
        keep[left[1:-1][upright[1:] & upright[:-1]]] = False
    return keep
