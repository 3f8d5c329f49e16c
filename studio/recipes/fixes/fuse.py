"""Small subgraphs recognised as the operator that they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from studio.errors import UnsupportedError
from studio.recipes.fixes.fix import FixOptions, Rewrite
from studio.recipes.fixes.fuse_attention import attention_of
from studio.recipes.fixes.fuse_layernorm import layernorm_of
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import attribute, is_meant, label, nothing_to_do
from studio.recipes.fixes.subgraphs import CLOSE, Match, beside, made_by, scalar_of


def hardswish(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """x·HardSigmoid(x; 1/6, 1/2) and x·clip(x + 3, 0, 6)/6 → HardSwish (opset 14)."""
    return _fuse(edit, options, "HardSwish", 14, _hardswish)


def silu(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """x·Sigmoid(x) → Swish (opset 24)."""
    return _fuse(edit, options, "Swish", 24, _silu)


def gelu(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """x·(1 + erf(x/√2))/2, or with tanh of x + 0.044715·x³ → Gelu (opset 20)."""
    return _fuse(edit, options, "Gelu", 20, _gelu)


def attention(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """softmax(scale · q · kᵀ + mask) · v → Attention (opset 23)."""
    return _fuse(edit, options, "Attention", 23, attention_of)


def layernorm(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """(x − mean)/√(var + ε)·scale + bias over the last axes → LayerNormalization (opset 17)."""
    return _fuse(edit, options, "LayerNormalization", 17, layernorm_of)


def _fuse(
    edit: OnnxEdit, options: FixOptions, op: str, since: int, match: Callable[[OnnxEdit, Any], Match | None]
) -> Rewrite:
    if edit.opset < since:
        raise UnsupportedError(
            f"{op} needs opset {since}; the model is in {edit.opset}.",
            hint=f"Apply opset-up to {since} first.",
        )
    changed = []
    for node in edit.nodes:
        if edit.is_replaced(node) or (options.nodes and not is_meant(node, options.nodes)):
            continue
        found = match(edit, node)
        if found is None or any(edit.is_replaced(n) for n in found[0]):
            continue
        if any(not _stays_inside(edit, n, found[0]) for n in found[0][:-1]):
            continue
        edit.replace(*found)
        changed.append(label(found[0][-1]))
    if not changed:
        raise nothing_to_do(f"no subgraph that computes {op}")
    edit.prune()
    return Rewrite(models=[("", edit.model)], changed=tuple(changed), tolerance=1e-4)


def _stays_inside(edit: OnnxEdit, node: Any, group: list[Any]) -> bool:
    ids = {id(n) for n in group}
    return all(
        not edit.is_output(out) and all(id(r) in ids for r in edit.readers(out)) for out in node.output
    )


def _silu(edit: OnnxEdit, mul: Any) -> Match | None:
    if mul.op_type != "Mul":
        return None
    for x, gate in ((mul.input[0], mul.input[1]), (mul.input[1], mul.input[0])):
        sigmoid = made_by(edit, gate, "Sigmoid")
        if sigmoid is not None and sigmoid.input[0] == x:
            return [sigmoid, mul], [edit.make("Swish", [x], [mul.output[0]], f"{label(mul)}_swish")]
    return None


def _hardswish(edit: OnnxEdit, last: Any) -> Match | None:
    if last.op_type == "Mul":
        for x, gate in ((last.input[0], last.input[1]), (last.input[1], last.input[0])):
            node = made_by(edit, gate, "HardSigmoid")
            is_it = (
                node is not None
                and node.input[0] == x
                and np.isclose(attribute(node, "alpha", 0.2), 1 / 6, rtol=CLOSE)
                and np.isclose(attribute(node, "beta", 0.5), 0.5)
            )
            if is_it:
                made = edit.make("HardSwish", [x], [last.output[0]], f"{label(last)}_hardswish")
                return [node, last], [made]
            found = _relu6_gate(edit, gate, x)
            if found is not None:
                made = edit.make("HardSwish", [x], [last.output[0]], f"{label(last)}_hardswish")
                return [*found, last], [made]
    if last.op_type == "Div" and scalar_of(edit, last.input[1]) == 6.0:
        product = made_by(edit, last.input[0], "Mul")
        if product is None:
            return None
        for x, gate in ((product.input[0], product.input[1]), (product.input[1], product.input[0])):
            clip = _clip_of_plus_three(edit, gate, x)
            if clip is not None:
                made = edit.make("HardSwish", [x], [last.output[0]], f"{label(last)}_hardswish")
                return [*clip, product, last], [made]
    return None


def _relu6_gate(edit: OnnxEdit, gate: str, x: str) -> list[Any] | None:
    """clip(x + 3, 0, 6) divided by 6."""
    scaled = edit.producer.get(gate)
    if scaled is None or scaled.op_type not in ("Div", "Mul"):
        return None
    if scaled.op_type == "Div":
        inner = scaled.input[0] if scalar_of(edit, scaled.input[1]) == 6.0 else None
    else:
        inner = beside(edit, scaled, 1 / 6)
    clip = _clip_of_plus_three(edit, inner, x) if inner else None
    return [*clip, scaled] if clip else None


def _clip_of_plus_three(edit: OnnxEdit, tensor: str, x: str) -> list[Any] | None:
    clip = made_by(edit, tensor, "Clip")
    if clip is None or len(clip.input) < 3:
        return None
    if scalar_of(edit, clip.input[1]) != 0.0 or scalar_of(edit, clip.input[2]) != 6.0:
        return None
    add = made_by(edit, clip.input[0], "Add")
    return [add, clip] if add is not None and beside(edit, add, 3.0) == x else None


def _gelu(edit: OnnxEdit, last: Any) -> Match | None:
    """All orders that exporters write: (x·(1 + erf))·0.5, (0.5·x)·(1 + erf) and x·(0.5·(1 + erf))."""
    if last.op_type != "Mul":
        return None
    halves: list[tuple[str, str, list[Any]]] = []
    inner = beside(edit, last, 0.5)
    product = made_by(edit, inner, "Mul") if inner else None
    if product is not None:
        halves += [
            (product.input[0], product.input[1], [product]),
            (product.input[1], product.input[0], [product]),
        ]
    for half_name, gate in ((last.input[0], last.input[1]), (last.input[1], last.input[0])):
        half = made_by(edit, half_name, "Mul")
        halved = beside(edit, half, 0.5) if half is not None else None
        if halved is not None:
            halves += [(halved, gate, [half]), (gate, halved, [half])]
    for x, gate, between in halves:
        plus = made_by(edit, gate, "Add")
        bent = _tanh_of_cubic(edit, plus, x) if plus is not None else None
        if plus is not None and bent is not None:
            made = edit.make("Gelu", [x], [last.output[0]], f"{label(last)}_gelu", approximate="tanh")
            return [*bent, plus, *between, last], [made]
        erf_name = beside(edit, plus, 1.0) if plus is not None else None
        erf = made_by(edit, erf_name, "Erf") if erf_name else None
        scaled = edit.producer.get(erf.input[0]) if erf is not None else None
        if scaled is None:
            continue
        is_div = scaled.op_type == "Div" and scaled.input[0] == x
        by_root = is_div and np.isclose(scalar_of(edit, scaled.input[1]) or 0.0, np.sqrt(2.0), rtol=CLOSE)
        by_inverse = scaled.op_type == "Mul" and beside(edit, scaled, 1 / np.sqrt(2.0)) == x
        if by_root or by_inverse:
            made = edit.make("Gelu", [x], [last.output[0]], f"{label(last)}_gelu")
            return [scaled, erf, plus, *between, last], [made]
    return None


def _tanh_of_cubic(edit: OnnxEdit, plus: Any, x: str) -> list[Any] | None:
    """The nodes of tanh(√(2/π)·(x + 0.044715·x³)) below 1 + tanh(…); None when they are not those."""
    tanh_name = beside(edit, plus, 1.0)
    tanh = made_by(edit, tanh_name, "Tanh") if tanh_name else None
    outer = made_by(edit, tanh.input[0], "Mul") if tanh is not None else None
    inner_name = beside(edit, outer, float(np.sqrt(2 / np.pi))) if outer is not None else None
    total = made_by(edit, inner_name, "Add") if inner_name else None
    if tanh is None or outer is None or total is None or x not in total.input:
        return None
    scaled = made_by(edit, total.input[1] if total.input[0] == x else total.input[0], "Mul")
    cube_name = beside(edit, scaled, 0.044715) if scaled is not None else None
    cube = edit.producer.get(cube_name) if cube_name else None
    if cube is None or scaled is None:
        return None
    if cube.op_type == "Pow" and cube.input[0] == x and scalar_of(edit, cube.input[1]) == 3.0:
        return [cube, scaled, total, outer, tanh]
    if cube.op_type != "Mul" or x not in cube.input:
        return None
    square = made_by(edit, cube.input[1] if cube.input[0] == x else cube.input[0], "Mul")
    if square is None or list(square.input) != [x, x]:
        return None
    return [square, cube, scaled, total, outer, tanh]
