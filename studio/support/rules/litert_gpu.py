"""LiteRT's GPU delegate: the conditions of its compatibility check and of its tensor check.

Source: github:google-ai-edge/LiteRT@f67457790:tflite/tools/versioning/gpu_compatibility.cc and
tflite/delegates/gpu/common/model_builder.cc. There is no tool to ask on a host: the analyzer calls
every model compatible. So what these files leave open is conditional here, never a yes.
"""

from __future__ import annotations

from collections.abc import Callable

from studio.support.op_node import OpNode
from studio.support.ruling import Ruling, Setting, depends, refuses, takes, unknown
from studio.support.tables import load_table

_CHECK = "github:google-ai-edge/LiteRT@f67457790:tflite/tools/versioning/gpu_compatibility.cc"
_BUILDER = "github:google-ai-edge/LiteRT@f67457790:tflite/delegates/gpu/common/model_builder.cc"
ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGMOID", "")
COMPARISONS = {"EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL", "LOGICAL_AND"}
MAX_VERSION = {
    "CONCATENATION": 2, "CONV_2D": 6, "CUMSUM": 1, "DENSIFY": 1, "DEPTHWISE_CONV_2D": 6, "DEQUANTIZE": 3,
    "FULLY_CONNECTED": 9, "GATHER": 1, "LSTM": 4, "ONE_HOT": 1, "PRELU": 1, "PAD": 2, "AVERAGE_POOL_2D": 2,
    "MAX_POOL_2D": 2, "QUANTIZE": 2, "RELU": 2, "RELU6": 2, "LEAKY_RELU": 2, "RESHAPE": 1,
    "RESIZE_BILINEAR": 3, "RESIZE_NEAREST_NEIGHBOR": 3, "SELECT_V2": 1, "SLICE": 2, "SOFTMAX": 2,
    "SPACE_TO_DEPTH": 2, "STRIDED_SLICE": 4,
}  # fmt: skip
"""CheckMaxSupportedOpVersion of each parser in model_builder.cc."""


def _at(line: int) -> str:
    return f"{_CHECK}#L{line}"


def judge_node(node: OpNode, setting: Setting) -> Ruling:
    """Whether the GPU delegate takes the node."""
    table = load_table("tflite_gpu_delegate")
    row = table.find(node.op)
    if row is None:
        return refuses(f"The GPU delegate has no {node.op}.", table.cite_absence(), *_FIXES.get(node.op, ()))
    if found := _tensors(node):
        return found
    limit = MAX_VERSION.get(node.op)
    if limit and node.version > limit:
        return refuses(f"{node.op} of op version {node.version}; the delegate reads up to {limit}.", _BUILDER)
    if not row.flags.get("in_model_builder", True):
        return depends(
            f"Passes the check for {node.op}, but only LiteRT's newer GPU accelerator has it.",
            table.cite(row),
        )
    check = _CHECKS.get(node.op)
    if check is None:
        return depends(
            f"The GPU delegate has {node.op}; condition: {row.condition or 'not documented'}.",
            table.cite(row),
        )
    if found := check(node):
        return found
    batch = node.input(0).dim(0)
    if (node.input(0).rank or 0) == 4 and batch is not None and batch != 1:
        return depends(
            f"Batch {batch}: the delegate is made for batch 1, larger ones depend on the kernel.",
            table.cite(row),
        )
    return takes(f"GPU {node.op}.", table.cite(row))


def _tensors(node: OpNode) -> Ruling | None:
    """IsAllAllowedTensors: rank at most 4, float (8-bit when quantised inference is on), no dynamic shape."""
    for what, tensors in (("input", node.inputs), ("output", node.outputs)):
        for index, tensor in enumerate(tensors):
            if what == "input" and not node.has(index):
                continue
            if tensor.shape is None:
                return unknown(f"The shape of {what} {index} is not in the file.", _BUILDER)
            if len(tensor.shape) >= 5:
                return refuses(
                    f"Rank {len(tensor.shape)} ({tensor.shape_text()}): at most 4.",
                    f"{_BUILDER}#L3062",
                    "rank5-to-4",
                )
            if not tensor.is_static:
                return refuses(
                    f"Dynamic shape {tensor.shape_text()}.",
                    "https://ai.google.dev/edge/litert/performance/gpu",
                    "freeze-dims",
                )
            if tensor.is_constant:
                continue
            if tensor.dtype not in _allowed(node.op, what):
                return refuses(
                    f"{tensor.dtype} {what} {index}: the delegate computes in float.", f"{_BUILDER}#L3308"
                )
    return None


def _allowed(op: str, what: str) -> tuple[str, ...]:
    """The dtypes that GetOpsToReplace lets through for runtime tensors."""
    allowed: tuple[str, ...] = ("float32", "float16", "int8", "uint8")
    if what == "output" and op in COMPARISONS:
        allowed += ("bool",)
    if op == "CAST":
        allowed += ("bool", "int32")
    if what == "input" and op in ("SELECT", "SELECT_V2", "LOGICAL_AND"):
        allowed += ("bool",)
    if what == "input" and op in ("ONE_HOT", "GATHER"):
        allowed += ("int32",)
    return allowed


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
        return depends("Grouped convolution: only newer delegates split it.", f"{_BUILDER}#L638")
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
        return depends("Computed weights: only part of the kernels.", f"{_BUILDER}#L1310")
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
            return refuses("Reverse slices.", f"{_BUILDER}#L2526")
    if not all(node.input(i).is_constant for i in range(1, len(node.inputs))):
        return refuses("Begin, end or size is computed.", f"{_BUILDER}#L2228")
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
        return refuses("Inputs of different rank.", f"{_BUILDER}#L544")
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


_CHECKS: dict[str, Callable[[OpNode], Ruling | None]] = {
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

_FIXES: dict[str, tuple[str, ...]] = {
    "ARG_MAX": ("cut-tail",),
    "GATHER_ND": ("cut-tail",),
    "STABLEHLO_SORT": ("cut-tail",),
    "NON_MAX_SUPPRESSION_V4": ("cut-tail",),
    "NON_MAX_SUPPRESSION_V5": ("cut-tail",),
}
