"""Faults that all ways to Qualcomm's HTP share, and the one scale that a quantised Concat gives its parts."""

from __future__ import annotations

import math

from studio.support.op_node import OpNode
from studio.support.predict.aten import base_name
from studio.support.ruling import Rule, Ruling, Setting, depends
from studio.support.verdict import Verdict

FLOAT16_LOWEST = -65504.0
SCALE_RATIO = 8.0
"""A part whose scale is this much finer loses three of its eight bits to the common one."""
_POOLS = {"AveragePool", "MaxPool"}
_EDGE_POOLS = {"avg_pool2d", "max_pool2d", "max_pool2d_with_indices"}


def beyond_float16(node: OpNode) -> Ruling | None:
    """A constant below float16's lowest number, which HTP turns into garbage."""
    for tensor in node.inputs:
        found = [v for v in tensor.values or () if isinstance(v, float) and v < FLOAT16_LOWEST]
        if tensor.is_constant and found:
            shown = "−∞" if math.isinf(min(found)) else f"{min(found):g}"
            return depends(
                f"A constant of {shown} is outside float16: HTP makes garbage of it. Use −65504 or less.",
                "https://github.com/pytorch/executorch/issues/18812",
                "clamp-inf-masks",
            )
    return None


def wrong_results(node: OpNode) -> Ruling | None:
    """Attributes that QNN accepts and computes wrongly."""
    name = base_name(node.op)
    if (node.op in _POOLS or name in _EDGE_POOLS) and node.attributes.get("ceil_mode") not in (
        None,
        0,
        False,
    ):
        return depends(
            "ceil_mode gives wrong results on QNN.", "https://github.com/pytorch/executorch/issues/13612"
        )
    dilations = node.ints("dilations") or node.ints("dilation") or ()
    is_transposed = node.op == "ConvTranspose" or (
        name in ("convolution", "_convolution") and bool(node.attributes.get("transposed"))
    )
    if (is_transposed or name.startswith("conv_transpose")) and any(d != 1 for d in dilations):
        return depends(
            "A dilated transposed convolution gives wrong results on QNN.",
            "https://github.com/pytorch/executorch/issues/13611",
        )
    return None


def with_faults(rule: Rule) -> Rule:
    """The rule, where it would take a node, with the faults of HTP told instead."""

    def judge_node(node: OpNode, setting: Setting) -> Ruling:
        ruling = rule(node, setting)
        if ruling.verdict not in (Verdict.RUNS, Verdict.CONDITIONAL):
            return ruling
        return wrong_results(node) or beyond_float16(node) or ruling

    return judge_node


def shared_scale(node: OpNode) -> Ruling | None:
    """A quantised Concat of parts with very different scales: it runs, and ruins the finer part."""
    if node.op != "Concat" or node.qdq is None:
        return None
    scales = [max(t.scale) for t in node.qdq.inputs if t.scale and max(t.scale) > 0]
    if len(scales) < 2 or max(scales) < SCALE_RATIO * min(scales):
        return None
    return depends(
        f"Its parts share one scale, although theirs are {max(scales):.3g} and {min(scales):.3g}: the finer "
        "one loses most of its bits. Return boxes and scores apart.",
        "https://github.com/ultralytics/ultralytics/issues/9473",
        "split-concat",
    )
