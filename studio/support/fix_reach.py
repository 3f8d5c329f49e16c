"""Which operators a fix can act on: one that would always refuse is not offered."""

from __future__ import annotations

from studio.support.op_node import OpNode
from studio.support.ruling import Ruling

RANK_5 = {
    "Abs", "Cast", "Ceil", "Clip", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish",
    "LeakyRelu", "Log", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Softplus",
    "Softsign", "Sqrt", "Swish", "Tanh", "Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Softmax",
    "LogSoftmax", "Transpose",
}  # fmt: skip
REACH = {
    "rank5-to-4": RANK_5,
    "cut-tail": {"TopK", "NonZero", "NonMaxSuppression", "Unique", "Compress"},
    "decompose-hardswish": {"HardSwish"},
    "decompose-hardsigmoid": {"HardSigmoid"},
    "decompose-gelu": {"Gelu"},
    "decompose-attention": {"Attention"},
    "einsum-to-matmul": {"Einsum"},
    "conv1d-to-conv2d": {"Conv"},
    "convtranspose-axis": {"ConvTranspose"},
    "resize-half-pixel": {"Resize"},
    "resize-asymmetric": {"Resize"},
    "split-concat": {"Concat"},
    "dynamic-quantize-to-static": {"DynamicQuantizeLinear"},
}
"""Fix → ONNX operators that its rewrite looks for; fixes that are not here act on any."""


def helpful(node: OpNode, ruling: Ruling) -> Ruling:
    """The ruling without fixes that have nothing to do at this node."""
    if not ruling.fixes:
        return ruling
    kept = tuple(fix for fix in ruling.fixes if fix not in REACH or node.op in REACH[fix])
    return ruling if kept == ruling.fixes else ruling._replace(fixes=kept)
