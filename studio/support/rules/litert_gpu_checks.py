"""LiteRT's GPU delegate: what gpu_compatibility.cc asks of each operator's attributes and shapes.

Source: github:google-ai-edge/LiteRT@f67457790:tflite/tools/versioning/gpu_compatibility.cc and
tflite/delegates/gpu/common/model_builder.cc.
"""

from __future__ import annotations

from collections.abc import Callable

from studio.support.op_node import OpNode
from studio.support.ruling import Ruling, depends, refuses

_CHECK = "github:google-ai-edge/LiteRT@f67457790:tflite/tools/versioning/gpu_compatibility.cc"


BUILDER = "github:google-ai-edge/LiteRT@f67457790:tflite/delegates/gpu/common/model_builder.cc"


ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGMOID", "")


def _at(line: int) -> str:
    return f"{_CHECK}#L{line}"


def _runtime_inputs(node: OpNode) -> int:
    return sum(1 for i, t in enumerate(node.inputs) if node.has(i) and not t.is_constant)


def _count(
    node: OpNode, runtime: int, outputs: int, line: int, constants: int | None = None
) -> Ruling | None:
    found = _runtime_inputs(node)
    if found != runtime:
        return refuses(f"{found} computed inputs, the delegate takes {runtime}.", _at(line))
    fixed = sum(1 for t in node.inputs if t.is_constant)
    if constants is not None and fixed != constants:
        return refuses(f"{fixed} constant inputs, the delegate takes {constants}.", _at(line))
    if len(node.outputs) != outputs:
        return refuses(f"{len(node.outputs)} outputs, the delegate makes {outputs}.", _at(line))
    return None


def _activation(node: OpNode) -> Ruling | None:
    name = node.text("fused_activation_function", "NONE")
    return refuses(f"Fused activation {name}.", _at(83)) if name not in ACTIVATIONS else None


def _broadcast(node: OpNode) -> Ruling | None:
    """ADD and MUL: equal ranks, or the few rank pairs that the delegate broadcasts."""
    if len(node.inputs) != 2:
        return refuses(f"{len(node.inputs)} inputs, the delegate takes two.", _at(538))
    a, b = node.input(0).shape or (), node.input(1).shape or ()
    long, short = (a, b) if len(a) >= len(b) else (b, a)
    if len(short) <= 1 or len(long) == len(short):
        return _activation(node)
    fits = len(long) == 4 and (
        (len(short) == 3 and long[0] == 1)
        or (len(short) == 2 and long[0] == 1 and short == (1, 1))
        or (len(short) == 2 and long[0] == short[0] and long[3] == short[1])
    )
    if not fits:
        return depends(f"Broadcasting {short} to {long}: only builds with enhanced broadcasting.", _at(484))
    return _activation(node)


def _binary(node: OpNode) -> Ruling | None:
    if _count(node, 2, 1, 1187, 0) and (found := _count(node, 1, 1, 1190, 1)):
        return found
    a, b = node.input(0).shape or (), node.input(1).shape or ()
    if len(a) != len(b) and min(len(a), len(b)) > 1:
        return depends(f"Broadcasting {a} and {b} depends on the kernel.", _at(1187))
    return _activation(node)


def _unary(node: OpNode) -> Ruling | None:
    return _count(node, 1, 1, 1162, 0)


def _free(node: OpNode) -> Ruling | None:
    return None


def _pool(node: OpNode) -> Ruling | None:
    sizes = [node.integer(n, 0) for n in ("filter_height", "filter_width", "stride_h", "stride_w")]
    if min(sizes) <= 0:
        return refuses("A window or stride of zero.", _at(260))
    return _count(node, 1, 1, 256) or _activation(node)


def _conv(node: OpNode) -> Ruling | None:
    if not 1 <= _runtime_inputs(node) <= 2:
        return refuses(f"{_runtime_inputs(node)} computed inputs, the delegate takes 1 or 2.", _at(173))
    if node.op == "DEPTHWISE_CONV_2D":
        x, weight, y = node.input(0), node.input(1), node.output()
        if not x.rank == weight.rank == y.rank == 4:
            return refuses("Input, filter and output must have rank 4.", _at(281))
        if weight.dim(3) != y.dim(3) or y.dim(3) != (x.dim(3) or 0) * node.integer("depth_multiplier", 1):
            return refuses("Channels do not fit the depth multiplier.", _at(295))
    elif node.op == "CONV_2D" and node.input(1).rank == 4 and node.input(0).dim(3) != node.input(1).dim(3):
        return depends("Grouped convolution: only newer delegates split it.", f"{BUILDER}#L638")
    return _activation(node)


def _fully_connected(node: OpNode) -> Ruling | None:
    if node.text("weights_format", "DEFAULT") != "DEFAULT":
        return refuses("Shuffled weights.", _at(803))
    if _runtime_inputs(node) > 2:
        return refuses("More than two computed inputs.", _at(809))
    if node.input(0).is_constant:
        return refuses("A constant input.", _at(813))
    if node.integer("keep_num_dims", 0) and node.input(0).rank != node.output().rank:
        return refuses("keep_num_dims with different ranks.", _at(823))
    if not node.input(1).is_constant:
        return depends("Computed weights: only part of the kernels.", f"{BUILDER}#L1310")
    return _activation(node)


def _reduce(node: OpNode) -> Ruling | None:
    if found := _count(node, 1, 1, 910, 1):
        return found
    return None if node.input(1).dtype == "int32" else refuses("Axes that are not int32.", _at(238))


def _gather(node: OpNode) -> Ruling | None:
    if _count(node, 2, 1, 834, 0) and (found := _count(node, 1, 1, 838, 1)):
        return found
    if node.input(1).rank != 1 or node.input(1).dtype != "int32":
        return refuses("Only 1-D int32 indices.", _at(845))
    return None


def _slice(node: OpNode) -> Ruling | None:
    if node.input(0).rank not in (3, 4):
        return refuses(f"Rank {node.input(0).rank}: the delegate slices rank 3 and 4.", _at(969))
    if node.op == "STRIDED_SLICE":
        for mask in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask"):
            if node.integer(mask, 0):
                return refuses(f"{mask} is not taken.", _at(1012))
        if any(v < 0 for v in node.input(3).values or ()):
            return refuses("Reverse slices.", f"{BUILDER}#L2526")
    if not all(node.input(i).is_constant for i in range(1, len(node.inputs))):
        return refuses("Begin, end or size is computed.", f"{BUILDER}#L2228")
    return None


def _softmax(node: OpNode) -> Ruling | None:
    return refuses("beta other than 1.", _at(980)) if node.number("beta", 1.0) != 1.0 else None


def _blocks(node: OpNode) -> Ruling | None:
    if node.integer("block_size", 0) <= 1:
        return refuses("A block size of 1 or less.", _at(690))
    return _count(node, 1, 1, 685)


def _cast(node: OpNode) -> Ruling | None:
    pair = (node.input(0).dtype, node.output().dtype)
    plain = {"float32", "int32"}
    floats = {"float16", "float32"}
    if pair[0] in plain and pair[1] in plain:
        return _count(node, 1, 1, 634)
    if (pair[0] == "bool" and pair[1] in floats) or (pair[0] in floats and pair[1] == "bool"):
        return _count(node, 1, 1, 634)
    return refuses(f"CAST from {pair[0]} to {pair[1]}.", _at(651))


def _pad(node: OpNode) -> Ruling | None:
    if node.op == "MIRROR_PAD" and node.text("mode", "REFLECT") != "REFLECT":
        return refuses("Only reflecting mirror padding.", _at(1109))
    if found := _count(node, 1, 1, 1117):
        return found
    shape = node.input(1).shape
    if shape not in ((3, 2), (4, 2)):
        return refuses(f"Padding of shape {shape}: 4×2 or 3×2.", _at(1127))
    return None


def _resize(node: OpNode) -> Ruling | None:
    if found := _count(node, 1, 1, 1064):
        return found
    if (
        node.op == "RESIZE_BILINEAR"
        and node.integer("align_corners", 0)
        and node.integer("half_pixel_centers", 0)
    ):
        return refuses("half_pixel_centers and align_corners together.", _at(1069), "resize-half-pixel")
    return None


def _one(node: OpNode) -> Ruling | None:
    return _count(node, 1, 1, 953)


def _select(node: OpNode) -> Ruling | None:
    if len(node.inputs) != 3:
        return refuses("Three inputs are needed.", _at(372))
    return depends("Conditions on shapes of the three inputs.", _at(376))


def _concat(node: OpNode) -> Ruling | None:
    ranks = {t.rank for t in node.inputs}
    if len(ranks) != 1:
        return refuses("Inputs of different rank.", f"{BUILDER}#L544")
    return _activation(node)


def _batch_matmul(node: OpNode) -> Ruling | None:
    if len(node.inputs) != 2:
        return refuses("Two inputs are needed.", _at(561))
    if (node.input(0).rank or 0) < 2 or (node.input(1).rank or 0) < 2:
        return refuses("Rank below 2.", _at(561))
    return None


def _dequantize(node: OpNode) -> Ruling | None:
    if len(node.inputs) != 1:
        return refuses("One input is needed.", _at(704))
    return refuses("int16.", _at(709)) if node.input(0).dtype == "int16" else None


CHECKS: dict[str, Callable[[OpNode], Ruling | None]] = {
    **dict.fromkeys(("ADD", "MUL"), _broadcast),
    **dict.fromkeys(("DIV", "SUB", "MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE", "EQUAL", "GREATER",
                     "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL", "FLOOR_DIV", "FLOOR_MOD",
                     "LOGICAL_AND"),
                    _binary),
    **dict.fromkeys(("ABS", "COS", "ELU", "EXP", "FLOOR", "GELU", "LOG", "LOGISTIC", "NEG", "RSQRT", "SIGN",
                     "SIN", "SQRT", "SQUARE", "TANH"), _unary),
    **dict.fromkeys(("RELU", "RELU6", "LEAKY_RELU", "RELU_N1_TO_1", "PRELU"), _free),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), _pool),
    **dict.fromkeys(("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"), _conv),
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"), _reduce),
    **dict.fromkeys(("SLICE", "STRIDED_SLICE"), _slice),
    **dict.fromkeys(("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"), _blocks),
    **dict.fromkeys(("PAD", "PADV2", "MIRROR_PAD"), _pad),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), _resize),
    **dict.fromkeys(("RESHAPE", "TRANSPOSE", "TILE", "HARD_SWISH", "QUANTIZE"), _one),
    **dict.fromkeys(("SELECT", "SELECT_V2"), _select),
    "BATCH_MATMUL": _batch_matmul,
    "CAST": _cast,
    "CONCATENATION": _concat,
    "DEQUANTIZE": _dequantize,
    "FULLY_CONNECTED": _fully_connected,
    "GATHER": _gather,
    "SOFTMAX": _softmax,
}  # fmt: skip
