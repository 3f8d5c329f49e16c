"""LayerNormalization and RMSNormalization written out over fixed axes.

By hand where only the normalized tensor is read: ONNX's function bodies flatten to two dims and compute
shapes on the way, which costs targets with static shapes more nodes than it gains them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from studio.recipes.fixes.activations import Writer
from studio.recipes.fixes.decompose import inline
from studio.recipes.fixes.fix import FixOptions, Rewrite
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import attribute, label, nothing_to_do

_OTHERS = ("GroupNormalization", "MeanVarianceNormalization")
_HALVES = (10, 16)  # TensorProto: float16, bfloat16
_FLOAT = 1


def normalizations(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """LayerNormalization and its kin → ReduceMean, Sub, Mul, Sqrt, Div, Add."""
    changed = []
    rest = []
    for op in ("LayerNormalization", "RMSNormalization"):
        for node in edit.named(op, options.nodes):
            if _write(edit, node):
                changed.append(label(node))
            else:
                rest.append(node.output[0])
    if changed:
        edit.prune()
    others = [n.output[0] for op in _OTHERS for n in edit.named(op, options.nodes)]
    if rest or others:
        chosen = FixOptions(nodes=(*rest, *others))
        inlined = inline(edit, chosen, ("LayerNormalization", "RMSNormalization", *_OTHERS))
        return Rewrite(inlined.models, (*changed, *inlined.changed), inlined.tolerance)
    if not changed:
        raise nothing_to_do("no normalization in the main graph")
    return Rewrite(models=[("", edit.model)], changed=tuple(changed), tolerance=1e-5)


def _write(edit: OnnxEdit, node: Any) -> bool:
    """(x − mean) / √(mean((x − mean)²) + ε) · scale + bias. Source: ONNX operator text."""
    if any(edit.readers(out) or edit.is_output(out) for out in node.output[1:] if out):
        return False
    axis = attribute(node, "axis", -1)
    if axis >= 0:
        shape = edit.shape(node.input[0])
        if shape is None:
            return False
        axis -= len(shape)
    axes = list(range(axis, 0))
    kind = edit.element_type(node.input[0])
    is_widened = kind in _HALVES and attribute(node, "stash_type", _FLOAT) == _FLOAT
    write = Writer(edit, node)
    x = write.add("Cast", node.input[0], to=_FLOAT) if is_widened else node.input[0]
    epsilon = edit.add_constant(
        np.array(attribute(node, "epsilon", 1e-5), np.float32 if is_widened else write.dtype),
        f"{label(node)}_epsilon",
    )
    if node.op_type == "LayerNormalization":
        x = write.add("Sub", x, _mean(edit, write, x, axes))
    spread = write.add("Sqrt", write.add("Add", _mean(edit, write, write.add("Mul", x, x), axes), epsilon))
    normal = write.add("Div", x, spread)
    if is_widened:
        normal = write.add("Cast", normal, to=kind)
    has_bias = len(node.input) > 2 and bool(node.input[2])
    if has_bias:
        scaled = write.add("Mul", normal, node.input[1])
        write.add("Add", scaled, node.input[2], out=node.output[0])
    else:
        write.add("Mul", normal, node.input[1], out=node.output[0])
    write.carry_out()
    return True


def _mean(edit: OnnxEdit, write: Writer, x: str, axes: list[int]) -> str:
    if edit.opset < 18:  # axes were an attribute until opset 18
        return write.add("ReduceMean", x, axes=axes, keepdims=1)
    return write.add("ReduceMean", x, edit.add_constant(np.array(axes, np.int64), "mean_axes"), keepdims=1)
