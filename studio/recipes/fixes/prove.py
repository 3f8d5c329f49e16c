"""Both models on the same inputs: how far apart their outputs are.

Inputs are the user's (`.npz`, one array per input name, first axis = sample) or made from the
declared shapes with fixed seeds; symbolic dims get the same values in every model.
Both run on ONNX Runtime's CPU provider with graph optimizations off: its own rewrites must not
hide a difference, nor make one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from studio.array_file import load_arrays
from studio.errors import InputError, UnsupportedError
from studio.recipes.fixes.fix import Join, Rewrite
from studio.recipes.fixes.onnx_edit import Array
from studio.records import Record

_MADE_SAMPLES = 3
_MOST_SAMPLES = 16
# (first axis, others) for open dims of made inputs: small first, and not 1, which hides broadcasting.
_OPEN_DIMS = ((2, 2), (2, 8), (1, 16), (1, 32), (1, 48), (1, 64), (1, 224), (1, 512))


class Proof(Record):
    """How equal: the largest difference, as a share of the output's largest value, and the limit."""

    samples: int
    inputs: str
    max_abs_error: float
    max_relative_error: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether the difference is within the tolerance."""
        return self.max_relative_error <= self.tolerance


def prove(original: Any, rewrite: Rewrite, inputs_path: str) -> Proof:
    """Runs the original and the rewritten model(s). Raises UnsupportedError when one cannot run."""
    worst_abs = worst_relative = 0.0
    samples = 0
    runs = [0] if rewrite.join is Join.CHAIN else range(len(rewrite.models))
    for position in runs:
        dims = rewrite.dims[position] if rewrite.dims else {}
        for feeds, before in reference_runs(original, inputs_path, dims):
            after = _run_rewritten(rewrite, position, feeds)
            samples += 1
            for name, expected in before.items():
                if name not in after:
                    raise UnsupportedError(
                        f"The rewritten model lost the output {name}.", hint="The file was left as it is."
                    )
                error, relative = difference(expected, after[name])
                worst_abs, worst_relative = max(worst_abs, error), max(worst_relative, relative)
    return Proof(
        samples=samples,
        inputs=Path(inputs_path).name if inputs_path else "made from the declared shapes, fixed seeds",
        max_abs_error=worst_abs,
        max_relative_error=worst_relative,
        tolerance=rewrite.tolerance,
    )


def reference_runs(
    model: Any, inputs_path: str, dims: Mapping[str, int] | None = None
) -> list[tuple[dict[str, Array], dict[str, Array]]]:
    """(inputs, outputs) per sample. For open dims sizes are tried until the model accepts some."""
    if inputs_path:
        return [(feeds, run_model(model, feeds)) for feeds in feeds_for(model, inputs_path, dims)]
    refusal: UnsupportedError | None = None
    for batch, size in _OPEN_DIMS:
        made = feeds_for(model, "", dims, batch=batch, size=size)
        try:
            return [(feeds, run_model(model, feeds)) for feeds in made]
        except UnsupportedError as error:
            refusal = refusal or error
        if not open_dims(model):
            break
    assert refusal is not None
    raise refusal


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


def dim_name(input_name: str, axis: int, dim: Any) -> str:
    """What an open dim is called."""
    return str(dim.dim_param) if dim.dim_param not in ("", "?") else f"{input_name}:{axis}"


def difference(expected: Array, actual: Array) -> tuple[float, float]:
    """(largest |difference|, the same as a share of the largest |expected|); NaN equals NaN."""
    if expected.shape != actual.shape:
        return float("inf"), float("inf")
    if expected.dtype.kind not in "fiub":
        same = bool(np.array_equal(expected, actual))
        return (0.0, 0.0) if same else (float("inf"), float("inf"))
    a, b = expected.astype(np.float64), actual.astype(np.float64)
    equal = (a == b) | (np.isnan(a) & np.isnan(b))
    if bool(equal.all()):
        return 0.0, 0.0
    gap = np.abs(a - b)[~equal]
    error = float("inf") if np.isnan(gap).any() else float(gap.max())
    finite = np.abs(a[np.isfinite(a)])
    return error, error / max(float(finite.max()) if finite.size else 0.0, 1e-6)


def run_model(model: Any, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Outputs by name on ONNX Runtime, unoptimized. Raises UnsupportedError in its words."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        wanted = [i.name for i in session.get_inputs()]
        values = session.run(None, {name: feeds[name] for name in wanted})
    except Exception as error:  # ONNX Runtime raises its own family of bare exceptions
        said = str(error).strip().splitlines()
        raise UnsupportedError(
            f"Equality cannot be proven, ONNX Runtime does not run the model: {said[0] if said else error}",
            hint="Give real inputs with --inputs, or mend the model first.",
        ) from None
    return {output.name: np.asarray(value) for output, value in zip(session.get_outputs(), values)}


def feeds_for(
    model: Any, inputs_path: str, dims: Mapping[str, int] | None = None, *, batch: int = 2, size: int = 2
) -> list[dict[str, Array]]:
    """Inputs by name, one dict per sample; open dims are `dims[name]`, else `batch` or `size`."""
    constants = {t.name for t in model.graph.initializer}
    inputs = [v for v in model.graph.input if v.name not in constants]
    if inputs_path:
        return _read_feeds(inputs, Path(inputs_path))
    rng = np.random.default_rng(7)
    return [{v.name: _made(v, dims or {}, rng, batch, size) for v in inputs} for _ in range(_MADE_SAMPLES)]


def _run_rewritten(rewrite: Rewrite, position: int, feeds: Mapping[str, Array]) -> dict[str, Array]:
    if rewrite.join is Join.CHAIN:
        first = run_model(rewrite.models[0][1], feeds)
        return {**first, **run_model(rewrite.models[1][1], {**feeds, **first})}
    outputs = run_model(rewrite.models[position][1], feeds)
    for name, (parts, axis) in (rewrite.parts or {}).items():
        outputs[name] = np.concatenate([outputs[p] for p in parts], axis=axis)
    return outputs


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


def _made(value: Any, dims: Mapping[str, int], rng: np.random.Generator, batch: int, size: int) -> Array:
    from onnx import helper

    kind = value.type.tensor_type
    shape = []
    for axis, dim in enumerate(kind.shape.dim):
        is_number = dim.HasField("dim_value") and dim.dim_value > 0
        open_size = dims.get(dim_name(value.name, axis, dim), batch if axis == 0 else size)
        shape.append(dim.dim_value if is_number else open_size)
    dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        return rng.integers(0, 2, shape).astype(dtype)
    raise UnsupportedError(f"Inputs of type {dtype} cannot be made.", hint="Give real inputs with --inputs.")
