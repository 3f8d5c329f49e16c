"""Layouts that reuse what was solved before: the same as from nothing, and steady where nothing changed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio.graph import Graph, arranging, tiles
from studio.graph.groups import bounds_of, number_rows, ranges
from studio.graph.layout import Layout, lay_out
from studio.graph.memo import Memo
from studio.graph.view import GraphView

MakeGraph = Callable[..., Graph]
PATHS = ["", "a", "a/b", "a/c", "d", "e"]


def forget() -> None:
    """Makes the next layout start from nothing."""
    tiles._known.clear()
    arranging._solved.clear()


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
        forget()
        fresh = make_graph(rows, inputs=["x"], outputs=[f"t{len(rows) - 1}"], scopes=scopes)
        assert_same(again, lay_out(fresh, view))


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
    forget()
    lay_out(graph, GraphView())
    solved = []
    real = tiles.arrange
    monkeypatch.setattr(tiles, "arrange", lambda *a: solved.append(1) or real(*a))
    inner = graph.scope_name.index("block7")
    lay_out(graph, GraphView(collapsed=frozenset({inner + 1})))
    assert len(solved) == 2, "the block with the scope in it, and the root"
    lay_out(graph, GraphView())
    assert len(solved) == 2


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
