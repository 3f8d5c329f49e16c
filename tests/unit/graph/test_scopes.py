"""Scopes, found blocks, repeats, and the views that open and close them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from studio.graph import Graph
from studio.graph.hidden import shape_arithmetic
from studio.graph.layout import lay_out
from studio.graph.repeats import repeats
from studio.graph.scopes import (
    COMFORTABLE,
    depth_view,
    initial_view,
    reveal,
    scope_tree,
    toggle_scope,
    translate_view,
)
from studio.graph.view import GraphView

MakeGraph = Callable[..., Graph]
Rows = list[tuple[str, list[str], list[str]]]


def residual_blocks(count: int, name: str = "") -> tuple[Rows, list[str]]:
    """A stem, `count` blocks Conv-Relu-Conv-Add, a head; and their scopes."""
    rows: Rows = [("Conv", ["x"], ["b0"])]
    scopes = ["stem"]
    for k in range(count):
        rows += [
            ("Conv", [f"b{k}"], [f"p{k}"]), ("Relu", [f"p{k}"], [f"q{k}"]), ("Conv", [f"q{k}"], [f"r{k}"]),
            ("Add", [f"r{k}", f"b{k}"], [f"b{k + 1}"]),
        ]  # fmt: skip
        scopes += [f"{name}layers/{k}"] * 4
    rows.append(("Gemm", [f"b{count}"], ["y"]))
    scopes.append("head")
    return rows, scopes


def test_repeated_scopes_are_recognised(make_graph: MakeGraph) -> None:
    rows, scopes = residual_blocks(12)
    graph = make_graph(rows, inputs=["x"], outputs=["y"], scopes=scopes)
    tree, found = scope_tree(graph), repeats(graph)
    layer = tree.name.index("7")
    assert found.count[layer] == 12
    assert [tree.name[s] for s in found.alike(layer)] == [str(k) for k in range(12)]
    assert found.count[tree.name.index("layers")] == 1
    assert tree.path(layer) == "layers/7"


def test_scopes_wired_differently_are_not_alike(make_graph: MakeGraph) -> None:
    rows = [
        ("A", ["x"], ["a"]), ("B", ["a"], ["b"]), ("C", ["b"], ["c"]),
        ("A", ["c"], ["d"]), ("B", ["c"], ["e"]), ("C", ["e"], ["f"]),
    ]  # fmt: skip
    graph = make_graph(rows, inputs=["x"], outputs=["f"], scopes=["p"] * 3 + ["q"] * 3)
    assert repeats(graph).count.tolist() == [1, 1, 1]


def test_blocks_are_found_without_scopes(make_graph: MakeGraph) -> None:
    rows, _ = residual_blocks(12)
    graph = make_graph(rows, inputs=["x"], outputs=["y"])
    tree = scope_tree(graph)
    assert tree.is_found
    blocks = np.flatnonzero(tree.node_count == 4)
    assert len(blocks) == 12
    assert set(repeats(graph).count[blocks].tolist()) == {12}
    assert tree.name[tree.parent[blocks[0]]] == "blocks 1–12", "a long run gets a parent"
    assert "Conv" in tree.type[blocks[0]]


def test_small_graph_gets_no_blocks(make_graph: MakeGraph) -> None:
    rows, _ = residual_blocks(2)
    assert scope_tree(make_graph(rows, inputs=["x"], outputs=["y"])).size == 1


def test_big_graph_first_opens_with_few_boxes(make_graph: MakeGraph) -> None:
    for scoped in (True, False):
        rows, scopes = residual_blocks(400)
        graph = make_graph(rows, inputs=["x"], outputs=["y"], scopes=scopes if scoped else None)
        layout = lay_out(graph, initial_view(graph))
        assert len(layout.item_x) <= COMFORTABLE + 2
        assert int(layout.item_nodes.sum()) == graph.node_count


def test_unrepeated_big_graph_is_divided_into_parts(make_graph: MakeGraph) -> None:
    rows = [(f"Op{i}", [f"t{i}"], [f"t{i + 1}"]) for i in range(2000)]
    graph = make_graph(rows, inputs=["t0"], outputs=["t2000"])
    assert len(lay_out(graph, initial_view(graph)).item_x) < 100


def test_small_graph_opens_whole(make_graph: MakeGraph) -> None:
    rows, scopes = residual_blocks(12)
    assert initial_view(make_graph(rows, inputs=["x"], outputs=["y"], scopes=scopes)).collapsed == frozenset()


def test_expand_to_depth(make_graph: MakeGraph) -> None:
    rows, scopes = residual_blocks(3)
    graph = make_graph(rows, inputs=["x"], outputs=["y"], scopes=scopes)
    counts = [len(lay_out(graph, depth_view(graph, GraphView(), d)).item_x) for d in (1, 2, 0)]
    assert counts == [3 + 2, 2 + 3 + 2, 14 + 2]


def test_reveal_opens_what_hides_a_node(make_graph: MakeGraph) -> None:
    rows, scopes = residual_blocks(3)
    rows.append(("Constant", [], ["k"]))
    scopes.append("layers/0")
    graph = make_graph(rows, inputs=["x"], outputs=["y"], scopes=scopes, constants=["k"])
    closed = depth_view(graph, GraphView(), 1)
    for node in (5, len(rows) - 1):
        layout = lay_out(graph, reveal(graph, closed, node))
        item = layout.node_item[node]
        assert item >= 0 and layout.item_kind[item] == 0
    assert reveal(graph, closed, 5).collapsed, "the others stay closed"


def test_toggle_is_its_own_inverse() -> None:
    view = GraphView(collapsed=frozenset({3}))
    assert toggle_scope(toggle_scope(view, 5), 5) == view
    assert toggle_scope(view, 3).collapsed == frozenset()


def test_view_follows_its_scopes_into_a_changed_graph(make_graph: MakeGraph) -> None:
    rows, scopes = residual_blocks(3)
    old = make_graph(rows, inputs=["x"], outputs=["y"], scopes=scopes)
    new = make_graph(rows[1:], inputs=["b0"], outputs=["y"], scopes=scopes[1:])
    layer = scope_tree(old).name.index("1")
    view = translate_view(GraphView(collapsed=frozenset({layer})), old, new)
    assert [scope_tree(new).path(s) for s in view.collapsed] == ["layers/1"]


def test_shape_arithmetic_is_what_only_shapes_feed(make_graph: MakeGraph) -> None:
    rows = [
        ("Shape", ["x"], ["s"]), ("Gather", ["s", "zero"], ["n"]), ("Unsqueeze", ["n"], ["u"]),
        ("Concat", ["u", "minus"], ["c"]), ("Reshape", ["x", "c"], ["y"]), ("Gather", ["table", "x"], ["z"]),
        ("ConstantOfShape", ["c"], ["mask"]),
    ]  # fmt: skip
    graph = make_graph(
        rows,
        inputs=["x"],
        outputs=["y", "z", "mask"],
        constants=["zero", "minus", "table"],
        dtypes=dict.fromkeys(["s", "n", "u", "c"], "int64"),
        shapes={"mask": ("N", 4), "c": (2,)},
    )
    assert shape_arithmetic(graph).tolist() == [True] * 4 + [False] * 3
    layout = lay_out(graph, GraphView(hide_shape_arithmetic=True))
    assert (layout.node_item >= 0).tolist() == [False] * 4 + [True] * 3


def test_scope_parents_that_make_no_tree_do_not_hang(make_graph: MakeGraph) -> None:
    graph = make_graph([("A", ["x"], ["y"])], inputs=["x"], scopes=["a/b"])
    graph.scope_parent = np.array([2, 2, 1], np.int32)
    tree = scope_tree(graph)
    assert tree.parent.tolist() == [-1, 0, 1]
    lay_out(graph, GraphView())


def test_absurdly_deep_scopes_are_laid_out(make_graph: MakeGraph) -> None:
    rows = [("A", [f"t{i}"], [f"t{i + 1}"]) for i in range(50)]
    deep = "/".join("s" for _ in range(3000))
    graph = make_graph(rows, inputs=["t0"], scopes=[deep if i % 2 else "s" for i in range(50)])
    layout = lay_out(graph, GraphView())
    assert layout.frame_depth.max() <= 64 and (layout.node_item >= 0).all()
    assert len(lay_out(graph, initial_view(graph)).item_x) == 51
