"""ONNX → PyTorch: the aten operators that say the same, as a module rebuilt from the graph would call them.

An ONNX file reaches ExecuTorch and PyTorch Mobile only through such a module; when the ONNX file came
from torch, these are the operators of its source. Names are TorchScript's (`aten::conv2d`), arguments
those of the aten schema.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from studio.support.op_node import ABSENT, OpNode, OpTensor
from studio.support.predict.lowering import Lowering, becomes, not_known, vanishes
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
        return becomes(SOURCE, _make(node, _SAME[node.op]))
    if node.op in _REMOVED:
        return vanishes(f"{node.op} does nothing at inference and is removed.", SOURCE)
    make = _MAKE.get(node.op)
    if make is None:
        return not_known(f"How {node.op} would be written in torch is not known here.", SOURCE)
    return make(node)


def _make(node: OpNode, op: str, inputs: tuple[OpTensor, ...] | None = None, **attributes: Any) -> OpNode:
    return replace(
        node,
        op=f"aten::{op}",
        domain="",
        version=0,
        attributes=attributes,
        inputs=node.inputs if inputs is None else inputs,
        qdq=None,
    )


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


def _conv(node: OpNode) -> Lowering:
    weight = node.input(1)
    rank = weight.rank
    if rank is None or not 3 <= rank <= 5:
        return not_known("The weight's rank is not in the file.", SOURCE)
    dims = rank - 2
    pads = node.ints("pads") or (0,) * (2 * dims)
    auto = node.text("auto_pad", "NOTSET")
    transposed = node.op == "ConvTranspose"
    attributes: dict[str, Any] = {
        "stride": list(node.ints("strides") or (1,) * dims),
        "padding": list(pads[:dims]),
        "dilation": list(node.ints("dilations") or (1,) * dims),
        "groups": node.integer("group", 1),
    }
    if transposed:
        attributes["output_padding"] = list(node.ints("output_padding") or (0,) * dims)
        attributes["transposed"] = 1
    name = f"conv_transpose{dims}d" if transposed else f"conv{dims}d"
    core = _make(node, name, **attributes)
    symmetric = pads[:dims] == pads[dims:] and auto in ("NOTSET", "VALID")
    if symmetric:
        return becomes(SOURCE, core)
    if transposed:
        return not_known("An asymmetric transposed convolution.", SOURCE)
    padded = replace(
        node,
        op="aten::constant_pad_nd",
        domain="",
        attributes={"pad": [0] * 2 * dims},
        inputs=node.inputs[:1],
    )
    return becomes(SOURCE, padded, core, sure=False)


def _gemm(node: OpNode) -> Lowering:
    scaled = node.number("alpha", 1.0) != 1.0 or node.number("beta", 1.0) != 1.0
    weight, bias = node.input(1), node.input(2)
    if not scaled and not node.integer("transA", 0) and weight.is_constant:
        return becomes(SOURCE, _make(node, "linear", (node.input(0), weight, bias)))
    if node.has(2):
        return becomes(
            SOURCE,
            _make(
                node,
                "addmm",
                (bias, node.input(0), weight),
                alpha=node.number("alpha", 1.0),
                beta=node.number("beta", 1.0),
            ),
        )
    return becomes(SOURCE, _make(node, "mm", node.inputs[:2]))


def _matmul(node: OpNode) -> Lowering:
    if node.input(1).is_constant and node.input(1).rank == 2:
        return becomes(SOURCE, _make(node, "linear", (node.input(0), node.input(1), ABSENT)), sure=True)
    return becomes(SOURCE, _make(node, "matmul"))


def _batch_norm(node: OpNode) -> Lowering:
    x, scale, bias, mean, var = (node.input(i) for i in range(5))
    return becomes(SOURCE, _make(node, "batch_norm", (x, scale, bias, mean, var)))


def _pool(node: OpNode) -> Lowering:
    kernel = node.ints("kernel_shape") or ()
    dims = len(kernel)
    pads = node.ints("pads") or (0,) * (2 * dims)
    if pads[:dims] != pads[dims:] or node.text("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return not_known("Pooling with asymmetric padding has no single aten operator.", SOURCE)
    attributes: dict[str, Any] = {
        "kernel_size": list(kernel),
        "stride": list(node.ints("strides") or (1,) * dims),
        "padding": list(pads[:dims]),
        "ceil_mode": node.integer("ceil_mode", 0),
    }
    if node.op == "AveragePool":
        if any(d != 1 for d in node.ints("dilations") or ()):
            return not_known("Dilated average pooling has no aten operator.", SOURCE)
        attributes["count_include_pad"] = node.integer("count_include_pad", 0) if any(pads) else 1
        return becomes(SOURCE, _make(node, f"avg_pool{dims}d", **attributes))
    attributes["dilation"] = list(node.ints("dilations") or (1,) * dims)
    if len(node.outputs) > 1:
        return becomes(SOURCE, _make(node, f"max_pool{dims}d_with_indices", **attributes))
    return becomes(SOURCE, _make(node, f"max_pool{dims}d", **attributes))


def _global_pool(node: OpNode) -> Lowering:
    rank = node.input(0).rank
    if rank is None:
        return not_known("The rank is not in the file.", SOURCE)
    if node.op == "GlobalMaxPool":
        return becomes(SOURCE, _make(node, f"adaptive_max_pool{rank - 2}d", output_size=[1] * (rank - 2)))
    return becomes(SOURCE, _make(node, f"adaptive_avg_pool{rank - 2}d", output_size=[1] * (rank - 2)))


def _clip(node: OpNode) -> Lowering:
    bounds = clip_bounds(node)
    if bounds is None:
        return not_known("Clip with computed bounds.", SOURCE)
    if bounds == (0.0, float("inf")):
        return becomes(SOURCE, _make(node, "relu", node.inputs[:1]))
    return becomes(SOURCE, _make(node, "hardtanh", node.inputs[:1], min_val=bounds[0], max_val=bounds[1]))


def _softmax(node: OpNode) -> Lowering:
    name = "softmax" if node.op == "Softmax" else "log_softmax"
    return becomes(SOURCE, _make(node, name, dim=node.integer("axis", -1 if node.version >= 13 else 1)))


def _view(node: OpNode) -> Lowering:
    shape = node.output().shape
    known = [d if isinstance(d, int) else -1 for d in shape] if shape is not None else None
    return becomes(
        SOURCE, _make(node, "reshape", node.inputs[:1], **({"shape": known} if known is not None else {}))
    )


def _flatten(node: OpNode) -> Lowering:
    return becomes(SOURCE, _make(node, "flatten", start_dim=node.integer("axis", 1), end_dim=-1))


def _transpose(node: OpNode) -> Lowering:
    return becomes(SOURCE, _make(node, "permute", dims=list(node.ints("perm") or ())))


def _concat(node: OpNode) -> Lowering:
    return becomes(SOURCE, _make(node, "cat", dim=node.integer("axis", 0)))


def _reduce(node: OpNode) -> Lowering:
    axes = reduced_axes(node)
    if axes is None:
        return not_known("The reduced axes are not known.", SOURCE)
    name = {"ReduceMean": "mean", "ReduceSum": "sum", "ReduceMax": "amax", "ReduceMin": "amin"}[node.op]
    return becomes(
        SOURCE, _make(node, name, node.inputs[:1], dim=list(axes), keepdim=node.integer("keepdims", 1))
    )


def _pow(node: OpNode) -> Lowering:
    values = node.input(1).values
    if values is None or len(values) != 1:
        return becomes(SOURCE, _make(node, "pow"))
    power = values[0]
    exponent = int(power) if float(power).is_integer() else float(power)
    return becomes(SOURCE, _make(node, "pow", node.inputs[:1], exponent=exponent))


def _slice(node: OpNode) -> Lowering:
    starts, axes = node.ints_of(1, "starts"), node.ints_of(3, "axes")
    steps = node.ints_of(4, "steps") or (1,)
    if starts is None:
        return not_known("A slice with computed bounds.", SOURCE)
    dims = axes or tuple(range(len(starts)))
    parts = [
        _make(node, "slice", node.inputs[:1], dim=dim, start=start, step=steps[i] if i < len(steps) else 1)
        for i, (dim, start) in enumerate(zip(dims, starts))
    ]
    return becomes(SOURCE, *parts)


def _pad(node: OpNode) -> Lowering:
    pads = node.ints_of(1, "pads")
    mode = node.text("mode", "constant")
    if pads is None:
        return not_known("A pad with computed sizes.", SOURCE)
    half = len(pads) // 2
    flat = [p for i in reversed(range(half)) for p in (pads[i], pads[i + half])]
    name = {"constant": "constant_pad_nd", "reflect": "reflection_pad2d", "edge": "replication_pad2d"}.get(
        mode
    )
    if name is None:
        return not_known(f"Pad mode {mode}.", SOURCE)
    return becomes(SOURCE, _make(node, name, node.inputs[:1], pad=flat))


def _squeeze(node: OpNode) -> Lowering:
    axes = node.ints_of(1, "axes")
    if axes is None:
        return not_known("Axes are not known.", SOURCE)
    name = node.op.lower()
    return becomes(SOURCE, *(_make(node, name, node.inputs[:1], dim=a) for a in axes))


def _resize(node: OpNode) -> Lowering:
    mode = node.text("mode", "nearest")
    rank = node.input(0).rank
    coordinates = node.text("coordinate_transformation_mode", "half_pixel")
    if rank != 4:
        return not_known(f"Resize of rank {rank}.", SOURCE)
    if mode == "linear":
        if coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners"):
            return becomes(SOURCE, _make(node, "upsample_bilinear2d", node.inputs[:1]))
        return not_known(f"Bilinear with {coordinates} has no aten operator.", SOURCE)
    if mode == "nearest":
        if coordinates == "asymmetric" and node.text("nearest_mode", "round_prefer_floor") == "floor":
            return becomes(SOURCE, _make(node, "upsample_nearest2d", node.inputs[:1]))
        return not_known(f"Nearest with {coordinates} and this rounding is not aten's.", SOURCE)
    return becomes(SOURCE, _make(node, "upsample_bicubic2d", node.inputs[:1]))


def _split(node: OpNode) -> Lowering:
    return becomes(SOURCE, _make(node, "split_with_sizes", node.inputs[:1], dim=node.integer("axis", 0)))


def _depth_to_space(node: OpNode) -> Lowering:
    if node.op == "DepthToSpace" and node.text("mode", "DCR") == "CRD":
        return becomes(SOURCE, _make(node, "pixel_shuffle", upscale_factor=node.integer("blocksize", 1)))
    return not_known("Only DepthToSpace in CRD mode is aten's pixel_shuffle.", SOURCE)


def _norm(node: OpNode) -> Lowering:
    name = {
        "LayerNormalization": "layer_norm",
        "GroupNormalization": "group_norm",
        "InstanceNormalization": "instance_norm",
    }
    return becomes(SOURCE, _make(node, name[node.op]))


def _gather(node: OpNode) -> Lowering:
    if node.input(0).is_constant and node.integer("axis", 0) == 0:
        return becomes(SOURCE, _make(node, "embedding"))
    if node.input(1).rank == 0:
        return becomes(SOURCE, _make(node, "select", node.inputs[:1], dim=node.integer("axis", 0)))
    return becomes(SOURCE, _make(node, "index_select"))


def _named(name: str, **attributes: Any) -> Callable[[OpNode], Lowering]:
    return lambda node: becomes(SOURCE, _make(node, name, node.inputs[:1], **attributes))


def _hard_sigmoid(node: OpNode) -> Lowering:
    alpha, beta = node.number("alpha", 0.2), node.number("beta", 0.5)
    if abs(alpha - 1 / 6) < 1e-4 and abs(beta - 0.5) < 1e-6:
        return becomes(SOURCE, _make(node, "hardsigmoid"))
    return becomes(
        SOURCE,
        _make(node, "mul", (node.input(0), OpTensor(dtype="float32", shape=(), is_constant=True))),
        _make(node, "add", (node.input(0), OpTensor(dtype="float32", shape=(), is_constant=True)), alpha=1),
        _make(node, "hardtanh", node.inputs[:1], min_val=0.0, max_val=1.0),
        text=f"HardSigmoid with alpha {alpha:g}: multiplied, added, clamped.",
    )


def _cast(node: OpNode) -> Lowering:
    return becomes(SOURCE, _make(node, "to", dtype=node.output().dtype))


def _attention(node: OpNode) -> Lowering:
    return becomes(SOURCE, _make(node, "scaled_dot_product_attention"))


def _simple(name: str, *arguments: str) -> Callable[[OpNode], Lowering]:
    def make(node: OpNode) -> Lowering:
        known = {a: node.attributes[a] for a in arguments if a in node.attributes}
        return becomes(SOURCE, _make(node, name, **known))

    return make


_MAKE: dict[str, Callable[[OpNode], Lowering]] = {
    **dict.fromkeys(("Conv", "ConvTranspose"), _conv),
    **dict.fromkeys(("AveragePool", "MaxPool"), _pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), _global_pool),
    **dict.fromkeys(("Softmax", "LogSoftmax"), _softmax),
    **dict.fromkeys(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"), _reduce),
    **dict.fromkeys(("Squeeze", "Unsqueeze"), _squeeze),
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth"), _depth_to_space),
    **dict.fromkeys(("LayerNormalization", "GroupNormalization", "InstanceNormalization"), _norm),
    "Attention": _attention,
    "BatchNormalization": _batch_norm,
    "Cast": _cast,
    "Clip": _clip,
    "Concat": _concat,
    "Elu": _simple("elu", "alpha"),
    "Flatten": _flatten,
    "Gather": _gather,
    "Gelu": _simple("gelu", "approximate"),
    "Gemm": _gemm,
    "HardSigmoid": _hard_sigmoid,
    "LeakyRelu": _simple("leaky_relu"),
    "MatMul": _matmul,
    "Pad": _pad,
    "Pow": _pow,
    "Reshape": _view,
    "Resize": _resize,
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
