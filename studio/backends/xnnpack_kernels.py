"""Which nodes XNNPACK's own operators are, inside a delegate of LiteRT or ExecuTorch.

XNNPACK runs its operators in the order of the nodes it was given, but joins clamps with their
neighbours and rewrites arithmetic. So only kinds that it neither makes, nor drops, nor splits are told
apart, and only where it has as many of a kind as the delegate has nodes of it: then order decides.
(Seen in ai-edge-litert 2.3.0 and executorch 1.5.1: MINIMUM and MAXIMUM become one Clamp, a MUL a Square.)
"""

from __future__ import annotations

from collections.abc import Sequence

KINDS: dict[str, frozenset[str]] = {
    "Convolution": frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "XNNConv2d", "XNNDepthwiseConv2d"}),
    "Deconvolution": frozenset({"TRANSPOSE_CONV", "XNNDeConv2d"}),
    "Fully Connected": frozenset({"FULLY_CONNECTED", "XNNFullyConnected"}),
    "Batch Matrix Multiply": frozenset({"BATCH_MATMUL", "XNNBatchMatrixMultiply"}),
    "Softmax": frozenset({"SOFTMAX", "XNNSoftmax"}),
    "Max Pooling": frozenset({"MAX_POOL_2D", "XNNMaxPooling2d"}),
    "Average Pooling": frozenset({"AVERAGE_POOL_2D", "XNNAvgPooling2d"}),
    "Resize Bilinear": frozenset({"RESIZE_BILINEAR", "XNNStaticResizeBilinear2D"}),
    "Transpose": frozenset({"TRANSPOSE", "XNNStaticTranspose"}),
}
"""First words of XNNPACK's operator names → the nodes that they are."""


def kind_of(kernel: str) -> str:
    """The kind of an operator such as “Convolution (NHWC, F32) IGEMM”, "" when it is none of KINDS."""
    first = kernel.split("(", maxsplit=1)[0].split("#", maxsplit=1)[0].strip()
    return first if first in KINDS else ""


def match_in_order(kernels: Sequence[str], nodes: Sequence[tuple[int, str]]) -> dict[int, int]:
    """Position in `kernels` → node, for those that are certain. `nodes` are (index, operator) in order."""
    found: dict[int, int] = {}
    for kind, ops in KINDS.items():
        ours = [k for k, name in enumerate(kernels) if kind_of(name) == kind]
        theirs = [index for index, op in nodes if op in ops]
        if len(ours) == len(theirs):
            found.update(zip(ours, theirs))
    return found
