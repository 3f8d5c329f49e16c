"""Rewrites that need to know the ranges of real tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from studio.errors import InputError
from studio.recipes.fixes.fix import FixOptions, Join, Rewrite
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import attribute, label, nothing_to_do
from studio.recipes.fixes.prove import reference_runs
from studio.recipes.fixes.runner import Runner

_COARSE = 0.01  # half a step of an 8-bit scale is 0.002 of the range; the parts' own rounding comes on top
_RATIO = 8.0  # parts whose ranges differ by more than this lose three bits or more to a shared scale


def make_static(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """DynamicQuantizeLinear → QuantizeLinear with a scale and zero point from the inputs given."""
    nodes = edit.named("DynamicQuantizeLinear", options.nodes)
    if not nodes:
        raise nothing_to_do("no DynamicQuantizeLinear")
    if not options.inputs_path:
        raise InputError(
            "Static scales need real inputs: ranges of made ones would mean nothing.",
            hint="Give some with --inputs FILE.npz, one array per input name.",
        )
    ranges = _ranges(edit, [n.input[0] for n in nodes], options)
    for node in nodes:
        low, high = ranges[node.input[0]]
        low, high = min(low, 0.0), max(high, 0.0)
        scale = (high - low) / 255.0 or 1.0
        zero = int(np.clip(round(-low / scale), 0, 255))
        base = label(node)
        scale_name = edit.add_constant(np.array(scale, np.float32), f"{base}_scale")
        zero_name = edit.add_constant(np.array(zero, np.uint8), f"{base}_zero_point")
        made = edit.make(
            "QuantizeLinear", [node.input[0], scale_name, zero_name], [node.output[0]], f"{base}_static"
        )
        new = [made]
        for output, constant in zip(node.output[1:], (scale_name, zero_name)):
            if edit.is_output(output) or edit.is_captured(output):
                new.append(edit.make("Identity", [constant], [output], f"{base}_kept"))
            edit.rename_reads(output, constant)
        edit.replace([node], new)
    changed = tuple(label(n) for n in nodes)
    edit.prune()
    return Rewrite(
        models=[("", edit.model)],
        changed=changed,
        tolerance=0.05,
        notes=("Values beyond the ranges seen in the inputs will saturate.",),
    )


def split_concat(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """A returned Concat of parts with very different ranges: the parts are returned instead."""
    parts: dict[str, tuple[tuple[str, ...], int]] = {}
    changed = []
    was_quantized = False
    outputs = {n.output[0]: _returned(edit, n) for n in edit.named("Concat", options.nodes)}
    candidates = [n for n in edit.named("Concat", options.nodes) if outputs[n.output[0]]]
    ranges = _ranges(edit, [name for n in candidates for name in n.input], options) if candidates else {}
    for node in candidates:
        sizes = [_reach(edit, name, ranges[name]) for name in node.input]
        if not sizes or min(sizes) <= 0 or max(sizes) / min(sizes) < _RATIO:
            continue
        if any(name not in edit.producer or edit.is_output(name) for name in node.input):
            continue  # a constant or an input cannot be returned, and nothing twice
        if len(set(node.input)) < len(node.input):
            continue
        parts[outputs[node.output[0]]] = (tuple(node.input), attribute(node, "axis", 0))
        was_quantized |= outputs[node.output[0]] != node.output[0]
        changed.append(label(node))
    if not parts:
        raise nothing_to_do(f"no returned Concat whose parts differ by more than {_RATIO:g} times in range")
    _return_parts(edit, parts)
    return Rewrite(
        models=[("", edit.model)],
        changed=tuple(changed),
        tolerance=_COARSE if was_quantized else 1e-6,
        join=Join.CONCAT,
        parts=parts,
        notes=("The parts keep their own scales, so they differ from before by its rounding.",)
        if was_quantized
        else (),
    )


def _reach(edit: OnnxEdit, tensor: str, seen: tuple[float, float]) -> float:
    """The largest magnitude of a tensor: what its own 8-bit scale can hold, else what was seen."""
    source = edit.producer.get(tensor)
    scale = edit.constant(source.input[1]) if source is not None and _is_dequantize(source) else None
    return float(scale.max()) * 255.0 if scale is not None and scale.size else max(abs(seen[0]), abs(seen[1]))


def _is_dequantize(node: Any) -> bool:
    return node.op_type == "DequantizeLinear" and len(node.input) > 1


def _returned(edit: OnnxEdit, node: Any) -> str:
    """The graph output that a Concat makes, itself or through Quantize and Dequantize; empty if none."""
    if edit.is_output(node.output[0]):
        return "" if edit.readers(node.output[0]) else str(node.output[0])
    quantize = edit.only_reader(node.output[0])
    if quantize is None or quantize.op_type != "QuantizeLinear":
        return ""
    dequantize = edit.only_reader(quantize.output[0])
    if dequantize is None or dequantize.op_type != "DequantizeLinear":
        return ""
    name = str(dequantize.output[0])
    return name if edit.is_output(name) and not edit.readers(name) else ""


def _return_parts(edit: OnnxEdit, parts: dict[str, tuple[tuple[str, ...], int]]) -> None:
    from onnx import helper

    graph = edit.model.graph
    returned = []
    for value in graph.output:
        if value.name not in parts:
            returned.append(value)
            continue
        for name in parts[value.name][0]:
            kind = edit.element_type(name) or value.type.tensor_type.elem_type
            returned.append(helper.make_tensor_value_info(name, kind, edit.shape(name)))
    kept = [type(v).FromString(v.SerializeToString()) for v in returned]
    del graph.output[:]
    graph.output.extend(kept)
    edit.prune()


def _ranges(edit: OnnxEdit, tensors: list[str], options: FixOptions) -> dict[str, tuple[float, float]]:
    """(min, max) of tensors over the inputs given, or over made ones when none are."""
    from onnx import helper

    model: Any = type(edit.model)()
    model.CopyFrom(edit.model)
    there = {o.name for o in model.graph.output}
    for name in dict.fromkeys(tensors):
        if name not in there:
            model.graph.output.append(helper.make_value_info(name, helper.make_tensor_type_proto(1, None)))
    found: dict[str, tuple[float, float]] = {}
    for _, outputs in reference_runs(Runner(model), options.inputs_path):
        for name in tensors:
            value = outputs[name][np.isfinite(outputs[name])]
            low, high = (float(value.min()), float(value.max())) if value.size else (0.0, 0.0)
            old = found.get(name, (low, high))
            found[name] = (min(low, old[0]), max(high, old[1]))
    return found
