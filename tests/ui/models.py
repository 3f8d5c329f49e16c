"""Tiny ONNX models for tests of the window, written with the onnx package."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def save_model(path: Path, *, with_foreign_op: bool = True) -> Path:
    """Conv → Relu → [com.acme.Warp] → GlobalAveragePool, saved at `path`."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(0)
    weights = numpy_helper.from_array(rng.normal(size=(4, 3, 3, 3)).astype(np.float32), "w")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
    ]
    last = "b"
    if with_foreign_op:
        nodes.append(helper.make_node("Warp", ["b"], ["c"], name="warp", domain="com.acme", power=2))
        last = "c"
    nodes.append(helper.make_node("GlobalAveragePool", [last], ["y"], name="pool"))
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 1, 1])],
        [weights],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), str(path))
    return path


def save_branches(path: Path) -> Path:
    """A model with an If, a symbolic dim, and two blocks that are alike."""
    import onnx
    from onnx import TensorProto, helper

    info = helper.make_tensor_value_info
    branches = {
        f"{word}_branch": helper.make_graph(
            [helper.make_node(op, ["d"], [word], name=f"inner_{op}")], word, [], [info(word, 1, ["N", 4])]
        )
        for word, op in (("then", "Sigmoid"), ("else", "Tanh"))
    }
    nodes = [
        helper.make_node("Neg", ["x"], ["s"], name="stem"),
        helper.make_node("Relu", ["s"], ["a"], name="/block1/Relu"),
        helper.make_node("Exp", ["a"], ["b"], name="/block1/Exp"),
        helper.make_node("Relu", ["b"], ["c"], name="/block2/Relu"),
        helper.make_node("Exp", ["c"], ["d"], name="/block2/Exp"),
        helper.make_node("If", ["go"], ["y"], name="choice", **branches),
    ]
    inputs = [info("x", TensorProto.FLOAT, ["N", 4]), info("go", TensorProto.BOOL, [])]
    graph = helper.make_graph(nodes, "branches", inputs, [info("y", TensorProto.FLOAT, ["N", 4])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    return path
