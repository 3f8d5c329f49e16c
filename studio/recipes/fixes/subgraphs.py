"""Questions that recognise a small subgraph: who makes a tensor, the value of a scalar, the other input."""

from __future__ import annotations

from typing import Any

import numpy as np

from studio.recipes.fixes.onnx_edit import OnnxEdit

Match = tuple[list[Any], list[Any]]
"""The nodes that go (the last one makes the output) and those that come."""


CLOSE = 1e-3  # float16 keeps 1/6 and √2 to half a thousandth


def scalar_of(edit: OnnxEdit, tensor: str) -> float | None:
    """The value of a constant of one element, else None."""
    value = edit.constant(tensor)
    return float(value.reshape(-1)[0]) if value is not None and value.size == 1 else None


def beside(edit: OnnxEdit, node: Any, value: float) -> str | None:
    """The other input of a two-input node of which one is that constant."""
    for mine, other in ((0, 1), (1, 0)):
        scalar = scalar_of(edit, node.input[mine])
        if scalar is not None and np.isclose(scalar, value, rtol=CLOSE, atol=1e-6):
            return str(node.input[other])
    return None


def made_by(edit: OnnxEdit, tensor: str, op: str) -> Any | None:
    """The node that makes a tensor, if it is that standard operator."""
    node = edit.producer.get(tensor)
    return node if node is not None and node.op_type == op and node.domain in ("", "ai.onnx") else None
