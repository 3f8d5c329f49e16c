"""Shapes behind shape arithmetic: known once the sizes are, in files of every opset."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.graph.cost import node_costs
from studio.graph.read_onnx import read_onnx


def ints(name: str, *values: int) -> Any:
    return numpy_helper.from_array(np.array(values, np.int64), name)


def flattened(path: Path, opset: int, more: Sequence[Any] = ()) -> Path:
    """Conv, then twice: Reshape to [batch, channels, −1] by Shape, Slice, Concat; then MatMul."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], "conv")]
    last = "c"
    for turn in "ab":
        nodes += [
            helper.make_node("Shape", [last], [f"{turn}_shape"]),
            helper.make_node("Cast", [f"{turn}_shape"], [f"{turn}_32"], to=TensorProto.INT32),
            helper.make_node("Slice", [f"{turn}_32", "zero", "two", "zero"], [f"{turn}_head"]),
            helper.make_node("Cast", [f"{turn}_head"], [f"{turn}_64"], to=TensorProto.INT64),
            helper.make_node("Concat", [f"{turn}_64", "rest"], [f"{turn}_to"], axis=0),
            helper.make_node("Reshape", [last, f"{turn}_to"], [f"{turn}_flat"], f"reshape_{turn}"),
        ]
        last = f"{turn}_flat"
    nodes += [helper.make_node("MatMul", [last, "m"], ["y"], "matmul"), *more]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, "H", 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(np.ones((5, 3, 3, 3), np.float32), "w"),
            numpy_helper.from_array(np.ones((24, 7), np.float32), "m"),
            ints("zero", 0), ints("two", 2), ints("rest", -1),
        ],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, str(path))
    return path


@pytest.mark.parametrize("opset", [10, 11, 13, 17])
def test_sizes_pass_through_shape_arithmetic_of_every_opset(tmp_path: Path, opset: int) -> None:
    graph = read_onnx(flattened(tmp_path / "net.onnx", opset), dims={"N": 2, "H": 8})
    shapes = dict(zip(graph.tensor_name, graph.tensor_shape))
    assert shapes["a_flat"] == shapes["b_flat"] == (2, 5, 24)
    assert shapes["y"] == (2, 5, 7)
    assert shapes["a_to"] == (3,) and shapes["b_32"] == (3,)
    costs = node_costs(graph)
    assert costs.macs[graph.node_name.index("matmul")] == 2 * 5 * 24 * 7
    assert costs.unknown_macs == 0 and costs.unknown_bytes == 0
    assert graph.node_count == 14, "what is folded for the shapes stays in the graph"


def test_sizes_that_are_open_stay_open(tmp_path: Path) -> None:
    graph = read_onnx(flattened(tmp_path / "net.onnx", 11))
    shape = dict(zip(graph.tensor_name, graph.tensor_shape))["y"]
    assert shape is None or not all(isinstance(dim, int) for dim in shape)


def test_shapes_in_bodies_stay_known(tmp_path: Path) -> None:
    body = helper.make_graph(
        [helper.make_node("Relu", ["c"], ["inner"]), helper.make_node("Neg", ["inner"], ["out"])],
        "body",
        [],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)],
    )
    branch = helper.make_node("If", ["flag"], ["z"], then_branch=body, else_branch=body)
    flag = helper.make_node("Constant", [], ["flag"], value=numpy_helper.from_array(np.array(True)))
    graph = read_onnx(flattened(tmp_path / "net.onnx", 11, (flag, branch)), dims={"N": 2, "H": 8})
    inner = [s for n, s in zip(graph.tensor_name, graph.tensor_shape) if n == "inner"]
    assert inner and all(shape == (2, 5, 6, 4) for shape in inner)


def test_arithmetic_that_would_make_much_is_left_alone(tmp_path: Path) -> None:
    more = [
        helper.make_node("Shape", ["c"], ["s"]),
        helper.make_node("Mul", ["s", "huge"], ["wide"]),
        helper.make_node("ConstantOfShape", ["wide"], ["ones"]),
        helper.make_node("Constant", [], ["huge"], value=numpy_helper.from_array(np.array(10**9))),
    ]
    graph = read_onnx(flattened(tmp_path / "net.onnx", 11, (more[3], *more[:3])), dims={"N": 2, "H": 8})
    assert dict(zip(graph.tensor_name, graph.tensor_shape))["y"] == (2, 5, 7)
