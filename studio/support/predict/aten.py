"""aten operators: their plain names, and what every converter does with those that it need not map."""

from __future__ import annotations

from collections.abc import Collection

from studio.support.op_node import OpNode
from studio.support.predict.lowering import Lowering, not_known, vanishes
from studio.support.predict.script_nodes import not_computed


def base_name(op: str) -> str:
    """`conv2d` of `aten::conv2d`, `aten.conv2d.default`, `aten::relu_`; empty for another namespace."""
    for prefix in ("aten::", "aten.", "torch.ops.aten."):
        if op.startswith(prefix):
            name = op[len(prefix) :].split(".")[0]
            return name.rstrip("_") if name.endswith("_") and not name.endswith("__") else name
    return ""


def settled(node: OpNode, source: str, removed: Collection[str]) -> Lowering | None:
    """What is left of a node that computes nothing, is not aten, or is `removed` at inference; else None."""
    if (found := not_computed(node)) is not None:
        return found
    name = base_name(node.op)
    if not name:
        return not_known(f"{node.op} is not an aten operator.", source)
    if name in removed:
        return vanishes(f"{name} does nothing at inference and is removed.", source)
    return None
