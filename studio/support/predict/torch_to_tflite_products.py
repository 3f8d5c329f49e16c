"""PyTorch → TFLite: matrix products, softmax and attention as litert-torch 0.10.0 writes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from studio.support.op_node import OpNode, OpTensor
from studio.support.predict.aten import base_name
from studio.support.predict.lowering import Lowering, becomes, not_known
from studio.support.predict.tflite_nodes import INT_VECTOR, constant, tflite
from studio.support.predict.torch_to_tflite_shapes import reduced

SOURCE = "prediction: what litert-torch 0.10.0 writes (studio/support/predict/torch_to_tflite_products.py)"
CREATED = {"zeros", "ones", "full", "arange", "eye", "linspace", "scalar_tensor", "tensor", "empty"}
"""Operators that make a tensor from nothing: a constant of the converted file."""


def _softmax(node: OpNode) -> Lowering:
    x, rank = node.input(0), node.input(0).rank
    axis = node.integer("dim", -1)
    if rank is None:
        return not_known("The rank is not in the file.", SOURCE)
    steady = (
        *reduced(node, "REDUCE_MAX", (axis,)),
        tflite(node, "MAXIMUM", (x, constant(x.dtype))),
        tflite(node, "SUB", (x, x)),
        tflite(node, "EXP", (x,)),
        *reduced(node, "SUM", (axis,)),
    )
    if "log" in node.op and rank == 2 and axis in (-1, 1):
        return becomes(SOURCE, tflite(node, "LOG_SOFTMAX", (x,)))
    if "log" in node.op:
        return becomes(SOURCE, *steady, tflite(node, "LOG", (x,)))
    if axis in (-1, rank - 1):
        return becomes(SOURCE, tflite(node, "SOFTMAX", (x,), beta=1.0))
    return becomes(SOURCE, *steady, tflite(node, "DIV", (x, x)))


def _linear(node: OpNode) -> Lowering:
    x, weight = node.input(0), node.input(1)
    if not weight.is_constant or (node.has(2) and not node.input(2).is_constant):
        return becomes(SOURCE, tflite(node, "BATCH_MATMUL", (x, weight)), sure=False)
    return becomes(SOURCE, _dense(node, x, weight))


def _dense(node: OpNode, x: OpTensor, weight: OpTensor) -> OpNode:
    bias = constant(x.dtype, *(d for d in (weight.shape or ())[:1] if isinstance(d, int)))
    return tflite(
        node, "FULLY_CONNECTED", (x, weight, bias), keep_num_dims=True, fused_activation_function="NONE"
    )


def _addmm(node: OpNode) -> Lowering:
    bias, x, weight = node.input(0), node.input(1), node.input(2)
    plain = node.number("alpha", 1.0) == 1.0 and node.number("beta", 1.0) == 1.0
    if not (plain and weight.is_constant and bias.is_constant):
        return becomes(
            SOURCE, tflite(node, "BATCH_MATMUL", (x, weight)), tflite(node, "ADD", (x, bias)), sure=False
        )
    turned = replace(weight, shape=weight.shape[::-1] if weight.shape else None)
    return becomes(SOURCE, _dense(node, x, turned))


def _matmul(node: OpNode) -> Lowering:
    a, b = node.input(0), node.input(1)
    if node.producers[1:2] and base_name(node.producers[1]) in CREATED:
        b = replace(b, is_constant=True)
    if b.is_constant and b.rank == 2 and not a.is_constant:
        return becomes(SOURCE, _dense(node, a, replace(b, shape=(b.shape or ())[::-1])))
    if (a.rank or 0) < 2 or (b.rank or 0) < 2:
        return not_known("A product with a vector.", SOURCE)
    return becomes(SOURCE, tflite(node, "BATCH_MATMUL", (a, b)), sure=not b.is_constant)


def _attention(node: OpNode) -> Lowering:
    q, k, v = node.input(0), node.input(1), node.input(2)
    scores = replace(q, shape=(*(q.shape or ())[:-1], (k.shape or (None, None))[-2]) if q.shape else None)
    parts = [
        tflite(node, "MUL", (q, constant(q.dtype))), tflite(node, "BATCH_MATMUL", (q, k), (scores,)),
        tflite(node, "SOFTMAX", (scores,), (scores,), beta=1.0), tflite(node, "BATCH_MATMUL", (scores, v)),
    ]  # fmt: skip
    masked = node.has(3) or bool(node.integer("is_causal", 0))
    return becomes(
        SOURCE, *parts, sure=not masked, text="Decomposed into MUL, BATCH_MATMUL, SOFTMAX and reshapes."
    )


def _embedding(node: OpNode) -> Lowering:
    weight, ids = node.input(0), node.input(1)
    if not weight.is_constant:
        return not_known("An embedding with a computed table.", SOURCE)
    flat = replace(ids, dtype="int32")
    return becomes(
        SOURCE,
        tflite(node, "EMBEDDING_LOOKUP", (flat, weight)),
        tflite(node, "RESHAPE", (node.output(), INT_VECTOR)),
    )


MAKE: dict[str, Callable[[OpNode], Lowering]] = {
    **dict.fromkeys(("softmax", "log_softmax", "_softmax", "_log_softmax"), _softmax),
    **dict.fromkeys(("matmul", "mm", "bmm"), _matmul),
    "addmm": _addmm,
    "embedding": _embedding,
    "linear": _linear,
    "scaled_dot_product_attention": _attention,
}  # fmt: skip
