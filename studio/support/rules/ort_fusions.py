"""What ONNX Runtime removes or fuses at its basic level, before any provider is asked.

Source: onnxruntime/core/optimizer/ (conv_bn_fusion.cc, dropout_elimination.cc, identity_elimination.cc), all
level 1. A node that is gone cannot cut a partition.
"""

from __future__ import annotations

from studio.support.op_node import OpNode
from studio.support.rules.ort_cpu import CALL
from studio.support.ruling import Ruling, depends, gone

_BASE = "onnxruntime/core/optimizer/"


def removed(node: OpNode) -> Ruling | None:
    """The ruling on a node that is fused or removed at load, else None."""
    if node.is_call:
        return depends(CALL, "onnxruntime/core/graph/graph.cc, InlineFunctionProto")
    if node.domain:
        return None
    after_conv = node.producers[:1] == ("Conv",) and node.is_sole_reader and len(node.outputs) == 1
    constants = all(t.is_constant for t in node.inputs[1:5])
    if node.op == "BatchNormalization" and after_conv and constants:
        return gone("Folded into the Conv before it when the model is loaded.", f"{_BASE}conv_bn_fusion.cc")
    if node.op == "Dropout" and len(node.outputs) == 1:
        return gone("Removed when the model is loaded.", f"{_BASE}dropout_elimination.cc")
    if node.op == "Identity" and node.producers[:1] != ("",) and "" not in node.consumers:
        return gone("Removed when the model is loaded.", f"{_BASE}identity_elimination.cc")
    return None
