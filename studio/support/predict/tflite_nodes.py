"""TFLite nodes in the making: what predictions of TFLite share, from ONNX as from PyTorch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from studio.graph.graph import Shape
from studio.support.op_node import OpNode, OpTensor

INT_VECTOR = OpTensor(dtype="int32", shape=(2,), is_constant=True)
"""Stands for a constant vector of axes, sizes or a permutation."""


def tflite(
    node: OpNode,
    op: str,
    inputs: tuple[OpTensor, ...] | None = None,
    outputs: tuple[OpTensor, ...] | None = None,
    **attributes: Any,
) -> OpNode:
    """A TFLite node that takes the source node's place, with its tensors unless others are given."""
    return replace(
        node,
        op=op,
        domain="",
        version=1,
        attributes=attributes,
        inputs=tuple(_int32(t) for t in (node.inputs if inputs is None else inputs)),
        outputs=tuple(_int32(t) for t in (node.outputs if outputs is None else outputs)),
        producers=(),
        qdq=None,
    )


def _int32(tensor: OpTensor) -> OpTensor:
    """Constants of 64 bits are written with 32 where the operator allows it (axes, shapes)."""
    return replace(tensor, dtype="int32") if tensor.dtype == "int64" and tensor.is_constant else tensor


def constant(dtype: str, *shape: int) -> OpTensor:
    """A constant of this shape; without dims a number."""
    return OpTensor(dtype=dtype, shape=shape, is_constant=True)


def nhwc(tensor: OpTensor) -> OpTensor:
    """The tensor with its channels last, if it has rank 4."""
    return replace(tensor, shape=_permuted(tensor.shape))


def _permuted(shape: Shape | None) -> Shape | None:
    if shape is None or len(shape) != 4:
        return shape
    return (shape[0], shape[2], shape[3], shape[1])
