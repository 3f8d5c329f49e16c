"""What a diff says between two graphs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from studio.graph import Graph
from studio.graph.diff import ChangeKind, Status, diff_graphs
from studio.graph.graph import Provenance, Quantization
from studio.graph.op_family import op_family

MakeGraph = Callable[..., Graph]

CONV_NET = [
    ("Conv", ["x", "w1"], ["a"]),
    ("BatchNormalization", ["a", "s"], ["b"]),
    ("Relu", ["b"], ["c"]),
    ("Conv", ["c", "w2"], ["d"]),
    ("Add", ["d", "c"], ["e"]),
]


def conv_net(make_graph: MakeGraph, **more: object) -> Graph:
    names = ["conv1", "bn", "relu", "conv2", "add"]
    return make_graph(CONV_NET, inputs=["x"], outputs=["e"], constants=["w1", "w2", "s"], names=names, **more)


def test_equal_graphs_have_no_changes(make_graph: MakeGraph) -> None:
    diff = diff_graphs(conv_net(make_graph), conv_net(make_graph))
    assert diff.counts() == {"same": 5, "changed": 0, "removed": 0, "added": 0}
    assert diff.changes == () and diff.match_a.tolist() == [0, 1, 2, 3, 4]


def test_folded_batch_norm_is_removed_and_its_conv_changed(make_graph: MakeGraph) -> None:
    rows = [
        ("Conv", ["x", "w1", "bias"], ["b"]), ("Relu", ["b"], ["c"]), ("Conv", ["c", "w2"], ["d"]),
        ("Add", ["d", "c"], ["e"]),
    ]  # fmt: skip
    folded = make_graph(
        rows,
        inputs=["x"],
        outputs=["e"],
        constants=["w1", "w2", "bias"],
        names=["conv1", "relu", "conv2", "add"],
    )
    diff = diff_graphs(conv_net(make_graph), folded)
    assert diff.match_a.tolist() == [0, -1, 1, 2, 3]
    assert diff.status_a.tolist() == [1, 2, 0, 0, 0]
    assert {c.kind for c in diff.changes} == {ChangeKind.INPUTS, ChangeKind.REMOVED}


@pytest.mark.parametrize("named", [True, False])
def test_inserted_quantize_pairs_are_added_and_the_rest_still_matches(
    make_graph: MakeGraph, named: bool
) -> None:
    rows = []
    names = []
    for (op, inputs, outputs), name in zip(CONV_NET, ["conv1", "bn", "relu", "conv2", "add"]):
        data = inputs[0]
        rows.append(("QuantizeLinear", [data], [f"{name}_q"]))
        rows.append(("DequantizeLinear", [f"{name}_q"], [f"{name}_dq"]))
        rows.append((op, [f"{name}_dq", *inputs[1:]], outputs))
        names += [f"{name}_Q", f"{name}_DQ", name]
    quantized = make_graph(
        rows,
        inputs=["x"],
        outputs=["e"],
        constants=["w1", "w2", "s"],
        names=names if named else None,
    )
    if not named:
        quantized.tensor_name = [str(i) for i in range(quantized.tensor_count)]
    diff = diff_graphs(conv_net(make_graph), quantized)
    assert diff.match_a.tolist() == [2, 5, 8, 11, 14]
    assert diff.counts()["added"] == 10 and diff.counts()["removed"] == 0


def test_changes_are_named_with_before_and_after(make_graph: MakeGraph) -> None:
    shapes = {"a": (1, 8, 4, 4)}
    a = conv_net(make_graph, shapes=shapes, attributes=[{"group": 1}, {}, {}, {"pads": [0, 0]}, {}])
    b = conv_net(
        make_graph,
        shapes={"a": ("N", 8, 4, 4)},
        dtypes={"e": "float16"},
        attributes=[{"group": 8}, {}, {}, {}, {}],
    )
    b.tensor_quantization[b.tensor_name.index("d")] = Quantization(scale=(0.5,), zero_point=(3,))
    found = {(c.kind, c.node_a, c.before, c.after) for c in diff_graphs(a, b).changes}
    assert found == {
        (ChangeKind.ATTRIBUTE, 0, "1", "8"),
        (ChangeKind.SHAPE, 0, "[1,8,4,4]", "[N,8,4,4]"),
        (ChangeKind.ATTRIBUTE, 3, "[0, 0]", "absent"),
        (ChangeKind.QUANTIZATION, 3, "float", "scale 0.5, zero point 3"),
        (ChangeKind.DTYPE, 4, "float32", "float16"),
    }


def test_small_constants_are_compared_by_value(make_graph: MakeGraph) -> None:
    a, b = conv_net(make_graph), conv_net(make_graph)
    w = a.tensor_name.index("w1")
    a.tensor_value[w], b.tensor_value[w] = [1.0, float("nan")], [1.0, float("nan")]
    assert diff_graphs(a, b).changes == ()
    b.tensor_value[w] = [1.0, 2.0]
    assert [c.kind for c in diff_graphs(a, b).changes] == [ChangeKind.WEIGHTS]


def test_unreadable_weights_are_noted_and_never_called_the_same(make_graph: MakeGraph) -> None:
    a, b = conv_net(make_graph, shapes={"w1": (4,)}), conv_net(make_graph, shapes={"w1": (4,)})
    assert not diff_graphs(a, b).weights_compared
    diff = diff_graphs(a, b, compare_weights=True)
    assert any("w1" in note for note in diff.notes)


def test_converted_nodes_match_by_provenance_across_formats(make_graph: MakeGraph) -> None:
    a = make_graph([("Conv", ["x"], ["t1"]), ("Conv", ["t1"], ["t2"])], inputs=["x"], names=["n1", "n2"])
    b = make_graph([("CONV_2D", ["p"], ["q"]), ("CONV_2D", ["q"], ["r"])], inputs=["p"])
    for graph, order in ((a, (0, 1)), (b, (0, 1))):
        for node in order:
            graph.node_provenance[node] = Provenance(module=f"m.{node}", file="net.py", line=10 + node)
    diff = diff_graphs(a, b)
    assert diff.match_a.tolist() == [0, 1]
    assert {c.kind for c in diff.changes} == {ChangeKind.OPERATOR}


def test_nameless_graph_with_one_foreign_node_matches_round_it(make_graph: MakeGraph) -> None:
    def chain(op: str) -> Graph:
        rows = [("Relu" if i != 50 else op, [f"t{i}"], [f"t{i + 1}"]) for i in range(100)]
        graph = make_graph(rows, inputs=["t0"], outputs=["t100"])
        graph.tensor_name = [str(i) for i in range(graph.tensor_count)]
        return graph

    diff = diff_graphs(chain("Relu"), chain("Erf"))
    expected = np.arange(100)
    expected[50] = -1
    assert diff.match_a.tolist() == expected.tolist()
    assert diff.status_b[50] == Status.ADDED


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Conv", "CONV_2D"),
        ("Conv", "QLinearConv"),
        ("Conv", "aten.convolution.default"),
        ("Gemm", "FULLY_CONNECTED"),
        ("MatMul", "MatMulInteger"),
        ("Relu", "aten::relu_"),
        ("Softmax", "SOFTMAX"),
        ("Concat", "CONCATENATION"),
        ("Conv", "XNNDepthwiseConv2d"),
        ("DEPTHWISE_CONV_2D", "et_vk.conv2d.default"),
        ("ConvTranspose", "XNNConvTranspose2d"),
        ("Gemm", "XNNFullyConnected"),
        ("Gemm", "QGemm"),
        ("MatMul", "XNNBatchMatrixMultiply"),
        ("GlobalAveragePool", "XNNGlobalAvgPooling2d"),
        ("Concat", "XNNConcatenate3"),
        ("Pad", "XNNStaticConstantPad"),
        ("aten.permute.default", "XNNStaticTranspose"),
        ("MUL", "XNNMultiply"),
        ("Attention", "aten.scaled_dot_product_attention.default"),
    ],
)
def test_operators_of_one_family(one: str, other: str) -> None:
    assert op_family(one) == op_family(other)


def test_operators_of_different_families() -> None:
    assert op_family("XnnpackBackend") == "xnnpackbackend"  # a delegate, not an operator of one
    assert len({op_family(op) for op in ("Conv", "ConvTranspose", "MatMul", "Add", "Relu", "Softmax")}) == 6
