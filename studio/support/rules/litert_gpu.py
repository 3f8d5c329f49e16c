"""LiteRT's GPU delegate: the conditions of its compatibility check and of its tensor check.

Source: github:google-ai-edge/LiteRT@f67457790:tflite/tools/versioning/gpu_compatibility.cc and
tflite/delegates/gpu/common/model_builder.cc. There is no tool to ask on a host: the analyzer calls
every model compatible. So what these files leave open is conditional here, never a yes.
"""

from __future__ import annotations

from studio.support.op_node import OpNode
from studio.support.rules.litert_gpu_checks import BUILDER, CHECKS
from studio.support.ruling import Ruling, Setting, depends, refuses, takes, unknown
from studio.support.tables import load_table

COMPARISONS = {"EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL", "LOGICAL_AND"}
MAX_VERSION = {
    "CONCATENATION": 2, "CONV_2D": 6, "CUMSUM": 1, "DENSIFY": 1, "DEPTHWISE_CONV_2D": 6, "DEQUANTIZE": 3,
    "FULLY_CONNECTED": 9, "GATHER": 1, "LSTM": 4, "ONE_HOT": 1, "PRELU": 1, "PAD": 2, "AVERAGE_POOL_2D": 2,
    "MAX_POOL_2D": 2, "QUANTIZE": 2, "RELU": 2, "RELU6": 2, "LEAKY_RELU": 2, "RESHAPE": 1,
    "RESIZE_BILINEAR": 3, "RESIZE_NEAREST_NEIGHBOR": 3, "SELECT_V2": 1, "SLICE": 2, "SOFTMAX": 2,
    "SPACE_TO_DEPTH": 2, "STRIDED_SLICE": 4,
}  # fmt: skip
"""CheckMaxSupportedOpVersion of each parser in model_builder.cc."""


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
        return refuses(f"{node.op} of op version {node.version}; the delegate reads up to {limit}.", BUILDER)
    if not row.flags.get("in_model_builder", True):
        return depends(
            f"Passes the check for {node.op}, but only LiteRT's newer GPU accelerator has it.",
            table.cite(row),
        )
    check = CHECKS.get(node.op)
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
                return unknown(f"The shape of {what} {index} is not in the file.", BUILDER)
            if len(tensor.shape) >= 5:
                return refuses(
                    f"Rank {len(tensor.shape)} ({tensor.shape_text()}): at most 4.",
                    f"{BUILDER}#L3062",
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
                    f"{tensor.dtype} {what} {index}: the delegate computes in float.", f"{BUILDER}#L3308"
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


_FIXES: dict[str, tuple[str, ...]] = {
    "ARG_MAX": ("cut-tail",),
    "GATHER_ND": ("cut-tail",),
    "STABLEHLO_SORT": ("cut-tail",),
    "NON_MAX_SUPPRESSION_V4": ("cut-tail",),
    "NON_MAX_SUPPRESSION_V5": ("cut-tail",),
}
