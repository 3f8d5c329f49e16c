"""ONNX → TFLite: the built-in operators of the same meaning, with layouts as converters choose them.

Rank-4 tensors become channels-last, so spatial operators get NHWC shapes. BatchNormalization after a
convolution is folded into its weights, an activation after a convolution is fused into it (both are
passes of the TFLite converter). What was not seen in the converter's output here is not sure, and a
yes through it stays conditional.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from studio.graph.graph import Shape
from studio.support.op_node import OpNode, OpTensor
from studio.support.predict.lowering import Lowering, becomes, not_known, vanishes
from studio.support.rules.onnx_common import clip_bounds, reduced_axes

SOURCE = "prediction: TFLite operators of the same meaning (studio/support/predict/onnx_to_tflite.py)"
INT_VECTOR = OpTensor(dtype="int32", shape=(2,), is_constant=True)
FUSING = ("Conv", "ConvTranspose", "Gemm", "Add", "Sub", "Mul", "Div", "AveragePool", "MaxPool")


def lower(node: OpNode) -> Lowering:
    """What a converter makes of the ONNX node."""
    if node.is_call:
        return not_known("A function of this file; its nodes have their own verdicts.", SOURCE)
    if node.domain not in ("", "com.microsoft"):
        return not_known(f"How {node.domain}.{node.op} is converted is not known.", SOURCE)
    is_quantized = "DequantizeLinear" in node.producers or node.op.startswith("QLinear")
    if is_quantized or node.op in ("QuantizeLinear", "DequantizeLinear"):
        return not_known("Quantised ONNX is not converted; quantise for LiteRT instead.", SOURCE)
    if node.op in _REMOVED:
        return vanishes(f"{node.op} does nothing at inference and is removed.", SOURCE)
    if node.op in _SAME:
        return becomes(SOURCE, _make(node, _SAME[node.op]))
    make = _MAKE.get(node.op)
    if make is None:
        return not_known(f"What {node.op} becomes in TFLite is not known here.", SOURCE)
    return make(node)


def _make(
    node: OpNode,
    op: str,
    inputs: tuple[OpTensor, ...] | None = None,
    outputs: tuple[OpTensor, ...] | None = None,
    **attributes: Any,
) -> OpNode:
    return replace(
        node,
        op=op,
        domain="",
        version=1,
        attributes=attributes,
        inputs=tuple(_int32(t) for t in (node.inputs if inputs is None else inputs)),
        outputs=tuple(_int32(t) for t in (node.outputs if outputs is None else outputs)),
        qdq=None,
    )


def _int32(tensor: OpTensor) -> OpTensor:
    """Constants of 64 bits are written with 32 where the operator allows it (axes, shapes)."""
    return replace(tensor, dtype="int32") if tensor.dtype == "int64" and tensor.is_constant else tensor


def _nhwc(tensor: OpTensor) -> OpTensor:
    return replace(tensor, shape=_permuted(tensor.shape))


def _permuted(shape: Shape | None) -> Shape | None:
    if shape is None or len(shape) != 4:
        return shape
    return (shape[0], shape[2], shape[3], shape[1])


_REMOVED = {"Identity", "Dropout"}
_SAME = {
    "Sigmoid": "LOGISTIC", "Tanh": "TANH", "Abs": "ABS", "Exp": "EXP", "Log": "LOG", "Sqrt": "SQRT",
    "Neg": "NEG",
    "Sin": "SIN", "Cos": "COS", "Floor": "FLOOR", "Ceil": "CEIL", "Round": "ROUND", "Sub": "SUB",
    "Mul": "MUL",
    "Add": "ADD", "Div": "DIV", "Max": "MAXIMUM", "Min": "MINIMUM", "Equal": "EQUAL", "Greater": "GREATER",
    "GreaterOrEqual": "GREATER_EQUAL", "Less": "LESS", "LessOrEqual": "LESS_EQUAL", "And": "LOGICAL_AND",
    "Or": "LOGICAL_OR", "Not": "LOGICAL_NOT", "Where": "SELECT_V2", "Cast": "CAST", "Pow": "POW",
    "Sign": "SIGN",
}  # fmt: skip


def _fused(node: OpNode, op: str) -> Lowering:
    """An activation: fused into the operator before it when that one has no other reader, else on its own."""
    if node.producers[:1] and node.producers[0] in FUSING:
        own = _make(node, op, node.inputs[:1])
        return becomes(SOURCE, own, text=f"Fused into the {node.producers[0]} before it (or {op}).")
    return becomes(SOURCE, _make(node, op, node.inputs[:1]))


def _clip(node: OpNode) -> Lowering:
    bounds = clip_bounds(node)
    if bounds == (0.0, 6.0):
        return _fused(node, "RELU6")
    if bounds == (-1.0, 1.0):
        return _fused(node, "RELU_N1_TO_1")
    if bounds is not None and bounds[0] == 0.0 and bounds[1] > 3e38:
        return _fused(node, "RELU")
    if bounds is None:
        return not_known("Clip with computed bounds.", SOURCE)
    x = node.input(0)
    bound = OpTensor(dtype=x.dtype, shape=(), is_constant=True)
    return becomes(SOURCE, _make(node, "MAXIMUM", (x, bound)), _make(node, "MINIMUM", (x, bound)))


def _conv(node: OpNode) -> Lowering:
    weight, x, y = node.input(1), node.input(0), node.output()
    rank = weight.rank
    if rank is None:
        return not_known("The weight's rank is not in the file.", SOURCE)
    if rank == 5:
        return becomes(SOURCE, _make(node, "CONV_3D"), sure=False)
    if rank == 3:
        return not_known(
            "A 1-D convolution becomes reshapes around CONV_2D, in an order not known here.", SOURCE
        )
    if rank != 4:
        return not_known(f"A convolution cannot have a weight of rank {rank}.", SOURCE)
    if not weight.is_constant:
        return not_known("A convolution with a computed weight.", SOURCE)
    group = node.integer("group", 1)
    channels = x.dim(1)
    shape = weight.shape or ()
    bias = node.input(2) if node.has(2) else OpTensor(dtype=x.dtype, shape=shape[:1], is_constant=True)
    strides, dilations = node.ints("strides") or (1, 1), node.ints("dilations") or (1, 1)
    options = {
        "stride_h": strides[0], "stride_w": strides[-1], "dilation_h_factor": dilations[0],
        "dilation_w_factor": dilations[-1], "fused_activation_function": "NONE",
    }  # fmt: skip
    if group > 1 and channels is not None and group == channels and len(shape) == 4:
        filter_ = replace(weight, shape=(1, shape[2], shape[3], shape[0]))
        multiplier = shape[0] // channels if isinstance(shape[0], int) else 1
        core = _make(
            node,
            "DEPTHWISE_CONV_2D",
            (_nhwc(x), filter_, bias),
            (_nhwc(y),),
            depth_multiplier=multiplier,
            **options,
        )
    else:
        filter_ = replace(weight, shape=(shape[0], *shape[2:], shape[1]))
        core = _make(node, "CONV_2D", (_nhwc(x), filter_, bias), (_nhwc(y),), **options)
    pads = node.ints("pads") or (0, 0, 0, 0)
    if any(pads) and not _is_same(node, x, y, pads):
        padding = OpTensor(dtype="int32", shape=(4, 2), is_constant=True)
        pad = _make(node, "PAD", (_nhwc(x), padding), (replace(_nhwc(x)),))
        return becomes(SOURCE, pad, core)
    return becomes(SOURCE, core)


def _is_same(node: OpNode, x: OpTensor, y: OpTensor, pads: tuple[int, ...]) -> bool:
    """Whether explicit pads are what TFLite's SAME would choose (stride 1, symmetric)."""
    strides = node.ints("strides") or (1, 1)
    return (
        all(s == 1 for s in strides)
        and len(pads) == 4
        and pads[:2] == pads[2:]
        and x.shape is not None
        and y.shape is not None
        and x.shape[2:] == y.shape[2:]
    )


def _conv_transpose(node: OpNode) -> Lowering:
    weight, x, y = node.input(1), node.input(0), node.output()
    if weight.rank != 4 or node.integer("group", 1) != 1 or any(d != 1 for d in node.ints("dilations") or ()):
        return not_known("Only a plain 2-D transposed convolution has one TFLite operator.", SOURCE)
    shape = weight.shape or ()
    filter_ = replace(weight, shape=(shape[1], shape[2], shape[3], shape[0]))
    size = OpTensor(dtype="int32", shape=(4,), is_constant=True)
    bias = (node.input(2),) if node.has(2) else ()
    strides = node.ints("strides") or (1, 1)
    return becomes(
        SOURCE,
        _make(
            node,
            "TRANSPOSE_CONV",
            (size, filter_, _nhwc(x), *bias),
            (_nhwc(y),),
            stride_h=strides[0],
            stride_w=strides[-1],
        ),
        sure=False,
    )


def _batch_norm(node: OpNode) -> Lowering:
    if node.producers[:1] == ("Conv",):
        return vanishes("Folded into the weights of the Conv before it.", SOURCE)
    x = node.input(0)
    scale = OpTensor(dtype=x.dtype, shape=node.input(1).shape, is_constant=True)
    return becomes(SOURCE, _make(node, "MUL", (_nhwc(x), scale)), _make(node, "ADD", (_nhwc(x), scale)))


def _pool(node: OpNode) -> Lowering:
    kernel = node.ints("kernel_shape") or ()
    if len(kernel) != 2:
        return not_known("Only 2-D pooling has one TFLite operator.", SOURCE)
    if node.integer("ceil_mode", 0) or any(d != 1 for d in node.ints("dilations") or ()):
        return not_known("Pooling with ceil_mode or dilation has no single TFLite operator.", SOURCE)
    strides = node.ints("strides") or (1, 1)
    op = "AVERAGE_POOL_2D" if node.op == "AveragePool" else "MAX_POOL_2D"
    pads = node.ints("pads") or ()
    options = {
        "filter_height": kernel[0],
        "filter_width": kernel[1],
        "stride_h": strides[0],
        "stride_w": strides[1],
        "fused_activation_function": "NONE",
    }
    core = _make(node, op, (_nhwc(node.input(0)),), (_nhwc(node.output()),), **options)
    if any(pads):
        padding = OpTensor(dtype="int32", shape=(4, 2), is_constant=True)
        name = "PADV2" if op == "MAX_POOL_2D" else "PAD"
        value = (OpTensor(dtype="float32", shape=(), is_constant=True),) if name == "PADV2" else ()
        return becomes(SOURCE, _make(node, name, (_nhwc(node.input(0)), padding, *value)), core, sure=False)
    return becomes(SOURCE, core)


def _global_pool(node: OpNode) -> Lowering:
    op = "MEAN" if node.op == "GlobalAveragePool" else "REDUCE_MAX"
    return becomes(
        SOURCE, _make(node, op, (_nhwc(node.input(0)), INT_VECTOR), (_nhwc(node.output()),), keep_dims=True)
    )


def _reduce(node: OpNode) -> Lowering:
    op = {"ReduceMean": "MEAN", "ReduceSum": "SUM", "ReduceMax": "REDUCE_MAX", "ReduceMin": "REDUCE_MIN"}[
        node.op
    ]
    if reduced_axes(node) is None:
        return not_known("The reduced axes are not known.", SOURCE)
    return becomes(SOURCE, _make(node, op, (node.input(0), INT_VECTOR)))


def _dense(node: OpNode) -> Lowering:
    a, b = node.input(0), node.input(1)
    if node.op == "Gemm" and (
        node.number("alpha", 1.0) != 1.0 or node.number("beta", 1.0) != 1.0 or node.integer("transA", 0)
    ):
        return not_known("Gemm with alpha, beta or transA.", SOURCE)
    if b.is_constant and b.rank == 2 and b.shape is not None:
        weight = replace(
            b, shape=b.shape if node.op == "Gemm" and node.integer("transB", 0) else b.shape[::-1]
        )
        bias = (node.input(2),) if node.op == "Gemm" and node.has(2) else ()
        return becomes(
            SOURCE,
            _make(
                node,
                "FULLY_CONNECTED",
                (a, weight, *bias),
                keep_num_dims=True,
                fused_activation_function="NONE",
            ),
        )
    if node.op == "Gemm":
        return not_known("Gemm with a computed weight.", SOURCE)
    if (a.rank or 0) < 2 or (b.rank or 0) < 2:
        return not_known("MatMul with vectors.", SOURCE)
    return becomes(SOURCE, _make(node, "BATCH_MATMUL"))


def _reshape(node: OpNode) -> Lowering:
    return becomes(SOURCE, _make(node, "RESHAPE", (node.input(0), INT_VECTOR)))


def _transpose(node: OpNode) -> Lowering:
    return becomes(SOURCE, _make(node, "TRANSPOSE", (node.input(0), INT_VECTOR)))


def _concat(node: OpNode) -> Lowering:
    return becomes(
        SOURCE, _make(node, "CONCATENATION", axis=node.integer("axis", 0), fused_activation_function="NONE")
    )


def _softmax(node: OpNode) -> Lowering:
    rank = node.input(0).rank
    axis = node.integer("axis", -1 if node.version >= 13 else 1)
    core = _make(node, "SOFTMAX", beta=1.0)
    if rank is None or axis not in (-1, rank - 1):
        return becomes(SOURCE, _make(node, "TRANSPOSE", (node.input(0), INT_VECTOR)), core, sure=False)
    return becomes(SOURCE, core)


def _slice(node: OpNode) -> Lowering:
    if node.ints_of(1, "starts") is None:
        return not_known("A slice with computed bounds.", SOURCE)
    steps = node.ints_of(4)
    if steps and any(s != 1 for s in steps):
        return becomes(
            SOURCE,
            _make(
                node,
                "STRIDED_SLICE",
                (node.input(0), INT_VECTOR, INT_VECTOR, replace(INT_VECTOR, values=steps)),
            ),
        )
    start = replace(INT_VECTOR, values=(0,))
    size = replace(INT_VECTOR, values=(1,))
    return becomes(SOURCE, _make(node, "SLICE", (node.input(0), start, size)))


def _pad(node: OpNode) -> Lowering:
    mode = node.text("mode", "constant")
    pads = node.ints_of(1, "pads")
    if pads is None:
        return not_known("A pad with computed sizes.", SOURCE)
    padding = OpTensor(dtype="int32", shape=(len(pads) // 2, 2), is_constant=True, values=pads)
    if mode == "constant":
        return becomes(SOURCE, _make(node, "PAD", (node.input(0), padding)))
    if mode == "reflect":
        return becomes(
            SOURCE, _make(node, "MIRROR_PAD", (node.input(0), padding), mode="REFLECT"), sure=False
        )
    return not_known(f"Pad mode {mode}.", SOURCE)


def _resize(node: OpNode) -> Lowering:
    mode = node.text("mode", "nearest")
    coordinates = node.text("coordinate_transformation_mode", "half_pixel")
    if node.input(0).rank != 4 or mode not in ("linear", "nearest"):
        return not_known(f"Resize mode {mode} of this rank.", SOURCE)
    options = {
        "align_corners": int(coordinates == "align_corners"),
        "half_pixel_centers": int("half_pixel" in coordinates),
    }
    if coordinates not in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"):
        return not_known(f"Coordinate mode {coordinates}.", SOURCE)
    op = "RESIZE_BILINEAR" if mode == "linear" else "RESIZE_NEAREST_NEIGHBOR"
    return becomes(
        SOURCE,
        _make(node, op, (_nhwc(node.input(0)), INT_VECTOR), (_nhwc(node.output()),), **options),
        sure=mode == "linear",
    )


def _norm(node: OpNode) -> Lowering:
    x = node.input(0)
    small = OpTensor(dtype=x.dtype, shape=(), is_constant=True)
    parts = (
        _make(node, "MEAN", (x, INT_VECTOR)), _make(node, "SUB", (x, x)), _make(node, "MUL", (x, x)),
        _make(node, "ADD", (x, small)), _make(node, "RSQRT", (x,)),
    )  # fmt: skip
    return becomes(
        SOURCE, *parts, sure=False, text=f"{node.op} is decomposed: mean, variance, rsqrt, scale and shift."
    )


def _split(node: OpNode) -> Lowering:
    one = replace(INT_VECTOR, values=(0,))
    return becomes(SOURCE, _make(node, "SLICE", (node.input(0), one, replace(one, values=(1,)))), sure=False)


def _hard(node: OpNode) -> Lowering:
    x = node.input(0)
    number = OpTensor(dtype=x.dtype, shape=(), is_constant=True)
    parts = [_make(node, "ADD", (x, number)), _make(node, "RELU6", (x,)), _make(node, "MUL", (x, number))]
    return becomes(SOURCE, *parts, sure=False, text=f"{node.op} becomes HARD_SWISH or ADD → RELU6 → MUL.")


def _gather(node: OpNode) -> Lowering:
    return becomes(SOURCE, _make(node, "GATHER", node.inputs[:2]), sure=False)


def _unsure(op: str, inputs: int | None = None, **attributes: Any) -> Callable[[OpNode], Lowering]:
    return lambda node: becomes(SOURCE, _make(node, op, node.inputs[:inputs], **attributes), sure=False)


def _leaky_relu(node: OpNode) -> Lowering:
    return becomes(SOURCE, _make(node, "LEAKY_RELU", alpha=node.number("alpha", 0.01)))


_MAKE: dict[str, Callable[[OpNode], Lowering]] = {
    **dict.fromkeys(("AveragePool", "MaxPool"), _pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), _global_pool),
    **dict.fromkeys(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"), _reduce),
    **dict.fromkeys(("Gemm", "MatMul"), _dense),
    **dict.fromkeys(("Reshape", "Flatten", "Squeeze", "Unsqueeze"), _reshape),
    **dict.fromkeys(("LayerNormalization", "GroupNormalization", "InstanceNormalization"), _norm),
    **dict.fromkeys(("HardSwish", "HardSigmoid"), _hard),
    "ArgMax": _unsure("ARG_MAX", 1),
    "ArgMin": _unsure("ARG_MIN", 1),
    "BatchNormalization": _batch_norm,
    "Clip": _clip,
    "Concat": _concat,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "CumSum": _unsure("CUMSUM"),
    "Elu": _unsure("ELU", 1),
    "Expand": _unsure("BROADCAST_TO"),
    "Gather": _gather,
    "Gelu": _unsure("GELU", 1),
    "LeakyRelu": _leaky_relu,
    "PRelu": _unsure("PRELU"),
    "Pad": _pad,
    "Relu": lambda node: _fused(node, "RELU"),
    "Resize": _resize,
    "Slice": _slice,
    "Softmax": _softmax,
    "Split": _split,
    "Tile": _unsure("TILE"),
    "TopK": _unsure("TOPK_V2", 2),
    "Transpose": _transpose,
}  # fmt: skip
