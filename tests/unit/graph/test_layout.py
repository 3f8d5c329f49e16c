"""What a layout promises: nothing overlaps, every line ends on its boxes, the main path is straight."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio.graph import Graph
from studio.graph.layout import ItemKind, Layout, lay_out
from studio.graph.view import GraphView

MakeGraph = Callable[..., Graph]


def chain(length: int, skip: int = 0) -> list[tuple[str, list[str], list[str]]]:
    """A chain of Relu; with `skip`, every `skip`-th node also adds the value from `skip` before."""
    rows = []
    for i in range(length):
        inputs = [f"t{i}"]
        if skip and i % skip == skip - 1:
            inputs.append(f"t{i - skip + 1}")
        rows.append(("Add" if len(inputs) > 1 else "Relu", inputs, [f"t{i + 1}"]))
    return rows


def check(layout: Layout) -> None:
    """The invariants of every layout."""
    for column in (layout.item_x, layout.item_y, layout.item_width, layout.item_height, layout.edge_points):
        assert np.isfinite(column).all()
    assert (np.diff(layout.item_y) >= 0).all(), "items are sorted by y"
    left, top = layout.item_x, layout.item_y
    right, bottom = left + layout.item_width, top + layout.item_height
    assert (left >= 0).all() and (top >= 0).all()
    assert (right <= layout.width + 0.5).all() and (bottom <= layout.height + 0.5).all()
    for i in range(len(left)):
        overlap = (left < right[i]) & (right > left[i]) & (top < bottom[i]) & (bottom > top[i])
        assert overlap.sum() == 1, f"item {i} overlaps another"
    assert layout.edge_offsets[-1] == len(layout.edge_points)
    assert (np.diff(layout.edge_offsets) >= 2).all()
    starts = layout.edge_points[layout.edge_offsets[:-1]]
    ends = layout.edge_points[layout.edge_offsets[1:] - 1]
    for ends_at, item, y in (
        (starts, layout.edge_source, bottom),
        (ends, layout.edge_target, top),
    ):
        assert np.allclose(ends_at[:, 1], y[item], atol=0.1)
        assert (ends_at[:, 0] >= left[item] - 0.1).all() and (ends_at[:, 0] <= right[item] + 0.1).all()
    frame_right = layout.frame_x + layout.frame_width
    frame_bottom = layout.frame_y + layout.frame_height
    for f in range(len(layout.frame_x)):
        inside = (left >= layout.frame_x[f]) & (right <= frame_right[f])
        inside &= (top >= layout.frame_y[f]) & (bottom <= frame_bottom[f])
        outside = (left >= frame_right[f]) | (right <= layout.frame_x[f])
        outside |= (top >= frame_bottom[f]) | (bottom <= layout.frame_y[f])
        assert (inside | outside).all(), f"frame {f} cuts through a box"


def test_chain_is_one_straight_column(make_graph: MakeGraph) -> None:
    layout = lay_out(make_graph(chain(12), inputs=["t0"], outputs=["t12"]), GraphView())
    check(layout)
    assert np.ptp(layout.item_x + layout.item_width / 2) < 0.1
    assert layout.item_kind[0] == ItemKind.INPUT and layout.item_kind[-1] == ItemKind.OUTPUT
    assert np.ptp(layout.edge_points[:, 0]) < 0.1


def test_skips_run_beside_a_straight_main_path(make_graph: MakeGraph) -> None:
    layout = lay_out(make_graph(chain(12, skip=4), inputs=["t0"], outputs=["t12"]), GraphView())
    check(layout)
    assert np.ptp(layout.item_x + layout.item_width / 2) < 0.1
    assert layout.width < 2 * 176


def test_constants_are_no_boxes_unless_asked_for(make_graph: MakeGraph) -> None:
    rows = [("Constant", [], ["c"]), ("Conv", ["x", "w"], ["y"]), ("Add", ["y", "c"], ["z"])]
    graph = make_graph(rows, inputs=["x"], outputs=["z"], constants=["w", "c"])
    hidden = lay_out(graph, GraphView())
    shown = lay_out(graph, GraphView(hide_constants=False))
    check(shown)
    assert hidden.node_item.tolist()[0] == -1 and len(hidden.item_x) == 4
    assert shown.node_item.tolist()[0] >= 0 and len(shown.item_x) == 6


def test_long_shared_edge_becomes_portals(make_graph: MakeGraph) -> None:
    rows: list[tuple[str, list[str], list[str]]] = [("Cast", ["mask"], ["m"])]
    for i in range(400):
        rows.append(("Add", [f"t{i}", "m"] if i % 20 == 10 else [f"t{i}"], [f"t{i + 1}"]))
    layout = lay_out(make_graph(rows, inputs=["mask", "t0"], outputs=["t400"]), GraphView())
    check(layout)
    assert 10 <= layout.edge_is_portal.sum() <= 20
    counts = np.diff(layout.edge_offsets)[layout.edge_is_portal]
    assert (counts == 4).all()


def test_cycle_is_drawn_and_does_not_hang(make_graph: MakeGraph) -> None:
    rows = [("A", ["x", "c"], ["a"]), ("B", ["a"], ["b"]), ("C", ["b"], ["c"]), ("D", ["d"], ["d"])]
    layout = lay_out(make_graph(rows, inputs=["x"], outputs=["c"]), GraphView())
    check(layout)
    assert layout.edge_is_portal.sum() == 2
    assert (layout.node_item >= 0).all()


def test_empty_graph_has_an_empty_layout() -> None:
    layout = lay_out(Graph(format="onnx"), GraphView())
    assert len(layout.item_x) == 0 and layout.width == 0


def test_collapsed_scope_is_one_box_with_its_edges(make_graph: MakeGraph) -> None:
    scopes = ["", "a", "a", "a/b", "", ""]
    graph = make_graph(chain(6, skip=5), inputs=["t0"], outputs=["t6"], scopes=scopes)
    layout = lay_out(graph, GraphView(collapsed=frozenset({1})))
    check(layout)
    box = int(np.flatnonzero(layout.item_kind == ItemKind.SCOPE)[0])
    assert layout.item_nodes[box] == 3
    assert layout.node_item[[1, 2, 3]].tolist() == [box] * 3
    assert len(layout.item_x) == 3 + 1 + 2
    skip = (layout.edge_source == layout.node_item[0]) | (layout.edge_target == layout.node_item[4])
    assert skip.sum() >= 2, "the skip across the scope stays visible"


def test_frames_hold_their_nodes_and_no_others(make_graph: MakeGraph) -> None:
    rows = [
        ("Conv", ["x"], ["a"]), ("Conv", ["a"], ["b"]), ("Conv", ["x"], ["c"]),
        ("Relu", ["b"], ["d"]), ("Relu", ["c"], ["e"]), ("Add", ["d", "e"], ["f"]),
    ]  # fmt: skip
    scopes = ["left", "left", "right", "left", "right", ""]
    layout = lay_out(make_graph(rows, inputs=["x"], outputs=["f"], scopes=scopes), GraphView())
    check(layout)
    assert sorted(layout.frame_scope.tolist()) == [1, 2]


def test_interrupted_scope_never_makes_a_line_run_upwards(make_graph: MakeGraph) -> None:
    rows = [("A", ["x"], ["a"]), ("B", ["a"], ["b"]), ("C", ["b"], ["c"]), ("D", ["a", "c"], ["d"])]
    graph = make_graph(rows, inputs=["x"], outputs=["d"], scopes=["s", "", "s", ""])
    for view in (GraphView(), GraphView(collapsed=frozenset({1}))):
        layout = lay_out(graph, view)
        check(layout)
        assert not layout.edge_is_portal.any()
        starts = layout.edge_points[layout.edge_offsets[:-1], 1]
        ends = layout.edge_points[layout.edge_offsets[1:] - 1, 1]
        assert (starts < ends).all()


def test_scope_waits_for_what_it_needs_and_stays_whole(make_graph: MakeGraph) -> None:
    """The mask of a block is computed outside of it, later in the file: the block is still one frame."""
    rows = [
        ("Q", ["x"], ["q"]), ("Cast", ["m"], ["n"]), ("Mul", ["n"], ["o"]), ("Add", ["q", "o"], ["s"]),
        ("Softmax", ["s"], ["p"]),
    ]  # fmt: skip
    scopes = ["attention", "", "", "attention", "attention"]
    layout = lay_out(make_graph(rows, inputs=["x", "m"], outputs=["p"], scopes=scopes), GraphView())
    check(layout)
    assert layout.frame_scope.tolist() == [1]


def test_tall_graph_continues_in_columns(make_graph: MakeGraph) -> None:
    rows = chain(200, skip=4)
    scopes = [f"block{i // 40}" for i in range(200)]
    graph = make_graph(rows, inputs=["t0"], outputs=["t200"], scopes=scopes)
    tall = lay_out(graph, GraphView(wrap=False))
    wrapped = lay_out(graph, GraphView())
    check(tall)
    check(wrapped)
    assert tall.height > 4 * wrapped.height
    assert 0.4 < wrapped.width / wrapped.height < 3
    assert len(wrapped.frame_scope) >= len(tall.frame_scope)


def test_expanding_a_scope_keeps_the_order_of_the_rest(make_graph: MakeGraph) -> None:
    rows = [("Split", ["x"], ["a0", "b0", "c0"])]
    scopes = [""]
    for branch in "abc":
        for i in range(3):
            rows.append(("Relu", [f"{branch}{i}"], [f"{branch}{i + 1}"]))
            scopes.append(branch)
    rows.append(("Concat", ["a3", "b3", "c3"], ["y"]))
    scopes.append("")
    graph = make_graph(rows, inputs=["x"], outputs=["y"], scopes=scopes)
    orders = []
    for collapsed in ({1, 2, 3}, {1, 3}, {1, 2}, {2}):
        layout = lay_out(graph, GraphView(collapsed=frozenset(collapsed)))
        check(layout)
        middles = layout.item_x + layout.item_width / 2
        orders.append(np.argsort([middles[layout.node_item[n]] for n in (1, 4, 7)]).tolist())
    assert all(order == orders[0] for order in orders)


def test_same_graph_gives_the_same_layout(make_graph: MakeGraph) -> None:
    graph = make_graph(chain(60, skip=5), inputs=["t0"], outputs=["t60"])
    one, other = lay_out(graph, GraphView()), lay_out(graph, GraphView())
    assert np.array_equal(one.edge_points, other.edge_points)
    assert np.array_equal(one.item_x, other.item_x)


@pytest.mark.parametrize("fan", [2_000])
def test_many_outputs_of_one_node_are_laid_out(make_graph: MakeGraph, fan: int) -> None:
    rows = [("Split", ["x"], [f"o{i}" for i in range(fan)])]
    rows += [("Relu", [f"o{i}"], [f"r{i}"]) for i in range(fan)]
    layout = lay_out(make_graph(rows, inputs=["x"]), GraphView())
    assert np.isfinite(layout.edge_points).all()
    assert (layout.node_item >= 0).all()


@st.composite
def random_graphs(draw: st.DrawFn) -> tuple[list[tuple[str, list[str], list[str]]], list[str]]:
    size = draw(st.integers(1, 40))
    rows = []
    scopes = []
    paths = ["", "a", "a/b", "a/c", "d"]
    for i in range(size):
        sources = draw(st.lists(st.integers(-1, size - 1), max_size=3))
        rows.append(("Op", ["x" if s < 0 else f"t{s}" for s in sources], [f"t{i}"]))
        scopes.append(draw(st.sampled_from(paths)))
    return rows, scopes


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(random_graphs(), st.sets(st.integers(1, 4)), st.booleans())
def test_any_graph_even_with_cycles_keeps_the_promises(
    make_graph: MakeGraph,
    drawn: tuple[list[tuple[str, list[str], list[str]]], list[str]],
    collapsed: set[int],
    hide: bool,
) -> None:
    rows, scopes = drawn
    graph = make_graph(rows, inputs=["x"], outputs=["t0"], scopes=scopes)
    check(lay_out(graph, GraphView(collapsed=frozenset(collapsed), hide_constants=hide)))
