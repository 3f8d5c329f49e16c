"""ReduceMean over the picture as GlobalAveragePool."""

from __future__ import annotations

from studio.recipes.fixes.fix import FixOptions, Rewrite
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import attribute, label, nothing_to_do


def to_global_pool(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """[N, C, …] averaged over all spatial axes; keepdims=0 gets a Flatten after it."""
    changed = []
    for node in edit.named("ReduceMean", options.nodes):
        shape = edit.shape(node.input[0])
        axes = attribute(node, "axes")
        if axes is None and len(node.input) > 1:
            value = edit.constant(node.input[1])
            axes = value.tolist() if value is not None else None
        if shape is None or axes is None or len(shape) < 3:
            continue
        if sorted(int(a) % len(shape) for a in axes) != list(range(2, len(shape))):
            continue
        base = label(node)
        if attribute(node, "keepdims", 1):
            new = [edit.make("GlobalAveragePool", [node.input[0]], [node.output[0]], f"{base}_pool")]
        else:
            pooled = edit.fresh(f"{base}_pooled")
            new = [
                edit.make("GlobalAveragePool", [node.input[0]], [pooled], f"{base}_pool"),
                edit.make("Flatten", [pooled], [node.output[0]], f"{base}_flatten", axis=1),
            ]
        edit.replace([node], new)
        changed.append(base)
    if not changed:
        raise nothing_to_do("no ReduceMean over all spatial axes of a [N, C, …] tensor")
    edit.prune()
    return Rewrite(models=[("", edit.model)], changed=tuple(changed), tolerance=1e-5)
