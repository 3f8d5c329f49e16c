"""BatchNormalization folded into the convolution before it, or written as Mul and Add."""

from __future__ import annotations

from typing import Any

import numpy as np

from studio.recipes.fixes.fix import FixOptions, Rewrite
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import Array, attribute, dtype_of, label, nothing_to_do


def fold(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """W' = W·s, b' = (b − mean)·s + bias with s = scale / sqrt(var + epsilon); source: ONNX operator text."""
    changed = []
    for node in edit.named("BatchNormalization", options.nodes):
        parameters = [edit.constant(name) for name in node.input[1:5]]
        is_training = attribute(node, "training_mode", 0) or len([o for o in node.output if o]) > 1
        if is_training or any(p is None or p.ndim != 1 for p in parameters):
            continue
        if edit.shape(node.input[0]) is None:
            continue  # how to broadcast is not known
        scale, bias, mean, variance = (np.asarray(p, np.float64) for p in parameters)
        factor = scale / np.sqrt(variance + attribute(node, "epsilon", 1e-5))
        before = edit.producer.get(node.input[0])
        is_alone = before is not None and edit.only_reader(node.input[0]) is not None
        if before is None or not is_alone or not _fold_into(edit, before, node, factor, bias - mean * factor):
            _as_mul_add(edit, node, factor, bias - mean * factor)
        changed.append(label(node))
    if not changed:
        raise nothing_to_do("no BatchNormalization with constant parameters")
    edit.prune()
    return Rewrite(models=[("", edit.model)], changed=tuple(changed), tolerance=1e-4)


def _fold_into(edit: OnnxEdit, convolution: Any, norm: Any, factor: Array, shift: Array) -> bool:
    if convolution.op_type not in ("Conv", "ConvTranspose") or len(convolution.output) != 1:
        return False
    weight = edit.constant(convolution.input[1])
    old_bias = (
        edit.constant(convolution.input[2]) if len(convolution.input) > 2 and convolution.input[2] else 0.0
    )
    if weight is None or old_bias is None:
        return False
    wide = weight.astype(np.float64)
    if convolution.op_type == "Conv":
        wide = wide * factor.reshape(-1, *[1] * (wide.ndim - 1))
    else:  # [C, M/group, k…]: output channels are axis 1 of each group
        group = attribute(convolution, "group", 1)
        grouped = wide.reshape(group, wide.shape[0] // group, *wide.shape[1:])
        per_group = factor.reshape(group, 1, -1, *[1] * (wide.ndim - 2))
        wide = (grouped * per_group).reshape(weight.shape)
    new_bias = np.asarray(old_bias, np.float64) * factor + shift
    base = label(convolution)
    inputs = [
        convolution.input[0],
        edit.add_constant(wide.astype(weight.dtype), f"{base}_weight_folded"),
        edit.add_constant(new_bias.astype(weight.dtype), f"{base}_bias_folded"),
    ]
    made = type(convolution)()
    made.CopyFrom(convolution)
    del made.input[:], made.output[:]
    made.input.extend(inputs)
    made.output.append(norm.output[0])
    edit.replace([convolution, norm], [made])
    return True


def _as_mul_add(edit: OnnxEdit, norm: Any, factor: Array, shift: Array) -> None:
    rank = len(edit.shape(norm.input[0]) or ())
    dims = (1, -1, *[1] * (rank - 2))
    known = edit.element_type(norm.input[0])
    dtype = dtype_of(known) if known else np.asarray(edit.constant(norm.input[1])).dtype
    base = label(norm)
    scaled = edit.fresh(f"{base}_scaled")
    factor_name = edit.add_constant(factor.astype(dtype).reshape(dims), f"{base}_factor")
    shift_name = edit.add_constant(shift.astype(dtype).reshape(dims), f"{base}_shift")
    edit.replace(
        [norm],
        [
            edit.make("Mul", [norm.input[0], factor_name], [scaled], f"{base}_mul"),
            edit.make("Add", [scaled, shift_name], [norm.output[0]], f"{base}_add"),
        ],
    )
