"""Scaled dot-product attention recognised in its parts: softmax(scale · q · kᵀ + mask) · v → Attention.

Source: onnx/docs/Operators.md, Attention (opset 23). Heads stay split as they are: the operator takes
[batch, heads, sequence, size] as it comes. The scale must be positive, since it is shared out by its root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import attribute, is_standard, label
from studio.recipes.fixes.subgraphs import Match, made_by, scalar_of

_FLOATS = (1, 10)  # float32 and float16, as TensorProto calls them


@dataclass(slots=True)
class _Scores:
    """What softmax reads: the nodes, the two factors of the first product, their scale, and the mask."""

    nodes: list[Any]
    product: Any
    scale: float
    mask: str


def attention_of(edit: OnnxEdit, last: Any) -> Match | None:
    """The Attention that ends in a MatMul by v, else None."""
    if last.op_type != "MatMul" or not is_standard(last):
        return None
    passed, weights = _passed_on(edit, last.input[0])
    guard, weights = _guarded(edit, weights)
    softmax = made_by(edit, weights, "Softmax")
    if softmax is None or not _is_over_last(edit, softmax):
        return None
    scores = _scores(edit, softmax.input[0])
    if scores is None or (guard and not _never_empty(edit, scores.mask)):
        return None
    q, before = _unscaled(edit, scores.product.input[0])
    key, beside_key = _unscaled(edit, scores.product.input[1])
    transposed, turn = key, (0, 1, 3, 2)
    turned = made_by(edit, key, "Transpose")
    if turned is not None and (perm := attribute(turned, "perm")) and len(perm) == 4:
        key, within = _unscaled(edit, turned.input[0])
        beside_key, turn = beside_key * within, tuple(perm[i] for i in (0, 1, 3, 2))
    scale, v = scores.scale * before * beside_key, last.input[1]
    if scale <= 0 or not _fits(edit, q, transposed, v):
        return None
    added = []
    if turn != (0, 1, 2, 3):
        k = edit.fresh(f"{label(last)}_key")
        added.append(edit.make("Transpose", [key], [k], f"{label(last)}_key_turned", perm=turn))
    else:
        k = key
    mask = _mask(edit, scores.mask, q, transposed, added, label(last))
    if mask is None:
        return None
    inputs = [q, k, v, mask] if mask else [q, k, v]
    made = edit.make("Attention", inputs, [last.output[0]], f"{label(last)}_attention", scale=scale)
    return [*scores.nodes, softmax, *guard, *passed, last], [*added, made]


def _passed_on(edit: OnnxEdit, tensor: str) -> tuple[list[Any], str]:
    """(nodes, tensor) with the Identities taken off that exporters leave where a dropout was."""
    nodes: list[Any] = []
    while (node := made_by(edit, tensor, "Identity")) is not None:
        nodes.insert(0, node)
        tensor = node.input[0]
    return nodes, tensor


def _guarded(edit: OnnxEdit, tensor: str) -> tuple[list[Any], str]:
    """(nodes, weights) of Where(IsNaN(weights), 0, weights), which torch writes around a masked softmax."""
    where = made_by(edit, tensor, "Where")
    test = made_by(edit, where.input[0], "IsNaN") if where is not None else None
    if where is None or test is None or test.input[0] != where.input[2]:
        return [], tensor
    return ([test, where], where.input[2]) if scalar_of(edit, where.input[1]) == 0.0 else ([], tensor)


def _is_over_last(edit: OnnxEdit, softmax: Any) -> bool:
    return attribute(softmax, "axis", -1) in (-1, len(edit.shape(softmax.input[0]) or ()) - 1)


def _scores(edit: OnnxEdit, tensor: str) -> _Scores | None:
    """Mask and scale taken off until the product of q and kᵀ is left."""
    nodes: list[Any] = []
    scale, mask = 1.0, ""
    add = made_by(edit, tensor, "Add")
    if add is not None:
        for scores, other in (add.input, reversed(add.input)):
            inner = _scores(edit, scores)
            if inner is not None and not inner.mask:
                return _Scores([*inner.nodes, add], inner.product, inner.scale, other)
        return None
    while (found := _by_scalar(edit, tensor)) is not None:
        node, tensor, factor = found
        nodes.insert(0, node)
        scale *= factor
    product = made_by(edit, tensor, "MatMul")
    return _Scores([product, *nodes], product, scale, mask) if product is not None else None


def _by_scalar(edit: OnnxEdit, tensor: str) -> tuple[Any, str, float] | None:
    """(node, its other input, factor) where a tensor is another times or through a constant number.

    An Identity counts as times 1.
    """
    same = made_by(edit, tensor, "Identity")
    if same is not None:
        return same, same.input[0], 1.0
    node = made_by(edit, tensor, "Mul") or made_by(edit, tensor, "Div")
    if node is None:
        return None
    for mine, other in ((1, 0), (0, 1)):
        value = scalar_of(edit, node.input[mine])
        if value and np.isfinite(value) and (node.op_type == "Mul" or mine == 1):
            keeps_rank = len(edit.shape(node.input[mine]) or ()) <= 4
            return (
                (node, node.input[other], value if node.op_type == "Mul" else 1 / value)
                if keeps_rank
                else None
            )
    return None


def _unscaled(edit: OnnxEdit, tensor: str) -> tuple[str, float]:
    """What a tensor is without constant factors, and their product."""
    scale = 1.0
    while (found := _by_scalar(edit, tensor)) is not None:
        _, tensor, factor = found
        scale *= factor
    return tensor, scale


def _fits(edit: OnnxEdit, q: str, transposed: str, v: str) -> bool:
    """Whether all three are [batch, heads, …] of one float type with nothing left to broadcasting."""
    shapes = [edit.shape(t) for t in (q, transposed, v)]
    if any(s is None or len(s) != 4 for s in shapes):
        return False
    a, b, c = (s or [] for s in shapes)
    same = all(d is not None for d in a[:2]) and a[:2] == b[:2] == c[:2]
    kinds = {edit.element_type(t) for t in (q, transposed, v)}
    return same and isinstance(a[1], int) and len(kinds) == 1 and kinds <= set(_FLOATS)


def _never_empty(edit: OnnxEdit, mask: str) -> bool:
    """Whether each row of the mask lets something through, so that no softmax is NaN."""
    value = edit.constant(mask) if mask else np.zeros((1, 1))
    return value is not None and value.ndim > 0 and bool((value > -1e30).any(axis=-1).all())


def _mask(edit: OnnxEdit, mask: str, q: str, transposed: str, added: list[Any], base: str) -> str | None:
    """The mask with a row for each query and a column for each key; "" without one, None if it cannot be."""
    if not mask:
        return ""
    shape, rows, columns = (
        edit.shape(mask),
        (edit.shape(q) or [None] * 4)[2],
        (edit.shape(transposed) or [None])[-1],
    )
    if shape is None or len(shape) > 4 or edit.element_type(mask) != edit.element_type(q):
        return None
    full = [1] * (2 - len(shape)) + list(shape)
    known = rows is not None and columns is not None
    if known and full[-2:] == [rows, columns]:
        return mask
    if not isinstance(rows, int) or not isinstance(columns, int):
        return None
    if full[-2] not in (1, rows) or full[-1] not in (1, columns):
        return None
    size = edit.add_constant(np.asarray([rows, columns], np.int64), f"{base}_mask_size")
    made = edit.fresh(f"{base}_mask")
    added.append(edit.make("Expand", [mask, size], [made], f"{base}_mask_expanded"))
    return made
