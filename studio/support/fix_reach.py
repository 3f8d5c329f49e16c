"""Which nodes a fix can act on: one that would refuse or change nothing is not offered.

A rule names the fix for its reason; whether the rewrite finds its place at this node is asked here, with
the conditions of the rewrites in `recipes.fixes`. What depends on the whole graph is in `graph_reach`.
"""

from __future__ import annotations

from collections.abc import Callable

from studio.graph.einsum import matrix_product
from studio.graph.merged_dims import broadcast_groups, transpose_groups
from studio.support.op_node import OpNode, OpTensor
from studio.support.ruling import Ruling

UNARY_5D = {
    "Abs", "Cast", "Ceil", "Clip", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish",
    "LeakyRelu", "Log", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Softplus",
    "Softsign", "Sqrt", "Swish", "Tanh",
}  # fmt: skip
BINARY_5D = {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min"}
TAIL_OPERATORS = ("TopK", "NonZero", "NonMaxSuppression", "Unique", "Compress")
_NORMALIZATIONS = {
    "LayerNormalization", "GroupNormalization", "RMSNormalization", "MeanVarianceNormalization",
}  # fmt: skip
RESIZE_MODES_SINCE = 11


def helpful(node: OpNode, ruling: Ruling) -> Ruling:
    """The ruling without fixes that have nothing to do at this node."""
    if not ruling.fixes:
        return ruling
    kept = tuple(fix for fix in ruling.fixes if can_act(fix, node))
    return ruling if kept == ruling.fixes else ruling._replace(fixes=kept)


def can_act(fix: str, node: OpNode) -> bool:
    """Whether the fix's rewrite finds something to do at this ONNX node."""
    if fix in ANYWHERE:
        return True
    if node.in_subgraph or node.domain not in ("", "ai.onnx"):
        return False  # rewrites look at operators of ONNX in the main graph
    acts = REACH.get(fix)
    return acts is None or acts(node)


def _is(*operators: str) -> Callable[[OpNode], bool]:
    return lambda node: node.op in operators


def _held(node: OpNode, index: int) -> bool:
    """Whether an input is a constant that the file holds, not one computed from others."""
    makers = node.producers
    return node.input(index).is_constant and (index >= len(makers) or makers[index] in ("", "Constant"))


def _numbers(tensor: OpTensor) -> list[int] | None:
    dims = [d for d in tensor.shape or () if isinstance(d, int) and d > 0]
    return dims if tensor.shape is not None and len(dims) == len(tensor.shape) else None


def _rank5(node: OpNode) -> bool:
    shape, out = _numbers(node.input(0)), _numbers(node.output())
    if shape is None or out is None or max(len(shape), len(out)) <= 4:
        return False
    if node.op in UNARY_5D:
        return shape == out
    if node.op in BINARY_5D:
        shapes = [_numbers(t) for t in node.inputs]
        known = [s for s in shapes if s is not None]
        return len(known) == len(shapes) and broadcast_groups(known, out) is not None
    if node.op in ("Softmax", "LogSoftmax"):
        return node.version >= 13 and node.integer("axis", -1) % len(shape) == len(shape) - 1
    if node.op == "Transpose":
        perm = node.ints("perm") or tuple(range(len(shape)))[::-1]
        return transpose_groups(shape, perm) is not None
    return False


def _einsum(node: OpNode) -> bool:
    product = matrix_product(node.text("equation", ""))
    if node.op != "Einsum" or product is None or len(node.inputs) != 2:
        return False
    return product.is_plain or all(t.is_static for t in node.inputs)


def _mean_over_picture(node: OpNode) -> bool:
    rank, axes = node.input(0).rank, node.ints_of(1, "axes")
    if node.op != "ReduceMean" or rank is None or rank < 3 or axes is None:
        return False
    if node.has(1) and not _held(node, 1):
        return False
    return sorted(a % rank for a in axes) == list(range(2, rank)) and node.input(0).dtype != "float64"


def _attention(node: OpNode) -> bool:
    """Without a cache (of which onnx and ONNX Runtime differ), and with no input left out between others."""
    if node.op == "Attention" and len(node.inputs) > 4:
        return False
    return node.op in ("Attention", "RotaryEmbedding") and all(node.has(i) for i in range(len(node.inputs)))


def _has_fixed_size(node: OpNode) -> bool:
    """Whether a Resize's factors or sizes stand in the file: computed ones cannot be tried out."""
    return any(_held(node, i) for i in (2, 3) if node.has(i))


def _half_pixel(node: OpNode) -> bool:
    if node.op != "Resize" or node.version < RESIZE_MODES_SINCE or not _has_fixed_size(node):
        return False
    if node.text("coordinate_transformation_mode", "half_pixel") != "pytorch_half_pixel":
        return False
    before, after = node.input(0).shape, node.output().shape
    if before is None or after is None:
        return False
    return not any(a == 1 and b != 1 for b, a in zip(before, after))


def _asymmetric(node: OpNode) -> bool:
    if node.op != "Resize" or node.version < RESIZE_MODES_SINCE or not _has_fixed_size(node):
        return False
    if node.text("mode", "nearest") != "nearest":
        return False
    before, after = _numbers(node.input(0)), _numbers(node.output())
    factors: list[float]
    if before is not None and after is not None:
        factors = [a / b for b, a in zip(before, after)]
    elif _held(node, 2):
        factors = [float(v) for v in node.input(2).values or ()]
    else:
        factors = []
    if not factors or any(f < 1 or not f.is_integer() for f in factors):
        return False
    mode = node.text("coordinate_transformation_mode", "half_pixel")
    rounding = node.text("nearest_mode", "round_prefer_floor")
    if mode == "asymmetric":
        return rounding == "round_prefer_floor" and max(factors) == 2
    is_centred = mode in ("half_pixel", "pytorch_half_pixel")
    return is_centred and rounding in ("round_prefer_floor", "round_prefer_ceil")


def _norm(node: OpNode) -> bool:
    is_training = node.integer("training_mode", 0) != 0 or len(node.outputs) > 1
    known = node.input(0).rank is not None and all(_held(node, i) for i in range(1, 5))
    return node.op == "BatchNormalization" and known and not is_training


def _transposed_weight(node: OpNode) -> bool:
    weight = node.qdq.inputs[1] if node.qdq and len(node.qdq.inputs) > 1 else None
    if node.op != "ConvTranspose" or weight is None or not weight.is_per_channel:
        return False
    return weight.axis not in (None, 1) and weight.is_constant and node.integer("group", 1) == 1


REACH: dict[str, Callable[[OpNode], bool]] = {
    "rank5-to-4": _rank5,
    "cut-tail": _is(*TAIL_OPERATORS),
    "decompose-hardswish": _is("HardSwish"),
    "decompose-hardsigmoid": _is("HardSigmoid"),
    "decompose-gelu": _is("Gelu"),
    "decompose-silu": _is("Swish", "Mish"),
    "decompose-attention": _attention,
    "decompose-layernorm": lambda node: node.op in _NORMALIZATIONS,
    "einsum-to-matmul": _einsum,
    "fold-batchnorm": _norm,
    "conv1d-to-conv2d": lambda node: node.op == "Conv" and node.input(1).rank == 3 and _held(node, 1),
    "convtranspose-axis": _transposed_weight,
    "reducemean-to-gap": _mean_over_picture,
    "resize-half-pixel": _half_pixel,
    "resize-asymmetric": _asymmetric,
    "split-concat": _is("Concat"),
    "dynamic-quantize-to-static": _is("DynamicQuantizeLinear"),
}
"""Fix → whether its rewrite has something to do at an ONNX node."""
ANYWHERE = {"freeze-dims", "opset-up", "opset-down", "split-unsupported", "clamp-inf-masks"}
"""Fixes of the whole graph, whatever the node."""
