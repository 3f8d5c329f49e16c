"""LiteRT's XNNPACK delegate: the conditions of its VisitNode, operator by operator.

Source: github:google-ai-edge/LiteRT@f67457790:tflite/delegates/xnnpack/xnnpack_delegate.cc, checked
against the delegate of the ai-edge-litert wheel (see the audit). Default options: signed and unsigned
8-bit on, fully connected with computed weights off.
"""

from __future__ import annotations

from collections.abc import Callable

from studio.support.op_node import OpNode
from studio.support.rules import litert_xnnpack_moves as moves
from studio.support.rules import litert_xnnpack_weights as weights
from studio.support.rules.xnnpack_tensors import (
    FLOATS,
    MAX_RANK,
    at,
    clamp,
    constant,
    quantizable,
    rank,
    typed,
)
from studio.support.ruling import Ruling, Setting, refuses, takes, unknown
from studio.support.tables import load_table


def judge_node(node: OpNode, setting: Setting) -> Ruling:
    """Whether the XNNPACK delegate takes the node."""
    table = load_table("tflite_xnnpack_delegate")
    row = table.find(node.op)
    check = _CHECKS.get(node.op)
    if row is None or check is None:
        return refuses(f"XNNPACK has no {node.op}.", table.cite_absence())
    if any(not t.dtype for t in (*node.inputs[:1], *node.outputs[:1])):
        return unknown("The file does not give the data types.", table.cite(row))
    if found := check(node):
        return found
    for tensor in (*node.inputs, *node.outputs):
        if tensor.dtype == "float16" and not tensor.is_constant:
            return unknown("float16 activations depend on how XNNPACK was built.", at(2269))
    return takes(f"XNNPACK {node.op}.", table.cite(row))


def _float_unary(node: OpNode) -> Ruling | None:
    for tensor in (node.input(0), node.output()):
        if found := typed(tensor, FLOATS, 4616):
            return found
    return rank(node.input(0), 0, MAX_RANK, 4602)


def _8bit_unary(node: OpNode) -> Ruling | None:
    return quantizable(node, 0) or rank(node.input(0), 0, MAX_RANK, 4602)


def _leaky_relu(node: OpNode) -> Ruling | None:
    if found := _8bit_unary(node):
        return found
    alpha = node.number("alpha", 0.0)
    if alpha == 0 or abs(alpha) < 1.2e-38:
        return refuses("LEAKY_RELU with alpha 0.", at(4660))
    x, y = node.input(0), node.output()
    if x.scale and y.scale:
        ratio = x.scale[0] / y.scale[0]
        if (
            not 1 / 256 <= ratio <= 128
            or not -127.99609375 <= ratio * alpha <= 128
            or abs(ratio * alpha) < 1 / 256
        ):
            return refuses("The ratio of scales is out of XNNPACK's range.", at(4675))
    return None


def _quantize(node: OpNode) -> Ruling | None:
    if found := quantizable(node, 0):
        return found
    x, y = node.input(0), node.output()
    if y.dtype in FLOATS:
        return refuses("QUANTIZE to float.", at(4700))
    if x.dtype in ("int8", "uint8"):
        if x.dtype != y.dtype:
            return unknown("Requantising between signed and unsigned.", at(4700))
        if not 1 / 256 <= x.scale[0] / y.scale[0] <= 128:
            return refuses("The ratio of scales is out of XNNPACK's range.", at(4700))
    return None


def _dequantize(node: OpNode) -> Ruling | None:
    if node.input(0).is_constant:
        return unknown("Unpacking of a constant: taken when all its readers are.", at(7299))
    return typed(node.input(0), ("int8", "uint8"), 4635) or typed(node.output(), FLOATS, 4637)


def _binary(node: OpNode) -> Ruling | None:
    if len(node.inputs) != 2:
        return refuses("Two inputs are needed.", at(4395))
    if found := quantizable(node, 0, 1):
        return found
    a, b, y = node.input(0), node.input(1), node.output()
    if not a.dtype == b.dtype == y.dtype:
        return refuses("Mixed types.", at(4425))
    for tensor in (a, b):
        if found := rank(tensor, 0, MAX_RANK, 4405):
            return found
    if a.scale and b.scale and y.scale:
        if node.op == "MUL":
            ratios = [a.scale[0] * b.scale[0] / y.scale[0]]
            lowest = 1 / 65536
        else:
            ratios = [a.scale[0] / y.scale[0], b.scale[0] / y.scale[0]]
            lowest = 1 / 1024
        if any(not lowest <= r < 256 for r in ratios):
            return refuses("The ratio of scales is out of XNNPACK's range.", at(4460))
    return clamp(node)


def _float_binary(node: OpNode) -> Ruling | None:
    for tensor in (node.input(0), node.input(1), node.output()):
        if found := typed(tensor, FLOATS, 4437) or rank(tensor, 0, MAX_RANK, 4405):
            return found
    return clamp(node)


def _prelu(node: OpNode) -> Ruling | None:
    if found := _float_binary(node) or constant(node, 1, "The slope", 4498):
        return found
    wide = [d for d in (node.input(1).shape or ())[:-1] if d != 1]
    return refuses("Only one slope per channel.", at(2896)) if wide else None


def _softmax(node: OpNode) -> Ruling | None:
    if node.number("beta", 1.0) != 1.0:
        return refuses("beta other than 1.", at(6027))
    for tensor in (node.input(0), node.output()):
        if found := typed(tensor, FLOATS, 6035):
            return found
    return None


def _never(node: OpNode) -> Ruling | None:
    return refuses(f"The delegate's code refuses every {node.op}.", at(4866))


def _composite(node: OpNode) -> Ruling | None:
    name = node.text("name", "")
    if name == "odml.scaled_dot_product_attention":
        return unknown("The attention composite depends on its options.", at(3400))
    return refuses(f"XNNPACK does not know the composite {name}.", at(3408))


def _stateful(node: OpNode) -> Ruling | None:
    return unknown(f"{node.op}: variables depend on the whole graph.", at(3468))


_CHECKS: dict[str, Callable[[OpNode], Ruling | None]] = {
    **dict.fromkeys(
        ("ABS", "CEIL", "COS", "EXP", "FLOOR", "GELU", "HARD_SWISH", "LOG", "NEG", "RELU_N1_TO_1", "RELU",
         "RELU6", "ROUND", "RSQRT", "SIN", "SQRT", "SQUARE"),
        _float_unary,
    ),
    **dict.fromkeys(("ELU", "LOGISTIC", "TANH"), _8bit_unary),
    **dict.fromkeys(("ADD", "MUL", "SUB"), _binary),
    **dict.fromkeys(("DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"), _float_binary),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), weights.pool),
    **dict.fromkeys(("CONV_2D", "DEPTHWISE_CONV_2D"), weights.convolution),
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"), moves.reduce),
    **dict.fromkeys(("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"), moves.blocks),
    **dict.fromkeys(("ASSIGN_VARIABLE", "READ_VARIABLE", "VAR_HANDLE"), _stateful),
    "BATCH_MATMUL": weights.batch_matmul,
    "CONCATENATION": moves.concat,
    "DEQUANTIZE": _dequantize,
    "EXPAND_DIMS": _never,
    "FULLY_CONNECTED": weights.fully_connected,
    "LEAKY_RELU": _leaky_relu,
    "PAD": moves.pad,
    "PRELU": _prelu,
    "QUANTIZE": _quantize,
    "RESHAPE": moves.reshape,
    "RESIZE_BILINEAR": moves.resize,
    "SLICE": moves.slice,
    "SOFTMAX": _softmax,
    "SPLIT": moves.split,
    "STABLEHLO_COMPOSITE": _composite,
    "STRIDED_SLICE": moves.strided_slice,
    "TRANSPOSE": moves.transpose,
    "TRANSPOSE_CONV": weights.transpose_conv,
}  # fmt: skip
