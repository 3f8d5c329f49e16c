"""Segments: stretches of layers between two cuts, ordered and placed on their own, steadily.

An earlier drawing is followed only where that is free. Promised, for every segment and any earlier order:

- no more lines cross than in the order found from nothing;
- no more pairs of boxes in one layer have changed sides since the earlier drawing than in that order;
- laying out once more, with the result as the earlier drawing, gives the result again.

The last needs care, because a search that starts from its own result may go on to another one: an
order counts only when the search that starts from it ends at it. The order found from nothing is
always steady, since nothing is turned round in it.
Why no promise about pairs of boxes in different frames: rows of two frames may meet at one height by
chance, and where lines enter a frame depends on the order inside it.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass
from hashlib import blake2b

import msgspec

from studio.graph.memo import Memo
from studio.graph.ordering import Edges, crossings_of, order_segment
from studio.graph.placing import place_segment

_MOST_ENTITIES = 300_000  # in the segments that are remembered: about 20 MB
_TRIES = 4  # searches one after the other until one ends where it began
_encode = msgspec.msgpack.Encoder().encode

Orders = list[list[int]]
Solved = tuple[Orders, list[list[float]]]
"""The entities of every layer from left to right, and their x."""

_solved: Memo[Solved] = Memo(_MOST_ENTITIES)
"""The order and the places of every segment that was met lately, in any graph."""


@dataclass(slots=True)
class Segment:
    """Layers of entities, which are numbered from 0 in the order of `lengths`, the sizes of the layers."""

    lengths: list[int]
    down: Edges
    left: list[float]
    right: list[float]
    is_dummy: list[bool]
    pinned: list[int]
    sweeps: int
    starts: int

    def layers(self) -> Orders:
        """The entities of every layer as they were numbered."""
        result: Orders = []
        start = 0
        for length in self.lengths:
            result.append(list(range(start, start + length)))
            start += length
        return result


def solve_segment(segment: Segment, before: list[int], is_kept: list[bool]) -> Solved:
    """The segment's order and places.

    `before`: per entity its rank in an earlier drawing, −1 = not known; empty = there was none.
    `is_kept`: whether the next drawing will know where the entity was in this one.
    """
    shape = _encode(
        (
            segment.lengths,
            segment.down,
            segment.left,
            segment.right,
            segment.is_dummy,
            segment.pinned,
            segment.sweeps,
            segment.starts,
        )
    )
    anew = _found(segment, shape, [])
    if not before:
        return anew
    turned = turned_pairs(anew[0], before)
    if not turned:
        return anew
    steady = _steady(segment, shape, _ranks_in(segment.layers(), before), is_kept)
    if steady is None or turned_pairs(steady[0], before) >= turned:
        return anew
    if crossings_of(steady[0], segment.down) > crossings_of(anew[0], segment.down):
        return anew
    return steady


def forget_segments() -> None:
    """Forgets all segments."""
    _solved.clear()


def turned_pairs(layers: Orders, before: list[int]) -> int:
    """How many pairs of entities in one layer were the other way round before."""
    total = 0
    for entities in layers:
        seen: list[int] = []
        for rank in (before[entity] for entity in entities):
            if rank >= 0:
                total += len(seen) - bisect_right(seen, rank)
                insort(seen, rank)
    return total


def _steady(segment: Segment, shape: bytes, before: list[int], is_kept: list[bool]) -> Solved | None:
    """What is found from an earlier order, and found again from what was found; None = nothing is."""
    for _ in range(_TRIES):
        found = _found(segment, shape, before)
        ranks = [-1] * len(is_kept)
        for entities in found[0]:
            for rank, entity in enumerate(e for e in entities if is_kept[e]):
                ranks[entity] = rank
        if ranks == before:
            return found
        before = ranks
    return None


def _ranks_in(layers: Orders, before: list[int]) -> list[int]:
    """The ranks numbered anew in every layer, so that repeated blocks ask the same."""
    result = [-1] * len(before)
    for entities in layers:
        numbers = {rank: number for number, rank in enumerate(sorted({before[e] for e in entities} - {-1}))}
        for entity in entities:
            result[entity] = numbers.get(before[entity], -1)
    return result


def _found(segment: Segment, shape: bytes, before: list[int]) -> Solved:
    """What the search finds that starts from an earlier order, or from nothing."""
    key = blake2b(shape + b" " + _encode(before), digest_size=16).digest()
    known = _solved.get(key)
    if known is None:
        layers = segment.layers()
        if before:
            last = len(before)
            for entities in layers:  # known boxes, new ones, lines
                entities.sort(
                    key=lambda e: last + 1 if segment.is_dummy[e] else before[e] if before[e] >= 0 else last
                )
        ordered = order_segment(
            layers, segment.down, segment.pinned, before, sweeps=segment.sweeps, starts=segment.starts
        )
        places = place_segment(
            ordered, segment.down, segment.left, segment.right, segment.is_dummy, segment.pinned
        )
        known = ordered, places
        _solved.put(key, known, len(before) or len(segment.down))
    return known
