"""Both models on the same inputs: how far apart their outputs are.

Inputs are the user's (`.npz`, one array per input name, first axis = sample) or made from the
declared shapes with fixed seeds; symbolic dims get the same values in every model.
Both run on ONNX Runtime's CPU provider with graph optimizations off: its own rewrites must not
hide a difference, nor make one. A model whose operator versions ONNX Runtime has no kernels for is run by
onnx's reference implementation.
Made inputs differ in kind from sample to sample, so that what only shows beyond ±3 or below zero shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from studio.array_file import load_arrays
from studio.backends.ort_session import open_session
from studio.errors import InputError, UnsupportedError
from studio.graph.onnx_tensors import short
from studio.recipes.fixes.fix import Join, Rewrite
from studio.recipes.fixes.onnx_edit import Array
from studio.records import Record

_MOST_SAMPLES = 16
_MOST_ELEMENTS = 1 << 25  # a 4K picture of four channels; a quarter of a GB of float64 while it is drawn
_LEAST_RANGE = 0.05
_LONGEST = 240  # letters of a runtime's message
_WIDE = 4.0  # standard deviations: hard activations saturate at ±3
# float16 has 11 significant bits, bfloat16 8: eight roundings of half a unit each. By TensorProto type.
_ROUNDING = {10: 8 * 2.0**-11, 16: 8 * 2.0**-8}
# (first axis, others, whether an input's only open dim is a batch too, as a state's [2, N, 128]) for open
# dims of made inputs: small first, and not 1, which hides broadcasting.
_SIZES = ((2, 2), (2, 8), (1, 16), (1, 32), (1, 48), (1, 64), (1, 224), (1, 512))
_OPEN_DIMS = tuple((batch, size, is_state) for is_state in (False, True) for batch, size in _SIZES)


class Kind(Enum):
    """What made float inputs look like: one sample of each."""

    NORMAL = "normal"
    POSITIVE = "positive"  # 0 … 1, as pictures are; logarithms and roots have a value there
    WIDE = "wide"


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


def prove(original: Runner, rewrite: Rewrite, inputs_path: str) -> Proof:
    """Runs the original and the rewritten model(s).

    Raises UnsupportedError when one cannot run or the original answers NaN alone, which proves nothing.
    """
    worst_abs = worst_relative = 0.0
    samples = 0
    said: dict[str, bool] = {}
    models = [Runner(model) for _, model in rewrite.models]
    runs = [0] if rewrite.join is Join.CHAIN else range(len(rewrite.models))
    for position in runs:
        dims = rewrite.dims[position] if rewrite.dims else {}
        for feeds, before in reference_runs(original, inputs_path, dims):
            after = _run_rewritten(rewrite, models, position, feeds)
            samples += 1
            for name, expected in before.items():
                if name not in after:
                    raise UnsupportedError(
                        f"The rewritten model lost the output {name}.", hint="The file was left as it is."
                    )
                error, relative = difference(expected, after[name])
                worst_abs, worst_relative = max(worst_abs, error), max(worst_relative, relative)
                said[name] = said.get(name, False) or not _is_nan(expected)
    silent = sorted(name for name, has_said in said.items() if not has_said)
    if silent:
        raise UnsupportedError(
            f"Equality cannot be proven: {silent[0]} is NaN for every input tried.",
            hint="Give real inputs with --inputs.",
        )
    return Proof(
        samples=samples,
        inputs=Path(inputs_path).name if inputs_path else "made from the declared shapes, fixed seeds",
        max_abs_error=worst_abs,
        max_relative_error=worst_relative,
        tolerance=_tolerance(original.model, rewrite.tolerance),
    )


def _is_nan(value: Array) -> bool:
    return value.dtype.kind == "f" and value.size > 0 and bool(np.isnan(value).all())


def _tolerance(model: Any, asked: float) -> float:
    """What a rewrite may differ by; a model that computes in half precision rounds anew at each node."""
    if not asked:  # bit for bit, whatever the type
        return asked
    kinds = {t.data_type for t in model.graph.initializer}
    kinds |= {v.type.tensor_type.elem_type for v in [*model.graph.input, *model.graph.output]}
    return max(asked, *(_ROUNDING.get(kind, 0.0) for kind in kinds), 0.0)


def reference_runs(
    run: Runner, inputs_path: str, dims: Mapping[str, int] | None = None
) -> list[tuple[dict[str, Array], dict[str, Array]]]:
    """(inputs, outputs) per sample. For open dims sizes are tried until the model accepts some."""
    model = run.model
    if inputs_path:
        return [(feeds, run(feeds)) for feeds in feeds_for(model, inputs_path, dims)]
    refusal: UnsupportedError | None = None
    for batch, size, is_state in _OPEN_DIMS:
        lone = lone_dims(model, batch) if is_state else {}
        made = feeds_for(model, "", {**lone, **(dims or {})}, batch=batch, size=size)
        try:
            return [(feeds, run(feeds)) for feeds in made]
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


def difference(expected: Array, actual: Array) -> tuple[float, float]:
    """(largest |difference|, the same as a share of the largest |expected|); NaN equals NaN.

    The share is of 0.05 at least: a detector that finds nothing answers 1e-5 where a sigmoid's own rounding
    is 1e-7, which says nothing of the rewrite.
    """
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
    return error, error / max(float(finite.max()) if finite.size else 0.0, _LEAST_RANGE)


class Runner:
    """A model ready to run, unoptimized: inputs by name → outputs by name.

    The session is opened by `open` or at the first call. A sequence's tensors are outputs of their own,
    `name[i]`. Both raise UnsupportedError in the runtime's words.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._session: Any = None
        self._outputs: list[str] = []
        self._inputs: list[str] = []

    def open(self) -> Runner:
        """Itself, once the runtime has accepted the model."""
        if self._session is None:
            try:
                self._session = _session(self.model)
            except InputError:
                raise
            except Exception as error:  # ONNX Runtime raises its own family of bare exceptions
                raise _does_not_run(error) from None
            constants = {t.name for t in self.model.graph.initializer}
            self._inputs = [v.name for v in self.model.graph.input if v.name not in constants]
            self._outputs = [v.name for v in self.model.graph.output]
        return self

    def __call__(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs of one run."""
        self.open()
        missing = [name for name in self._inputs if name not in feeds]
        if missing:
            raise _does_not_run(f"the input {missing[0]} is not given")
        try:
            values = self._session.run(None, {name: feeds[name] for name in self._inputs})
        except Exception as error:  # as above; the reference implementation raises any
            raise _does_not_run(error) from None
        return dict(pair for name, value in zip(self._outputs, values) for pair in _flat(name, value))


def run_model(model: Any, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Outputs by name of one run. Raises UnsupportedError in the runtime's words."""
    return Runner(model)(feeds)


def _session(model: Any) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        return open_session(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        if "NOT_IMPLEMENTED" not in str(error):
            raise
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(model)


def _does_not_run(error: Exception | str) -> UnsupportedError:
    words = str(error).strip().splitlines() or [repr(error)]
    return UnsupportedError(
        f"Equality cannot be proven, ONNX Runtime does not run the model: {short(words[0], _LONGEST)}",
        hint="Give real inputs with --inputs, or mend the model first.",
    )


def _flat(name: str, value: Any) -> list[tuple[str, Array]]:
    if isinstance(value, list):
        return [pair for i, item in enumerate(value) for pair in _flat(f"{name}[{i}]", item)]
    if isinstance(value, dict):
        return [(name, np.asarray(sorted(map(repr, value.items()))))]
    return [(name, np.asarray(value))]


def feeds_for(
    model: Any,
    inputs_path: str,
    dims: Mapping[str, int] | None = None,
    *,
    batch: int = 2,
    size: int = 2,
    kinds: Iterable[Kind] = Kind,
) -> list[dict[str, Array]]:
    """Inputs by name, one dict per sample; open dims are `dims[name]`, else `batch` or `size`."""
    constants = {t.name for t in model.graph.initializer}
    inputs = [v for v in model.graph.input if v.name not in constants]
    if inputs_path:
        return _read_feeds(inputs, Path(inputs_path))
    rng = np.random.default_rng(7)
    return [{v.name: _made(v, dims or {}, rng, kind, batch, size) for v in inputs} for kind in kinds]


def _run_rewritten(
    rewrite: Rewrite, models: list[Runner], position: int, feeds: Mapping[str, Array]
) -> dict[str, Array]:
    if rewrite.join is Join.CHAIN:
        first = models[0](feeds)
        return {**first, **models[1]({**feeds, **first})}
    outputs = models[position](feeds)
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
