"""Which nodes XNNPACK's own operators are, inside a delegate of LiteRT or ExecuTorch.

XNNPACK runs its operators in the order of the nodes it was given, but joins clamps with their
neighbours and rewrites arithmetic. So only kinds that it neither makes, nor drops, nor splits are told
apart, and only where it has as many of a kind as the delegate has nodes of it: then order decides, and
each operator must be one that its node can become. (Seen in ai-edge-litert 2.3.0 and executorch 1.5.1:
MINIMUM and MAXIMUM become one Clamp, a MUL a Square, a 1×1 convolution a Fully Connected.)
"""

from __future__ import annotations

from collections.abc import Sequence

_CONV = frozenset({"CONV_2D", "XNNConv2d"})
_DEPTHWISE = frozenset({"DEPTHWISE_CONV_2D", "XNNDepthwiseConv2d"})
_FULL = frozenset({"FULLY_CONNECTED", "XNNFullyConnected"})

KINDS: tuple[dict[str, frozenset[str]], ...] = (
    {"Convolution": _CONV | _DEPTHWISE, "Fully Connected": _CONV | _FULL},
    {"Deconvolution": frozenset({"TRANSPOSE_CONV", "XNNDeConv2d"})},
    {"Batch Matrix Multiply": frozenset({"BATCH_MATMUL", "XNNBatchMatrixMultiply"})},
    {"Softmax": frozenset({"SOFTMAX", "XNNSoftmax"})},
    {"Max Pooling": frozenset({"MAX_POOL_2D", "XNNMaxPooling2d"})},
    {"Average Pooling": frozenset({"AVERAGE_POOL_2D", "XNNAvgPooling2d"})},
    {"Resize Bilinear": frozenset({"RESIZE_BILINEAR", "XNNStaticResizeBilinear2D"})},
    {"Transpose": frozenset({"TRANSPOSE", "XNNStaticTranspose"})},
)
"""Groups that are counted together: first words of XNNPACK's operator names → the nodes that they can be."""

_DEPTHWISE_ONLY = ("DWConv", "VMulCAddC")
"""Parts of a convolution's name that no other node has; a depthwise one may also run as IGEMM."""


def kind_of(kernel: str) -> str:
    """The first words of an operator such as “Convolution (NHWC, F32) IGEMM”."""
    return kernel.split("(", maxsplit=1)[0].split("#", maxsplit=1)[0].strip()


def match_in_order(kernels: Sequence[str], nodes: Sequence[tuple[int, str]]) -> dict[int, int]:
    """Position in `kernels` → node, for those that are certain. `nodes` are (index, operator) in order."""
    found: dict[int, int] = {}
    for group in KINDS:
        ops = frozenset().union(*group.values())
        ours = [k for k, name in enumerate(kernels) if kind_of(name) in group]
        theirs = [(index, op) for index, op in nodes if op in ops]
        if len(ours) != len(theirs):
            continue
        if all(op in _possible(kernels[k], group) for k, (_, op) in zip(ours, theirs)):
            found.update((k, index) for k, (index, _) in zip(ours, theirs))
    return found


def _possible(kernel: str, group: dict[str, frozenset[str]]) -> frozenset[str]:
    """The operators of nodes that a kernel can be."""
    if any(part in kernel for part in _DEPTHWISE_ONLY):
        return _DEPTHWISE
    return group[kind_of(kernel)]
