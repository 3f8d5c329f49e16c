"""What Qualcomm's compiler answered whenever it was asked, as conditions: a plain yes or no for `ort/qnn`.

Source: onnxruntime-qnn 2.7.0 with the HTP back end, 2026-11-30: 60 files of thirteen architectures (float32,
float16, unsigned, signed per-channel and 16-bit QDQ) and single operators with random attributes, ranks,
types and opsets 11 to 21. SM8450, SM8550, SM8650 and SM8750 (Hexagon v69 to v79) gave the same answer on all
of the 4,123 nodes; SM8350 (v68) did where it compiled, and refused files with float32 operators as a whole. A
yes is claimed only for operators that were always taken under the conditions below, static, of rank 1 to 4.
"""

from __future__ import annotations

from studio.support.op_node import OpNode, OpTensor
from studio.support.ruling import Ruling, refuses, takes

ASKED = "asked of onnxruntime-qnn 2.7.0, 2026-11-30 (resources/help/audit.md)"
FLOAT_ARCHES = (69, 73, 75, 79)
QUANTIZED_ARCHES = (68, *FLOAT_ARCHES)
LOWEST_OPSET = 11
MAX_RANK = 4

FLOAT = {
    "Add", "Atan", "AveragePool", "BatchNormalization", "Ceil", "Clip", "Concat", "Conv", "ConvTranspose",
    "Cos", "CumSum", "DepthToSpace", "Div", "Elu", "Equal", "Exp", "Expand", "Flatten", "Floor", "GRU",
    "Gather", "GatherElements", "Gelu", "Gemm", "GlobalAveragePool", "GlobalMaxPool", "Greater",
    "GreaterOrEqual", "HardSigmoid", "HardSwish", "Identity", "InstanceNormalization", "LRN", "LSTM",
    "LayerNormalization", "LeakyRelu", "Less", "Log", "LogSoftmax", "LpPool", "MatMul", "Max", "MaxPool",
    "Min", "Mul", "Neg", "PRelu", "Pad", "Pow", "Reciprocal", "ReduceMax", "ReduceMean", "ReduceMin",
    "ReduceSum", "Relu", "Reshape", "Resize", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Slice", "Softmax",
    "Softplus", "SpaceToDepth", "Split", "Sqrt", "Squeeze", "Sub", "Tanh", "ThresholdedRelu", "Tile", "TopK",
    "Transpose", "Unsqueeze", "Where",
}  # fmt: skip
"""Taken in float32 and float16 alike: HTP computes both in float16."""
UINT8 = {
    "Abs", "Add", "AveragePool", "Clip", "Concat", "Conv", "ConvTranspose", "Cos", "Elu", "Gather", "Gelu",
    "Gemm", "GlobalAveragePool", "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "LogSoftmax", "MatMul",
    "MaxPool", "Mul", "Pad", "Pow", "ReduceMax", "ReduceMean", "Relu", "Reshape", "Resize", "Sigmoid", "Sin",
    "Slice", "Softmax", "Split", "Sqrt", "Squeeze", "Sub", "Tanh", "Transpose", "Unsqueeze",
}  # fmt: skip
INT8 = {
    "Add", "Concat", "Conv", "ConvTranspose", "Gather", "Gelu", "Gemm", "LayerNormalization", "MatMul",
    "MaxPool", "Mul", "ReduceMax", "ReduceMean", "Reshape", "Resize", "Sigmoid", "Slice", "Softmax", "Split",
    "Squeeze", "Transpose", "Unsqueeze",
}  # fmt: skip
UINT16 = (INT8 - {"LayerNormalization"}) | {"LeakyRelu"}
QUANTIZED = {"uint8": UINT8, "int8": INT8, "uint16": UINT16}

FIXED_INPUTS = {
    "BatchNormalization": (1, 2, 3, 4), "Clip": (1, 2), "CumSum": (1,), "Expand": (1,), "GRU": (1, 2, 3),
    "InstanceNormalization": (1, 2), "LSTM": (1, 2, 3), "LayerNormalization": (1, 2), "Pad": (1, 2),
    "ReduceMax": (1,), "ReduceMean": (1,), "ReduceMin": (1,), "ReduceSum": (1,), "Reshape": (1,),
    "Resize": (1, 2, 3), "Slice": (1, 2, 3, 4), "Split": (1,), "Squeeze": (1,), "Tile": (1,), "TopK": (1,),
    "Unsqueeze": (1,),
}  # fmt: skip
"""Inputs that were constants whenever the operator was taken."""
PLAIN_8_BIT_REFUSED = {
    "int8": {"Expand", "GatherElements", "Relu", "Reshape", "Slice", "Squeeze"},
    "uint8": {"Equal", "GatherElements", "GreaterOrEqual"},
}
NEAREST = {
    ("align_corners", "round_prefer_ceil"), ("align_corners", "round_prefer_floor"), ("asymmetric", "floor"),
    ("half_pixel", "ceil"), ("half_pixel", "floor"), ("pytorch_half_pixel", "floor"),
}  # fmt: skip
"""Pairs of coordinate mode and rounding that were taken, twice at least; asymmetric with ceil was not."""
REFUSED = {"Celu", "ReduceProd", "Softsign"}
"""Refused 24 times of 24, also where ONNX Runtime could have expanded them."""
RANK_5 = {
    "Add", "Concat", "Mul", "Reshape", "Sigmoid", "Slice", "Squeeze", "Sub", "Transpose", "Unsqueeze",
}  # fmt: skip
"""Taken of rank 5 as well, five times at least and always."""
NEVER = {"ArgMin": "select_last_index", "ArgMax": "select_last_index", "CumSum": "reverse"}


def refused(node: OpNode) -> Ruling | None:
    """A plain no for what was refused every time it was asked, else None."""
    first = node.input(0).dtype
    if node.op in REFUSED and not node.domain:
        return refuses(f"QNN does not take {node.op}.", ASKED)
    if first == "float64":
        return refuses("HTP has no float64.", ASKED)
    if node.qdq is None and node.op in PLAIN_8_BIT_REFUSED.get(first, ()):
        return refuses(f"QNN does not take {node.op} of plain {first}, only of quantised numbers.", ASKED)
    if (flag := NEVER.get(node.op)) and node.integer(flag, 0):
        return refuses(f"QNN has no {node.op} with {flag}.", ASKED)
    if node.op == "Resize":
        return _resize(node)
    if node.op == "LayerNormalization" and node.qdq is not None and len(node.qdq.inputs) > 1:
        kinds = (node.qdq.inputs[0].dtype, node.qdq.inputs[1].dtype)
        if kinds in (("uint8", "int8"), ("uint16", "int8")):
            return refuses(f"LayerNormalization of {kinds[0]} with an {kinds[1]} scale.", ASKED)
    return None


def _resize(node: OpNode) -> Ruling | None:
    mode = node.text("mode", "nearest")
    if node.integer("antialias", 0):
        return refuses("QNN does not resize with antialias.", ASKED)
    rounding = node.text("nearest_mode", "round_prefer_floor")
    where = node.text("coordinate_transformation_mode", "half_pixel")
    if (mode, where, rounding) == ("nearest", "asymmetric", "round_prefer_floor"):
        return refuses("Nearest, asymmetric, rounded to the nearest: QNN does not round so.", ASKED)
    return None


def confirmed(node: OpNode, arch: int) -> Ruling | None:
    """A plain yes under the conditions that were asked, else None."""
    if node.domain or node.opset < LOWEST_OPSET or not _is_plain(node) or not _has_constants(node):
        return None
    if node.qdq is not None:
        kinds = {t.dtype for t in (*node.qdq.inputs[:1], *node.qdq.outputs)}
        kind = next(iter(kinds)) if len(kinds) == 1 else ""
        if arch in QUANTIZED_ARCHES and node.op in QUANTIZED.get(kind, ()):
            return takes(f"HTP {node.op}, quantised.", ASKED)
        return None
    data = node.input(1 if node.op == "Where" else 0)
    if arch in FLOAT_ARCHES and data.dtype in ("float32", "float16") and node.op in FLOAT:
        return takes(f"HTP {node.op}, computed in float16.", ASKED)
    return None


def _is_plain(node: OpNode) -> bool:
    """Static shapes of an asked rank without an empty dim, and no attribute that was not always taken."""
    computed = [t for i, t in enumerate(node.inputs) if node.has(i) and not t.is_constant]
    if not all(_is_asked_shape(t) for t in (*computed, *node.outputs)):
        return False
    highest = 5 if node.op in RANK_5 else MAX_RANK
    if any((t.rank or 0) > highest for t in (*computed, *node.outputs)):
        return False
    rank = node.input(0).rank or 0
    if node.op == "Resize":
        return rank == 4 and _is_asked_resize(node)
    if node.op == "Pad":
        return node.text("mode", "constant") in ("constant", "edge")
    if node.op == "TopK":
        return node.integer("axis", -1) in (-1, rank - 1)
    if node.op == "CumSum":
        return not node.integer("exclusive", 0)
    if node.op == "MatMul":
        return rank >= 2 and (node.input(1).rank or 0) >= 2
    if node.op in ("BatchNormalization", "InstanceNormalization"):
        return rank in (3, 4)
    return True


def _is_asked_resize(node: OpNode) -> bool:
    mode = node.text("mode", "nearest")
    where = node.text("coordinate_transformation_mode", "half_pixel")
    if mode == "nearest":
        return (where, node.text("nearest_mode", "round_prefer_floor")) in NEAREST
    return mode == "linear" or where in ("half_pixel", "pytorch_half_pixel")


def _is_asked_shape(tensor: OpTensor) -> bool:
    if not tensor.dtype:
        return True  # an optional output that is left out
    dims = tensor.shape or ()
    return tensor.is_static and len(dims) >= 1 and all(isinstance(d, int) and d > 0 for d in dims)


def _has_constants(node: OpNode) -> bool:
    return all(
        not node.has(i) or not node.input(i).dtype or node.input(i).is_constant or node.qdq is not None
        for i in FIXED_INPUTS.get(node.op, ())
    )
