"""5-D tensors taken through an operator as 4-D, where that is exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from studio.graph.merged_dims import broadcast_groups, merged, spread, transpose_groups
from studio.recipes.fixes.fix import FixOptions, Rewrite
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import attribute, attributes, is_meant, label, nothing_to_do

_UNARY = {
    "Abs", "Cast", "Ceil", "Clip", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish",
    "LeakyRelu", "Log", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign",
    "Softplus", "Softsign", "Sqrt", "Swish", "Tanh",
}  # fmt: skip
_LAYERS = {
    "Attention", "Conv", "ConvInteger", "ConvTranspose", "Einsum", "GRU", "Gemm", "LSTM", "MatMul",
    "MatMulInteger", "QLinearConv", "QLinearMatMul",
}  # fmt: skip
_TAIL_ADVICE = "Return the raw heads and reshape to 5-D in the app."
_BINARY = {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min"}


def flatten(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """Elementwise, Softmax and Transpose on more than 4 static dims, between two Reshapes."""
    changed = []
    is_tail = True
    for node in edit.nodes:
        if options.nodes and not is_meant(node, options.nodes):
            continue
        shape = edit.static_shape(node.input[0]) if node.input else None
        out = edit.static_shape(node.output[0]) if node.output else None
        if (
            shape is None
            or out is None
            or max(len(shape), len(out)) <= 4
            or node.domain not in ("", "ai.onnx")
            or 0 in (*shape, *out)  # in the shape of a Reshape 0 means something else
        ):
            continue
        is_last = _is_last(edit, node)
        if (
            _elementwise(edit, node, shape, out)
            or _softmax(edit, node, shape)
            or _transpose(edit, node, shape, out)
        ):
            changed.append(label(node))
            is_tail &= is_last
    if not changed:
        raise nothing_to_do("no operator on a static tensor of more than 4 dims that can be taken as 4-D")
    edit.prune()
    _join_reshapes(edit)
    return Rewrite(models=[("", edit.model)], changed=tuple(changed), tolerance=1e-6,
                   torch_advice=_TAIL_ADVICE if is_tail else "")  # fmt: skip


def _is_last(edit: OnnxEdit, node: Any) -> bool:
    """Whether nothing is learned or attended to behind a node, as behind the raw heads of a detector."""
    seen: set[str] = set()
    waiting = list(node.output)
    while waiting:
        name = waiting.pop()
        for reader in edit.readers(name) if name not in seen else ():
            if reader.op_type in _LAYERS:
                return False
            waiting += reader.output
        seen.add(name)
    return True


def _elementwise(edit: OnnxEdit, node: Any, shape: list[int], out: list[int]) -> bool:
    """Dims along which no operand is broadcast, or all of them alike, are taken as one."""
    if node.op_type in _UNARY:
        if shape != out:
            return False
        shapes: dict[str, list[int]] = {node.input[0]: shape}
    elif node.op_type in _BINARY:
        found = {name: edit.static_shape(name) for name in node.input}
        shapes = {name: dims for name, dims in found.items() if dims is not None}
        if len(shapes) < len(found):
            return False
    else:
        return False
    groups = broadcast_groups(list(shapes.values()), out)
    if groups is None:
        return False
    groups = spread(groups)
    flat = {name: merged(dims, groups, len(out)) for name, dims in shapes.items() if len(dims) > 1}
    _around(edit, node, flat, out, attributes(node))
    return True


def _softmax(edit: OnnxEdit, node: Any, shape: list[int]) -> bool:
    axis = attribute(node, "axis", -1) % len(shape)
    if node.op_type not in ("Softmax", "LogSoftmax") or axis != len(shape) - 1 or edit.opset < 13:
        return False
    four = [int(np.prod(shape[:-3])), *shape[-3:]]
    _around(edit, node, {node.input[0]: four}, shape, {"axis": 3})
    return True


def _transpose(edit: OnnxEdit, node: Any, shape: list[int], out: list[int]) -> bool:
    """Dims that stay neighbours move as one; exact when four or fewer groups remain."""
    if node.op_type != "Transpose":
        return False
    order = attribute(node, "perm", list(range(len(shape)))[::-1])
    groups = transpose_groups(shape, order)
    if groups is None:
        return False
    real = [[a for a in g if shape[a] != 1] or g[:1] for g in groups]
    by_input = sorted(range(len(real)), key=lambda g: real[g][0])
    flat_in = [int(np.prod([shape[a] for a in real[g]])) for g in by_input]
    perm = [by_input.index(g) for g in range(len(real))]
    _around(edit, node, {node.input[0]: flat_in}, out, {"perm": perm})
    return True


def _around(
    edit: OnnxEdit, node: Any, flat: dict[str, list[int]], out: list[int], settings: dict[str, Any]
) -> None:
    """The node on inputs reshaped as `flat` says (others as they are), its output reshaped back."""
    base = label(node)
    new, inputs = [], []
    for position, name in enumerate(node.input):
        if name in flat:
            reshaped = edit.fresh(f"{base}_in{position}_4d")
            dims = edit.add_constant(np.array(flat[name], np.int64), f"{base}_4d")
            new.append(edit.make("Reshape", [name, dims], [reshaped], f"{base}_flatten{position}"))
            inputs.append(reshaped)
        else:
            inputs.append(name)
    result = edit.fresh(f"{base}_out_4d")
    out_name = edit.add_constant(np.array(out, np.int64), f"{base}_shape")
    new.append(edit.make(node.op_type, inputs, [result], f"{base}_on_4d", **settings))
    new.append(edit.make("Reshape", [result, out_name], [node.output[0]], f"{base}_unflatten"))
    edit.replace([node], new)


def _join_reshapes(edit: OnnxEdit) -> None:
    """Reshape → Reshape is the second one alone; a Reshape to the shape that is there is none."""
    for node in edit.named("Reshape"):
        source = edit.producer.get(node.input[0])
        target = edit.constant(node.input[1])
        if source is None or source.op_type != "Reshape" or target is None or np.any(target <= 0):
            continue
        node.input[0] = source.input[0]
    edit.prune()
    for node in edit.named("Reshape"):
        same = edit.static_shape(node.input[0]) == edit.static_shape(node.output[0])
        if same and edit.static_shape(node.output[0]) is not None and not edit.is_output(node.output[0]):
            edit.rename_reads(node.output[0], node.input[0])
    edit.prune()
