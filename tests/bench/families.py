"""Three families of graphs, of any size, as ONNX files: what the graph benches draw.

`resnet`: chains with short skips. `xfm`: transformers after decomposition, with LayerNorm in pieces,
rotary embedding, a mask that every layer reads, and shape subgraphs. `unet`: long skips.
Weights are tiny and inline: the topology is what costs. With `scoped`, node names carry paths
(`/layers.3/attention/MatMul`), as exporters write them; without, a viewer has to find blocks itself.

    python tests/bench/families.py xfm 10000 /tmp/xfm-10k.onnx
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    """Collects nodes; every op returns the name of its first output."""

    def __init__(self, scoped: bool) -> None:
        self.scoped = scoped
        self.scope = ""
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, onnx.TensorProto] = {}
        self.used: dict[str, int] = {}

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attributes: object) -> str:
        path = f"{self.scope}/{kind}" if self.scoped else f"/{kind}"
        number = self.used[path] = self.used.get(path, -1) + 1
        name = f"{path}_{number}" if number else path
        made = [f"{name}_output_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), made, name=name, **attributes))
        return made[0]

    def weight(self, name: str, value: np.ndarray) -> str:
        self.weights.setdefault(name, numpy_helper.from_array(value, name))
        return name

    def model(self, inputs: list[tuple[str, int, list[object]]], outputs: list[str]) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "family",
            [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs],
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs],
            list(self.weights.values()),
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def resnet(size: int, scoped: bool = True) -> onnx.ModelProto:
    """About `size` nodes: bottleneck blocks of 7 nodes with a skip, one in eight with a projection."""
    b = Builder(scoped)
    kernel = b.weight("kernel", np.zeros((4, 4, 1, 1), np.float32))
    x = b.op("Conv", "image", kernel)
    block = 0
    while len(b.nodes) < size - 2:
        b.scope = f"/layer{block // 8}/layer{block // 8}.{block % 8}"
        skip = x
        for _ in range(2):
            x = b.op("Relu", b.op("Conv", x, kernel))
        x = b.op("Conv", x, kernel)
        if block % 8 == 0:
            skip = b.op("Conv", skip, kernel)
        x = b.op("Relu", b.op("Add", x, skip))
        block += 1
    b.scope = ""
    x = b.op("Flatten", b.op("GlobalAveragePool", x))
    return b.model([("image", TensorProto.FLOAT, ["N", 4, 8, 8])], [x])


def xfm(size: int, scoped: bool = True) -> onnx.ModelProto:
    """About `size` nodes: pre-norm transformer layers of 98 nodes, as torch and optimum export them."""
    b = Builder(scoped)
    w = b.weight("w", np.zeros((8, 8), np.float32))
    scale = b.weight("scale", np.ones((8,), np.float32))
    one = b.weight("one", np.array(1, np.float32))
    half = b.weight("half", np.array([4], np.int64))
    zero = b.weight("zero", np.array([0], np.int64))
    end = b.weight("end", np.array([8], np.int64))
    last = b.weight("last", np.array([-1], np.int64))
    index = b.weight("index", np.array(0, np.int64))
    table = b.weight("table", np.zeros((16, 8), np.float32))
    b.scope = "/embeddings"
    x = b.op("Gather", table, "input_ids")
    b.scope = "/mask"
    mask = b.op("Cast", b.op("Unsqueeze", "attention_mask", zero), to=TensorProto.FLOAT)
    mask = b.op("Mul", b.op("Sub", one, mask), b.weight("minus", np.array(-1e4, np.float32)))
    b.scope = "/rotary"
    cos = b.op("Cos", b.op("MatMul", x, w))
    sin = b.op("Sin", b.op("MatMul", x, w))

    def norm(x: str) -> str:
        d = b.op("Sub", x, b.op("ReduceMean", x))
        v = b.op("Sqrt", b.op("Add", b.op("ReduceMean", b.op("Mul", d, d)), one))
        return b.op("Add", b.op("Mul", b.op("Div", d, v), scale), scale)

    def shape_of(x: str) -> str:
        s = b.op("Shape", x)
        a = b.op("Unsqueeze", b.op("Gather", s, index), zero)
        c = b.op("Unsqueeze", b.op("Gather", b.op("Shape", x), index), zero)
        return b.op("Concat", a, c, last, axis=0)

    def heads(x: str) -> str:
        x = b.op("Add", b.op("MatMul", x, w), scale)
        return b.op("Transpose", b.op("Reshape", x, shape_of(x)))

    def rotate(x: str) -> str:
        left, right = b.op("Slice", x, zero, half, last), b.op("Slice", x, half, end, last)
        turned = b.op("Concat", b.op("Neg", right), left, axis=-1)
        return b.op("Add", b.op("Mul", x, cos), b.op("Mul", turned, sin))

    layer = 0
    while len(b.nodes) < size - 9:
        root = f"/layers.{layer}"
        b.scope = root + "/input_layernorm"
        h = norm(x)
        b.scope = root + "/attention"
        q, k, v = rotate(heads(h)), rotate(heads(h)), heads(h)
        scores = b.op("Div", b.op("MatMul", q, b.op("Transpose", k)), one)
        context = b.op("MatMul", b.op("Softmax", b.op("Add", scores, mask)), v)
        context = b.op("Transpose", context)
        context = b.op("Reshape", context, shape_of(context))
        context = b.op("Add", b.op("MatMul", context, w), scale)
        b.scope = root
        x = b.op("Add", x, context)
        b.scope = root + "/post_layernorm"
        h = norm(x)
        b.scope = root + "/mlp"
        gate = b.op("MatMul", h, w)
        gate = b.op("Mul", gate, b.op("Sigmoid", gate))
        h = b.op("MatMul", b.op("Mul", gate, b.op("MatMul", h, w)), w)
        b.scope = root
        x = b.op("Add", x, h)
        layer += 1
    b.scope = "/norm"
    x = norm(x)
    return b.model(
        [("input_ids", TensorProto.INT64, ["N", "L"]), ("attention_mask", TensorProto.INT64, ["N", "L"])],
        [x],
    )


def unet(size: int, scoped: bool = True) -> onnx.ModelProto:
    """About `size` nodes: as many levels as it takes, each with 18 nodes down, 20 up, and a skip across."""
    b = Builder(scoped)
    kernel = b.weight("kernel", np.zeros((4, 4, 1, 1), np.float32))
    wide = b.weight("wide", np.zeros((4, 8, 1, 1), np.float32))
    scale = b.weight("scale", np.ones((4,), np.float32))

    def unit(x: str, weight: str) -> str:
        x = b.op("Conv", x, weight)
        x = b.op("InstanceNormalization", x, scale, scale)
        return b.op("Mul", x, b.op("Sigmoid", x))

    levels = max((size - 10) // 38, 1)
    x = b.op("Conv", "image", kernel)
    skips = []
    for level in range(levels):
        b.scope = f"/down.{level}"
        y = unit(x, kernel)
        for _ in range(3):
            y = unit(y, kernel)
        x = b.op("Add", x, y)
        skips.append(x)
        x = b.op("MaxPool", x, kernel_shape=[1, 1])
    b.scope = "/middle"
    x = unit(unit(x, kernel), kernel)
    for level in range(levels - 1, -1, -1):
        b.scope = f"/up.{level}"
        x = b.op("Relu", x)
        x = b.op("Concat", x, skips[level], axis=1)
        y = x = unit(x, wide)
        for _ in range(3):
            y = unit(y, kernel)
        x = b.op("Add", x, y)
    b.scope = ""
    x = b.op("Conv", x, kernel)
    return b.model([("image", TensorProto.FLOAT, ["N", 4, 8, 8])], [x])


FAMILIES = {"resnet": resnet, "xfm": xfm, "unet": unet}


def write_family(name: str, size: int, path: Path, *, scoped: bool = True) -> int:
    """Writes the model and returns how many nodes it really has."""
    model = FAMILIES[name](size, scoped)
    path.write_bytes(model.SerializeToString())
    return len(model.graph.node)


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in FAMILIES:
        sys.exit("usage: families.py resnet|xfm|unet NODES FILE [flat]")
    count = write_family(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), scoped="flat" not in sys.argv[4:])
    print(f"{sys.argv[3]}: {count} nodes")
