"""Einsum with two operands as Transpose, Reshape and MatMul."""

from __future__ import annotations

from typing import Any

import numpy as np

from studio.graph.einsum import matrix_product
from studio.recipes.fixes.fix import FixOptions, Rewrite
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import attribute, label, nothing_to_do


def to_matmul(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """Letters in both operands and the result are batch, in both operands only are summed."""
    changed = []
    for node in edit.named("Einsum", options.nodes):
        if _rewrite(edit, node):
            changed.append(label(node))
    if not changed:
        raise nothing_to_do("no Einsum of two operands that is a matrix product with known shapes")
    edit.prune()
    return Rewrite(models=[("", edit.model)], changed=tuple(changed), tolerance=1e-4)


def _rewrite(edit: OnnxEdit, node: Any) -> bool:
    found = matrix_product(attribute(node, "equation", ""))
    if found is None or len(node.input) != 2:
        return False
    left, right, result = found.left, found.right, found.result
    batch, rows, columns, summed = map(list, (found.batch, found.rows, found.columns, found.summed))
    shapes = [edit.static_shape(name) for name in node.input]
    if not found.is_plain and any(s is None for s in shapes):
        return False
    size: dict[str, int] = {}
    for term, shape in zip((left, right), shapes):
        if shape is not None:
            size |= dict(zip(term, shape))
    base = label(node)
    new: list[Any] = []

    def transposed(name: str, term: str, order: list[str]) -> str:
        if list(term) == order:
            return name
        made = edit.fresh(f"{base}_transposed")
        perm = [term.index(c) for c in order]
        new.append(edit.make("Transpose", [name], [made], f"{base}_transpose", perm=perm))
        return made

    def reshaped(name: str, dims: list[int]) -> str:
        made = edit.fresh(f"{base}_reshaped")
        shape = edit.add_constant(np.array(dims, np.int64), f"{base}_dims")
        new.append(edit.make("Reshape", [name, shape], [made], f"{base}_reshape"))
        return made

    def product_of(letters: list[str]) -> int:
        return int(np.prod([size[c] for c in letters])) if letters else 1

    a = transposed(node.input[0], left, [*batch, *rows, *summed])
    b = transposed(node.input[1], right, [*batch, *summed, *columns])
    if not found.is_plain:
        dims = [size[c] for c in batch]
        a = reshaped(a, [*dims, product_of(rows), product_of(summed)])
        b = reshaped(b, [*dims, product_of(summed), product_of(columns)])
    made_order = [*batch, *rows, *columns]
    is_last = found.is_plain and made_order == list(result)
    product = node.output[0] if is_last else edit.fresh(f"{base}_product")
    new.append(edit.make("MatMul", [a, b], [product], f"{base}_matmul"))
    if not found.is_plain:
        product = reshaped(product, [size[c] for c in made_order])
    if not is_last:
        perm = [made_order.index(c) for c in result]
        new.append(edit.make("Transpose", [product], [node.output[0]], f"{base}_order", perm=perm))
    edit.replace([node], new)
    return True
