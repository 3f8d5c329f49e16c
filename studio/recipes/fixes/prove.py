"""Both models on the same inputs: how far apart their outputs are.

Inputs are the user's (`.npz`, one array per input name, first axis = sample) or made from the
declared shapes with fixed seeds; symbolic dims get the same values in every model. Each value of a scalar
that decides on a branch is tried (`modes`).
Both run on ONNX Runtime's CPU provider with graph optimizations off: its own rewrites must not
hide a difference, nor make one. A model whose operator versions ONNX Runtime has no kernels for is run by
onnx's reference implementation.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from studio.errors import UnsupportedError
from studio.recipes.fixes.fix import Join, Rewrite
from studio.recipes.fixes.made_inputs import FILLS, feeds_for, has_whole_inputs, lone_dims, open_dims
from studio.recipes.fixes.modes import Mode, in_mode, modes
from studio.recipes.fixes.protos import Array
from studio.recipes.fixes.runner import Runner
from studio.records import Record

_LEAST_RANGE = 0.05
# float16 has 11 significant bits, bfloat16 8: eight roundings of half a unit each. By TensorProto type.
_ROUNDING = {10: 8 * 2.0**-11, 16: 8 * 2.0**-8}
# (first axis, others, whether an input's only open dim is a batch too, as a state's [2, N, 128]) for open
# dims of made inputs: small first, and not 1, which hides broadcasting.
_SIZES = ((2, 2), (2, 8), (1, 16), (1, 32), (1, 48), (1, 64), (1, 224), (1, 512))
_OPEN_DIMS = tuple((batch, size, is_state) for is_state in (False, True) for batch, size in _SIZES)


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
    """(inputs, outputs) per sample, in each mode that the model runs in.

    For open dims sizes are tried until the model accepts some.
    """
    if inputs_path:
        return [(feeds, run(feeds)) for feeds in feeds_for(run.model, inputs_path, dims)]
    found: list[tuple[dict[str, Array], dict[str, Array]]] = []
    refusal: UnsupportedError | None = None
    for mode in modes(run.model):
        try:
            found += _runs_in(run, dims or {}, mode)
        except UnsupportedError as error:
            refusal = refusal or error
    if not found and refusal is not None:
        raise refusal
    return found


def _runs_in(
    run: Runner, dims: Mapping[str, int], mode: Mode
) -> list[tuple[dict[str, Array], dict[str, Array]]]:
    """Those of one mode. Raises UnsupportedError when no size is accepted."""
    model = run.model
    refusal: UnsupportedError | None = None
    sizes = _OPEN_DIMS if open_dims(model) else _OPEN_DIMS[:1]
    fills = FILLS if has_whole_inputs(model) else FILLS[:1]
    for fill, (batch, size, is_state) in itertools.product(fills, sizes):
        lone = lone_dims(model, batch) if is_state else {}
        made = feeds_for(model, "", {**lone, **dims}, batch=batch, size=size, fill=fill)
        try:
            return [(feeds, run(feeds)) for feeds in (in_mode(f, mode) for f in made)]
        except UnsupportedError as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


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


def run_model(model: Any, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Outputs by name of one run. Raises UnsupportedError in the runtime's words."""
    return Runner(model)(feeds)


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
