"""Which edges are drawn as portals: stubs with the tensor's name in place of a line.

Long shared edges (a mask that every layer reads) are what makes layered layouts slow, wide and
tangled. An edge longer than a span is cut; the span is the longest whose dummies stay few.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.graph.drawing import Drawing
from studio.graph.groups import number_rows

Ints = npt.NDArray[np.int32]

STUB = 16.0
SPREAD = 16.0  # px between the stubs on one box
_SPANS = (512, 256, 128, 64, 32, 16, 8, 4, 2)
_LONG = 64  # beyond it only tensors with few readers keep their lines
_FEW_READERS = 4


def portal_edges(
    size: int, source: npt.NDArray[np.int32], target: npt.NDArray[np.int32], *, is_big: bool = False
) -> list[bool]:
    """True for the edges to cut, of `size` boxes in topological order. Edges that run back are cut.

    In a view of a big graph no line is longer than 64 layers: nobody follows one over 5,000 pixels by eye.
    """
    forward = source < target
    rank = [0] * size
    order = np.argsort(source, kind="stable")
    order = order[forward[order]]
    upper, lower = source[order], target[order]
    for a, b in zip(upper.tolist(), lower.tolist()):
        if rank[a] >= rank[b]:
            rank[b] = rank[a] + 1
    ranks = np.array(rank, np.int32)
    lowest = np.full(size, size, np.int32)  # boxes without inputs stand just above their first reader
    np.minimum.at(lowest, upper, ranks[lower])
    is_moved = lowest < size
    is_moved[lower] = False
    ranks[is_moved] = np.maximum(lowest - 1, ranks)[is_moved]
    length = np.where(forward, ranks[target] - ranks[source], 0) if len(source) else np.zeros(0, np.int32)
    readers = np.bincount(source, minlength=size)[source] if len(source) else length
    length = np.where((length > _LONG) & (readers > _FEW_READERS), max(_SPANS) + 1, length)
    budget = 4 * size + 1000
    spans = [s for s in _SPANS if s <= _LONG] if is_big else _SPANS
    span = next((s for s in spans if int((length[length <= s] - 1).clip(0).sum()) <= budget), 1)
    return ((length > span) | ~forward).tolist()  # type: ignore[no-any-return]


def spread_portals(drawing: Drawing, source: Ints, target: Ints, tensor: Ints) -> None:
    """Moves stubs apart, in place: on a source to the right of its middle, on a target to the left.

    A box that has portals only keeps the first in the middle. One tensor has one stub on its source.
    """
    width = drawing.boxes[:, 2]
    has_line_out, has_line_in = np.zeros(len(width), np.bool_), np.zeros(len(width), np.bool_)
    has_line_out[source[~drawing.is_portal]] = True
    has_line_in[target[~drawing.is_portal]] = True
    cut = np.flatnonzero(drawing.is_portal)
    first = drawing.offsets[cut]
    for box, is_taken, rows, way in (
        (source[cut], has_line_out, (0, 1), 1.0),
        (target[cut], has_line_in, (2, 3), -1.0),
    ):
        slot = _slots(box, tensor[cut]) + is_taken[box]
        step = way * np.minimum(SPREAD * slot, width[box] / 2 - 10)
        for row in rows:
            drawing.points[first + row, 0] += step


def _slots(box: Ints, tensor: Ints) -> npt.NDArray[np.int64]:
    """For every stub its place on its box: tensors are counted in the order in which they appear."""
    number, first = number_rows(box, tensor)
    box_of = box[first]
    begins = np.searchsorted(box_of, box_of)  # numbers go up with the box
    place: npt.NDArray[np.int64] = (np.arange(len(first)) - begins)[number]
    return place
