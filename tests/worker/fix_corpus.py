"""Small models of every kind that fixes are offered for, each in the shape an exporter would write it.

`build(name)` makes one; `NAMES` are all. Nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

N = helper.make_node
Model = onnx.ModelProto
Shape = Sequence[int | str]
_RNG = np.random.default_rng(5)


def array(name: str, *shape: int, dtype: type = np.float32) -> TensorProto:
    return numpy_helper.from_array((_RNG.standard_normal(shape) * 0.5).astype(dtype), name)


def value(name: str, content: object, dtype: type = np.float32) -> TensorProto:
    return numpy_helper.from_array(np.array(content, dtype), name)


def whole(name: str, *content: int) -> TensorProto:
    return value(name, content, np.int64)


def model(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, Shape],
    outputs: Sequence[str],
    constants: Sequence[TensorProto] = (),
    *,
    opset: int = 18,
    kind: int = TensorProto.FLOAT,
    inferred: bool = True,
) -> Model:
    """A model of these nodes, its intermediate shapes written down as exporters do."""
    for i, node in enumerate(nodes):
        node.name = node.name or f"{node.op_type}_{i}"
    graph = helper.make_graph(
        nodes,
        "corpus",
        [helper.make_tensor_value_info(n, kind, s) for n, s in inputs.items()],
        [helper.make_empty_tensor_value_info(n) for n in outputs],
        initializer=list(constants),
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    shaped = onnx.shape_inference.infer_shapes(made, data_prop=True)
    if not inferred:
        del shaped.graph.value_info[:]
    return shaped


def one(
    op: str, shape: Shape, *constants: TensorProto, opset: int = 18, kind: int = 1, **attributes: object
) -> Model:
    """One operator on x, then the constants as its other inputs."""
    node = N(op, ["x", *(c.name for c in constants)], ["y"], **attributes)
    return model([node], {"x": shape}, ["y"], constants, opset=opset, kind=kind)


def between(op: str, *constants: TensorProto, opset: int = 18, **attributes: object) -> Model:
    """The operator between two convolutions: what stands around it is taken, it may not be."""
    nodes = [
        N("Conv", ["x", "w1"], ["a"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        N(op, ["a", *(c.name for c in constants)], ["b"], **attributes),
        N("Conv", ["b", "w2"], ["y"], kernel_shape=[1, 1]),
    ]
    weights = [array("w1", 4, 3, 3, 3), array("w2", 2, 4, 1, 1)]
    return model(nodes, {"x": [1, 3, 8, 8]}, ["y"], [*weights, *constants], opset=opset)


def tcn(*, old: bool = False, computed: bool = False) -> Model:
    """Dilated 1-D convolutions with BatchNorm, a residual each. `old`: as opset 9 and IR 3 wrote it."""
    nodes: list[onnx.NodeProto] = []
    constants: list[TensorProto] = []
    last = "x"
    for i in range(3):
        weight = f"w{i}"
        if computed:
            nodes.append(
                N(
                    "Transpose",
                    [
                        "x_w",
                    ],
                    [weight],
                    perm=[0, 1, 2],
                )
            )
        else:
            constants.append(array(weight, 8, 8, 3))
        constants += [array(f"{p}{i}", 8) for p in ("scale", "bias", "mean")]
        constants.append(value(f"var{i}", _RNG.uniform(0.5, 2, 8)))
        pad = 2**i
        nodes += [
            N("Conv", [last, weight], [f"c{i}"], kernel_shape=[3], dilations=[pad], pads=[pad, pad]),
            N("BatchNormalization", [f"c{i}", f"scale{i}", f"bias{i}", f"mean{i}", f"var{i}"], [f"n{i}"]),
            N("Relu", [f"n{i}"], [f"r{i}"]),
            N("Add", [last, f"r{i}"], [f"x{i}"]),
        ]
        last = f"x{i}"
    inputs: dict[str, Shape] = {"x": [1, 8, 32], **({"x_w": [8, 8, 3]} if computed else {})}
    made = model(nodes, inputs, [last], constants, opset=9 if old else 18)
    if old:  # IR 3: every initializer is an input too
        made.ir_version = 3
        made.graph.input.extend(
            helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in made.graph.initializer
        )
    return made


def transformer(*, opset: int, mask: float, dims: Shape = (1, 6, 16)) -> Model:
    """LayerNorm, attention with a causal mask, LayerNorm, a Gelu feed-forward."""
    d = 16
    nodes = [N("LayerNormalization", ["x", "g1", "b1"], ["n1"])]
    for part in "qkv":
        nodes += [
            N("MatMul", ["n1", f"w{part}"], [f"{part}0"]),
            N("Reshape", [f"{part}0", "heads"], [f"{part}1"]),
            N("Transpose", [f"{part}1"], [part], perm=[0, 2, 3, 1] if part == "k" else [0, 2, 1, 3]),
        ]
    nodes += [
        N("MatMul", ["q", "k"], ["s0"]), N("Mul", ["s0", "root"], ["s1"]), N("Add", ["s1", "mask"], ["s2"]),
        N("Softmax", ["s2"], ["p"], axis=-1), N("MatMul", ["p", "v"], ["a0"]),
        N("Transpose", ["a0"], ["a1"], perm=[0, 2, 1, 3]), N("Reshape", ["a1", "flat"], ["a2"]),
        N("MatMul", ["a2", "wo"], ["a3"]), N("Add", ["x", "a3"], ["h"]),
        N("LayerNormalization", ["h", "g2", "b2"], ["n2"]), N("MatMul", ["n2", "f1"], ["m0"]),
    ]  # fmt: skip
    nodes += [N("Gelu", ["m0"], ["m1"])] if opset >= 20 else [N("Erf", ["m0"], ["m1"])]
    nodes += [N("MatMul", ["m1", "f2"], ["m2"]), N("Add", ["h", "m2"], ["y"])]
    causal = np.where(np.triu(np.ones((6, 6)), 1) > 0, mask, 0)
    constants = [
        *(array(n, d) for n in ("g1", "b1", "g2", "b2")), *(array(f"w{p}", d, d) for p in "qkvo"),
        array("f1", d, 2 * d), array("f2", 2 * d, d), value("root", 0.5), value("mask", causal),
        whole("heads", 0, 6, 4, 4), whole("flat", 0, 6, 16),
    ]  # fmt: skip
    return model(nodes, {"x": dims}, ["y"], constants, opset=opset)


def yolo_head() -> Model:
    """Reshape to 5-D, Transpose, Sigmoid, anchors and grid by broadcasting, as YOLOv5 to v7 export it."""
    nodes = [
        N("Conv", ["x", "w"], ["c"], kernel_shape=[1, 1]),
        N("Reshape", ["c", "five"], ["r"]),
        N("Transpose", ["r"], ["t"], perm=[0, 1, 3, 4, 2]),
        N("Sigmoid", ["t"], ["s"]),
        N("Mul", ["s", "anchors"], ["m"]),
        N("Add", ["m", "grid"], ["g"]),
        N("Reshape", ["g", "flat"], ["y"]),
    ]
    constants = [
        array("w", 18, 4, 1, 1), whole("five", 1, 3, 6, 4, 4), whole("flat", 1, 48, 6),
        array("anchors", 1, 3, 1, 1, 6), array("grid", 1, 1, 4, 4, 6),
    ]  # fmt: skip
    return model(nodes, {"x": [1, 4, 4, 4]}, ["y"], constants)


def detector(tail: str) -> Model:
    """A convolution, scores, and a selecting operator at the end."""
    nodes = [
        N("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        N("Relu", ["c"], ["r"]),
        N("Reshape", ["r", "flat"], ["f"]),
    ]
    constants = [array("w", 4, 3, 3, 3), whole("flat", 1, 4, 64), whole("k", 5), value("half", 0.5)]
    if tail == "TopK":
        nodes.append(N("TopK", ["f", "k"], ["y", "i"], axis=-1))
    elif tail == "NonZero":
        nodes += [N("Greater", ["f", "half"], ["b"]), N("NonZero", ["b"], ["y"])]
    else:
        nodes += [
            N("Transpose", ["f"], ["boxes"], perm=[0, 2, 1]),
            N("ReduceMax", ["f", "one"], ["s"], keepdims=1),
            N("NonMaxSuppression", ["boxes", "s", "k1", "half", "half"], ["y"]),
        ]
        constants += [whole("one", 1), value("k1", [5], np.int64)]
    return model(nodes, {"x": [1, 3, 8, 8]}, ["y"], constants)


def quantised_head(*, returned: bool) -> Model:
    """Boxes in 0 … 640 and scores in 0 … 1 that share the scale of one Concat."""
    nodes = [
        N("Sigmoid", ["x"], ["p"]), N("Mul", ["p", "big"], ["b"]),
        N("QuantizeLinear", ["b", "s", "z"], ["bq"]), N("DequantizeLinear", ["bq", "s", "z"], ["bd"]),
        N("QuantizeLinear", ["p", "t", "z"], ["pq"]), N("DequantizeLinear", ["pq", "t", "z"], ["pd"]),
        N("Concat", ["bd", "pd"], ["c"], axis=1),
        N("QuantizeLinear", ["c", "s", "z"], ["yq"]), N("DequantizeLinear", ["yq", "s", "z"], ["y"]),
    ]  # fmt: skip
    if not returned:
        nodes.append(N("Relu", ["y"], ["last"]))
    constants = [value("big", 640.0), value("s", 2.51), value("t", 0.0039), value("z", 0, np.uint8)]
    return model(nodes, {"x": [1, 4, 20]}, ["y" if returned else "last"], constants)


def quantised_transposed() -> Model:
    """ConvTranspose with weights quantized per channel along axis 0."""
    nodes = [
        N("QuantizeLinear", ["x", "s", "z"], ["xq"]), N("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        N("DequantizeLinear", ["wq", "ws", "wz"], ["wd"], axis=0),
        N("ConvTranspose", ["xd", "wd"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        N("QuantizeLinear", ["c", "s", "z"], ["yq"]), N("DequantizeLinear", ["yq", "s", "z"], ["y"]),
    ]  # fmt: skip
    constants = [
        value("s", 0.05), value("z", 128, np.uint8), value("ws", [0.01] * 3), value("wz", [0] * 3, np.int8),
        numpy_helper.from_array(_RNG.integers(-90, 90, (3, 4, 3, 3)).astype(np.int8), "wq"),
    ]  # fmt: skip
    return model(nodes, {"x": [1, 3, 8, 8]}, ["y"], constants)


def lstm() -> Model:
    """An LSTM over a symbolic batch, and a Gemm on its last state."""
    nodes = [
        N("LSTM", ["x", "w", "r", "b"], ["all", "last", "cell"], hidden_size=8),
        N("Squeeze", ["last", "zero"], ["h"]),
        N("Gemm", ["h", "fc"], ["y"]),
    ]
    constants = [
        array("w", 1, 32, 4),
        array("r", 1, 32, 8),
        array("b", 1, 64),
        whole("zero", 0),
        array("fc", 8, 3),
    ]
    return model(nodes, {"x": [5, "N", 4]}, ["y"], constants)


def in_a_body() -> Model:
    """A HardSwish inside the branches of an If."""
    y = helper.make_tensor_value_info("b", TensorProto.FLOAT, [1, 4])
    yes = helper.make_graph([N("HardSwish", ["x"], ["b"], name="inner")], "yes", [], [y])
    no = helper.make_graph([N("Relu", ["x"], ["b"], name="other")], "no", [], [y])
    nodes = [
        N("ReduceSum", ["x"], ["t"], keepdims=0), N("Greater", ["t", "zero"], ["c"]),
        N("If", ["c"], ["y"], then_branch=yes, else_branch=no),
    ]  # fmt: skip
    return model(nodes, {"x": [1, 4]}, ["y"], [value("zero", 0.0)])


def in_a_function() -> Model:
    """A HardSwish inside a local function, as torch's exporter wraps modules."""
    made = model([N("Relu", ["x"], ["a"])], {"x": [1, 3, 8, 8]}, ["a"])
    body = [N("HardSwish", ["v"], ["w"], name="inner")]
    sets = [helper.make_opsetid("", 18)]
    made.functions.append(helper.make_function("my.net", "Act", ["v"], ["w"], body, sets))
    made.opset_import.append(helper.make_opsetid("my.net", 1))
    made.graph.node.append(N("Act", ["a"], ["y"], domain="my.net", name="act"))
    del made.graph.output[:]
    made.graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3, 8, 8]))
    return made


def rows_found() -> Model:
    """A dim that only NonZero knows: no input is symbolic."""
    nodes = [N("NonZero", ["x"], ["i"]), N("Cast", ["i"], ["f"], to=1), N("Relu", ["f"], ["y"])]
    return model(nodes, {"x": [3, 4]}, ["y"])


def dynamic_quantised() -> Model:
    """A dynamically quantized product, as quantize_dynamic writes it."""
    nodes = [
        N("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        N("MatMulInteger", ["q", "w", "z", "wz"], ["m"]),
        N("Cast", ["m"], ["f"], to=1), N("Mul", ["s", "ws"], ["sw"]), N("Mul", ["f", "sw"], ["y"]),
    ]  # fmt: skip
    weight = numpy_helper.from_array(_RNG.integers(-90, 90, (8, 4)).astype(np.int8), "w")
    return model(nodes, {"x": [2, 8]}, ["y"], [weight, value("wz", 0, np.int8), value("ws", 0.01)])


def resized(mode: str, coordinates: str, factor: float, **attributes: object) -> Model:
    """Resize between two convolutions."""
    nodes = [
        N("Conv", ["x", "w1"], ["a"], kernel_shape=[1, 1]),
        N(
            "Resize",
            ["a", "", "s"],
            ["b"],
            mode=mode,
            coordinate_transformation_mode=coordinates,
            **attributes,
        ),
        N("Conv", ["b", "w2"], ["y"], kernel_shape=[1, 1]),
    ]
    constants = [array("w1", 4, 3, 1, 1), array("w2", 2, 4, 1, 1), value("s", [1, 1, factor, factor])]
    return model(nodes, {"x": [1, 3, 6, 6]}, ["y"], constants)


def attention23(**attributes: object) -> Model:
    node = N("Attention", ["q", "k", "v"], ["y"], q_num_heads=4, kv_num_heads=4, **attributes)
    return model([node], {n: [1, 8, 32] for n in "qkv"}, ["y"], opset=23)


def half(made: Model) -> Model:
    """The same model in float16."""
    for tensor in made.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(
                numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name)
            )
    for info in [*made.graph.input, *made.graph.output, *made.graph.value_info]:
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = TensorProto.FLOAT16
    return made


def einsum(equation: str, a: Shape, b: Shape) -> Model:
    return model([N("Einsum", ["a", "b"], ["y"], equation=equation)], {"a": a, "b": b}, ["y"])


def mean(axes: Sequence[int], **attributes: object) -> Model:
    nodes = [
        N("Conv", ["x", "w"], ["c"], kernel_shape=[1, 1]),
        N("ReduceMean", ["c", "axes"], ["y"], **attributes),
    ]
    return model(nodes, {"x": [1, 3, 6, 6]}, ["y"], [array("w", 4, 3, 1, 1), whole("axes", *axes)])


def norm_parameters() -> list[TensorProto]:
    return [array("g", 4), array("b", 4), array("m", 4), value("v", [1, 2, 1, 0.5])]


def topk_alone() -> Model:
    return model([N("TopK", ["x", "k"], ["y", "i"])], {"x": [1, 9]}, ["y", "i"], [whole("k", 3)])


def parsed(text: str, *, opset: int) -> Model:
    """A model in the notation of `onnx.printer`, for inputs of several types."""
    made = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}]> corpus {text}')
    for i, node in enumerate(made.graph.node):
        node.name = node.name or f"{node.op_type}_{i}"
    return made


_BUILDERS: dict[str, Callable[[], Model]] = {
    "tcn": tcn,
    "tcn-opset9": lambda: tcn(old=True),
    "tcn-half": lambda: half(tcn()),
    "tcn-computed-weights": lambda: tcn(computed=True),
    "transformer-17": lambda: transformer(opset=17, mask=-1e4),
    "transformer-20": lambda: transformer(opset=20, mask=-1e4),
    "transformer-infinite-mask": lambda: transformer(opset=20, mask=-np.inf),
    "transformer-batches": lambda: transformer(opset=20, mask=-1e4, dims=("N", 6, 16)),
    "transformer-half": lambda: half(transformer(opset=20, mask=-1e4)),
    "yolo-head": yolo_head,
    "detector-topk": lambda: detector("TopK"),
    "detector-nonzero": lambda: detector("NonZero"),
    "detector-nms": lambda: detector("NonMaxSuppression"),
    "topk-alone": topk_alone,
    "head-quantised": lambda: quantised_head(returned=True),
    "head-quantised-inside": lambda: quantised_head(returned=False),
    "transposed-quantised": quantised_transposed,
    "lstm": lstm,
    "in-a-body": in_a_body,
    "in-a-function": in_a_function,
    "rows-found": rows_found,
    "dynamic-quantised": dynamic_quantised,
    "resize-nearest-half-pixel": lambda: resized("nearest", "half_pixel", 2.0),
    "resize-nearest-half-pixel-floor": lambda: resized("nearest", "half_pixel", 2.0, nearest_mode="floor"),
    "resize-nearest-odd-factor": lambda: resized("nearest", "half_pixel", 1.5),
    "resize-nearest-prefer-floor": lambda: resized("nearest", "asymmetric", 2.0),
    "resize-nearest-prefer-floor-3": lambda: resized("nearest", "asymmetric", 3.0),
    "resize-pytorch": lambda: resized("linear", "pytorch_half_pixel", 2.0),
    "resize-pytorch-to-one": lambda: resized("linear", "pytorch_half_pixel", 1 / 6),
    "resize-cubic": lambda: resized("cubic", "pytorch_half_pixel", 2.0),
    "attention": lambda: attention23(),
    "attention-causal": lambda: attention23(is_causal=1),
    "hardswish": lambda: between("HardSwish"),
    "hardsigmoid": lambda: between("HardSigmoid", alpha=1 / 6),
    "hardsigmoid-half": lambda: half(between("HardSigmoid", alpha=1 / 6)),
    "gelu-tanh": lambda: between("Gelu", opset=20, approximate="tanh"),
    "layernorm-one-axis": lambda: one("LayerNormalization", [2, 3, 8], array("g", 8), axis=-1, epsilon=1e-3),
    "batchnorm": lambda: one("BatchNormalization", [2, 4, 5, 5], *norm_parameters()),
    "einsum-heads": lambda: einsum("bqhd,bkhd->bhqk", [1, 3, 2, 4], [1, 5, 2, 4]),
    "einsum-diagonal": lambda: einsum("ii,ij->j", [3, 3], [3, 4]),
    "einsum-outer": lambda: einsum("i,j->ij", [3], [4]),
    "mean-picture": lambda: mean([2, 3], keepdims=0),
    "mean-channels": lambda: mean([1]),
    "rank5-sigmoid": lambda: one("Sigmoid", [1, 3, 4, 4, 5]),
    "rank5-transpose": lambda: one("Transpose", [1, 3, 6, 4, 4], perm=[0, 1, 3, 4, 2]),
    "rank5-transpose-all": lambda: one("Transpose", [2, 3, 6, 4, 5], perm=[4, 3, 2, 1, 0]),
    "rank6-transpose": lambda: one("Transpose", [1, 2, 2, 3, 4, 4], perm=[0, 3, 4, 1, 5, 2]),
    "rank5-no-shape": lambda: one("Sigmoid", [1, 3, "H", 4, 5]),
    "conv-opset9": lambda: one("Conv", [1, 3, 8, 8], array("w", 4, 3, 3, 3), opset=9, kernel_shape=[3, 3]),
    "conv3d-opset9": lambda: one("Conv", [1, 2, 4, 6, 6], array("w", 4, 2, 3, 3, 3), opset=9),
    "conv-symbolic": lambda: one("Conv", ["N", 3, "H", "W"], array("w", 4, 3, 3, 3), kernel_shape=[3, 3]),
    "softmax-newest": lambda: one("Softmax", [1, 8], opset=onnx.defs.onnx_opset_version()),
    "split-as-told": lambda: parsed(
        "(float[n] x, int64[3] sizes) => (int64 y) { s = SplitToSequence(x, sizes) y = SequenceLength(s) }",
        opset=12,
    ),
    "reshape-as-told": lambda: parsed(
        "(float[n,4] x, int64[2] shape) => (float[a,b] y) { r = Reshape(x, shape) y = Relu(r) }", opset=17
    ),
    "regions": lambda: parsed(
        "(float[1,2,8,8] x, float[3,4] boxes, int64[3] at) => (float[3,2,2,2] y)"
        "{ y = RoiAlign<output_height=2, output_width=2>(x, boxes, at) }",
        opset=22,
    ),
    "random-numbers": lambda: parsed(
        "(float[2,8] x) => (float[2,8] y) { r = RandomUniformLike(x) y = Add(x, r) }", opset=22
    ),
    "range-returned": lambda: parsed(
        "(float[2,8] x) => (uint8[2,8] q, float s, uint8 z) { q, s, z = DynamicQuantizeLinear(x) }", opset=18
    ),
    "cast-newest": lambda: one("Cast", [1, 8], opset=onnx.defs.onnx_opset_version(), to=TensorProto.INT32),
}  # fmt: skip
NAMES = tuple(_BUILDERS)


def build(name: str) -> Model:
    """The model of that name."""
    return _BUILDERS[name]()
