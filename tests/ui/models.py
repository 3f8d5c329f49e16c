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
