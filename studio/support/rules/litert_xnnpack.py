"""LiteRT's XNNPACK delegate: the conditions of its VisitNode, operator by operator.

Source: github:google-ai-edge/LiteRT@f67457790:tflite/delegates/xnnpack/xnnpack_delegate.cc, checked
against the delegate of the ai-edge-litert wheel (see the audit). Default options: signed and unsigned
8-bit on, fully connected with computed weights off.
"""

from __future__ import annotations

from collections.abc import Callable

from studio.support.op_node import OpNode, OpTensor
from studio.support.ruling import Ruling, Setting, refuses, takes, unknown
from studio.support.tables import load_table

_FILE = "github:google-ai-edge/LiteRT@f67457790:tflite/delegates/xnnpack/xnnpack_delegate.cc"
FLOATS = ("float32", "float16")
MAX_RANK = 6  # XNN_MAX_TENSOR_DIMS
CLAMPS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "")


def _at(line: int) -> str:
    return f"{_FILE}#L{line}"


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
            return unknown("float16 activations depend on how XNNPACK was built.", _at(2269))
    return takes(f"XNNPACK {node.op}.", table.cite(row))


def _typed(tensor: OpTensor, allowed: tuple[str, ...], line: int) -> Ruling | None:
    """A float, or a per-tensor quantised 8-bit tensor where allowed."""
    if tensor.dtype not in allowed:
        return refuses(f"{tensor.dtype or 'unknown type'} is not taken ({', '.join(allowed)}).", _at(line))
    if tensor.dtype in ("int8", "uint8") and len(tensor.scale) != 1:
        return refuses("8-bit tensors need one scale and zero point.", _at(line))
    return None


FLOAT_OR_8BIT = (*FLOATS, "int8", "uint8")


def _quantizable(node: OpNode, *indices: int) -> Ruling | None:
    """CheckTensorFloatOrQUInt8Type of inputs and output 0."""
    for tensor in (*(node.input(i) for i in indices), node.output()):
        if found := _typed(tensor, FLOAT_OR_8BIT, 2432):
            return found
    return None


def _rank(tensor: OpTensor, lowest: int, highest: int, line: int) -> Ruling | None:
    if tensor.rank is None:
        return unknown("A shape is not in the file.", _at(line))
    if not lowest <= tensor.rank <= highest:
        return refuses(f"Rank {tensor.rank}, taken is {lowest} to {highest}.", _at(line))
    return None


def _clamp(node: OpNode) -> Ruling | None:
    name = node.text("fused_activation_function", "NONE")
    return refuses(f"Fused activation {name}.", _at(1907)) if name not in CLAMPS else None


def _constant(node: OpNode, index: int, what: str, line: int) -> Ruling | None:
    if not node.has(index) or node.input(index).is_constant:
        return None
    if node.producers[index : index + 1] in (("DEQUANTIZE",), ("DENSIFY",)):
        return unknown(
            f"{what} is unpacked by {node.producers[index]}; whether that is static is not seen here.",
            _at(line),
        )
    return refuses(f"{what} is computed, XNNPACK needs it constant.", _at(line))


def _float_unary(node: OpNode) -> Ruling | None:
    for tensor in (node.input(0), node.output()):
        if found := _typed(tensor, FLOATS, 4616):
            return found
    return _rank(node.input(0), 0, MAX_RANK, 4602)


def _8bit_unary(node: OpNode) -> Ruling | None:
    return _quantizable(node, 0) or _rank(node.input(0), 0, MAX_RANK, 4602)


def _leaky_relu(node: OpNode) -> Ruling | None:
    if found := _8bit_unary(node):
        return found
    alpha = node.number("alpha", 0.0)
    if alpha == 0 or abs(alpha) < 1.2e-38:
        return refuses("LEAKY_RELU with alpha 0.", _at(4660))
    x, y = node.input(0), node.output()
    if x.scale and y.scale:
        ratio = x.scale[0] / y.scale[0]
        if (
            not 1 / 256 <= ratio <= 128
            or not -127.99609375 <= ratio * alpha <= 128
            or abs(ratio * alpha) < 1 / 256
        ):
            return refuses("The ratio of scales is out of XNNPACK's range.", _at(4675))
    return None


def _quantize(node: OpNode) -> Ruling | None:
    if found := _quantizable(node, 0):
        return found
    x, y = node.input(0), node.output()
    if y.dtype in FLOATS:
        return refuses("QUANTIZE to float.", _at(4700))
    if x.dtype in ("int8", "uint8"):
        if x.dtype != y.dtype:
            return unknown("Requantising between signed and unsigned.", _at(4700))
        if not 1 / 256 <= x.scale[0] / y.scale[0] <= 128:
            return refuses("The ratio of scales is out of XNNPACK's range.", _at(4700))
    return None


def _dequantize(node: OpNode) -> Ruling | None:
    if node.input(0).is_constant:
        return unknown("Unpacking of a constant: taken when all its readers are.", _at(7299))
    return _typed(node.input(0), ("int8", "uint8"), 4635) or _typed(node.output(), FLOATS, 4637)


def _binary(node: OpNode) -> Ruling | None:
    if len(node.inputs) != 2:
        return refuses("Two inputs are needed.", _at(4395))
    if found := _quantizable(node, 0, 1):
        return found
    a, b, y = node.input(0), node.input(1), node.output()
    if not a.dtype == b.dtype == y.dtype:
        return refuses("Mixed types.", _at(4425))
    for tensor in (a, b):
        if found := _rank(tensor, 0, MAX_RANK, 4405):
            return found
    if a.scale and b.scale and y.scale:
        if node.op == "MUL":
            ratios = [a.scale[0] * b.scale[0] / y.scale[0]]
            lowest = 1 / 65536
        else:
            ratios = [a.scale[0] / y.scale[0], b.scale[0] / y.scale[0]]
            lowest = 1 / 1024
        if any(not lowest <= r < 256 for r in ratios):
            return refuses("The ratio of scales is out of XNNPACK's range.", _at(4460))
    return _clamp(node)


def _float_binary(node: OpNode) -> Ruling | None:
    for tensor in (node.input(0), node.input(1), node.output()):
        if found := _typed(tensor, FLOATS, 4437) or _rank(tensor, 0, MAX_RANK, 4405):
            return found
    return _clamp(node)


def _prelu(node: OpNode) -> Ruling | None:
    if found := _float_binary(node) or _constant(node, 1, "The slope", 4498):
        return found
    wide = [d for d in (node.input(1).shape or ())[:-1] if d != 1]
    return refuses("Only one slope per channel.", _at(2896)) if wide else None


def _pool(node: OpNode) -> Ruling | None:
    average = node.op == "AVERAGE_POOL_2D"
    for tensor in (node.input(0), node.output()):
        if found := _typed(
            tensor, FLOATS if average else ("float32", "int8", "uint8"), 3515 if average else 5243
        ):
            return found
    window = (node.integer("filter_height", 0), node.integer("filter_width", 0))
    stride = (node.integer("stride_h", 0), node.integer("stride_w", 0))
    if min(*window, *stride) <= 0:
        return refuses("A window or stride of zero.", _at(2114))
    if stride[0] > window[0] or stride[1] > window[1]:
        return refuses(f"Stride {stride} is larger than the window {window}.", _at(2150))
    return _clamp(node)


def _batch_matmul(node: OpNode) -> Ruling | None:
    a, b, y = node.input(0), node.input(1), node.output()
    if found := _typed(a, FLOAT_OR_8BIT, 3582) or _typed(y, FLOAT_OR_8BIT, 3625):
        return found
    if b.dtype not in FLOAT_OR_8BIT:
        return refuses(f"{b.dtype} is not taken.", _at(3587))
    if a.dtype != b.dtype and not (a.dtype == "float32" and b.dtype == "int8"):
        return refuses("Mixed types.", _at(3632))
    if b.dtype == "int8" and a.dtype == "int8" and any(b.zero_point):
        return refuses("Input 1 needs zero point 0.", _at(3608))
    for tensor in (a, b):
        if found := _rank(tensor, 2, MAX_RANK, 3640):
            return found
    return None


def _concat(node: OpNode) -> Ruling | None:
    if not 2 <= len(node.inputs) <= 5:
        return refuses(f"{len(node.inputs)} inputs, taken are 2 to 5.", _at(3904), "split-concat")
    for tensor in (*node.inputs, node.output()):
        if found := _typed(tensor, FLOAT_OR_8BIT, 3910):
            return found
    y = node.output()
    if y.dtype == "uint8" and any(t.scale != y.scale or t.zero_point != y.zero_point for t in node.inputs):
        return refuses("uint8 inputs need the output's scale.", _at(3928))
    return None


def _convolution(node: OpNode) -> Ruling | None:
    depthwise = node.op == "DEPTHWISE_CONV_2D"
    line = 4206 if depthwise else 3983
    if len(node.inputs) < 3 or not node.has(2):
        return refuses("A bias is needed.", _at(line))
    x, weight, y = node.input(0), node.input(1), node.output()
    for tensor in (x, y):
        if found := _typed(tensor, FLOAT_OR_8BIT, line) or _rank(tensor, 4, 4, line):
            return found
    if found := _rank(weight, 4, 4, line) or _rank(node.input(2), 1, 1, line):
        return found
    axis = 3 if depthwise else 0
    if weight.dtype not in FLOAT_OR_8BIT:
        return refuses(f"{weight.dtype} weights are not taken.", _at(2447))
    if weight.is_per_channel and (weight.dtype != "int8" or weight.axis != axis):
        return refuses(f"Per-channel weights only int8 along axis {axis}.", _at(2475))
    for index, what in ((1, "The weight"), (2, "The bias")):
        if found := _constant(node, index, what, line):
            return found
    mixed = not depthwise and x.dtype == "float32" and weight.dtype == "int8"
    if x.dtype != y.dtype or (x.dtype != weight.dtype and not mixed):
        return refuses(f"{x.dtype} activations with {weight.dtype} weights.", _at(line))
    multiplier = node.integer("depth_multiplier", 1)
    if depthwise and (multiplier <= 0 or (weight.dim(3) or 0) % multiplier):
        return refuses("The depth multiplier does not divide the channels.", _at(1975))
    return _clamp(node)


def _transpose_conv(node: OpNode) -> Ruling | None:
    line = 6838
    for index, what in ((0, "The output shape"), (1, "The weight"), (3, "The bias")):
        if found := _constant(node, index, what, line):
            return found
    x, weight, y = node.input(2), node.input(1), node.output()
    for tensor in (x, y):
        if found := _typed(tensor, ("float32", "int8", "uint8"), line) or _rank(tensor, 4, 4, line):
            return found
    if weight.is_per_channel and weight.axis != 0:
        return refuses("Per-channel weights only along axis 0.", _at(2475))
    if x.dtype != y.dtype or (
        x.dtype != weight.dtype and not (x.dtype == "float32" and weight.dtype == "int8")
    ):
        return refuses(f"{x.dtype} activations with {weight.dtype} weights.", _at(line))
    return _clamp(node)


def _fully_connected(node: OpNode) -> Ruling | None:
    line = 4933
    if node.version == 8:
        return refuses("Sparse weights (op version 8).", _at(3259))
    if node.text("weights_format", "DEFAULT") != "DEFAULT":
        return refuses("Shuffled weights.", _at(2101))
    x, weight, y = node.input(0), node.input(1), node.output()
    for tensor in (x, y):
        if found := _typed(tensor, FLOAT_OR_8BIT, line):
            return found
    if found := _rank(weight, 2, 2, line):
        return found
    if weight.dtype not in ("float32", "float16", "int8", "uint8", "int4", "int2"):
        return refuses(f"{weight.dtype} weights are not taken.", _at(2557))
    if found := _constant(node, 1, "The weight", line) or _constant(node, 2, "The bias", line):
        return found
    if weight.is_per_channel and weight.axis != 0:
        return refuses("Per-channel weights only along axis 0.", _at(2557))
    small = weight.dtype in ("int2", "int4", "int8")
    if x.dtype != y.dtype or (
        x.dtype != weight.dtype and not (small and x.dtype in ("float32", "float16", "int8"))
    ):
        return refuses(f"{x.dtype} activations with {weight.dtype} weights.", _at(line))
    if x.dtype == "int8" and weight.dtype == "int8" and any(weight.zero_point):
        return refuses("int8 weights need zero point 0.", _at(5035))
    return _clamp(node)


def _reduce(node: OpNode) -> Ruling | None:
    if found := _quantizable(node, 0) or _constant(node, 1, "Axes", 5325):
        return found
    if node.input(1).dtype != "int32":
        return refuses("Axes that are not int32.", _at(5318))
    if node.input(1).values == ():
        return refuses("No axes.", _at(5335))
    return None


def _pad(node: OpNode) -> Ruling | None:
    if len(node.inputs) != 2:
        return refuses("Two inputs are needed.", _at(5620))
    if (
        found := _quantizable(node, 0)
        or _rank(node.input(0), 1, MAX_RANK, 5627)
        or _constant(node, 1, "Padding", 5637)
    ):
        return found
    if node.input(1).dtype != "int32":
        return refuses("Padding that is not int32.", _at(5632))
    if any(v < 0 for v in node.input(1).values or ()):
        return refuses("Negative padding.", _at(5655))
    return None


def _reshape(node: OpNode) -> Ruling | None:
    if found := _quantizable(node, 0):
        return found
    for tensor in (node.input(0), node.output()):
        if found := _rank(tensor, 0, MAX_RANK, 5755):
            return found
    if node.input(0).scale != node.output().scale or node.input(0).zero_point != node.output().zero_point:
        return refuses("Scale changes across the reshape.", _at(5770))
    if node.has(1) and node.input(1).dtype != "int32":
        return refuses("A new shape that is not int32.", _at(5790))
    return _constant(node, 1, "The new shape", 5790)


def _resize(node: OpNode) -> Ruling | None:
    x, y = node.input(0), node.output()
    if found := _typed(x, ("float32", "int8", "uint8"), 5858) or _typed(y, FLOAT_OR_8BIT, 5880):
        return found
    return _rank(x, 4, 4, 5861) or _rank(y, 4, 4, 5883) or _constant(node, 1, "The output size", 5876)


def _slice(node: OpNode) -> Ruling | None:
    for index, what in ((1, "Begin"), (2, "Size")):
        if found := _constant(node, index, what, 5945):
            return found
    if found := _quantizable(node, 0) or _rank(node.input(0), 1, MAX_RANK, 5960):
        return found
    begin, size = node.input(1).values, node.input(2).values
    if begin is None or size is None:
        return unknown("Begin and size are not known here.", _at(5980))
    if any(v < 0 for v in begin) or any(v <= 0 and v != -1 for v in size):
        return refuses("A begin or size out of range.", _at(5985))
    return None


def _strided_slice(node: OpNode) -> Ruling | None:
    if any(node.integer(name, 0) for name in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")):
        return refuses("Ellipsis, new-axis or shrink masks.", _at(6252))
    for index, what in ((1, "Begin"), (2, "End"), (3, "Strides")):
        if found := _constant(node, index, what, 6275):
            return found
    if any(v != 1 for v in node.input(3).values or ()):
        return refuses("Strides other than 1.", _at(6285))
    return _quantizable(node, 0) or _rank(node.input(0), 1, MAX_RANK, 6280)


def _softmax(node: OpNode) -> Ruling | None:
    if node.number("beta", 1.0) != 1.0:
        return refuses("beta other than 1.", _at(6027))
    for tensor in (node.input(0), node.output()):
        if found := _typed(tensor, FLOATS, 6035):
            return found
    return None


def _blocks(node: OpNode) -> Ruling | None:
    if node.integer("block_size", 0) <= 1:
        return refuses("A block size of 1 or less.", _at(4361))
    return _quantizable(node, 0)


def _split(node: OpNode) -> Ruling | None:
    if not 2 <= len(node.outputs) <= 4:
        return refuses(f"{len(node.outputs)} outputs, taken are 2 to 4.", _at(6137))
    if found := _constant(node, 0, "The axis", 6145):
        return found
    for tensor in (node.input(1), *node.outputs):
        if found := _typed(tensor, FLOAT_OR_8BIT, 6152):
            return found
    return None


def _transpose(node: OpNode) -> Ruling | None:
    return (
        _quantizable(node, 0)
        or _rank(node.input(0), 1, MAX_RANK, 6199)
        or _constant(node, 1, "The permutation", 6204)
    )


def _never(node: OpNode) -> Ruling | None:
    return refuses(f"The delegate's code refuses every {node.op}.", _at(4866))


def _composite(node: OpNode) -> Ruling | None:
    name = node.text("name", "")
    if name == "odml.scaled_dot_product_attention":
        return unknown("The attention composite depends on its options.", _at(3400))
    return refuses(f"XNNPACK does not know the composite {name}.", _at(3408))


def _stateful(node: OpNode) -> Ruling | None:
    return unknown(f"{node.op}: variables depend on the whole graph.", _at(3468))


_CHECKS: dict[str, Callable[[OpNode], Ruling | None]] = {
    **dict.fromkeys(
        ("ABS", "CEIL", "COS", "EXP", "FLOOR", "GELU", "HARD_SWISH", "LOG", "NEG", "RELU_N1_TO_1", "RELU",
         "RELU6", "ROUND", "RSQRT", "SIN", "SQRT", "SQUARE"),
        _float_unary,
    ),
    **dict.fromkeys(("ELU", "LOGISTIC", "TANH"), _8bit_unary),
    **dict.fromkeys(("ADD", "MUL", "SUB"), _binary),
    **dict.fromkeys(("DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"), _float_binary),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), _pool),
    **dict.fromkeys(("CONV_2D", "DEPTHWISE_CONV_2D"), _convolution),
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"), _reduce),
    **dict.fromkeys(("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"), _blocks),
    **dict.fromkeys(("ASSIGN_VARIABLE", "READ_VARIABLE", "VAR_HANDLE"), _stateful),
    "BATCH_MATMUL": _batch_matmul,
    "CONCATENATION": _concat,
    "DEQUANTIZE": _dequantize,
    "EXPAND_DIMS": _never,
    "FULLY_CONNECTED": _fully_connected,
    "LEAKY_RELU": _leaky_relu,
    "PAD": _pad,
    "PRELU": _prelu,
    "QUANTIZE": _quantize,
    "RESHAPE": _reshape,
    "RESIZE_BILINEAR": _resize,
    "SLICE": _slice,
    "SOFTMAX": _softmax,
    "SPLIT": _split,
    "STABLEHLO_COMPOSITE": _composite,
    "STRIDED_SLICE": _strided_slice,
    "TRANSPOSE": _transpose,
    "TRANSPOSE_CONV": _transpose_conv,
}  # fmt: skip
