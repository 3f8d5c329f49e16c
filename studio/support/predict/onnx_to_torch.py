"""ONNX → PyTorch: the aten operators that say the same, as a module rebuilt from the graph would call them.

An ONNX file reaches ExecuTorch and PyTorch Mobile only through such a module; when the ONNX file came
from torch, these are the operators of its source. Names are TorchScript's (`aten::conv2d`), arguments
those of the aten schema.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from studio.support.op_node import OpNode, OpTensor
from studio.support.predict import onnx_to_torch_spatial as spatial
from studio.support.predict.lowering import Lowering, becomes, not_known, vanishes
from studio.support.predict.torch_calls import call
from studio.support.rules.onnx_common import clip_bounds, reduced_axes

SOURCE = "prediction: aten operators of the same meaning (studio/support/predict/onnx_to_torch.py)"


def lower(node: OpNode) -> Lowering:
    """What a torch module made from the ONNX node would call."""
    if node.is_call:
        return not_known("A function of this file; its nodes have their own verdicts.", SOURCE)
    if node.domain not in ("", "com.microsoft"):
        return not_known(f"How {node.domain}.{node.op} would be written in torch is not known.", SOURCE)
    if "DequantizeLinear" in node.producers:
        # Its float twin would be judged by weights that are constant again: neither yes nor no holds.
        return not_known("Quantised ONNX is not written in torch; quantise for ExecuTorch instead.", SOURCE)
    if node.op in _SAME:
        return becomes(SOURCE, call(node, _SAME[node.op]))
    if node.op in _REMOVED:
        return vanishes(f"{node.op} does nothing at inference and is removed.", SOURCE)
    make = _MAKE.get(node.op)
    if make is None:
        return not_known(f"How {node.op} would be written in torch is not known here.", SOURCE)
    return make(node)


_SAME = {
    "Relu": "relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Abs": "abs", "Exp": "exp", "Log": "log",
    "Sqrt": "sqrt", "Neg": "neg", "Sin": "sin", "Cos": "cos", "Floor": "floor", "Ceil": "ceil",
    "Round": "round",
    "Erf": "erf", "HardSwish": "hardswish", "Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div",
    "Max": "maximum", "Min": "minimum", "PRelu": "prelu", "Reciprocal": "reciprocal", "Equal": "eq",
    "Greater": "gt", "Less": "lt", "GreaterOrEqual": "ge", "LessOrEqual": "le", "And": "logical_and",
    "Or": "logical_or", "Not": "logical_not", "Where": "where", "Sign": "sign", "Softplus": "softplus",
    "Mish": "mish",
    "Tan": "tan", "Asin": "asin", "Acos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh",
    "IsNaN": "isnan",
}  # fmt: skip
_REMOVED = {"Identity", "Dropout"}


def _clip(node: OpNode) -> Lowering:
    bounds = clip_bounds(node)
    if bounds is None:
        return not_known("Clip with computed bounds.", SOURCE)
    if bounds == (0.0, float("inf")):
        return becomes(SOURCE, call(node, "relu", node.inputs[:1]))
    return becomes(SOURCE, call(node, "hardtanh", node.inputs[:1], min_val=bounds[0], max_val=bounds[1]))


def _softmax(node: OpNode) -> Lowering:
    name = "softmax" if node.op == "Softmax" else "log_softmax"
    return becomes(SOURCE, call(node, name, dim=node.integer("axis", -1 if node.version >= 13 else 1)))


def _view(node: OpNode) -> Lowering:
    shape = node.output().shape
    known = [d if isinstance(d, int) else -1 for d in shape] if shape is not None else None
    return becomes(
        SOURCE, call(node, "reshape", node.inputs[:1], **({"shape": known} if known is not None else {}))
    )


def _flatten(node: OpNode) -> Lowering:
    return becomes(SOURCE, call(node, "flatten", start_dim=node.integer("axis", 1), end_dim=-1))


def _transpose(node: OpNode) -> Lowering:
    return becomes(SOURCE, call(node, "permute", dims=list(node.ints("perm") or ())))


def _concat(node: OpNode) -> Lowering:
    return becomes(SOURCE, call(node, "cat", dim=node.integer("axis", 0)))


def _reduce(node: OpNode) -> Lowering:
    axes = reduced_axes(node)
    if axes is None:
        return not_known("The reduced axes are not known.", SOURCE)
    name = {"ReduceMean": "mean", "ReduceSum": "sum", "ReduceMax": "amax", "ReduceMin": "amin"}[node.op]
    return becomes(
        SOURCE, call(node, name, node.inputs[:1], dim=list(axes), keepdim=node.integer("keepdims", 1))
    )


def _pow(node: OpNode) -> Lowering:
    values = node.input(1).values
    if values is None or len(values) != 1:
        return becomes(SOURCE, call(node, "pow"))
    power = values[0]
    exponent = int(power) if float(power).is_integer() else float(power)
    return becomes(SOURCE, call(node, "pow", node.inputs[:1], exponent=exponent))


def _slice(node: OpNode) -> Lowering:
    starts, axes = node.ints_of(1, "starts"), node.ints_of(3, "axes")
    steps = node.ints_of(4, "steps") or (1,)
    if starts is None:
        return not_known("A slice with computed bounds.", SOURCE)
    dims = axes or tuple(range(len(starts)))
    parts = [
        call(node, "slice", node.inputs[:1], dim=dim, start=start, step=steps[i] if i < len(steps) else 1)
        for i, (dim, start) in enumerate(zip(dims, starts))
    ]
    return becomes(SOURCE, *parts)


def _squeeze(node: OpNode) -> Lowering:
    axes = node.ints_of(1, "axes")
    if axes is None:
        return not_known("Axes are not known.", SOURCE)
    name = node.op.lower()
    return becomes(SOURCE, *(call(node, name, node.inputs[:1], dim=a) for a in axes))


def _split(node: OpNode) -> Lowering:
    return becomes(SOURCE, call(node, "split_with_sizes", node.inputs[:1], dim=node.integer("axis", 0)))


def _gather(node: OpNode) -> Lowering:
    if node.input(0).is_constant and node.integer("axis", 0) == 0:
        return becomes(SOURCE, call(node, "embedding"))
    if node.input(1).rank == 0:
        return becomes(SOURCE, call(node, "select", node.inputs[:1], dim=node.integer("axis", 0)))
    return becomes(SOURCE, call(node, "index_select"))


def _named(name: str, **attributes: Any) -> Callable[[OpNode], Lowering]:
    return lambda node: becomes(SOURCE, call(node, name, node.inputs[:1], **attributes))


def _hard_sigmoid(node: OpNode) -> Lowering:
    alpha, beta = node.number("alpha", 0.2), node.number("beta", 0.5)
    if abs(alpha - 1 / 6) < 1e-4 and abs(beta - 0.5) < 1e-6:
        return becomes(SOURCE, call(node, "hardsigmoid"))
    return becomes(
        SOURCE,
        call(node, "mul", (node.input(0), OpTensor(dtype="float32", shape=(), is_constant=True))),
        call(node, "add", (node.input(0), OpTensor(dtype="float32", shape=(), is_constant=True)), alpha=1),
        call(node, "hardtanh", node.inputs[:1], min_val=0.0, max_val=1.0),
        text=f"HardSigmoid with alpha {alpha:g}: multiplied, added, clamped.",
    )


def _cast(node: OpNode) -> Lowering:
    return becomes(SOURCE, call(node, "to", dtype=node.output().dtype))


def _attention(node: OpNode) -> Lowering:
    return becomes(SOURCE, call(node, "scaled_dot_product_attention"))


def _simple(name: str, *arguments: str) -> Callable[[OpNode], Lowering]:
    def make(node: OpNode) -> Lowering:
        known = {a: node.attributes[a] for a in arguments if a in node.attributes}
        return becomes(SOURCE, call(node, name, **known))

    return make


_MAKE: dict[str, Callable[[OpNode], Lowering]] = {
    **dict.fromkeys(("Conv", "ConvTranspose"), spatial.conv),
    **dict.fromkeys(("AveragePool", "MaxPool"), spatial.pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), spatial.global_pool),
    **dict.fromkeys(("Softmax", "LogSoftmax"), _softmax),
    **dict.fromkeys(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"), _reduce),
    **dict.fromkeys(("Squeeze", "Unsqueeze"), _squeeze),
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth"), spatial.depth_to_space),
    **dict.fromkeys(("LayerNormalization", "GroupNormalization", "InstanceNormalization"), spatial.norm),
    "Attention": _attention,
    "BatchNormalization": spatial.batch_norm,
    "Cast": _cast,
    "Clip": _clip,
    "Concat": _concat,
    "Elu": _simple("elu", "alpha"),
    "Flatten": _flatten,
    "Gather": _gather,
    "Gelu": _simple("gelu", "approximate"),
    "Gemm": spatial.gemm,
    "HardSigmoid": _hard_sigmoid,
    "LeakyRelu": _simple("leaky_relu"),
    "MatMul": spatial.matmul,
    "Pad": spatial.pad,
    "Pow": _pow,
    "Reshape": _view,
    "Resize": spatial.resize,
    "Slice": _slice,
    "Split": _split,
    "Expand": _named("expand"),
    "Tile": _named("repeat"),
    "ArgMax": _named("argmax"),
    "ArgMin": _named("argmin"),
    "TopK": _named("topk"),
    "NonZero": _named("nonzero"),
    "CumSum": _named("cumsum"),
    "LSTM": _named("lstm"),
    "GRU": _named("gru"),
    "Transpose": _transpose,
}  # fmt: skip
