"""Loads what was made in its real runtime, runs it on the original's inputs, and compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec
import numpy as np

from studio.backends.backend import Array, Converted, InputInfo, LoadedModel
from studio.backends.registry import FORMATS, backend_for_format
from studio.errors import InputError
from studio.measure.error import error_figures
from studio.measure.measurement import ErrorFigures
from studio.recipes.recipe import ConvertStep, VerifyStep
from studio.recipes.reference import load_arrays, prepare_reference, split_rows
from studio.recipes.steps.context import StepContext
from studio.records import Record


class Verification(Record):
    """What a verify step found: the figures, on which inputs, and what really ran."""

    figures: ErrorFigures
    origin: str
    is_real: bool
    target_ran: str
    evidence: str


DEFAULT_TARGETS = {
    "onnx": "ort/cpu",
    "ort": "ort/cpu",
    "tflite": "litert/cpu",
    "pte": "executorch/xnnpack",
    "pt": "pytorch-mobile/cpu",
    "ptl": "pytorch-mobile/cpu",
}
"""format → the target that every computer has."""


def verify(context: StepContext) -> Converted:
    """A `verification` file (JSON of `Verification`).

    Raises InputError or UnsupportedError when the input cannot be loaded or paired with the
    original. Being far from the original is an answer, not an error: see `broken_budgets`.
    """
    step = cast(VerifyStep, context.step)
    if context.input_format not in FORMATS:
        raise InputError(
            f"The step “{step.id}” cannot verify a .{context.input_format} file.",
            hint="Let it come after an export, quantize or convert step.",
        )
    reference = prepare_reference(
        context.project, context.folder, context.report, samples=step.samples, trusted=context.trusted
    )
    context.report.progress("Loading the result", 0, None)
    backend = backend_for_format(context.input_format)
    loaded = backend.load(context.input_path, target=_target(context), threads=1)
    inputs = load_arrays(reference.inputs_path)
    result = run_stacked(loaded, inputs, reference.samples, context)
    labels = np.load(reference.labels_path) if reference.labels_path else None
    found = Verification(
        figures=error_figures(load_arrays(reference.outputs_path), result, labels),
        origin=reference.origin,
        is_real=reference.is_real,
        target_ran=loaded.target_ran,
        evidence=loaded.evidence,
    )
    made = context.out_dir / "verification.json"
    made.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2))
    notes = (
        [] if reference.is_real else ["No data is named in the project: compared on made-up random inputs."]
    )
    if reference.samples < step.samples:
        notes.append(
            f"Compared on {reference.samples} samples: there are no more, or they would not fit in memory."
        )
    figures = msgspec.to_builtins(found.figures)
    return Converted(path=str(made), format="verification", notes=tuple(notes), facts=figures)


def run_stacked(
    loaded: LoadedModel, inputs: Mapping[str, Array], count: int, context: StepContext
) -> dict[str, Array]:
    """Outputs `[N, …]` by name for inputs `[N, …]`, one call after the other."""
    pairs = pair_inputs(loaded.inputs, inputs)
    first = next(iter(pairs.values()))
    shape = loaded.inputs[0].shape
    has_batch_axis = len(shape) == first.ndim
    size = shape[0] if has_batch_axis and isinstance(shape[0], int) and shape[0] > 0 else 1
    made: dict[str, list[Array]] = {}
    for start in range(0, count, size):
        context.report.progress("Running the result", start, count, "samples")
        rows = [min(start + k, count - 1) for k in range(size)]
        feeds = {
            info.name: fit_layout(pairs[info.name][rows] if has_batch_axis else pairs[info.name][start], info)
            for info in loaded.inputs
        }
        for name, array in loaded.run(feeds).items():
            made.setdefault(name, []).extend(split_rows(array, size)[: count - start])
    context.report.progress("Running the result", count, count, "samples")
    return {name: np.stack(arrays) for name, arrays in made.items()}


def pair_inputs(infos: Sequence[InputInfo], inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The original's array for each input of the result: by name, else in order (converters rename)."""
    if all(info.name in inputs for info in infos):
        return {info.name: inputs[info.name] for info in infos}
    if len(infos) == len(inputs):
        return {info.name: array for info, array in zip(infos, inputs.values())}
    raise InputError(
        f"The result has {len(infos)} inputs ({', '.join(i.name for i in infos)}), "
        f"the original {len(inputs)}.",
        hint="Compare models with the same inputs.",
    )


def fit_layout(array: Array, info: InputInfo) -> Array:
    """The array as the model declares it: NCHW is turned to NHWC where only that fits."""
    wanted = info.shape
    if array.ndim == 4 and len(wanted) == 4 and not _fits(array.shape, wanted):
        turned = array.transpose(0, 2, 3, 1)
        if _fits(turned.shape, wanted):
            return np.ascontiguousarray(turned)
    return array


def _fits(shape: tuple[int, ...], wanted: tuple[int | str | None, ...]) -> bool:
    return all(not isinstance(dim, int) or dim in (have, -1) for dim, have in zip(wanted, shape))


def _target(context: StepContext) -> str:
    """What to run the file on here: portable .pte files have no delegate to ask for."""
    made_by = next((s for s in context.project.recipe.steps if s.id == context.step.after), None)
    if isinstance(made_by, ConvertStep) and made_by.target == "executorch/portable":
        return "executorch/portable"
    return DEFAULT_TARGETS[context.input_format]


def broken_budgets(step: VerifyStep, figures: ErrorFigures) -> tuple[str, ...]:
    """A sentence for each budget that the figures break; broken outputs always count."""
    broken = []
    if figures.nonfinite:
        broken.append(f"{figures.nonfinite} output values are NaN or infinite where the original's are not.")
    if step.min_snr_db is not None and figures.snr_db is not None and figures.snr_db < step.min_snr_db:
        broken.append(f"The SNR is {figures.snr_db:.1f} dB; the budget asks for {step.min_snr_db:.1f} dB.")
    if step.max_accuracy_loss is not None:
        if figures.accuracy is None or figures.reference_accuracy is None:
            broken.append("The accuracy budget cannot be checked: the evaluation data has no labels.")
        elif figures.reference_accuracy - figures.accuracy > step.max_accuracy_loss + 1e-9:
            lost = 100 * (figures.reference_accuracy - figures.accuracy)
            allowed = 100 * step.max_accuracy_loss
            broken.append(f"The accuracy fell by {lost:.2f} points; the budget allows {allowed:.2f}.")
    return tuple(broken)
