"""Tiles: solved blocks as arrays, remembered from view to view by what they were made of.

Opening a scope changes the blocks around it; all others, and every block that looks like one seen before, are
looked up. The digest holds all that the solver reads, so a tile is the same whether it is made or found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from studio.graph.arranging import arrange, forget_segments
from studio.graph.memo import Memo
from studio.graph.nets import OUTSIDE, Arrangement, Net, Problem
from studio.graph.ordering import is_hurried

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Columns = tuple[npt.NDArray[np.generic], ...]

APART = 1.0  # px by which boxes must have been apart to have had an order
_MOST_NUMBERS = 2_000_000  # in the tiles that are remembered: 16 MB


@dataclass(slots=True, eq=False)
class Tile:
    """An arrangement as arrays: axis `x` and top `y` per box, the points of the lines, `lengths` per line."""

    key: bytes
    x: Floats
    y: Floats
    points: Floats  # [n, 2]
    lengths: Longs
    left: float
    right: float
    height: float
    effort: int
    beside: tuple[Longs, Longs]  # pairs of boxes, left and right, next to each other in a layer
    entries: list[tuple[int, float]]  # (net, x) of those that come from outside
    exits: list[tuple[int, float]]  # and of those that leave
    is_plain: bool  # made without an earlier drawing


_known: Memo[Tile] = Memo(_MOST_NUMBERS)


def solve(columns: Columns, spent: int, before: Floats | None = None) -> Tile:
    """The tile of a block.

    `columns`: left, right, height and weight of the boxes; source of the nets and how many targets each has;
    the targets; where lines end on sources and on targets. `spent` is the effort of the layout so far.
    `before`: where boxes were from left to right (NaN = new); looked at only when the tile contradicts it.
    """
    digest = blake2b(b"1" if is_hurried(spent) else b"0", digest_size=16)
    for column in columns:
        digest.update(f"{len(column)}{column.dtype.str}".encode())
        digest.update(np.ascontiguousarray(column).data)
    effort = spent if is_hurried(spent) else 0
    tile = _solved(digest.digest(), columns, effort, [])
    if before is None or not contradicts(tile, before):
        return tile
    is_known = np.isfinite(before)
    ranks = np.full(len(before), -1, np.int64)
    ranks[is_known] = np.unique(before[is_known], return_inverse=True)[1]
    digest.update(ranks.data)
    return _solved(digest.digest(), columns, effort, ranks.tolist())


def forget_tiles() -> None:
    """Makes the next layout arrange every block, for benches and tests."""
    _known.clear()
    forget_segments()


def contradicts(tile: Tile, before: Floats) -> bool:
    """Whether boxes side by side in a tile were the other way round before."""
    left, right = tile.beside
    return len(left) > 0 and bool((before[left] > before[right] + APART).any())


def known_tile(key: bytes, make: Callable[[], Tile]) -> Tile:
    """The tile of a key, a digest of all that `make` reads."""
    tile = _known.get(key)
    if tile is None:
        tile = make()
        _known.put(key, tile, 0)  # it is counted under its own key
    return tile


def _solved(key: bytes, columns: Columns, effort: int, before: list[int]) -> Tile:
    tile = _known.get(key)
    if tile is None:
        problem = _problem(columns, before)
        tile = _tile(key, problem, arrange(problem, effort))
        _known.put(key, tile, 2 * len(tile.x) + 2 * len(tile.points) + len(tile.lengths) + 32)
    return tile


def _problem(columns: Columns, before: list[int]) -> Problem:
    left, right, height, weight, source, counts, target, source_dx, target_dx = (c.tolist() for c in columns)
    nets = []
    at = 0
    for start, count, dx in zip(source, counts, source_dx):
        nets.append(Net(start, target[at : at + count], dx, target_dx[at : at + count]))
        at += count
    return Problem(left, right, height, weight, nets, before)


def _tile(key: bytes, problem: Problem, solved: Arrangement) -> Tile:
    entries: list[tuple[int, float]] = []
    exits: list[tuple[int, float]] = []
    paths = iter(solved.paths)
    for index, net in enumerate(problem.nets):
        drawn = [(target, path) for target, path in zip(net.targets, paths) if path]
        if net.source == OUTSIDE and drawn:
            entries.append((index, drawn[0][1][0][0]))
        exits += [(index, path[-1][0]) for target, path in drawn if target == OUTSIDE]
    pairs = np.array(solved.neighbours, np.int64).reshape(-1, 2)
    return Tile(
        key=key,
        x=np.array(solved.x, np.float64),
        y=np.array(solved.y, np.float64),
        points=np.array([p for path in solved.paths for p in path], np.float64).reshape(-1, 2),
        lengths=np.array([len(path) for path in solved.paths], np.int64),
        left=solved.left,
        right=solved.right,
        height=solved.height,
        effort=solved.effort,
        beside=(pairs[:, 0], pairs[:, 1]),
        entries=entries,
        exits=exits,
        is_plain=not problem.before,
    )
