"""Small ONNX files for tests of the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def conv_net(path: Path, *, batch: int | str = 1, side: int | str = 16, opset: int = 18) -> Path:
    """Conv → Relu → Conv → GlobalAveragePool → Flatten, 3×side×side → 4, random weights of seed 0."""
    random = np.random.default_rng(0)
    first = numpy_helper.from_array(random.normal(0, 0.3, (8, 3, 3, 3)).astype("f"), "w1")
    second = numpy_helper.from_array(random.normal(0, 0.3, (4, 8, 3, 3)).astype("f"), "w2")
    node = helper.make_node
    graph = helper.make_graph(
        [
            node("Conv", ["image", "w1"], ["a"], name="conv1", pads=[1, 1, 1, 1]),
            node("Relu", ["a"], ["b"], name="relu"),
            node("Conv", ["b", "w2"], ["c"], name="conv2", pads=[1, 1, 1, 1]),
            node("GlobalAveragePool", ["c"], ["d"], name="pool"),
            node("Flatten", ["d"], ["scores"], name="flat"),
        ],
        "tiny",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [batch, 3, side, side])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [batch, 4])],
        [first, second],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 9
    onnx.save(model, path)
    return path


def strange(path: Path) -> Path:
    """Relu → an operator of a domain that nobody knows."""
    node = helper.make_node
    graph = helper.make_graph(
        [node("Relu", ["x"], ["y"], name="relu"), node("Swirl", ["y"], ["z"], name="odd", domain="acme")],
        "strange",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 4])],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("acme", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets), path)
    return path
