"""A quantized file is run once beside its original: NaN and outputs that went flat are faults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from studio.backends.backend import Array
from studio.backends.ort import OrtBackend
from studio.errors import InputError, ToolError, UnsupportedError
from studio.recipes.data import made_up_samples, open_samples
from studio.recipes.steps.context import StepContext

_CHECKED_SAMPLES = 4


def check_outputs(context: StepContext, source: Path, made: Path) -> list[str]:
    """Runs both files on a few inputs. Raises ToolError for NaN or for outputs that went flat.

    Returns a note when there is no data and the original itself refuses made-up inputs.
    """
    backend = OrtBackend()
    before, after = (backend.load(p, target="ort/cpu", threads=1) for p in (source, made))
    samples = made_up_samples(before.inputs, _CHECKED_SAMPLES)
    data = context.project.calibration or context.project.evaluation
    if data is not None:
        samples = open_samples(
            data, context.folder, context.project.preprocessing, before.inputs, _CHECKED_SAMPLES
        )
    reference, result = [], []
    try:
        all_feeds = list(samples)
    except InputError as error:
        if samples.is_real:
            raise
        return [f"The result was not run: {error.message}"]
    for feeds in all_feeds:
        try:
            reference.append(before.run(feeds))
        except UnsupportedError as error:
            return [f"The result was not run beside its original: {error.message}"]
        except ToolError:
            if samples.is_real:
                raise
            return ["The result was not run: the original refuses made-up inputs, and no data is named."]
        result.append(after.run(feeds))
    for name in reference[0]:
        if not np.issubdtype(reference[0][name].dtype, np.floating):
            continue
        if all(np.isfinite(r[name]).all() for r in reference) and not all(
            np.isfinite(r[name]).all() for r in result
        ):
            raise ToolError(
                f"The quantized model gives NaN or infinity at its output “{name}”.",
                hint="Keep the layers before it in float, or choose another scheme.",
            )
        if _varies([r[name] for r in reference]) and not _varies([r[name] for r in result]):
            raise ToolError(
                f"The quantized model gives the same “{name}” for every input.",
                hint="Use calibration data that resembles real inputs, or keep the last layers in float.",
            )
    return []


def _varies(arrays: Sequence[Array]) -> bool:
    """Whether samples differ from each other; False for fewer than two of one shape."""
    same = [a for a in arrays if a.shape == arrays[0].shape]
    return len(same) > 1 and any(not np.array_equal(a, same[0]) for a in same[1:])
