"""Segments keep an earlier order where that is free, and are found again from what was found."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from studio.graph.ordering import crossings_of
from studio.graph.segment import Segment, Solved, solve_segment, turned_pairs


@st.composite
def segments(draw: st.DrawFn) -> tuple[Segment, list[bool], list[int]]:
    """Layers with lines between them, what the next drawing will know of them, and an earlier order."""
    rng = random.Random(draw(st.integers(0, 1_000_000)))
    lengths = draw(st.lists(st.integers(1, 9), min_size=2, max_size=6))
    bounds = [sum(lengths[:at]) for at in range(len(lengths) + 1)]
    size = bounds[-1]
    density = draw(st.sampled_from([0.15, 0.3, 0.6]))
    port = draw(st.sampled_from([0.0, 40.0]))
    down: list[list[tuple[int, float, float]]] = [[] for _ in range(size)]
    for at in range(len(lengths) - 1):
        for entity in range(bounds[at], bounds[at + 1]):
            for below in range(bounds[at + 1], bounds[at + 2]):
                if rng.random() < density:
                    down[entity].append((below, rng.uniform(-port, port), rng.uniform(-port, port)))
    is_dummy = [rng.random() < 0.3 for _ in range(size)]
    is_kept = [not dummy and rng.random() < 0.9 for dummy in is_dummy]
    half = [0.0 if dummy else 50.0 for dummy in is_dummy]
    segment = Segment(lengths, down, half, half, is_dummy, [-1] * len(lengths), 12, 4)
    if draw(st.booleans()):
        segment.pinned = [rng.randrange(bounds[at], bounds[at + 1]) for at in range(len(lengths))]
    before = [rng.randrange(size) if kept and rng.random() < 0.9 else -1 for kept in is_kept]
    return segment, is_kept, before


def ranks_of(solved: Solved, is_kept: list[bool], scale: int) -> list[int]:
    """What the next drawing knows of this one: ranks by x, of all layers together."""
    ranks = [-1] * len(is_kept)
    for at, entities in enumerate(solved[0]):
        for place, entity in enumerate(entities):
            if is_kept[entity]:
                ranks[entity] = place * scale + at
    return ranks


@settings(max_examples=200, deadline=None)
@given(segments())
def test_an_earlier_order_costs_no_crossing_and_turns_no_more_pairs_and_is_found_again(
    drawn: tuple[Segment, list[bool], list[int]],
) -> None:
    segment, is_kept, before = drawn
    anew = solve_segment(segment, [], [])
    kept = solve_segment(segment, before, is_kept)
    assert crossings_of(kept[0], segment.down) <= crossings_of(anew[0], segment.down)
    assert turned_pairs(kept[0], before) <= turned_pairs(anew[0], before)
    assert solve_segment(segment, ranks_of(kept, is_kept, 10), is_kept) == kept


@settings(max_examples=50, deadline=None)
@given(segments())
def test_the_order_found_from_nothing_is_found_again(drawn: tuple[Segment, list[bool], list[int]]) -> None:
    segment, is_kept, _ = drawn
    anew = solve_segment(segment, [], [])
    assert solve_segment(segment, ranks_of(anew, is_kept, 10), is_kept) == anew


def test_an_earlier_order_is_followed_where_it_is_free() -> None:
    # one box over three that are alike, over one
    down = [[(k, 0.0, 0.0) for k in (1, 2, 3)], *([(4, 0.0, 0.0)] for _ in range(3)), []]
    half = [50.0] * 5
    segment = Segment([1, 3, 1], down, half, half, [False] * 5, [-1] * 3, 12, 4)
    for wanted in ([3, 2, 1], [2, 3, 1], [1, 2, 3]):
        before = [0, *(wanted.index(k) for k in (1, 2, 3)), 0]
        assert solve_segment(segment, before, [True] * 5)[0] == [[0], wanted, [4]]


def test_an_earlier_order_that_crosses_is_not_followed() -> None:
    # 0 → 2 and 1 → 3, with 2 and 3 the other way round before, and 0 and 1 as they are
    down = [[(2, 0.0, 0.0)], [(3, 0.0, 0.0)], [], []]
    half = [50.0] * 4
    segment = Segment([2, 2], down, half, half, [False] * 4, [-1] * 2, 12, 4)
    kept = solve_segment(segment, [0, 1, 1, 0], [True] * 4)
    assert crossings_of(kept[0], down) == 0
    assert turned_pairs(kept[0], [0, 1, 1, 0]) == 1
