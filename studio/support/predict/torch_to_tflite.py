"""PyTorch → TFLite: the operators that litert-torch writes for an aten operator.

Source: what litert-torch 0.10.0 made of each operator alone (float32, static shapes), compared operator by
operator in the audit. Rank-4 tensors are transposed to channels last at the border of a run of spatial
operators and back after it; these transposes belong to no single node and are left out here. Another dtype or
a free dim may be written otherwise, so a yes there stays conditional. Anything not listed is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from studio.support.op_node import OpNode
from studio.support.predict import torch_to_tflite_products as products
from studio.support.predict import torch_to_tflite_shapes as shapes
from studio.support.predict import torch_to_tflite_spatial as spatial
from studio.support.predict.aten import base_name, settled
from studio.support.predict.lowering import Lowering, becomes, not_known, vanishes
from studio.support.predict.tflite_nodes import constant, tflite

SOURCE = "prediction: what litert-torch 0.10.0 writes (studio/support/predict/torch_to_tflite.py)"


def lower(node: OpNode) -> Lowering:
    """What litert-torch writes for the torch node."""
    if (found := settled(node, SOURCE, _REMOVED)) is not None:
        return found
    name = base_name(node.op)
    if name in products.CREATED and not any(t.dtype and not t.is_constant for t in node.inputs):
        return vanishes(f"{name} becomes a constant of the file.", SOURCE)
    if name in _UNARY:
        made = becomes(SOURCE, tflite(node, _UNARY[name], node.inputs[:1]))
    elif name in _MAKE:
        made = _MAKE[name](node)
    else:
        return not_known(f"What litert-torch writes for {name} is not known here.", SOURCE)
    return _only_as_seen(node, made)


def _only_as_seen(node: OpNode, made: Lowering) -> Lowering:
    """Sure for float32 and static shapes, which is what was asked."""
    if made.verdict is not None:
        return made
    kinds = {t.dtype for t in node.inputs if t.dtype and not t.is_constant}
    if kinds - {"float32", "int64", "int32", "bool"} or not all(t.is_static for t in node.outputs[:1]):
        return replace(made, is_sure=False)
    if kinds and "float32" not in kinds and made.parts[0].op not in _ANY_TYPE:
        return replace(made, is_sure=False)
    return made


_REMOVED = {
    "dropout",
    "detach",
    "contiguous",
    "clone",
    "alias",
    "identity",
    "feature_dropout",
    "lift_fresh_copy",
}
_ANY_TYPE = {
    "RESHAPE",
    "TRANSPOSE",
    "CONCATENATION",
    "SLICE",
    "STRIDED_SLICE",
    "EMBEDDING_LOOKUP",
    "GATHER_ND",
}
_UNARY = {
    "relu": "RELU", "relu6": "RELU6", "sigmoid": "LOGISTIC", "tanh": "TANH", "abs": "ABS", "neg": "NEG",
    "exp": "EXP", "log": "LOG", "sqrt": "SQRT", "rsqrt": "RSQRT", "sin": "SIN", "cos": "COS",
    "floor": "FLOOR",
    "ceil": "CEIL", "round": "ROUND", "sign": "SIGN", "gelu": "GELU", "hardswish": "HARD_SWISH",
    "logical_not": "LOGICAL_NOT",
}  # fmt: skip
_BINARY = {
    "add": "ADD", "sub": "SUB", "mul": "MUL", "div": "DIV", "maximum": "MAXIMUM", "minimum": "MINIMUM",
    "pow": "POW", "eq": "EQUAL", "ne": "NOT_EQUAL", "gt": "GREATER", "lt": "LESS", "ge": "GREATER_EQUAL",
    "le": "LESS_EQUAL", "logical_and": "LOGICAL_AND", "logical_or": "LOGICAL_OR",
}  # fmt: skip


def _binary(node: OpNode) -> Lowering:
    name = base_name(node.op)
    x = node.input(0)
    scalar = not node.has(1)
    other = constant(x.dtype) if scalar else node.input(1)
    if name in ("add", "sub") and node.number("alpha", 1.0) != 1.0:
        scaled = () if scalar else (tflite(node, "MUL", (other, constant(x.dtype)), (other,)),)
        return becomes(SOURCE, *scaled, tflite(node, _BINARY[name], (x, other)))
    if name == "div" and node.text("rounding_mode", ""):
        return not_known("A division that rounds.", SOURCE)
    if name == "div" and (scalar or other.is_constant):
        # a division by a constant is a multiplication with its reciprocal
        return becomes(SOURCE, tflite(node, "MUL", (x, other)), sure=x.dtype == "float32")
    if name == "pow":
        return _power(node, scalar)
    op = _BINARY[name]
    return becomes(SOURCE, tflite(node, op, (x, other)), sure=not other.dtype or x.dtype == other.dtype)


def _power(node: OpNode, scalar: bool) -> Lowering:
    x = node.input(0)
    exponent = node.attributes.get("exponent")
    if scalar and exponent == 2:
        return becomes(SOURCE, tflite(node, "MUL", (x, x)))
    if scalar and exponent == 0.5:
        return becomes(SOURCE, tflite(node, "SQRT", (x,)))
    if scalar and exponent == -0.5:
        return becomes(SOURCE, tflite(node, "RSQRT", (x,)))
    other = constant(x.dtype) if scalar else node.input(1)
    return becomes(SOURCE, tflite(node, "POW", (x, other)), sure=False)


def _silu(node: OpNode) -> Lowering:
    x = node.input(0)
    return becomes(SOURCE, tflite(node, "LOGISTIC", (x,)), tflite(node, "MUL", (x, x)))


def _hardsigmoid(node: OpNode) -> Lowering:
    x = node.input(0)
    number = constant(x.dtype)
    add = tflite(node, "ADD", (x, number), fused_activation_function="RELU6")
    return becomes(SOURCE, add, tflite(node, "MUL", (x, number)))


def _erf(node: OpNode) -> Lowering:
    x = node.input(0)
    number = constant(x.dtype)
    parts = [tflite(node, op, (x, number)) for op in ("MINIMUM", "MAXIMUM", "MUL", "ADD")]
    text = "A polynomial: MINIMUM, MAXIMUM, a chain of MUL and ADD, DIV."
    return becomes(SOURCE, *parts, tflite(node, "DIV", (x, x)), text=text)


def _prelu(node: OpNode) -> Lowering:
    x, slope = node.input(0), node.input(1)
    parts = (tflite(node, "RELU", (x,)), tflite(node, "MUL", (x, slope)), tflite(node, "SUB", (x, x)))
    return becomes(SOURCE, *parts, sure=slope.is_constant)


def _clip(node: OpNode) -> Lowering:
    x = node.input(0)
    name = base_name(node.op)
    defaults = (-1.0, 1.0) if name == "hardtanh" else (None, None)
    low = node.attributes.get("min_val" if name == "hardtanh" else "min", defaults[0])
    high = node.attributes.get("max_val" if name == "hardtanh" else "max", defaults[1])
    if name == "clamp" and len(node.inputs) > 1:
        return not_known("A clamp to computed bounds.", SOURCE)
    known = {(0, 6): "RELU6", (-1, 1): "RELU_N1_TO_1", (0, 1): "RELU_0_TO_1", (0, None): "RELU"}
    if (op := known.get((low, high))) is not None:
        return becomes(SOURCE, tflite(node, op, (x,)))
    number = constant(x.dtype)
    parts = [
        tflite(node, op, (x, number))
        for op, bound in (("MAXIMUM", low), ("MINIMUM", high))
        if bound is not None
    ]
    return becomes(SOURCE, *parts) if parts else vanishes("A clamp without bounds is removed.", SOURCE)


def _leaky_relu(node: OpNode) -> Lowering:
    return becomes(SOURCE, tflite(node, "LEAKY_RELU", alpha=node.number("negative_slope", 0.01)))


def _elu(node: OpNode) -> Lowering:
    x = node.input(0)
    flag = replace(x, dtype="bool")
    parts = (
        tflite(node, "EXP", (x,)), tflite(node, "SUB", (x, constant(x.dtype))),
        tflite(node, "GREATER_EQUAL", (x, constant(x.dtype)), (flag,)), tflite(node, "SELECT", (flag, x, x)),
    )  # fmt: skip
    return becomes(SOURCE, *parts, sure=node.number("alpha", 1.0) == 1.0)


def _softplus(node: OpNode) -> Lowering:
    x = node.input(0)
    number, flag = constant(x.dtype), replace(x, dtype="bool")
    parts = [
        tflite(node, "EXP", (x,)), tflite(node, "ADD", (x, number)), tflite(node, "LOG", (x,)),
        tflite(node, "GREATER", (x, number), (flag,)), tflite(node, "SELECT", (flag, x, x)),
    ]  # fmt: skip
    if base_name(node.op) == "mish":
        parts += [tflite(node, "TANH", (x,)), tflite(node, "MUL", (x, x))]
    return becomes(SOURCE, *parts)


def _reciprocal(node: OpNode) -> Lowering:
    x = node.input(0)
    return becomes(SOURCE, tflite(node, "DIV", (constant(x.dtype), x)))


def _where(node: OpNode) -> Lowering:
    parts = tuple(t if t.dtype else constant(node.output().dtype) for t in node.inputs[:3])
    same = len({t.shape for t in parts}) == 1
    return becomes(SOURCE, tflite(node, "SELECT" if same else "SELECT_V2", parts))


_MAKE: dict[str, Callable[[OpNode], Lowering]] = {
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys(("hardtanh", "clamp", "clamp_min", "clamp_max"), _clip),
    **dict.fromkeys(("softplus", "mish"), _softplus),
    **products.MAKE,
    **spatial.MAKE,
    **shapes.MAKE,
    "elu": _elu,
    "erf": _erf,
    "prelu": _prelu,
    "hardsigmoid": _hardsigmoid,
    "leaky_relu": _leaky_relu,
    "reciprocal": _reciprocal,
    "silu": _silu,
    "where": _where,
}  # fmt: skip
