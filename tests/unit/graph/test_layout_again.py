"""Layouts that reuse what was solved before: the same as from nothing, and steady where nothing changed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio.graph import Graph, portals, solving, tiles
from studio.graph.groups import bounds_of, members, number_rows, order_by, ranges, ranks_of
from studio.graph.layout import Layout, Places, carry_places, lay_out, places_of
from studio.graph.memo import Memo
from studio.graph.ordering import as_before
from studio.graph.solved import forget_solved, stretches
from studio.graph.view import GraphView

MakeGraph = Callable[..., Graph]
PATHS = ["", "a", "a/b", "a/c", "d", "e"]


def assert_same(one: Layout, other: Layout) -> None:
    for field in fields(Layout):
        assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), field.name


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[str, list[str], list[str]]], list[str]]:
    """Chains with skips in scopes that may be alike, and now and then an edge from anywhere."""
    size = draw(st.integers(2, 40))
    rng = random.Random(draw(st.integers(0, 10_000)))
    rows, scopes = [], []
    for i in range(size):
        near = [f"t{i - k}" for k in (1, 1, 3, 5) if i - k >= 0 and rng.random() < 0.7]
        if rng.random() < 0.05:
            near.append(f"t{rng.randrange(size)}")
        rows.append((rng.choice(["Conv", "Relu"]), near or ["x"], [f"t{i}"]))
        scopes.append(PATHS[i * len(PATHS) // size] if rng.random() < 0.9 else rng.choice(PATHS))
    return rows, scopes


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs(), st.lists(st.integers(1, 5), min_size=1, max_size=6), st.booleans())
def test_any_toggles_give_what_a_layout_from_nothing_gives(
    make_graph: MakeGraph,
    drawn: tuple[list[tuple[str, list[str], list[str]]], list[str]],
    toggles: list[int],
    wraps: bool,
) -> None:
    rows, scopes = drawn
    view = GraphView(wrap=wraps)
    graph = make_graph(rows, inputs=["x"], outputs=[f"t{len(rows) - 1}"], scopes=scopes)
    lay_out(graph, view)
    for scope in toggles:
        view = GraphView(collapsed=view.collapsed ^ {scope}, wrap=wraps)
        again = lay_out(graph, view)
        forget_solved()
        fresh = make_graph(rows, inputs=["x"], outputs=[f"t{len(rows) - 1}"], scopes=scopes)
        assert_same(again, lay_out(fresh, view))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs(), st.lists(st.integers(1, 5), min_size=1, max_size=6), st.booleans())
def test_blocks_taken_over_give_what_a_layout_from_nothing_gives_for_the_same_earlier_drawing(
    make_graph: MakeGraph,
    drawn: tuple[list[tuple[str, list[str], list[str]]], list[str]],
    toggles: list[int],
    wraps: bool,
) -> None:
    rows, scopes = drawn
    view = GraphView(wrap=wraps)
    graph = make_graph(rows, inputs=["x"], outputs=[f"t{len(rows) - 1}"], scopes=scopes)
    layout = lay_out(graph, view)
    for scope in toggles:
        view = GraphView(collapsed=view.collapsed ^ {scope}, wrap=wraps)
        places = places_of(layout)
        layout = lay_out(graph, view, places)
        fresh = make_graph(rows, inputs=["x"], outputs=[f"t{len(rows) - 1}"], scopes=scopes)
        assert_same(layout, lay_out(fresh, view, places))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs(), st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_ranks_taken_over_are_those_of_a_graph_seen_for_the_first_time(
    make_graph: MakeGraph,
    drawn: tuple[list[tuple[str, list[str], list[str]]], list[str]],
    toggles: list[int],
) -> None:
    rows, scopes = drawn
    graph = make_graph(rows, inputs=["x"], outputs=["t0"], scopes=scopes)
    view = GraphView()
    lay_out(graph, view)
    for scope in toggles:
        view = GraphView(collapsed=view.collapsed ^ {scope})
        lay_out(graph, view)
        fresh = make_graph(rows, inputs=["x"], outputs=["t0"], scopes=scopes)
        lay_out(fresh, view)
        assert portals._ranked[graph].ranks.tolist() == portals._ranked[fresh].ranks.tolist()


def test_ranks_are_taken_over_without_walking_all_edges(
    make_graph: MakeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = blocks_of_transformer(make_graph, 12)
    lay_out(graph, GraphView())
    walked = []
    real = portals._longest_ways
    monkeypatch.setattr(portals, "_longest_ways", lambda *a: walked.append(len(a[0])) or real(*a))
    inner = graph.scope_name.index("block7")
    lay_out(graph, GraphView(collapsed=frozenset({inner + 1})))
    lay_out(graph, GraphView())
    assert len(walked) == 2 and max(walked) < 12


def blocks_of_transformer(make_graph: MakeGraph, blocks: int) -> Graph:
    """Blocks of a chain with a skip, and two branches in each."""
    rows: list[tuple[str, list[str], list[str]]] = [("Conv", ["x"], ["b0"])]
    scopes = [""]
    for k in range(blocks):
        for branch in "qkv":
            rows.append(("MatMul", [f"b{k}"], [f"{branch}{k}"]))
            rows.append(("Relu", [f"{branch}{k}"], [f"{branch}{k}r"]))
            scopes += [f"block{k}/{branch}"] * 2
        rows.append(("Concat", [f"{branch}{k}r" for branch in "qkv"], [f"c{k}"]))
        rows.append(("Add", [f"c{k}", f"b{k}"], [f"b{k + 1}"]))
        scopes += [f"block{k}"] * 2
    return make_graph(rows, inputs=["x"], outputs=[f"b{blocks}"], scopes=scopes)


def test_only_what_changed_is_solved_again(make_graph: MakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = blocks_of_transformer(make_graph, 12)
    forget_solved()
    lay_out(graph, GraphView())
    solved = []
    real = tiles.arrange
    monkeypatch.setattr(tiles, "arrange", lambda *a: solved.append(1) or real(*a))
    inner = graph.scope_name.index("block7")
    lay_out(graph, GraphView(collapsed=frozenset({inner + 1})))
    assert len(solved) == 2, "the block with the scope in it, and the root"
    lay_out(graph, GraphView())
    assert len(solved) == 2


def test_blocks_that_stayed_are_not_even_looked_up(
    make_graph: MakeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = blocks_of_transformer(make_graph, 12)
    layout = lay_out(graph, GraphView())
    made = []
    real = solving.Solver._solve
    monkeypatch.setattr(
        solving.Solver, "_solve", lambda self, blocks: made.append(blocks) or real(self, blocks)
    )
    inner = graph.scope_name.index("block7")
    lay_out(graph, GraphView(collapsed=frozenset({inner + 1})), places_of(layout))
    assert len(made[0]) == 2, "the block with the scope in it, and the root"


@given(st.lists(st.tuples(st.integers(-1, 4), st.sampled_from([0, 3, 2**60])), max_size=30))
def test_rows_are_ordered_as_lexsort_orders_them(rows: list[tuple[int, int]]) -> None:
    one, other = (np.array([row[k] for row in rows], np.int64) for k in (0, 1))
    assert order_by(one, other).tolist() == np.lexsort((other, one)).tolist()
    assert ranks_of(one.astype(float)).tolist() == [len({r for r, _ in rows if r < row}) for row, _ in rows]
    assert [m.tolist() for m in members(one + 1, 6)] == [
        np.flatnonzero(one == g - 1).tolist() for g in range(6)
    ]


@given(st.lists(st.integers(-1, 6), max_size=20))
def test_stretches_cover_every_block_that_stayed_once(twin: list[int]) -> None:
    found = [
        (first + k, before + k)
        for first, end, before in stretches(np.array(twin, np.int64))
        for k in range(end - first)
    ]
    assert found == [(block, before) for block, before in enumerate(twin) if before >= 0]


def test_a_memo_keeps_what_is_asked_for_and_forgets_the_rest() -> None:
    memo: Memo[int] = Memo(10)
    memo.put(b"kept", 1, 4)
    for k in range(20):
        memo.put(f"{k}".encode(), k, 4)
        assert memo.get(b"kept") == 1
    assert memo.get(b"0") is None
    assert memo.get(b"19") == 19
    memo.put(b"huge", 2, 1_000)
    assert memo.get(b"huge") == 2


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30))
def test_rows_are_numbered_by_group_and_first_appearance(rows: list[tuple[int, int]]) -> None:
    group, key = (np.array([row[k] for row in rows], np.int64) for k in (0, 1))
    numbers, first = number_rows(group, key)
    seen = sorted({row: rows.index(row) for row in rows}.items(), key=lambda item: (item[0][0], item[1]))
    wanted = {row: number for number, (row, _) in enumerate(seen)}
    assert numbers.tolist() == [wanted[row] for row in rows]
    assert first.tolist() == [place for _, place in seen]
    bounds = bounds_of(group[first], 4)
    assert [int(n) for n in np.diff(bounds)] == [len({r for r in rows if r[0] == g}) for g in range(4)]


def test_ranges_run_one_after_the_other() -> None:
    assert ranges(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]


def rows_of(layout: Layout) -> dict[tuple[int, int], tuple[float, float, float]]:
    """(column's shift, y, middle) of every box, by what it stands for."""
    middle = layout.item_x + layout.item_width / 2
    shift = np.round(middle - layout.item_axis)
    keys = zip(layout.item_kind.tolist(), layout.item_ref.tolist())
    return dict(zip(keys, zip(shift.tolist(), layout.item_y.tolist(), middle.tolist())))


def column_breaks(before: Layout, after: Layout) -> int:
    """How many neighbours in reading order that both show are parted, or joined, by a column's end."""
    one, other = rows_of(before), rows_of(after)
    order = sorted((key for key in one if key in other), key=lambda key: one[key][:2])
    pairs = list(pairwise(order))
    return sum((one[a][0] == one[b][0]) != (other[a][0] == other[b][0]) for a, b in pairs)


def turned_round(before: Layout, after: Layout) -> int:
    """How many pairs side by side in both have changed sides."""
    one, other = rows_of(before), rows_of(after)
    shared = [key for key in one if key in other]
    total = 0
    for i, a in enumerate(shared):
        for b in shared[i + 1 :]:
            if one[a][1] == one[b][1] and other[a][1] == other[b][1]:
                total += (one[a][2] < one[b][2]) != (other[a][2] < other[b][2])
    return total


def test_columns_begin_where_they_began_when_a_scope_is_opened(make_graph: MakeGraph) -> None:
    graph = blocks_of_transformer(make_graph, 60)
    closed = frozenset(graph.scope_name.index(f"block{k}") for k in range(60) if k % 3)
    view = GraphView(collapsed=closed)
    layout = lay_out(graph, view)
    assert len(layout.column_nodes) >= 2
    kept = anew = 0
    for name in ("block4", "block20", "block41", "block20", "block43"):
        view = GraphView(collapsed=view.collapsed ^ {graph.scope_name.index(name)})
        opened = lay_out(graph, view, places_of(layout))
        kept += column_breaks(layout, opened)
        anew += column_breaks(layout, lay_out(graph, view))
        assert turned_round(layout, opened) == 0
        layout = opened
    assert kept == 0
    assert anew > 0, "the test must be able to see a difference"


def test_columns_stay_about_equal_when_all_is_opened_and_closed(make_graph: MakeGraph) -> None:
    graph = blocks_of_transformer(make_graph, 60)
    closed = GraphView(collapsed=frozenset(graph.scope_name.index(f"block{k}") for k in range(60)))
    first = lay_out(graph, closed)
    opened = lay_out(graph, GraphView(), places_of(first))
    anew = lay_out(graph, GraphView())
    assert opened.height < 1.8 * anew.height and opened.width < 1.8 * anew.width
    assert_same(lay_out(graph, closed, places_of(opened)), first)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs(), st.sets(st.integers(1, 5)), st.integers(1, 5))
def test_nothing_moves_when_laid_out_once_more(
    make_graph: MakeGraph,
    drawn: tuple[list[tuple[str, list[str], list[str]]], list[str]],
    collapsed: set[int],
    toggled: int,
) -> None:
    rows, scopes = drawn
    graph = make_graph(rows, inputs=["x"], outputs=["t0"], scopes=scopes)
    first = lay_out(graph, GraphView(collapsed=frozenset(collapsed), wrap=False))
    view = GraphView(collapsed=frozenset(collapsed ^ {toggled}), wrap=False)
    kept = lay_out(graph, view, places_of(first))
    assert_same(lay_out(graph, view, places_of(kept)), kept)
    assert_same(lay_out(graph, view, places_of(lay_out(graph, view))), lay_out(graph, view))


def turned_in_layers(places: Places, after: Layout) -> int:
    """How many pairs of boxes in one layer of a drawing without frames were the other way round before."""
    before = places.among(after.node_item, len(after.item_x))
    bottom = after.item_y + after.item_height
    total = 0
    for a in range(len(before)):
        for b in range(a + 1, len(before)):
            if after.item_y[b] < bottom[a] and after.item_y[a] < bottom[b]:
                total += (before[a] - before[b]) * (after.item_axis[a] - after.item_axis[b]) < 0
    return total


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs(), st.sets(st.integers(1, 5)), st.integers(0, 5))
def test_an_earlier_drawing_never_turns_more_pairs_in_a_layer_without_frames(
    make_graph: MakeGraph,
    drawn: tuple[list[tuple[str, list[str], list[str]]], list[str]],
    collapsed: set[int],
    moved: int,
) -> None:
    """What holds for every segment (`test_segment.py`) can be seen in a drawing of one block."""
    rows, scopes = drawn
    graph = make_graph(rows, inputs=["x"], outputs=["t0"], scopes=scopes)
    earlier = places_of(lay_out(graph, GraphView(collapsed=frozenset(collapsed), wrap=False)))
    earlier.node_x = np.roll(earlier.node_x, moved)
    view = GraphView(collapsed=frozenset(range(1, len(graph.scope_name) + 1)), wrap=False)
    kept, anew = lay_out(graph, view, earlier), lay_out(graph, view)
    assert not len(kept.frame_x)
    assert turned_in_layers(earlier, kept) <= turned_in_layers(earlier, anew)


def test_an_order_is_turned_and_swapped_back_only_where_no_line_crosses() -> None:
    # two sources over four boxes: 0 → 2, 3 and 1 → 4, 5
    down = [[(2, 0.0, 0.0), (3, 0.0, 0.0)], [(4, 0.0, 0.0), (5, 0.0, 0.0)], [], [], [], []]
    up = [[], [], [(0, 0.0, 0.0)], [(0, 0.0, 0.0)], [(1, 0.0, 0.0)], [(1, 0.0, 0.0)]]
    layers = [[0, 1], [2, 3, 4, 5]]
    assert as_before(layers, up, down, [1, 0, 3, 2, 1, 0]) == [[1, 0], [5, 4, 3, 2]]
    assert as_before(layers, up, down, [0, 1, 1, 0, 2, 3]) == [[0, 1], [3, 2, 4, 5]]
    assert as_before(layers, up, down, [-1, -1, 0, 2, 1, 3]) == [[0, 1], [2, 3, 4, 5]], "would cross"
    assert as_before(layers, up, down, [-1, -1, -1, 0, -1, -1]) == layers


def test_a_changed_model_keeps_order_and_columns_of_what_stayed(make_graph: MakeGraph) -> None:
    graph = blocks_of_transformer(make_graph, 40)
    graph.node_name = [f"node{i}" for i in range(graph.node_count)]
    layout = lay_out(graph, GraphView())
    changed = blocks_of_transformer(make_graph, 41)
    changed.node_name = [f"node{i}" for i in range(changed.node_count)]
    for at in (3, 100, 200):
        changed.node_name[at] = f"new{at}"
    places = carry_places(places_of(layout), graph, changed)
    assert np.isnan(places.node_x[[3, 100, 200]]).all()
    assert np.isfinite(places.node_x[: graph.node_count]).sum() == graph.node_count - 3
    after = lay_out(changed, GraphView(), places)
    assert turned_round(layout, after) == 0
    assert column_breaks(layout, after) <= 1
