"""ExecuTorch's Vulkan partitioner: its operator registry, dtypes, ranks and the extra checks of a few.

Source: pip:executorch==1.5.1 backends/vulkan/op_registry.py and partitioner/vulkan_partitioner.py (table
`executorch_vulkan`); audited against the partitioner. There is no fallback inside a Vulkan
delegate: a missing shader is found only at run time, on the phone.
"""

from __future__ import annotations

from studio.support.op_node import OpNode
from studio.support.ruling import Ruling, Setting, depends, refuses, takes, unknown
from studio.support.tables import load_table

KNOWN_TYPES = ("float32", "float16", "int32", "int64", "int8", "uint8", "bool", "float64")
MAX_TEXTURE = 16384
"""DEFAULT_TEXTURE_LIMITS of backends/vulkan/utils.py; a phone may allow less."""


SAME_TYPES = ("aten.logical_or.default", "aten.logical_and.default", "aten.logical_xor.default")
"""Every input is checked (partitioner/vulkan_partitioner.py, op_node_is_compatible), not the first alone."""
DECOMPOSED = {"aten.prelu.default": "gt, mul and where"}
"""Kept whole only for XNNPACK."""


def judge_node(node: OpNode, setting: Setting) -> Ruling:
    """Whether the Vulkan partitioner takes the edge node."""
    table = load_table("executorch_vulkan")
    row = table.find(node.op)
    if node.op in DECOMPOSED:
        return depends(f"Decomposed: {DECOMPOSED[node.op]}.", "torch core-aten decomposition table")
    if row is None:
        return refuses(f"Vulkan has no {node.op}.", table.cite_absence())
    source = table.cite(row)
    tensors = [t for i, t in enumerate(node.inputs) if node.has(i)] + list(node.outputs[:1])
    if any(not t.dtype or t.shape is None for t in tensors):
        return unknown("A data type or shape is not in the file.", source)
    for tensor in tensors:
        if tensor.dtype not in KNOWN_TYPES:
            return refuses(f"{tensor.dtype} is not a Vulkan type.", source)
    allowed = [d for d in row.dtypes if d in KNOWN_TYPES]
    first = node.input(0) if node.inputs else node.output()
    if allowed and first.dtype not in allowed:
        return refuses(f"{first.dtype}: Vulkan's {node.op} takes {', '.join(allowed)}.", source)
    plain = [t for i, t in enumerate(node.inputs) if node.has(i)]
    if node.op == "dim_order_ops._to_dim_order_copy.default":
        plain.append(node.output())  # a cast: both of its types
    if allowed and (node.op in SAME_TYPES or len(plain) > len(node.inputs)):
        other = next((t.dtype for t in plain if t.dtype not in allowed), "")
        if other:
            return refuses(f"{other}: Vulkan's {node.op} takes {', '.join(allowed)}.", source)
    if "rank <= 4" in row.condition and any((t.rank or 0) > 4 for t in tensors):
        return refuses("A tensor of rank above 4.", source, "rank5-to-4")
    if "no resize fn" in row.condition and any(not t.is_static for t in tensors):
        return refuses("A dynamic shape; this operator cannot be resized.", source, "freeze-dims")
    if node.op == "aten.convolution.default":
        return _convolution(node, source)
    if "extra input check" in row.condition or not allowed:
        return depends(f"Vulkan has {node.op}; condition: {row.condition}.", source)
    if any(isinstance(d, int) and d > MAX_TEXTURE for t in tensors for d in t.shape or ()):
        return depends(f"A dim above {MAX_TEXTURE}: only as a buffer, if this operator has one.", source)
    return takes(f"Vulkan {node.op}.", source)


def _convolution(node: OpNode, source: str) -> Ruling:
    """check_conv_node: batch 1, no 3-D, no transposed 1-D (docs, table row)."""
    weight, x = node.input(1), node.input(0)
    if weight.rank is None or x.rank is None:
        return unknown("A rank is not in the file.", source)
    if weight.rank > 4:
        return refuses("3-D convolution.", source)
    if weight.rank == 3 and node.integer("transposed", 0):
        return refuses("Transposed 1-D convolution.", source)
    if weight.rank == 4 and x.dim(0) != 1:
        return refuses(f"Batch {x.shape[0] if x.shape else '?'}: 2-D convolutions take batch 1.", source)
    if not weight.is_constant:
        return unknown("A convolution with a computed weight.", source)
    return takes("Vulkan convolution.", source)
