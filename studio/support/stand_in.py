"""Stand-ins: the node that a fix would leave in the place of another, to be judged before it is offered.

A decomposition gains nothing where the target refuses its parts too, for their type or an open dim; so the
part that decides is judged by the same rule. A fix that has no stand-in is taken at its word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

from studio.graph.einsum import matrix_product
from studio.support.op_node import ABSENT, OpNode, OpTensor
from studio.support.versions import since_version

OPSET_UP = 18  # what the exporter of this studio writes
OPSET_DOWN = 21  # ONNX Runtime 1.18: opset 22 renewed every float operator, and kernels are still missing
"""Where the fixes that change the opset go by themselves."""


def stand_in(fix: str, node: OpNode) -> OpNode | None:
    """What the rule should say yes to for the fix to be worth offering; None when nothing is known."""
    make = _STAND_INS.get(fix)
    return make(node) if make else None


def _like(node: OpNode, op: str, inputs: tuple[OpTensor, ...], output: OpTensor, **attributes: Any) -> OpNode:
    return OpNode(
        op=op,
        version=since_version(op, "", node.opset),
        opset=node.opset,
        attributes=attributes,
        inputs=inputs,
        outputs=(output,),
        producers=node.producers[:1] * len(inputs),
        consumers=node.consumers,
    )


def _sum(node: OpNode) -> OpNode:
    """Fused operators become elementwise ones of the same type and shape, some with a constant scalar."""
    x = replace(node.input(0), is_constant=False, values=None)
    return _like(node, "Add", (x, OpTensor(dtype=x.dtype, shape=(), is_constant=True, values=(3.0,))), x)


def _wide(tensor: OpTensor) -> OpTensor:
    shape = tensor.shape
    return tensor if shape is None else replace(tensor, shape=(*shape[:2], 1, *shape[2:]))


def _conv2d(node: OpNode) -> OpNode:
    lists = {"kernel_shape": 1, "strides": 1, "dilations": 1}
    changed: dict[str, Any] = {
        name: [one, *values] for name, one in lists.items() if (values := node.ints(name)) is not None
    }
    pads = node.ints("pads")
    if pads is not None and len(pads) == 2:
        changed["pads"] = [0, pads[0], 0, pads[1]]
    inputs = tuple(_wide(t) if i < 2 and node.has(i) else t for i, t in enumerate(node.inputs))
    outputs = tuple(_wide(t) for t in node.outputs)
    return replace(node, attributes={**node.attributes, **changed}, inputs=inputs, outputs=outputs)


def _flat(tensor: OpTensor) -> OpTensor:
    shape = tensor.shape
    if tensor is ABSENT or shape is None or len(shape) <= 4:
        return tensor
    rest = [d for d in shape[3:] if isinstance(d, int)]
    return replace(tensor, shape=(*shape[:3], prod(rest)), values=None)


def _rank4(node: OpNode) -> OpNode:
    attributes = dict(node.attributes)
    if node.op == "Transpose":
        attributes["perm"] = [0, 2, 1, 3]
    if node.op in ("Softmax", "LogSoftmax"):
        attributes["axis"] = 3
    inputs, outputs = tuple(map(_flat, node.inputs)), tuple(map(_flat, node.outputs))
    return replace(node, attributes=attributes, inputs=inputs, outputs=outputs)


def _matmul(node: OpNode) -> OpNode | None:
    found = matrix_product(node.text("equation", ""))
    if found is None or len(node.inputs) != 2:
        return None
    size: dict[str, Any] = {}
    for term, tensor in zip((found.left, found.right), node.inputs):
        size |= dict(zip(term, tensor.shape or ()))
    batch = tuple(size.get(c) for c in found.batch)

    def shape(letters: tuple[str, ...]) -> Any:
        dims = [size.get(c) for c in letters]
        return prod(d for d in dims if isinstance(d, int)) if len(dims) != 1 else dims[0]

    rows, columns, summed = shape(found.rows), shape(found.columns), shape(found.summed)
    a = replace(node.input(0), shape=(*batch, rows, summed), values=None)
    b = replace(node.input(1), shape=(*batch, summed, columns), values=None)
    return _like(node, "MatMul", (a, b), replace(node.output(), shape=(*batch, rows, columns)))


def _pool(node: OpNode) -> OpNode:
    x = node.input(0)
    shape = (*(x.shape or ())[:2], *[1] * ((x.rank or 2) - 2))
    return _like(node, "GlobalAveragePool", (x,), replace(node.output(), shape=shape))


def _with(node: OpNode, **attributes: Any) -> OpNode:
    return replace(node, attributes={**node.attributes, **attributes})


def _of_opset(opset: int) -> Callable[[OpNode], OpNode | None]:
    def make(node: OpNode) -> OpNode | None:
        version = since_version(node.op, node.domain, opset) if not node.domain else 0
        return replace(node, version=version, opset=opset) if version else None

    return make


_STAND_INS: dict[str, Callable[[OpNode], OpNode | None]] = {
    "decompose-hardswish": _sum,
    "decompose-hardsigmoid": _sum,
    "decompose-silu": _sum,
    "decompose-gelu": _sum,
    "decompose-layernorm": _sum,
    "decompose-attention": _sum,
    "conv1d-to-conv2d": _conv2d,
    "rank5-to-4": _rank4,
    "einsum-to-matmul": _matmul,
    "reducemean-to-gap": _pool,
    "resize-half-pixel": lambda node: _with(node, coordinate_transformation_mode="half_pixel"),
    "resize-asymmetric": lambda node: _with(
        node, coordinate_transformation_mode="asymmetric", nearest_mode="floor"
    ),
    "opset-up": _of_opset(OPSET_UP),
    "opset-down": _of_opset(OPSET_DOWN),
}
