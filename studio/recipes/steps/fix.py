"""ONNX → ONNX that a target takes better: one fix of `recipes.fixes` as a step of the recipe."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import msgspec
import numpy as np

from studio.backends.backend import Converted
from studio.backends.quiet import quiet
from studio.errors import UnsupportedError
from studio.recipes.fixes import FixOptions, apply_fix, find_fix
from studio.recipes.fixes.fix import Needs
from studio.recipes.recipe import FixStep
from studio.recipes.steps.calibration import calibration_samples
from studio.recipes.steps.context import StepContext

_INPUT_SAMPLES = 16


def fix(context: StepContext) -> Converted:
    """The rewritten `.onnx`; of a fix that makes several files the first, the others beside it.

    Raises UnsupportedError when the input is no ONNX, nothing is to be fixed, or it is not equal.
    """
    step = cast(FixStep, context.step)
    if context.input_format != "onnx":
        raise UnsupportedError(
            f"The step “{step.id}” rewrites ONNX, but its input is .{context.input_format}.",
            hint="Let it come after an export step, or start from an ONNX source.",
        )
    source = context.input_path
    options = FixOptions(
        dims={name: (size,) for name, size in step.dims.items()},
        opset=step.opset,
        limit=step.limit,
        target=step.target,
        nodes=step.nodes,
    )
    with quiet(), TemporaryDirectory() as scratch:
        if Needs.INPUTS in find_fix(step.fix).needs and context.project.calibration is not None:
            inputs = _write_inputs(context, source, Path(scratch))
            options = msgspec.structs.replace(options, inputs_path=str(inputs))
        outcome = apply_fix(source, step.fix, context.out_dir / source.name, options)
    proof = outcome.proof
    return Converted(
        path=outcome.files[0],
        format="onnx",
        notes=(*outcome.notes, *(f"Also made: {Path(other).name}" for other in outcome.files[1:])),
        facts={
            "fix": outcome.fix,
            "changed_nodes": len(outcome.changed),
            "max_relative_error": proof.max_relative_error,
            "tolerance": proof.tolerance,
            "proven_on": f"{proof.samples} samples, {proof.inputs}",
        },
    )


def _write_inputs(context: StepContext, source: Path, folder: Path) -> Path:
    """Some of the project's calibration samples as the file of real inputs that a fix reads."""
    samples = calibration_samples(context, source, _INPUT_SAMPLES)
    feeds = [samples.feeds(i) for i in range(0, samples.count, samples.batch_size)]
    path = folder / "calibration.npz"
    arrays: dict[str, Any] = {name: np.stack([feed[name] for feed in feeds]) for name in feeds[0]}
    np.savez(path, **arrays)
    return path
