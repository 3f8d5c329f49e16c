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

from studio.support.op_node import OpNode, OpTensor
from studio.support.predict import onnx_to_tflite_spatial as spatial
from studio.support.predict.lowering import Lowering, becomes, not_known, vanishes
from studio.support.predict.tflite_nodes import INT_VECTOR, tflite
from studio.support.rules.onnx_common import clip_bounds, reduced_axes

SOURCE = "prediction: TFLite operators of the same meaning (studio/support/predict/onnx_to_tflite.py)"
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
        return becomes(SOURCE, tflite(node, _SAME[node.op]))
    make = _MAKE.get(node.op)
    if make is None:
        return not_known(f"What {node.op} becomes in TFLite is not known here.", SOURCE)
    return make(node)


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
        own = tflite(node, op, node.inputs[:1])
        return becomes(SOURCE, own, text=f"Fused into the {node.producers[0]} before it (or {op}).")
    return becomes(SOURCE, tflite(node, op, node.inputs[:1]))


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
    return becomes(SOURCE, tflite(node, "MAXIMUM", (x, bound)), tflite(node, "MINIMUM", (x, bound)))


def _reduce(node: OpNode) -> Lowering:
    op = {"ReduceMean": "MEAN", "ReduceSum": "SUM", "ReduceMax": "REDUCE_MAX", "ReduceMin": "REDUCE_MIN"}[
        node.op
    ]
    if reduced_axes(node) is None:
        return not_known("The reduced axes are not known.", SOURCE)
    return becomes(SOURCE, tflite(node, op, (node.input(0), INT_VECTOR)))


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
            tflite(
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
    return becomes(SOURCE, tflite(node, "BATCH_MATMUL"))


def _reshape(node: OpNode) -> Lowering:
    return becomes(SOURCE, tflite(node, "RESHAPE", (node.input(0), INT_VECTOR)))


def _transpose(node: OpNode) -> Lowering:
    return becomes(SOURCE, tflite(node, "TRANSPOSE", (node.input(0), INT_VECTOR)))


def _concat(node: OpNode) -> Lowering:
    return becomes(
        SOURCE, tflite(node, "CONCATENATION", axis=node.integer("axis", 0), fused_activation_function="NONE")
    )


def _softmax(node: OpNode) -> Lowering:
    rank = node.input(0).rank
    axis = node.integer("axis", -1 if node.version >= 13 else 1)
    core = tflite(node, "SOFTMAX", beta=1.0)
    if rank is None or axis not in (-1, rank - 1):
        return becomes(SOURCE, tflite(node, "TRANSPOSE", (node.input(0), INT_VECTOR)), core, sure=False)
    return becomes(SOURCE, core)


def _slice(node: OpNode) -> Lowering:
    if node.ints_of(1, "starts") is None:
        return not_known("A slice with computed bounds.", SOURCE)
    steps = node.ints_of(4)
    if steps and any(s != 1 for s in steps):
        return becomes(
            SOURCE,
            tflite(
                node,
                "STRIDED_SLICE",
                (node.input(0), INT_VECTOR, INT_VECTOR, replace(INT_VECTOR, values=steps)),
            ),
        )
    start = replace(INT_VECTOR, values=(0,))
    size = replace(INT_VECTOR, values=(1,))
    return becomes(SOURCE, tflite(node, "SLICE", (node.input(0), start, size)))


def _norm(node: OpNode) -> Lowering:
    x = node.input(0)
    small = OpTensor(dtype=x.dtype, shape=(), is_constant=True)
    parts = (
        tflite(node, "MEAN", (x, INT_VECTOR)), tflite(node, "SUB", (x, x)), tflite(node, "MUL", (x, x)),
        tflite(node, "ADD", (x, small)), tflite(node, "RSQRT", (x,)),
    )  # fmt: skip
    return becomes(
        SOURCE, *parts, sure=False, text=f"{node.op} is decomposed: mean, variance, rsqrt, scale and shift."
    )


def _split(node: OpNode) -> Lowering:
    one = replace(INT_VECTOR, values=(0,))
    return becomes(SOURCE, tflite(node, "SLICE", (node.input(0), one, replace(one, values=(1,)))), sure=False)


def _hard(node: OpNode) -> Lowering:
    x = node.input(0)
    number = OpTensor(dtype=x.dtype, shape=(), is_constant=True)
    parts = [tflite(node, "ADD", (x, number)), tflite(node, "RELU6", (x,)), tflite(node, "MUL", (x, number))]
    return becomes(SOURCE, *parts, sure=False, text=f"{node.op} becomes HARD_SWISH or ADD → RELU6 → MUL.")


def _gather(node: OpNode) -> Lowering:
    return becomes(SOURCE, tflite(node, "GATHER", node.inputs[:2]), sure=False)


def _unsure(op: str, inputs: int | None = None, **attributes: Any) -> Callable[[OpNode], Lowering]:
    return lambda node: becomes(SOURCE, tflite(node, op, node.inputs[:inputs], **attributes), sure=False)


def _leaky_relu(node: OpNode) -> Lowering:
    return becomes(SOURCE, tflite(node, "LEAKY_RELU", alpha=node.number("alpha", 0.01)))


_MAKE: dict[str, Callable[[OpNode], Lowering]] = {
    **dict.fromkeys(("AveragePool", "MaxPool"), spatial.pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), spatial.global_pool),
    **dict.fromkeys(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"), _reduce),
    **dict.fromkeys(("Gemm", "MatMul"), _dense),
    **dict.fromkeys(("Reshape", "Flatten", "Squeeze", "Unsqueeze"), _reshape),
    **dict.fromkeys(("LayerNormalization", "GroupNormalization", "InstanceNormalization"), _norm),
    **dict.fromkeys(("HardSwish", "HardSigmoid"), _hard),
    "ArgMax": _unsure("ARG_MAX", 1),
    "ArgMin": _unsure("ARG_MIN", 1),
    "BatchNormalization": spatial.batch_norm,
    "Clip": _clip,
    "Concat": _concat,
    "Conv": spatial.conv,
    "ConvTranspose": spatial.conv_transpose,
    "CumSum": _unsure("CUMSUM"),
    "Elu": _unsure("ELU", 1),
    "Expand": _unsure("BROADCAST_TO"),
    "Gather": _gather,
    "Gelu": _unsure("GELU", 1),
    "LeakyRelu": _leaky_relu,
    "PRelu": _unsure("PRELU"),
    "Pad": spatial.pad,
    "Relu": lambda node: _fused(node, "RELU"),
    "Resize": spatial.resize,
    "Slice": _slice,
    "Softmax": _softmax,
    "Split": _split,
    "Tile": _unsure("TILE"),
    "TopK": _unsure("TOPK_V2", 2),
    "Transpose": _transpose,
}  # fmt: skip
