"""Which edges are drawn as portals: stubs with the tensor's name in place of a line.

Long shared edges (a mask that every layer reads) are what makes layered layouts slow, wide and
tangled. An edge longer than a span is cut; the span is the longest whose dummies stay few.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from studio.graph.blocks import Leaves
from studio.graph.drawing import Drawing
from studio.graph.graph import Graph
from studio.graph.groups import number_rows

Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

STUB = 16.0
SPREAD = 16.0  # px between the stubs on one box
_SPANS = (512, 256, 128, 64, 32, 16, 8, 4, 2)
_LONG = 64  # beyond it only tensors with few readers keep their lines
_FEW_READERS = 4


@dataclass(slots=True, eq=False)
class _Ranked:
    """The boxes of a view, and of how many edges the longest way to each is."""

    leaves: Leaves
    ranks: Ints


_ranked: WeakKeyDictionary[Graph, _Ranked] = WeakKeyDictionary()
_ROUNDS = 6  # of correcting ranks that were taken over


def portal_edges(graph: Graph, leaves: Leaves, source: Ints, target: Ints, *, is_big: bool = False) -> Bools:
    """True for the edges to cut, between leaves in topological order. Edges that run back are cut.

    In a view of a big graph no line is longer than 64 layers: nobody follows one over 5,000 pixels by eye.
    `graph`: what is known of its view before is taken over where it holds.
    """
    size = len(leaves.kind)
    forward = source < target
    upper, lower = source[forward], target[forward]
    last = _ranked.get(graph)
    ranks = _taken_over(leaves, upper, lower, last) if last is not None else None
    if ranks is None:
        ranks = _longest_ways(upper, lower, np.zeros(size, np.int32))
    _ranked[graph] = _Ranked(leaves, ranks)
    lowest = np.full(size, size, np.int32)  # boxes without inputs stand just above their first reader
    np.minimum.at(lowest, upper, ranks[lower])
    is_moved = lowest < size
    is_moved[lower] = False
    ranks = np.where(is_moved, np.maximum(lowest - 1, ranks), ranks)
    length = np.where(forward, ranks[target] - ranks[source], 0) if len(source) else np.zeros(0, np.int32)
    readers = np.bincount(source, minlength=size)[source] if len(source) else length
    length = np.where((length > _LONG) & (readers > _FEW_READERS), max(_SPANS) + 1, length)
    budget = 4 * size + 1000
    spans = [s for s in _SPANS if s <= _LONG] if is_big else _SPANS
    span = next((s for s in spans if int((length[length <= s] - 1).clip(0).sum()) <= budget), 1)
    is_cut: Bools = (length > span) | ~forward
    return is_cut


def _longest_ways(upper: Ints, lower: Ints, ranks: Ints) -> Ints:
    """The ranks that these edges, sorted by their sources, give; each is at least as in `ranks`."""
    rank = ranks.tolist()
    for a, b in zip(upper.tolist(), lower.tolist()):
        if rank[a] >= rank[b]:
            rank[b] = rank[a] + 1
    return np.array(rank, np.int32)


def _taken_over(leaves: Leaves, upper: Ints, lower: Ints, last: _Ranked) -> Ints | None:
    """The ranks, found from those of the view before; None when they cannot be.

    Before the boxes that changed they are taken to be the same, behind them the same but for a constant. They
    are right when each is one more than the greatest of those that lead to the box; where some are not, a
    few rounds of putting that right reach what hangs on inputs alone.
    """
    size, before = len(leaves.kind), len(last.ranks)
    most = min(size, before)
    here, there = leaves, last.leaves
    head = _agreeing(here.kind[:most], there.kind[:most], here.ref[:most], there.ref[:most])
    most -= head
    tail = _agreeing(
        *(column[len(column) - most :][::-1] for column in (here.kind, there.kind, here.ref, there.ref))
    )
    end = size - tail
    ranks = np.zeros(size, np.int32)
    ranks[:head] = last.ranks[:head]
    into = (lower >= head) & (lower < end)
    outer = into & (upper < head)
    np.maximum.at(ranks, lower[outer], ranks[upper[outer]] + 1)
    inner = into & (upper >= head)
    ranks[head:end] = _longest_ways(upper[inner] - head, lower[inner] - head, ranks[head:end])
    across = np.flatnonzero((upper < end) & (lower >= end))
    if len(across):
        first = int(lower[across].min())  # all that leads to it is known
        rank = int((ranks[upper[across[lower[across] == first]]] + 1).max())
        old = last.ranks[before - tail :]
        ranks[end:] = np.where(old > 0, old + (rank - old[first - end]), 0)
    for _ in range(_ROUNDS):
        found = np.zeros(size, np.int32)
        np.maximum.at(found, lower, ranks[upper] + 1)
        if np.array_equal(found, ranks):
            return ranks
        ranks = found
    return None


def _agreeing(kind: Ints, other_kind: Ints, ref: Ints, other_ref: Ints) -> int:
    """How many rows agree before the first that does not."""
    differing = np.flatnonzero((kind != other_kind) | (ref != other_ref))
    return int(differing[0]) if len(differing) else len(kind)


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
