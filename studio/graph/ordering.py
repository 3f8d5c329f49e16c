"""The order of the entities in every layer of a segment, with few crossings.

Barycentre sweeps down and up, then transposition of neighbours; the best order seen is kept.
After Gansner et al., “A Technique for Drawing Directed Graphs”, IEEE TSE 19(3), 1993.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise

Edges = list[list[tuple[int, float, float]]]
"""For every entity its edges downwards: (entity below, dx there, dx here)."""

_PORT = 1e-6  # how much a line's place on its box counts against the order of boxes
_EFFORT = ((1_500, 12, 4), (5_000, 6, 1), (15_000, 3, 1), (float("inf"), 2, 1))
"""(entities below, sweeps, starting orders): a tangle of thousands gets no prettier with more."""
ENOUGH = 200_000
"""Entity-sweeps of one layout after which tangles get two sweeps each. The most that a real network took was
52,000 (a U-Net of 48,665 nodes, 2026-11-30)."""
_BUSY = 64  # lines of a pair of boxes beyond which swapping them is not tried
_COUNTABLE = 20_000  # edges between two layers beyond which crossings are not counted


def is_hurried(spent: int) -> bool:
    """Whether a layout has taken so much effort that the rest must be quick."""
    return spent > ENOUGH


def effort_for(size: int, spent: int) -> tuple[int, int]:
    """(sweeps, starting orders) for a segment of `size` entities after `spent` entity-sweeps."""
    if is_hurried(spent):
        return 2, 1
    return next((sweeps, starts) for most, sweeps, starts in _EFFORT if size < most)


def order_segment(
    layers: list[list[int]],
    down: Edges,
    pinned: list[int],
    before: Sequence[int] = (),
    *,
    sweeps: int = 12,
    starts: int = 4,
) -> list[list[int]]:
    """The layers, each in its new order. `pinned`: per layer the entity of the main path, −1 = none.

    `before`: the ranks of entities in an earlier order, −1 = not known; kept where it costs no crossing.
    """
    up: Edges = [[] for _ in down]
    for entity, edges in enumerate(down):
        for below, there, here in edges:
            up[below].append((entity, here, there))
    best = layers
    fewest: int | None = None
    for start in range(starts):
        order = [list(entities if start < 2 else entities[::-1]) for entities in layers]
        crossings, order = _sweep(order, up, down, sweeps, start % 2)
        if fewest is None or crossings < fewest:
            fewest, best = crossings, order
        if fewest == 0:
            break
    return as_before(best, up, down, before) if before else _turned(best, down, pinned)


def _sweep(
    layers: list[list[int]], up: Edges, down: Edges, sweeps: int, first: int
) -> tuple[int, list[list[int]]]:
    """(crossings, order) of the best order seen; `first` 0 begins downwards, 1 upwards."""
    position = [0] * len(down)
    for entities in layers:
        _number(entities, position)
    best = layers
    fewest: int | None = None
    for sweep in range(sweeps):
        if sweep % 2 == first:
            for entities in layers[1:]:
                _sort(entities, up, position)
        else:
            for entities in layers[-2::-1]:
                _sort(entities, down, position)
        if sweep > 1:
            _transpose(layers, up, down, position)
        crossings = count_crossings(layers, down, position)
        if fewest is None or crossings < fewest:
            fewest = crossings
            best = [list(entities) for entities in layers]
        if fewest == 0:
            break
    return fewest or 0, best


def _turned(layers: list[list[int]], down: Edges, pinned: list[int]) -> list[list[int]]:
    """The order or its mirror image, whichever has more to the right of the main path.

    A habit, so that a line that leaves one frame on the right finds its place in the next one there.
    Boxes with ports beside their middle are not symmetric and stay as they are.
    """
    if any(there or here for edges in down for _, there, here in edges):
        return layers
    balance = 0
    for entities, pin in zip(layers, pinned):
        if pin >= 0:
            at = entities.index(pin)
            balance += len(entities) - 1 - 2 * at
    return layers if balance >= 0 else [entities[::-1] for entities in layers]


def _number(entities: list[int], position: list[int]) -> None:
    for index, entity in enumerate(entities):
        position[entity] = index


def _sort(entities: list[int], neighbours: Edges, position: list[int]) -> None:
    """Sorts one layer by the mean place of its neighbours; those without any keep their slots."""
    if len(entities) < 2:
        return
    keyed = []
    fixed = []
    for index, entity in enumerate(entities):
        near = neighbours[entity]
        if near:
            total = 0.0
            for other, there, here in near:
                total += position[other] + (there - here) * _PORT
            keyed.append((total / len(near), index, entity))
        else:
            fixed.append((index, entity))
    keyed.sort()
    result = [entity for _, _, entity in keyed]
    for index, entity in fixed:
        result.insert(index, entity)
    entities[:] = result
    _number(entities, position)


def _ends(edges: list[tuple[int, float, float]], position: list[int]) -> list[float]:
    return sorted(position[other] + there * _PORT for other, there, _ in edges)


def _crossings_of_pair(first: list[float], second: list[float]) -> int:
    """Crossings when the owner of `first` stands left of the owner of `second` (both sorted)."""
    total = 0
    for end in second:
        total += len(first) - bisect_right(first, end)
    return total


def _transpose(layers: list[list[int]], up: Edges, down: Edges, position: list[int]) -> None:
    """Swaps neighbours while that lessens crossings."""
    changed = set(range(len(layers)))
    for _ in range(8):
        again: set[int] = set()
        for at in sorted(changed):
            entities = layers[at]
            if len(entities) < 2 or len(entities) > 400:
                continue
            above = [_ends(up[e], position) for e in entities]
            below = [_ends(down[e], position) for e in entities]
            swapped = False
            for i in range(len(entities) - 1):
                if len(above[i]) + len(above[i + 1]) + len(below[i]) + len(below[i + 1]) > _BUSY:
                    continue
                now = _crossings_of_pair(above[i], above[i + 1]) + _crossings_of_pair(below[i], below[i + 1])
                if not now:
                    continue
                then = _crossings_of_pair(above[i + 1], above[i]) + _crossings_of_pair(below[i + 1], below[i])
                if then < now:
                    entities[i], entities[i + 1] = entities[i + 1], entities[i]
                    above[i], above[i + 1] = above[i + 1], above[i]
                    below[i], below[i + 1] = below[i + 1], below[i]
                    swapped = True
            if swapped:
                _number(entities, position)
                again.update(k for k in (at - 1, at, at + 1) if 0 <= k < len(layers))
        if not again:
            return
        changed = again


def count_crossings(layers: list[list[int]], down: Edges, position: list[int]) -> int:
    """Crossings of straight lines between neighbouring layers."""
    total = 0
    for entities in layers:
        if len(entities) < 2:
            continue
        seen: list[float] = []
        edges = 0
        for entity in entities:
            ends = _ends(down[entity], position)
            edges += len(ends)
            if edges > _COUNTABLE:
                break
            if seen:
                for end in ends:
                    total += len(seen) - bisect_right(seen, end)
            for end in ends:
                insort(seen, end)
    return total


def as_before(layers: list[list[int]], up: Edges, down: Edges, before: Sequence[int]) -> list[list[int]]:
    """The order, made more like an earlier one as far as that adds no crossing: turned round, and swapped."""
    position = [0] * len(down)
    fewest = _crossings(layers, down, position)
    turned = [entities[::-1] for entities in layers]
    if _disorder(turned, before) < _disorder(layers, before) and _crossings(turned, down, position) <= fewest:
        layers = turned
    for at, entities in enumerate(layers):
        slots = [k for k, entity in enumerate(entities) if before[entity] >= 0]
        wanted = sorted((entities[k] for k in slots), key=before.__getitem__)
        if len(slots) < 2 or wanted == [entities[k] for k in slots]:
            continue
        changed = list(entities)
        for slot, entity in zip(slots, wanted):
            changed[slot] = entity
        near = range(max(at - 1, 0), min(at + 2, len(layers)))
        now = _crossings([layers[k] for k in near], down, position)
        if _crossings([changed if k == at else layers[k] for k in near], down, position) <= now:
            layers[at] = changed
        else:
            layers[at] = _swapped(entities, before, up, down, layers, position)
    return layers


def _swapped(
    entities: list[int],
    before: Sequence[int],
    up: Edges,
    down: Edges,
    layers: list[list[int]],
    position: list[int],
) -> list[int]:
    """A layer with neighbours swapped back where that adds no crossing."""
    for layer in layers:
        _number(layer, position)
    entities = list(entities)
    for _ in range(len(entities)):
        swapped = False
        for k in range(len(entities) - 1):
            a, b = entities[k], entities[k + 1]
            if not before[a] > before[b] >= 0:
                continue
            sides = [(_ends(edges[a], position), _ends(edges[b], position)) for edges in (up, down)]
            now = sum(_crossings_of_pair(one, other) for one, other in sides)
            if sum(_crossings_of_pair(other, one) for one, other in sides) <= now:
                entities[k], entities[k + 1] = b, a
                swapped = True
        if not swapped:
            break
    return entities


def _disorder(layers: list[list[int]], before: Sequence[int]) -> int:
    """How many neighbours of those that were there before have changed sides."""
    total = 0
    for entities in layers:
        total += sum(a > b for a, b in pairwise([before[e] for e in entities if before[e] >= 0]))
    return total


def _crossings(layers: list[list[int]], down: Edges, position: list[int]) -> int:
    for entities in layers:
        _number(entities, position)
    return count_crossings(layers[:-1], down, position)


def crossings_of(layers: list[list[int]], down: Edges) -> int:
    """Crossings of an order of a segment's layers."""
    return _crossings(layers, down, [0] * len(down))
