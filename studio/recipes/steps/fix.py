"""ONNX → ONNX that a target takes better: one fix of `recipes.fixes` as a step of the recipe."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from studio.backends.backend import Converted
from studio.backends.quiet import quiet
from studio.errors import UnsupportedError
from studio.recipes.fixes import FixOptions, apply_fix
from studio.recipes.recipe import FixStep
from studio.recipes.steps.context import StepContext


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
    with quiet():
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
