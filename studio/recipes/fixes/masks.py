"""Constants that float16 cannot hold."""

from __future__ import annotations

import numpy as np

from studio.errors import InputError
from studio.recipes.fixes.fix import FixOptions, Rewrite
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import Array, array_of, label, nothing_to_do

_FLOATS = {1, 10, 11}  # TensorProto: float32, float16, float64


def clamp(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """Infinite and huge constants clamped to ±limit; softmax of them stays 0. Source: executorch #18812."""
    from onnx import numpy_helper

    if not options.limit > 0:
        raise InputError("The limit must be positive.", hint="65504 is the largest finite float16.")
    changed = []
    for tensor in edit.model.graph.initializer:
        if tensor.data_type not in _FLOATS:
            continue
        value = array_of(tensor)
        if _is_too_large(value, options.limit):
            tensor.CopyFrom(numpy_helper.from_array(_clamped(value, options.limit), tensor.name))
            changed.append(tensor.name)
    for node in [*edit.named("Constant"), *edit.named("ConstantOfShape")]:
        for item in node.attribute:
            if item.name == "value" and _is_too_large(value := array_of(item.t), options.limit):
                item.t.CopyFrom(numpy_helper.from_array(_clamped(value, options.limit), item.t.name))
                changed.append(label(node))
            elif item.name == "value_float" and abs(item.f) > options.limit:
                item.f = float(np.clip(item.f, -options.limit, options.limit))
                changed.append(label(node))
            elif item.name == "value_floats" and any(abs(v) > options.limit for v in item.floats):
                item.floats[:] = [float(np.clip(v, -options.limit, options.limit)) for v in item.floats]
                changed.append(label(node))
    if not changed:
        raise nothing_to_do(f"no constant is beyond ±{options.limit:g}")
    edit.refresh()
    return Rewrite(models=[("", edit.model)], changed=tuple(changed), tolerance=1e-5)


def _is_too_large(value: Array, limit: float) -> bool:
    if value.dtype.kind != "f" or not value.size:
        return False
    return bool(np.any(np.abs(value[~np.isnan(value)]) > limit))


def _clamped(value: Array, limit: float) -> Array:
    return np.clip(value, -limit, limit).astype(value.dtype)
