"""PyTorch → ONNX: the operators that torch.onnx's exporter writes for an aten operator.

Source: torch 2.13 `torch.onnx.export(dynamo=True)`, opset 18; only operators with one ONNX
counterpart are sure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from studio.support.op_node import ABSENT, OpNode, OpTensor
from studio.support.predict.aten import base_name, settled
from studio.support.predict.lowering import Lowering, becomes, not_known
from studio.support.versions import since_version

SOURCE = "prediction: torch.onnx.export of torch 2.13, opset 18 (studio/support/predict/torch_to_onnx.py)"
OPSET = 18


def lower(node: OpNode) -> Lowering:
    """What the exporter writes for the torch node."""
    if (found := settled(node, SOURCE, _REMOVED)) is not None:
        return found
    name = base_name(node.op)
    if name in _SAME:
        return becomes(SOURCE, _make(node, _SAME[name]))
    make = _MAKE.get(name)
    if make is None:
        return not_known(f"What {name} becomes in ONNX is not known here.", SOURCE)
    return make(node)


def _make(node: OpNode, op: str, inputs: tuple[OpTensor, ...] | None = None, **attributes: Any) -> OpNode:
    given = node.inputs if inputs is None else inputs
    return replace(
        node,
        op=op,
        domain="",
        opset=OPSET,
        version=since_version(op, "", OPSET),
        attributes=attributes,
        inputs=given,
        producers=tuple(_ONNX_OF.get(base_name(p), "") for p in node.producers),
        consumers=tuple(_ONNX_OF.get(base_name(c), c) for c in node.consumers),
    )


_REMOVED = {"dropout", "detach", "contiguous", "clone", "alias", "identity", "feature_dropout"}
_SAME = {
    "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "abs": "Abs", "exp": "Exp", "log": "Log",
    "sqrt": "Sqrt",
    "neg": "Neg", "sin": "Sin", "cos": "Cos", "floor": "Floor", "ceil": "Ceil", "round": "Round",
    "erf": "Erf",
    "hardswish": "HardSwish", "reciprocal": "Reciprocal", "maximum": "Max", "minimum": "Min",
    "where": "Where", "logical_and": "And", "logical_or": "Or", "logical_not": "Not", "sign": "Sign",
}  # fmt: skip
_ONNX_OF = {
    **_SAME, "conv2d": "Conv", "conv1d": "Conv", "convolution": "Conv", "_convolution": "Conv",
    "linear": "Gemm",
    "add": "Add", "mul": "Mul", "sub": "Sub", "div": "Div", "max_pool2d": "MaxPool",
    "avg_pool2d": "AveragePool",
    "batch_norm": "BatchNormalization",
}  # fmt: skip


def _binary(node: OpNode) -> Lowering:
    name = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "pow": "Pow", "eq": "Equal",
            "gt": "Greater",
            "lt": "Less", "ge": "GreaterOrEqual", "le": "LessOrEqual"}[base_name(node.op)]  # fmt: skip
    inputs = node.inputs
    if len(inputs) < 2 or not node.has(1):
        inputs = (node.input(0), OpTensor(dtype=node.input(0).dtype, shape=(), is_constant=True))
    return becomes(SOURCE, _make(node, name, inputs[:2]), sure=node.number("alpha", 1.0) == 1.0)


def _conv(node: OpNode) -> Lowering:
    weight = node.input(1)
    dims = (weight.rank or 4) - 2
    padding = _spread(node.ints("padding"), dims, 0)
    attributes = {
        "strides": list(_spread(node.ints("stride"), dims, 1)),
        "pads": [*padding, *padding],
        "dilations": list(_spread(node.ints("dilation"), dims, 1)),
        "group": node.integer("groups", 1),
    }
    transposed = "transpose" in node.op or node.integer("transposed", 0)
    return becomes(
        SOURCE, _make(node, "ConvTranspose" if transposed else "Conv", node.inputs[:3], **attributes)
    )


def _spread(values: tuple[int, ...] | None, dims: int, default: int) -> tuple[int, ...]:
    if not values:
        return (default,) * dims
    return values if len(values) == dims else (values[0],) * dims


def _linear(node: OpNode) -> Lowering:
    if node.input(0).rank == 2:
        inputs = node.inputs[:3] if node.has(2) else node.inputs[:2]
        return becomes(SOURCE, _make(node, "Gemm", inputs, transB=1))
    weight = node.input(1)
    turned = replace(weight, shape=weight.shape[::-1] if weight.shape else None)
    product = _make(node, "MatMul", (node.input(0), turned))
    if node.has(2):
        return becomes(SOURCE, product, _make(node, "Add", (node.output(), node.input(2))))
    return becomes(SOURCE, product)


def _addmm(node: OpNode) -> Lowering:
    bias, a, b = node.input(0), node.input(1), node.input(2)
    return becomes(
        SOURCE,
        _make(node, "Gemm", (a, b, bias), alpha=node.number("alpha", 1.0), beta=node.number("beta", 1.0)),
    )


def _matmul(node: OpNode) -> Lowering:
    return becomes(SOURCE, _make(node, "MatMul", node.inputs[:2]))


def _batch_norm(node: OpNode) -> Lowering:
    return becomes(
        SOURCE, replace(_make(node, "BatchNormalization", node.inputs[:5]), outputs=node.outputs[:1])
    )


def _pool(node: OpNode) -> Lowering:
    name = base_name(node.op)
    kernel = node.ints("kernel_size") or ()
    dims = 2 if name.endswith("2d") else 1
    kernel = _spread(kernel, dims, 1)
    padding = _spread(node.ints("padding"), dims, 0)
    attributes: dict[str, Any] = {
        "kernel_shape": list(kernel),
        "strides": list(_spread(node.ints("stride") or kernel, dims, 1)),
        "pads": [*padding, *padding],
        "ceil_mode": node.integer("ceil_mode", 0),
    }
    if name.startswith("avg"):
        attributes["count_include_pad"] = node.integer("count_include_pad", 1)
        return becomes(SOURCE, _make(node, "AveragePool", node.inputs[:1], **attributes))
    attributes["dilations"] = list(_spread(node.ints("dilation"), dims, 1))
    return becomes(SOURCE, _make(node, "MaxPool", node.inputs[:1], **attributes))


def _adaptive(node: OpNode) -> Lowering:
    size = node.ints("output_size") or ()
    if size and all(s == 1 for s in size):
        name = "GlobalAveragePool" if "avg" in node.op else "GlobalMaxPool"
        return becomes(SOURCE, _make(node, name, node.inputs[:1]))
    return not_known("Adaptive pooling to another size than 1.", SOURCE)


def _view(node: OpNode) -> Lowering:
    shape = node.output().shape
    values = tuple(d if isinstance(d, int) else -1 for d in shape) if shape is not None else None
    target = OpTensor(
        dtype="int64", shape=(len(values),) if values else None, is_constant=True, values=values
    )
    return becomes(SOURCE, _make(node, "Reshape", (node.input(0), target)), sure=shape is not None)


def _permute(node: OpNode) -> Lowering:
    perm = node.ints("dims")
    return becomes(
        SOURCE, _make(node, "Transpose", node.inputs[:1], **({"perm": list(perm)} if perm else {}))
    )


def _cat(node: OpNode) -> Lowering:
    return becomes(SOURCE, _make(node, "Concat", axis=node.integer("dim", 0)))


def _softmax(node: OpNode) -> Lowering:
    name = "LogSoftmax" if "log" in node.op else "Softmax"
    return becomes(SOURCE, _make(node, name, node.inputs[:1], axis=node.integer("dim", -1)))


def _reduce(node: OpNode) -> Lowering:
    name = {"mean": "ReduceMean", "sum": "ReduceSum", "amax": "ReduceMax", "amin": "ReduceMin"}[
        base_name(node.op)
    ]
    dims = node.ints("dim")
    axes = OpTensor(dtype="int64", shape=(len(dims),), is_constant=True, values=dims) if dims else None
    inputs = (node.input(0), axes) if axes else (node.input(0),)
    return becomes(SOURCE, _make(node, name, inputs, keepdims=node.integer("keepdim", 0)))


def _clip(node: OpNode) -> Lowering:
    name = base_name(node.op)
    low, high = {
        "relu6": (0.0, 6.0),
        "hardtanh": (node.number("min_val", -1.0), node.number("max_val", 1.0)),
    }.get(name, (node.number("min", float("-inf")), node.number("max", float("inf"))))
    scalars = tuple(OpTensor(dtype="float32", shape=(), is_constant=True, values=(v,)) for v in (low, high))
    return becomes(SOURCE, _make(node, "Clip", (node.input(0), *scalars)))


def _upsample(node: OpNode) -> Lowering:
    bilinear = "bilinear" in node.op
    x, y = node.input(0), node.output()
    sizes = OpTensor(dtype="int64", shape=(4,), is_constant=True, values=y.shape if y.is_static else None)
    empty = ABSENT
    attributes = {
        "mode": "linear" if bilinear else "nearest",
        "coordinate_transformation_mode": (
            "align_corners" if node.integer("align_corners", 0) else "pytorch_half_pixel"
        )
        if bilinear
        else "asymmetric",
        "nearest_mode": "floor",
    }
    return becomes(SOURCE, _make(node, "Resize", (x, empty, empty, sizes), **attributes))


def _silu(node: OpNode) -> Lowering:
    x = node.input(0)
    return becomes(SOURCE, _make(node, "Sigmoid", (x,)), _make(node, "Mul", (x, x)))


def _pad(node: OpNode) -> Lowering:
    pads = node.ints("pad")
    rank = node.input(0).rank
    if pads is None or rank is None:
        return not_known("A pad with computed sizes.", SOURCE)
    half = [0] * rank, [0] * rank
    for i in range(len(pads) // 2):
        half[0][rank - 1 - i], half[1][rank - 1 - i] = pads[2 * i], pads[2 * i + 1]
    values = (*half[0], *half[1])
    return becomes(
        SOURCE,
        _make(
            node,
            "Pad",
            (node.input(0), OpTensor(dtype="int64", shape=(2 * rank,), is_constant=True, values=values)),
        ),
    )


def _dim(op: str) -> Callable[[OpNode], Lowering]:
    def make(node: OpNode) -> Lowering:
        dim = node.integer("dim", 0)
        axes = OpTensor(dtype="int64", shape=(1,), is_constant=True, values=(dim,))
        return becomes(SOURCE, _make(node, op, (node.input(0), axes)))

    return make


def _slice(node: OpNode) -> Lowering:
    def one(value: int) -> OpTensor:
        return OpTensor(dtype="int64", shape=(1,), is_constant=True, values=(value,))

    parts = (
        node.input(0),
        one(node.integer("start", 0)),
        one(node.integer("end", 2**31)),
        one(node.integer("dim", 0)),
        one(node.integer("step", 1)),
    )
    return becomes(SOURCE, _make(node, "Slice", parts))


def _plain(op: str, **renamed: str) -> Callable[[OpNode], Lowering]:
    def make(node: OpNode) -> Lowering:
        known = {new: node.attributes[old] for old, new in renamed.items() if old in node.attributes}
        return becomes(SOURCE, _make(node, op, **known), sure=False)

    return make


_MAKE: dict[str, Callable[[OpNode], Lowering]] = {
    **dict.fromkeys(("add", "sub", "mul", "div", "pow", "eq", "gt", "lt", "ge", "le"), _binary),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "_convolution", "convolution"), _conv),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d"), _conv),
    **dict.fromkeys(("max_pool2d", "avg_pool2d", "avg_pool1d"), _pool),
    **dict.fromkeys(("adaptive_avg_pool2d", "adaptive_max_pool2d", "adaptive_avg_pool1d"), _adaptive),
    **dict.fromkeys(("view", "reshape", "flatten", "_unsafe_view", "unflatten"), _view),
    **dict.fromkeys(("permute", "transpose", "t"), _permute),
    **dict.fromkeys(("softmax", "log_softmax", "_softmax", "_log_softmax"), _softmax),
    **dict.fromkeys(("mean", "sum", "amax", "amin"), _reduce),
    **dict.fromkeys(("hardtanh", "relu6", "clamp"), _clip),
    **dict.fromkeys(("upsample_bilinear2d", "upsample_nearest2d"), _upsample),
    **dict.fromkeys(("matmul", "mm", "bmm"), _matmul),
    "addmm": _addmm,
    "batch_norm": _batch_norm,
    "cat": _cat,
    "constant_pad_nd": _pad,
    "elu": _plain("Elu", alpha="alpha"),
    "embedding": _plain("Gather"),
    "gelu": _plain("Gelu", approximate="approximate"),
    "hardsigmoid": _plain("HardSigmoid"),
    "layer_norm": _plain("LayerNormalization", eps="epsilon"),
    "leaky_relu": _plain("LeakyRelu", negative_slope="alpha"),
    "linear": _linear,
    "prelu": _plain("PRelu"),
    "silu": _silu,
    "slice": _slice,
    "squeeze": _dim("Squeeze"),
    "unsqueeze": _dim("Unsqueeze"),
}  # fmt: skip
