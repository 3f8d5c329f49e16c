"""What a query finds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from studio.errors import InputError
from studio.graph import Graph
from studio.graph.paths import nodes_between
from studio.graph.search import search

MakeGraph = Callable[..., Graph]


@pytest.fixture
def attention(make_graph: MakeGraph) -> Graph:
    rows = [
        ("MatMul", ["x", "wq"], ["q"]),  # 0
        ("MatMul", ["x", "wk"], ["k"]),  # 1
        ("Transpose", ["k"], ["kt"]),  # 2
        ("MatMul", ["q", "kt"], ["s"]),  # 3
        ("Div", ["s", "c"], ["d"]),  # 4
        ("Softmax", ["d"], ["p"]),  # 5
        ("QuantizeLinear", ["p"], ["logits"]),  # 6
        ("Conv", ["image", "w"], ["y"]),  # 7
    ]
    return make_graph(
        rows,
        inputs=["x", "image"],
        outputs=["logits", "y"],
        constants=["wq", "wk", "c", "w"],
        scopes=["enc/attn"] * 6 + ["enc", "stem"],
        names=["/enc/attn/Q", "/enc/attn/K", "", "", "", "", "/enc/quant", "/stem/Conv_7"],
        attributes=[{}] * 2
        + [{"perm": [0, 2, 1]}]
        + [{}] * 2
        + [{"epsilon": 9.999999747378752e-06}]
        + [{"axis": 1}, {"group": 4, "auto_pad": "SAME"}],
        shapes={"image": (1, 3, "H", "W"), "y": (1, 8, 14, 14), "s": ("N", 4)},
        dtypes={"logits": "int8"},
    )


@pytest.mark.parametrize(
    ("query", "nodes"),
    [
        ("", []),
        ("softmax", [5]),
        ("SOFT", [5]),
        ("quant", [6]),
        ("op:MatMul", [0, 1, 3]),
        ("op:mat", []),
        ("op:Q*", [6]),
        ("name:attn/k", [1]),
        ("name:attn", [0, 1, 2, 3, 4, 5]),
        ("in:enc -op:MatMul", [2, 4, 5, 6]),
        ("tensor:logits", [6]),
        ("dtype:int8", [6]),
        ("dtype:i8", [6]),
        ("shape:[1,3,*,*]", [7]),
        ("shape:[1,3,H,W]", [7]),
        ("shape:1x8x14x14", [7]),
        ("shape:[1,…]", [7]),
        ("shape:[...,4]", [3, 4]),
        ("shape:[1]", []),
        ("attr:group=4", [7]),
        ("attr:group", [7]),
        ("attr:group>4", []),
        ("attr:group>=4", [7]),
        ("attr:auto_pad=same", [7]),
        ("attr:epsilon=1e-5", [5]),
        ("attr:epsilon!=1e-5", []),
        ("attr:epsilon=1.1e-5", []),
        ("attr:perm=[0,2,1]", [2]),
        ("MatMul → * → Softmax", [3, 4, 5]),
        ("MatMul -> Softmax", []),
        ("MatMul → ** → QuantizeLinear", [0, 1, 2, 3, 4, 5, 6]),
        ("Transpose->MatMul->Div", [2, 3, 4]),
        ("op:MatMul → Div", [3, 4]),
        ("op:", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("http://nowhere", []),
    ],
)
def test_query_finds(attention: Graph, query: str, nodes: list[int]) -> None:
    assert search(attention, query) == nodes


@pytest.mark.parametrize("query", ["→ Softmax", "MatMul → → Softmax", 'name:"open', "shape:[1,,2]"])
def test_unreadable_query_says_what_is_wrong(attention: Graph, query: str) -> None:
    with pytest.raises(InputError) as caught:
        search(attention, query)
    assert caught.value.hint


def test_path_between_two_nodes_works_either_way(attention: Graph) -> None:
    assert nodes_between(attention, 1, 5) == [1, 2, 3, 4, 5]
    assert nodes_between(attention, 5, 1) == [1, 2, 3, 4, 5]
    assert nodes_between(attention, 0, 7) == []


def test_path_pattern_in_a_cycle_ends(make_graph: MakeGraph) -> None:
    graph = make_graph([("A", ["b"], ["a"]), ("B", ["a"], ["b"])])
    assert search(graph, "A → ** → A") == [0, 1]
    assert nodes_between(graph, 0, 1) == [0, 1]


def test_broken_names_do_not_break_the_search(make_graph: MakeGraph) -> None:
    graph = make_graph([("A", ["x"], ["y"])], names=["\ud800\0" + "n" * 1_000_000 + "end"], inputs=["x"])
    assert search(graph, "nend") == [0]
    assert search(graph, "\0") == []
