"""Fused operators written out as their defining operators, by ONNX's own function bodies."""

from __future__ import annotations

from typing import Any

from studio.errors import UnsupportedError
from studio.graph.onnx_inference import inferred
from studio.recipes.fixes.chains import fold_constants
from studio.recipes.fixes.fix import FixOptions, Rewrite
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import keep_lines, label, nothing_to_do


def silu(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """Swish, Mish → Sigmoid, Softplus, Tanh, Mul."""
    return inline(edit, options, ("Swish", "Mish"))


def attention(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """Attention, RotaryEmbedding (opset 23 and up) → MatMul, Softmax, Mul, …"""
    return inline(edit, options, ("Attention", "RotaryEmbedding"))


def inline(edit: OnnxEdit, options: FixOptions, operators: tuple[str, ...]) -> Rewrite:
    """The model with those operators replaced by ONNX's function bodies, constants folded."""
    import onnx
    from onnx import inliner

    found = [node for op in operators for node in edit.named(op, options.nodes)]
    if not found:
        raise nothing_to_do(f"no {' or '.join(operators)} in the main graph")
    changed = tuple(label(node) for node in found)
    meant = {node.output[0] for node in found}
    for node in found:
        _write_defaults(node, edit.opset)
    typed = inferred(edit.model, data_prop=False)
    stated = {v.name for v in typed.graph.value_info}
    for tensor in typed.graph.initializer:  # the inliner asks for the type of every input
        if tensor.name not in stated:
            typed.graph.value_info.append(
                onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
            )
    aside = [n for n in typed.graph.node if _is_of(n, operators) and n.output[0] not in meant]
    for node in aside:
        node.domain = _ASIDE
    ids = [("", op) for op in operators]
    try:
        inlined = inliner.inline_selected_functions(typed, ids, inline_schema_functions=True)
    except Exception as error:  # bare RuntimeErrors of the C++ side
        raise UnsupportedError(
            f"ONNX cannot write {changed[0]} out: {_short(error)}",
            hint="Decompose it in the Python source.",
            nodes=changed,
        ) from None
    made = OnnxEdit(inlined)
    left = [label(node) for op in operators for node in made.named(op)]
    if left:
        raise UnsupportedError(
            f"ONNX has no body for {left[0]} with these types.",
            hint="Decompose it in the Python source.",
            nodes=tuple(left),
        )
    for node in made.model.graph.node:
        if node.domain == _ASIDE:
            node.domain = ""
    keep_lines(edit.model, made.model)
    made.prune()
    fold_constants(made)  # the bodies compute shapes and axes that are known here
    return Rewrite(models=[("", made.model)], changed=changed, tolerance=1e-4)


_ASIDE = "studio.not.meant"
"""The domain of nodes that are not to be written out, while the others are."""


def _is_of(node: Any, operators: tuple[str, ...]) -> bool:
    return node.op_type in operators and node.domain in ("", "ai.onnx")


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[-120:] or type(error).__name__


def _write_defaults(node: Any, opset: int) -> None:
    """Attributes left out are written with their defaults: a function body only refers to them."""
    import onnx

    there = {a.name for a in node.attribute}
    for name, known in onnx.defs.get_schema(node.op_type, opset, "").attributes.items():
        default = known.default_value
        if name not in there and default.type != onnx.AttributeProto.UNDEFINED:
            node.attribute.append(default)
