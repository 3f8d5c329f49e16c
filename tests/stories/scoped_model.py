"""An ONNX model with scopes, blocks that are alike, a long skip and an open dim, for stories."""

from __future__ import annotations

from pathlib import Path

import numpy as np

WIDE = 8


def save_layers(path: Path, *, layers: int = 6, scale: float = 0.5, extra: str = "") -> Path:
    """`/stem/Neg`, layers of MatMul → Mul → Softmax → MatMul → Add, and a skip from the stem to the end."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(0)
    nodes = [helper.make_node("Neg", ["x"], ["stem"], name="/stem/Neg")]
    weights = [numpy_helper.from_array(np.float32(scale), "scale")]
    last = "stem"
    for k in range(layers):
        for word in ("q", "v"):
            array = rng.normal(0, 0.3, (WIDE, WIDE)).astype(np.float32)
            weights.append(numpy_helper.from_array(array, f"w{word}{k}"))
        at = f"/layers.{k}"
        nodes += [
            helper.make_node("MatMul", [last, f"wq{k}"], [f"a{k}"], name=f"{at}/score/MatMul"),
            helper.make_node("Mul", [f"a{k}", "scale"], [f"b{k}"], name=f"{at}/score/Mul"),
            helper.make_node("Softmax", [f"b{k}"], [f"c{k}"], name=f"{at}/score/Softmax", axis=-1),
            helper.make_node("MatMul", [f"c{k}", f"wv{k}"], [f"d{k}"], name=f"{at}/MatMul"),
            helper.make_node("Add", [f"d{k}", last], [f"e{k}"], name=f"{at}/Add"),
        ]
        last = f"e{k}"
    if extra:
        nodes.append(helper.make_node(extra, [last], ["more"], name=f"/head/{extra}"))
        last = "more"
    nodes.append(helper.make_node("Add", [last, "stem"], ["y"], name="/head/Add"))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "layers", [info("x", TensorProto.FLOAT, ["N", WIDE])],
        [info("y", TensorProto.FLOAT, ["N", WIDE])], weights,
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(onnx.shape_inference.infer_shapes(model), str(path))
    return path
