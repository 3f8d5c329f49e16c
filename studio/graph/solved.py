"""What a solved view leaves for the next one: which blocks stayed as they were, and their tiles in columns.

Opening a scope changes its block and those around it. Every other block has the same rows in the columns that
the solver reads, so its tile is taken over with a comparison of slices; nothing is looked up for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph
from studio.graph.tiles import APART, Tile, forget_tiles

Ints = npt.NDArray[np.integer]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Column = npt.NDArray[Any]
Stretch = tuple[
    int, int, int
]  # first and end of blocks that stayed, and the first of them in the view before


@dataclass(slots=True, eq=False)
class Ports:
    """Where tensors enter and leave a solved block, relative to its axis."""

    entries: dict[int, float]
    exits: dict[int, float]


@dataclass(slots=True, eq=False)
class BlockRows:
    """All that the solver reads, as columns; the rows of a block are one slice of each.

    `scope` … `size` have one row per block. `tables` are (bounds [blocks + 1], columns) of leaves, nets and
    slots.
    """

    scope: Longs
    parent: Longs
    place: Longs
    size: Longs
    tables: tuple[tuple[Longs, tuple[Ints | Floats, ...]], ...]


@dataclass(slots=True, eq=False)
class TileRows:
    """The tiles of all blocks, one after the other, as columns."""

    children: Longs  # [blocks + 1] where the children of each block begin
    x: Floats
    y: Floats
    slots: Longs  # [blocks + 1] where the lines of each block begin
    lengths: Longs  # points of every line
    starts: Longs  # [blocks + 1] where the points of each block begin
    points: Floats  # [n, 2]
    pairs: Longs  # [blocks + 1] where its pairs side by side begin
    beside: Longs  # [n, 2] left and right, counted from the first child of the block
    rims: Floats  # [blocks, 3] left, right, height


_NO_BOUNDS = np.zeros(1, np.int64)
_NOTHING = np.zeros(0)
_NO_ROWS = TileRows(
    _NO_BOUNDS, _NOTHING, _NOTHING, _NO_BOUNDS, _NO_BOUNDS[:0], _NO_BOUNDS, np.zeros((0, 2)), _NO_BOUNDS,
    np.zeros((0, 2), np.int64), np.zeros((0, 3)),
)  # fmt: skip


@dataclass(slots=True, eq=False)
class Solved:
    """The tiles of a view's blocks, and what they were made from."""

    rows: BlockRows
    tiles: list[Tile]
    ports: list[Ports | None]
    columns: TileRows
    is_plain: Bools  # whether a block looks as it does without an earlier drawing
    is_hurried: bool  # so much had to be solved that tiles depend on the ones before


_solved: WeakKeyDictionary[Graph, Solved] = WeakKeyDictionary()


def last_solved(graph: Graph) -> Solved | None:
    """What the layout before of this graph left."""
    return _solved.get(graph)


def keep_solved(graph: Graph, solved: Solved) -> None:
    """Leaves it for the next layout."""
    if solved.is_hurried:
        _solved.pop(graph, None)
    else:
        _solved[graph] = solved


def forget_solved() -> None:
    """Makes the next layout start from nothing, for benches and tests."""
    _solved.clear()
    forget_tiles()


def twins_of(rows: BlockRows, last: BlockRows) -> Longs:
    """For every block the one of the view before that is equal to it, with all that is in it; −1 for none.

    Blocks are looked for at the same distance from the first or from the last.
    """
    size, other = len(rows.scope), len(last.scope)
    most = min(size, other)
    head = _agreeing(rows.scope[:most], last.scope[:most])
    tail = min(_agreeing(rows.scope[size - most :][::-1], last.scope[other - most :][::-1]), most - head)
    twin = np.full(size, -1, np.int64)
    twin[:head] = np.arange(head)
    twin[size - tail :] = np.arange(other - tail, other)
    is_same = twin >= 0
    is_same &= (rows.place == last.place[twin]) & (rows.size == last.size[twin])
    for (mine, _), (theirs, _) in zip(rows.tables, last.tables):
        is_same &= np.diff(mine) == np.diff(theirs)[twin]
    for first, end, before in stretches(np.where(is_same, twin, -1)):
        for (bounds, columns), (old_bounds, old_columns) in zip(rows.tables, last.tables):
            start, old = int(bounds[first]), int(old_bounds[before])
            length = int(bounds[end]) - start
            for column, old_column in zip(columns, old_columns):
                differs = column[start : start + length] != old_column[old : old + length]
                width = 1 if differs.ndim == 1 else differs.shape[1]
                at = np.flatnonzero(differs) // width
                is_same[np.searchsorted(bounds, at + start, side="right") - 1] = False
    is_moved = np.ones(size, np.bool_)
    inner = np.flatnonzero(twin > 0)
    is_moved[inner] = last.parent[twin[inner]] != twin[rows.parent[inner]]
    is_same[rows.parent[1:][is_moved[1:]]] = False
    _spread_up(is_same, rows.parent)
    return np.where(is_same, twin, -1)


def without_contradictions(
    twin: Longs, solved: Solved, rows: BlockRows, child_before: Floats | None
) -> Longs:
    """The twins whose tiles stand for an earlier drawing as well: none was bent for one or contradicts it.

    `child_before`: where the children of all blocks were, NaN = not known.
    """
    is_same = twin >= 0
    is_same &= solved.is_plain[twin]
    if child_before is not None:
        children, old = bounds_from(rows.size), solved.columns
        for first, end, before in stretches(np.where(is_same, twin, -1)):
            pairs = old.pairs[before : before + end - first + 1]
            begins = np.repeat(children[first:end], np.diff(pairs))
            left, right = old.beside[pairs[0] : pairs[-1]].T + begins
            wrong = np.flatnonzero(child_before[left] > child_before[right] + APART)
            is_same[np.searchsorted(children, left[wrong], side="right") - 1] = False
    _spread_up(is_same, rows.parent)
    return np.where(is_same, twin, -1)


def tile_rows(twin: Longs, tiles: list[Tile], last: TileRows | None) -> TileRows:
    """The tiles as columns; those of blocks with a twin are slices of the columns before."""
    fresh = [tiles[block] for block in np.flatnonzero(twin < 0).tolist()]
    empty = last if last is not None else _NO_ROWS
    splice = _Splice(twin)
    children, x = splice.table(empty.children, empty.x, [t.x for t in fresh])
    slots, lengths = splice.table(empty.slots, empty.lengths, [t.lengths for t in fresh])
    starts, points = splice.table(empty.starts, empty.points, [t.points for t in fresh])
    pairs, beside = splice.table(empty.pairs, empty.beside, [np.stack(t.beside, axis=1) for t in fresh])
    _, y = splice.table(empty.children, empty.y, [t.y for t in fresh])
    rims = [np.array([[t.left, t.right, t.height]]) for t in fresh]
    _, rim_rows = splice.table(np.arange(len(empty.rims) + 1), empty.rims, rims)
    return TileRows(children, x, y, slots, lengths, starts, points, pairs, beside, rim_rows)


class _Splice:
    """Puts columns of blocks together from stretches of an old column and new pieces between them."""

    def __init__(self, twin: Longs) -> None:
        self._count = len(twin)
        fresh = np.flatnonzero(twin < 0)
        self._kept = list(stretches(twin))
        self._fresh = fresh
        self._parts = sorted([*self._kept, *((block, block + 1, -1) for block in fresh.tolist())])

    def table(self, bounds: Longs, column: Column, new: Sequence[Column]) -> tuple[Longs, Column]:
        """(bounds, column) of all blocks, from those before and a piece for every new block."""
        counts = np.zeros(self._count, np.int64)
        counts[self._fresh] = [len(piece) for piece in new]
        made = iter(new)
        pieces = []
        for first, end, before in self._parts:
            if before < 0:
                pieces.append(next(made))
                continue
            there = bounds[before : before + end - first + 1]
            counts[first:end] = np.diff(there)
            pieces.append(column[there[0] : there[-1]])
        return bounds_from(counts), np.concatenate(pieces)


def stretches(twin: Longs) -> Iterator[Stretch]:
    """The longest stretches of blocks whose twins follow one another as well."""
    distance = np.where(twin >= 0, twin - np.arange(len(twin)), np.iinfo(np.int64).min)
    bounds = [0, *(np.flatnonzero(np.diff(distance)) + 1).tolist(), len(twin)]
    for first, end in pairwise(bounds):
        if end > first and twin[first] >= 0:
            yield first, end, int(twin[first])


def _agreeing(one: Longs, other: Longs) -> int:
    """How many rows agree before the first that does not."""
    differing = np.flatnonzero(one != other)
    return int(differing[0]) if len(differing) else len(one)


def _spread_up(is_same: Bools, parent: Longs) -> None:
    """A block around one that changed has changed, in place."""
    for changed in np.flatnonzero(~is_same).tolist():
        block = int(parent[changed])
        while block >= 0 and is_same[block]:
            is_same[block] = False
            block = int(parent[block])


def bounds_from(counts: Longs) -> Longs:
    """[n + 1] where groups of so many rows begin, one after the other."""
    result = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=result[1:])
    return result
