"""Conv1d as Conv2d; ConvTranspose weights quantized along the right axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from studio.recipes.fixes.fix import FixOptions, Rewrite
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import attribute, attributes, label, nothing_to_do


def widen(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """[N, C, L] goes as [N, C, 1, L] through a Conv with kernel (1, k): exact."""
    changed = []
    for node in edit.named("Conv", options.nodes):
        weight = edit.constant(node.input[1])
        if weight is None or weight.ndim != 3:
            continue
        base = label(node)
        axes = edit.add_constant(np.array([2], np.int64), f"{base}_axis")
        wide_in, wide_out = edit.fresh(f"{base}_2d_in"), edit.fresh(f"{base}_2d_out")
        wide_weight = edit.add_constant(weight[:, :, None, :], f"{base}_weight_2d")
        settings = attributes(node, "kernel_shape", "strides", "dilations", "pads")
        begin, end = attribute(node, "pads", [0, 0])
        settings |= {
            "kernel_shape": [1, weight.shape[2]],
            "strides": [1, *attribute(node, "strides", [1])],
            "dilations": [1, *attribute(node, "dilations", [1])],
        }
        if attribute(node, "auto_pad", "NOTSET") == "NOTSET":
            settings["pads"] = [0, begin, 0, end]
        before = edit.make("Unsqueeze", [node.input[0], axes], [wide_in], f"{base}_unsqueeze")
        after = edit.make("Squeeze", [wide_out, axes], [node.output[0]], f"{base}_squeeze")
        if edit.opset < 13:  # axes were an attribute until opset 13
            before = edit.make("Unsqueeze", [node.input[0]], [wide_in], f"{base}_unsqueeze", axes=[2])
            after = edit.make("Squeeze", [wide_out], [node.output[0]], f"{base}_squeeze", axes=[2])
        made = edit.make(
            "Conv", [wide_in, wide_weight, *node.input[2:]], [wide_out], f"{base}_2d", **settings
        )
        edit.replace([node], [before, made, after])
        changed.append(base)
    if not changed:
        raise nothing_to_do("no 1-D convolution with constant weights")
    edit.prune()
    _cancel_pairs(edit)
    return Rewrite(models=[("", edit.model)], changed=tuple(changed), tolerance=1e-5)


_SHAPELESS = {
    "Relu", "LeakyRelu", "Sigmoid", "Tanh", "Clip", "HardSwish", "HardSigmoid", "Elu", "Identity", "Erf",
    "BatchNormalization", "Gelu", "Softplus", "Cast", "Mish",
}  # fmt: skip
"""Operators that do the same on [N, C, L] and [N, C, 1, L], channel by channel or element by element."""


def _cancel_pairs(edit: OnnxEdit) -> None:
    """Squeezes go below the shapeless nodes that follow, and vanish with an Unsqueeze that meets them.

    So BatchNormalization and activations stay neighbours of their convolution, which targets fuse.
    """
    for squeeze in edit.named("Squeeze"):
        axes = _axes(edit, squeeze)
        if axes != [2]:
            continue
        tensor, last = squeeze.output[0], None
        changed = []
        while (reader := edit.only_reader(tensor)) is not None and _is_shapeless(reader):
            last, tensor = reader, reader.output[0]
            changed.append(tensor)
        meets = reader is not None and reader.op_type == "Unsqueeze" and _axes(edit, reader) == axes
        if (
            meets
            and reader is not None
            and (edit.is_output(reader.output[0]) or edit.is_captured(reader.output[0]))
        ):
            meets = False
        if last is None and not meets:
            continue
        if meets and reader is not None:
            edit.rename_reads(reader.output[0], tensor if last is not None else squeeze.input[0])
        elif last is not None:
            flat = edit.fresh(f"{tensor}_2d")
            again = edit.make(
                "Squeeze",
                [flat, *squeeze.input[1:]],
                [tensor],
                f"{label(squeeze)}_later",
                **attributes(squeeze),
            )
            last.output[0] = flat
            edit.insert_after(last, again)
        if last is not None:
            edit.rename_reads(squeeze.output[0], squeeze.input[0])
        edit.forget_shapes(changed)
    edit.prune()


def _is_shapeless(node: Any) -> bool:
    return node.op_type in _SHAPELESS and node.domain in ("", "ai.onnx") and len(node.output) == 1


def _axes(edit: OnnxEdit, node: object) -> list[int]:
    inputs = node.input  # type: ignore[attr-defined]
    value = edit.constant(inputs[1]) if len(inputs) > 1 else attribute(node, "axes", [])
    return [int(a) for a in np.atleast_1d(value)] if value is not None else []


def requantize(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """ConvTranspose weights are [C, M/group, k…]: output channels are axis 1. Source: onnxruntime #19694."""
    changed = []
    for node in edit.named("ConvTranspose", options.nodes):
        source = edit.producer.get(node.input[1])
        if source is None or source.op_type != "DequantizeLinear" or attribute(node, "group", 1) != 1:
            continue
        quantized, scale = edit.constant(source.input[0]), edit.constant(source.input[1])
        axis = attribute(source, "axis", 1)
        if quantized is None or scale is None or scale.size <= 1 or axis % quantized.ndim == 1:
            continue
        zero = edit.constant(source.input[2]) if len(source.input) > 2 else np.zeros(scale.shape, np.int8)
        dims = [1] * quantized.ndim
        dims[axis] = -1
        weight = (quantized.astype(np.float64) - np.asarray(zero).reshape(dims)) * scale.reshape(dims)
        others = tuple(i for i in range(weight.ndim) if i != 1)
        new_scale = np.maximum(np.abs(weight).max(axis=others), 1e-12) / 127.0
        shaped = new_scale.reshape(1, -1, *[1] * (weight.ndim - 2))
        values = np.clip(np.rint(weight / shaped), -127, 127).astype(np.int8)
        base = label(node)
        made = edit.make(
            "DequantizeLinear",
            [
                edit.add_constant(values, f"{base}_weight_axis1"),
                edit.add_constant(new_scale.astype(scale.dtype), f"{base}_scale_axis1"),
                edit.add_constant(np.zeros(new_scale.shape, np.int8), f"{base}_zero_axis1"),
            ],
            [source.output[0]],
            f"{base}_dequantize_axis1",
            axis=1,
        )
        edit.replace([source], [made])
        changed.append(base)
    if not changed:
        raise nothing_to_do("no ConvTranspose whose weights are quantized along another axis than 1")
    edit.prune()
    return Rewrite(
        models=[("", edit.model)],
        changed=tuple(changed),
        tolerance=0.02,
        notes=("Weights were rounded anew, so outputs differ by rounding.",),
    )
