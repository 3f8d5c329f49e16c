"""A torch call in the making: what predictions of torch modules share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from studio.support.op_node import OpNode, OpTensor


def call(node: OpNode, op: str, inputs: tuple[OpTensor, ...] | None = None, **attributes: Any) -> OpNode:
    """The aten operator in the node's place, with its tensors unless others are given."""
    return replace(
        node,
        op=f"aten::{op}",
        domain="",
        version=0,
        attributes=attributes,
        inputs=node.inputs if inputs is None else inputs,
        qdq=None,
    )
