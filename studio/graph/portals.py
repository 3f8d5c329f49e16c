"""Which edges are drawn as portals: stubs with the tensor's name in place of a line.

Long shared edges (a mask that every layer reads) are what makes layered layouts slow, wide and
tangled. An edge longer than a span is cut; the span is the longest whose dummies stay few.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

STUB = 16.0
SPREAD = 16.0  # px between the stubs on one box
_SPANS = (512, 256, 128, 64, 32, 16, 8, 4, 2)
_LONG = 64  # beyond it only tensors with few readers keep their lines
_FEW_READERS = 4


def portal_edges(size: int, source: npt.NDArray[np.int32], target: npt.NDArray[np.int32]) -> list[bool]:
    """True for the edges to cut, of `size` boxes in topological order. Edges that run back are cut."""
    forward = source < target
    rank = [0] * size
    order = np.argsort(source, kind="stable")
    for a, b, real in zip(source[order].tolist(), target[order].tolist(), forward[order].tolist()):
        if real and rank[a] >= rank[b]:
            rank[b] = rank[a] + 1
    lowest = [len(rank)] * size  # boxes without inputs stand just above their first reader
    has_input = [False] * size
    for a, b, real in zip(source.tolist(), target.tolist(), forward.tolist()):
        if real:
            lowest[a] = min(lowest[a], rank[b])
            has_input[b] = True
    rank = [r if fed or low == size else max(low - 1, r) for r, low, fed in zip(rank, lowest, has_input)]
    ranks = np.array(rank, np.int32)
    length = np.where(forward, ranks[target] - ranks[source], 0) if len(source) else np.zeros(0, np.int32)
    readers = np.bincount(source, minlength=size)[source] if len(source) else length
    length = np.where((length > _LONG) & (readers > _FEW_READERS), max(_SPANS) + 1, length)
    budget = 4 * size + 1000
    span = next((s for s in _SPANS if int((length[length <= s] - 1).clip(0).sum()) <= budget), 1)
    return ((length > span) | ~forward).tolist()  # type: ignore[no-any-return]


def spread_portals(
    points: npt.NDArray[np.float64],
    offsets: npt.NDArray[np.int32],
    is_portal: npt.NDArray[np.bool_],
    source: list[int],
    target: list[int],
    tensor: list[int],
    width: npt.NDArray[np.float64],
) -> None:
    """Moves stubs apart, in place: on a source to the right of its middle, on a target to the left.

    A box that has portals only keeps the first in the middle. One tensor has one stub on its source.
    """
    drawn = np.flatnonzero(~is_portal).tolist()
    has_line_out = {source[edge] for edge in drawn}
    has_line_in = {target[edge] for edge in drawn}
    places_out: dict[int, dict[int, int]] = {}
    places_in: dict[int, dict[int, int]] = {}
    for edge in np.flatnonzero(is_portal).tolist():
        a, b, t = source[edge], target[edge], tensor[edge]
        out, into = places_out.setdefault(a, {}), places_in.setdefault(b, {})
        start = out.setdefault(t, len(out)) + (a in has_line_out)
        end = into.setdefault(t, len(into)) + (b in has_line_in)
        first = int(offsets[edge])
        points[first : first + 2, 0] += min(SPREAD * start, width[a] / 2 - 10)
        points[first + 2 : first + 4, 0] -= min(SPREAD * end, width[b] / 2 - 10)
