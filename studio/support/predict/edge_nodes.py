"""Nodes of ExecuTorch's edge dialect, made from the torch node that they stand for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from studio.support.op_node import OpNode, OpTensor

SOURCE = "prediction: core-aten decompositions, executorch 1.5.1 (studio/support/predict/torch_to_edge.py)"


def edge(node: OpNode, op: str, inputs: tuple[OpTensor, ...] | None = None, **attributes: Any) -> OpNode:
    """That operator with the torch node's attributes and, unless others are given, its inputs."""
    merged = {**node.attributes, **attributes}
    return replace(node, op=f"aten.{op}", attributes=merged, inputs=node.inputs if inputs is None else inputs)


def view_of(node: OpNode, x: OpTensor, y: OpTensor) -> OpNode:
    """A view of x in the shape of y."""
    return replace(node, op="aten.view_copy.default", attributes={}, inputs=(x,), outputs=(y,))
