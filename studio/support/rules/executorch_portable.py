"""ExecuTorch's portable kernels: is there one for this edge operator?

Source: the kernel lists of the executorch wheel (table `executorch_portable`). Kernels check dtypes at
run time; integer, bool and float32 tensors are ordinary, others stay conditional.
"""

from __future__ import annotations

from studio.support.op_node import OpNode
from studio.support.ruling import Ruling, Setting, depends, fails, takes, unknown
from studio.support.tables import load_table

ORDINARY = {"float32", "float64", "int64", "int32", "int16", "int8", "uint8", "bool", "float16", ""}
NO_KERNEL_NEEDED = {
    "getitem": "Picks an output: no kernel.",
    "aten.sym_size.int": "A dim of a shape: a built-in of the runtime.",
    "aten.alias_copy.default": "Removed while lowering.",
    "aten.view_copy.default": "A view of memory, planned ahead.",
}


DECOMPOSED = {
    "aten.linear.default": "aten.addmm.default",
    "aten.hardswish.default": "aten.clamp.default",
    "aten.max_pool2d.default": "aten.max_pool2d_with_indices.default",
    "aten.prelu.default": "aten.where.self",
}
"""Kept whole only for a delegate that takes them; otherwise these kernels do the work."""


def judge_node(node: OpNode, setting: Setting) -> Ruling:
    """Whether a portable kernel runs the edge node."""
    table = load_table("executorch_portable")
    if node.op in NO_KERNEL_NEEDED:
        return takes(NO_KERNEL_NEEDED[node.op], "pip:executorch==1.5.1 exir/memory.py", engine=False)
    row = table.find(DECOMPOSED.get(node.op, node.op))
    if row is None:
        if node.op.startswith("aten.") or node.op.startswith("quantized_decomposed."):
            return fails(f"ExecuTorch has no portable kernel for {node.op}.", table.cite_absence())
        return unknown(
            f"{node.op} is a custom operator: the app has to register its kernel.", table.cite_absence()
        )
    kinds = {t.dtype for t in (*node.inputs, *node.outputs)} - ORDINARY
    if kinds:
        return depends(
            f"Portable kernel for {node.op}, if it has {', '.join(sorted(kinds))}.", table.cite(row)
        )
    return takes(f"Portable kernel for {node.op}.", table.cite(row))
