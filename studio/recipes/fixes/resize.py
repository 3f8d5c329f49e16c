"""Resize in the coordinate modes that more targets take, where the result is the same."""

from __future__ import annotations

from typing import Any

from studio.recipes.fixes.fix import FixOptions, Rewrite
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import attribute, label, nothing_to_do

_MODE = "coordinate_transformation_mode"
_SINCE = 11  # opset 10 has no modes: it is asymmetric, always


def half_pixel(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """pytorch_half_pixel differs from half_pixel only for outputs of one pixel (ONNX operator text)."""
    changed = []
    for node in edit.named("Resize", options.nodes):
        if attribute(node, _MODE, "half_pixel") != "pytorch_half_pixel":
            continue
        before, after = edit.shape(node.input[0]), edit.shape(node.output[0])
        if edit.opset < _SINCE or before is None or after is None:
            continue
        if any(a == 1 and b != 1 for b, a in zip(before, after)):
            continue
        _set(node, _MODE, "half_pixel")
        changed.append(label(node))
    if not changed:
        raise nothing_to_do("no Resize with pytorch_half_pixel and an output larger than one pixel")
    edit.forget_shapes()
    return Rewrite(models=[("", edit.model)], changed=tuple(changed), tolerance=1e-5)


def asymmetric(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """Nearest by a whole factor: floor(i / k) is what half_pixel with rounding picks too."""
    changed = []
    for node in edit.named("Resize", options.nodes):
        if attribute(node, "mode", "nearest") != "nearest" or not _is_whole_factor(edit, node):
            continue
        mode, rounding = (
            attribute(node, _MODE, "half_pixel"),
            attribute(node, "nearest_mode", "round_prefer_floor"),
        )
        is_centred = mode in ("half_pixel", "pytorch_half_pixel")
        if edit.opset < _SINCE or not (is_centred or mode == "asymmetric"):
            continue
        if is_centred and rounding not in ("round_prefer_floor", "round_prefer_ceil"):
            continue
        if mode == "asymmetric" and (rounding != "round_prefer_floor" or _largest_factor(edit, node) != 2):
            continue  # i / 2 is at most half way, which this rounding takes down; i / 3 is not
        _set(node, _MODE, "asymmetric")
        _set(node, "nearest_mode", "floor")
        changed.append(label(node))
    if not changed:
        raise nothing_to_do("no nearest Resize with half pixels and a whole factor")
    edit.forget_shapes()
    return Rewrite(models=[("", edit.model)], changed=tuple(changed), tolerance=0.0)


def _is_whole_factor(edit: OnnxEdit, node: Any) -> bool:
    before, after = edit.static_shape(node.input[0]), edit.static_shape(node.output[0])
    if before is not None and after is not None:
        return all(b > 0 and a % b == 0 for b, a in zip(before, after))
    scales = edit.constant(node.input[2]) if len(node.input) > 2 and node.input[2] else None
    return (
        scales is not None
        and scales.size > 0
        and all(float(s) >= 1 and float(s).is_integer() for s in scales)
    )


def _largest_factor(edit: OnnxEdit, node: Any) -> int:
    """The largest whole factor that an axis grows by, 0 when it is not known."""
    before, after = edit.static_shape(node.input[0]), edit.static_shape(node.output[0])
    if before is not None and after is not None:
        return max((a // b for b, a in zip(before, after) if b), default=0)
    scales = edit.constant(node.input[2]) if len(node.input) > 2 and node.input[2] else None
    return int(scales.max()) if scales is not None and scales.size else 0


def _set(node: Any, name: str, value: str) -> None:
    from onnx import helper

    for position, item in enumerate(node.attribute):
        if item.name == name:
            del node.attribute[position]
            break
    node.attribute.append(helper.make_attribute(name, value))
