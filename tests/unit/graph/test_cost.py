"""MACs by each operator's definition, memory by liveness, and what is honestly unknown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.graph import node_costs, open_graph
from studio.graph.summary import summarize

FLOAT = TensorProto.FLOAT


def graph_of(
    tmp_path: Path,
    nodes: list[onnx.NodeProto],
    inputs: dict[str, list[object]],
    weights: dict[str, tuple[int, ...]] = {},  # noqa: B006
    opset: int = 17,
    dtype: type = np.float32,
):  # type: ignore[no-untyped-def]
    """The opened graph of nodes over zero weights."""
    names = {"com.microsoft"} & {n.domain for n in nodes}
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info(n, FLOAT, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info(nodes[-1].output[0], FLOAT, None)],
        [numpy_helper.from_array(np.zeros(s, dtype), n) for n, s in weights.items()],
    )  # fmt: skip
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(n, 1) for n in names)]
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=imports), str(path))
    return open_graph(path)


@pytest.mark.parametrize(
    ("node", "inputs", "weights", "macs"),
    [
        (("Conv", ["x", "w"], {}), {"x": [1, 3, 8, 8]}, {"w": (4, 3, 3, 3)}, 4 * 36 * 27),
        (("Conv", ["x", "w"], {"group": 4}), {"x": [2, 4, 8, 8]}, {"w": (4, 1, 3, 3)}, 2 * 4 * 36 * 9),
        (("ConvTranspose", ["x", "w"], {"strides": [2, 2]}), {"x": [1, 3, 4, 4]},
         {"w": (3, 5, 2, 2)}, 48 * 20),
        (("MatMul", ["x", "w"], {}), {"x": [2, 5, 6]}, {"w": (6, 7)}, 10 * 6 * 7),
        (("MatMul", ["x", "z"], {}), {"x": [2, 3, 5, 6], "z": [2, 3, 6, 7]}, {}, 6 * 5 * 6 * 7),
        (("Gemm", ["x", "w"], {"transA": 1}), {"x": [6, 5]}, {"w": (6, 7)}, 5 * 6 * 7),
        (("Gemm", ["x", "w"], {"transB": 1}), {"x": [5, 6]}, {"w": (7, 6)}, 5 * 6 * 7),
        (("Einsum", ["x", "z"], {"equation": "bij,bjk->bik"}), {"x": [2, 3, 4], "z": [2, 4, 5]}, {}, 120),
        (("LSTM", ["x", "w", "r"], {"hidden_size": 3}), {"x": [5, 2, 4]},
         {"w": (1, 12, 4), "r": (1, 12, 3)}, 10 * (48 + 36)),
        (("Relu", ["x"], {}), {"x": [4]}, {}, 0),
    ],
)  # fmt: skip
def test_macs_follow_the_definition(
    tmp_path: Path,
    node: tuple[str, list[str], dict[str, object]],
    inputs: dict[str, list[object]],
    weights: dict[str, tuple[int, ...]],
    macs: int,
) -> None:
    op, names, attributes = node
    graph = graph_of(tmp_path, [helper.make_node(op, names, ["y"], **attributes)], inputs, weights)
    assert node_costs(graph).macs.tolist() == [macs]


def test_attention_counts_both_products(tmp_path: Path) -> None:
    node = helper.make_node("Attention", ["q", "k", "v"], ["y"], q_num_heads=4, kv_num_heads=4)
    shapes: dict[str, list[object]] = {"q": [1, 8, 64], "k": [1, 6, 64], "v": [1, 6, 64]}
    graph = graph_of(tmp_path, [node], shapes, opset=23)
    assert node_costs(graph).total_macs == 4 * 8 * 6 * (16 + 16)


def test_a_symbolic_batch_is_taken_as_one_and_said_so(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path, [helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": ["N", 6]}, {"w": (6, 7)}
    )
    costs = node_costs(graph)
    assert (costs.total_macs, costs.assumed_dims) == (42, {"N": 1})
    assert node_costs(graph, dims={"N": 3}).total_macs == 3 * 42
    assert node_costs(graph, batch=None).macs.tolist() == [-1]


def test_other_symbols_leave_the_macs_unknown(tmp_path: Path) -> None:
    for dims in (["N", "sequence", 6], ["sequence", 6]):
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
        costs = node_costs(graph_of(tmp_path, nodes, {"x": dims}, {"w": (6, 7)}))
        assert costs.macs.tolist() == [-1] and costs.unknown_macs == 1


def test_unknown_operators_are_unknown_not_free(tmp_path: Path) -> None:
    nodes = [helper.make_node("Magic", ["x"], ["y"], domain="com.example")]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", FLOAT, [2])],
        [helper.make_tensor_value_info("y", FLOAT, [2])],
    )  # fmt: skip
    onnx.save(helper.make_model(graph), str(tmp_path / "u.onnx"))
    opened = open_graph(tmp_path / "u.onnx")
    assert node_costs(opened).macs.tolist() == [-1]
    assert summarize(opened).macs is None


def test_peak_memory_is_by_liveness(tmp_path: Path) -> None:
    """a and x are alive at the first node, a+b at the second, a+b+c at the Add."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Add", ["a", "b"], ["c"]),
        helper.make_node("ReduceSum", ["c"], ["y"]),
    ]
    costs = node_costs(graph_of(tmp_path, nodes, {"x": [10]}))
    assert costs.live_bytes.tolist() == [80, 80, 120, 44]
    assert (costs.peak_activation_bytes, costs.peak_node) == (120, 2)


def test_bodies_count_at_the_node_that_runs_them(tmp_path: Path) -> None:
    def branch(name: str, repeat: int) -> onnx.GraphProto:
        nodes = [
            helper.make_node("MatMul", ["x" if i == 0 else f"{name}{i - 1}", "w"], [f"{name}{i}"])
            for i in range(repeat)
        ]
        out = helper.make_tensor_value_info(f"{name}{repeat - 1}", FLOAT, [6, 6])
        return helper.make_graph(nodes, name, [], [out])

    node = helper.make_node("If", ["c"], ["y"], then_branch=branch("t", 1), else_branch=branch("e", 2))
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info("x", FLOAT, [6, 6]),
         helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", FLOAT, [6, 6])],
        [numpy_helper.from_array(np.zeros((6, 6), np.float32), "w")],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), str(tmp_path / "i.onnx"))
    costs = node_costs(open_graph(tmp_path / "i.onnx"))
    assert costs.total_macs == 2 * 216  # the dearer branch


def test_summary_counts_parameters_and_not_shapes(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["r"]),
        helper.make_node("MatMul", ["r", "w"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", FLOAT, ["N", 2, 3])],
        [helper.make_tensor_value_info("y", FLOAT, None)],
        [numpy_helper.from_array(np.array([-1, 6]), "shape"),
         numpy_helper.from_array(np.zeros((6, 7), np.float32), "w")],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), str(tmp_path / "s.onnx"))
    summary = summarize(open_graph(tmp_path / "s.onnx"))
    assert (summary.parameters, summary.weight_bytes) == (42, 42 * 4 + 16)
    assert summary.operators == {"MatMul": 1, "Reshape": 1}
    assert summary.symbolic_dims[:1] == ("N",)
    assert summary.inputs[0].shape == ("N", 2, 3)
