"""Inputs to prove a rewrite on: the user's, or made from the declared shapes with fixed seeds.

Made inputs differ in kind from sample to sample, so that what only shows beyond ±3 or below zero shows.
Whole numbers are often sizes or indices, which a model takes only when they fit: sizes of a split add up to
the axis, and where 0 and 1 at random do not fit, one number for all may (`FILLS`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from studio.array_file import load_arrays
from studio.errors import InputError, UnsupportedError
from studio.recipes.fixes.protos import Array

_MOST_SAMPLES = 16
_MOST_ELEMENTS = 1 << 25  # a 4K picture of four channels; a quarter of a GB of float64 while it is drawn
_WIDE = 4.0  # standard deviations: hard activations saturate at ±3


FILLS = (None, 0, 1, 2)
"""What inputs of whole numbers are filled with, in the order of trying; None: 0 and 1 at random."""


class Kind(Enum):
    """What made float inputs look like: one sample of each."""

    NORMAL = "normal"
    POSITIVE = "positive"  # 0 … 1, as pictures are; logarithms and roots have a value there
    WIDE = "wide"


def open_dims(model: Any) -> dict[str, list[tuple[int, int]]]:
    """The symbolic dims of the inputs by name; a nameless one is called `input:axis`.

    The value lists the places, (position of the input, axis). Exporters also write "?" for
    nameless, and −1 or 0 for open.
    """
    constants = {t.name for t in model.graph.initializer}
    found: dict[str, list[tuple[int, int]]] = {}
    for position, value in enumerate(model.graph.input):
        if value.name in constants:
            continue
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if not (dim.HasField("dim_value") and dim.dim_value > 0):
                found.setdefault(dim_name(value.name, axis, dim), []).append((position, axis))
    return found


def has_whole_inputs(model: Any) -> bool:
    """Whether an input takes whole numbers, which may be sizes or indices."""
    from onnx import TensorProto

    whole = (TensorProto.INT32, TensorProto.INT64)
    constants = {t.name for t in model.graph.initializer}
    return any(v.type.tensor_type.elem_type in whole for v in model.graph.input if v.name not in constants)


def lone_dims(model: Any, size: int) -> dict[str, int]:
    """That size for each dim that is the only open one of its input."""
    open_per_input: dict[int, list[str]] = {}
    for name, places in open_dims(model).items():
        for position, _ in places:
            open_per_input.setdefault(position, []).append(name)
    return {names[0]: size for names in open_per_input.values() if len(names) == 1}


def dim_name(input_name: str, axis: int, dim: Any) -> str:
    """What an open dim is called."""
    return str(dim.dim_param) if dim.dim_param not in ("", "?") else f"{input_name}:{axis}"


def feeds_for(
    model: Any,
    inputs_path: str,
    dims: Mapping[str, int] | None = None,
    *,
    batch: int = 2,
    size: int = 2,
    kinds: Iterable[Kind] = Kind,
    fill: int | None = None,
) -> list[dict[str, Array]]:
    """Inputs by name, one dict per sample; open dims are `dims[name]`, else `batch` or `size`.

    `fill`: the number in all inputs of whole numbers, one of `FILLS`.
    """
    constants = {t.name for t in model.graph.initializer}
    inputs = [v for v in model.graph.input if v.name not in constants]
    if inputs_path:
        return _read_feeds(inputs, Path(inputs_path))
    rng = np.random.default_rng(7)
    made = [{v.name: _made(v, dims or {}, rng, kind, batch, size) for v in inputs} for kind in kinds]
    for feeds in made:
        if fill is not None:
            feeds.update({n: np.full_like(v, fill) for n, v in feeds.items() if v.dtype.kind in "iu"})
        _fit(model, feeds)
    return made


def _fit(model: Any, feeds: dict[str, Array]) -> None:
    """Puts sizes into the inputs that an operator of the main graph takes as such."""
    for node in model.graph.node:
        sizes = feeds.get(node.input[1]) if len(node.input) > 1 else None
        if sizes is None or sizes.dtype.kind != "i" or sizes.ndim != 1 or not sizes.size:
            continue
        data = feeds.get(node.input[0])
        if node.op_type in ("Split", "SplitToSequence") and data is not None:
            axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
            if -data.ndim <= axis < data.ndim:
                sizes[:] = data.shape[axis] // sizes.size
                sizes[-1] += data.shape[axis] - sizes.sum()
        elif node.op_type == "Reshape":
            sizes[:] = 1
            sizes[0] = -1


def _read_feeds(inputs: list[Any], path: Path) -> list[dict[str, Array]]:
    arrays = load_arrays(path)
    if len(inputs) == 1 and inputs[0].name not in arrays and "inputs" in arrays:
        arrays[inputs[0].name] = arrays["inputs"]
    missing = [v.name for v in inputs if v.name not in arrays]
    if missing:
        raise InputError(
            f"{path.name} has no array called {missing[0]}.",
            hint=f"It has: {', '.join(arrays) or 'nothing'}.",
        )
    rank = len(inputs[0].type.tensor_type.shape.dim)
    count = len(arrays[inputs[0].name]) if inputs else 0
    feeds = []
    for index in range(min(count, _MOST_SAMPLES)):
        feed = {}
        for value in inputs:
            sample = arrays[value.name][index]
            is_bare = sample.ndim == len(value.type.tensor_type.shape.dim) - 1
            feed[value.name] = sample[None] if is_bare else sample
        feeds.append(feed)
    if not feeds:
        raise InputError(f"{path.name} holds no sample for {rank}-D inputs.", hint="Give at least one.")
    return feeds


def _made(
    value: Any, dims: Mapping[str, int], rng: np.random.Generator, kind: Kind, batch: int, size: int
) -> Array:
    from onnx import TensorProto, helper

    tensor = value.type.tensor_type
    if not value.type.HasField("tensor_type") or tensor.elem_type in (0, TensorProto.STRING):
        raise UnsupportedError(
            f"The input {value.name} is no tensor of numbers and cannot be made.",
            hint="Give real inputs with --inputs.",
        )
    shape = []
    for axis, dim in enumerate(tensor.shape.dim):
        is_number = dim.HasField("dim_value") and dim.dim_value > 0
        open_size = dims.get(dim_name(value.name, axis, dim), batch if axis == 0 else size)
        shape.append(dim.dim_value if is_number else open_size)
    if math.prod(shape) > _MOST_ELEMENTS:
        raise UnsupportedError(
            f"The input {value.name} has {math.prod(shape):,} elements, too many to make.",
            hint="Give real inputs with --inputs.",
        )
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if dtype.kind == "f":
        if kind is Kind.POSITIVE:
            return np.asarray(rng.uniform(0.0, 1.0, shape), dtype)
        return np.asarray(rng.standard_normal(shape) * (_WIDE if kind is Kind.WIDE else 1.0), dtype)
    if dtype.kind in "biu":
        return np.asarray(rng.integers(0, 2, shape), dtype)
    raise UnsupportedError(f"Inputs of type {dtype} cannot be made.", hint="Give real inputs with --inputs.")
