"""ONNX → ONNX with the light edits of an edit step."""

from __future__ import annotations

from typing import cast

from studio.backends.backend import Converted
from studio.backends.quiet import quiet
from studio.errors import UnsupportedError
from studio.recipes.edits import apply_edits
from studio.recipes.recipe import EditStep
from studio.recipes.steps.context import StepContext


def edit(context: StepContext) -> Converted:
    """The edited `.onnx`. Raises UnsupportedError for another format, InputError for a wrong edit."""
    step = cast(EditStep, context.step)
    if context.input_format != "onnx":
        raise UnsupportedError(
            f"The step “{step.id}” edits ONNX, but its input is .{context.input_format}.",
            hint="Let it come after an export step, or start from an ONNX source.",
        )
    out = context.out_dir / context.input_path.name
    with quiet():
        done = apply_edits(context.input_path, step.edits, out)
    return Converted(path=str(out), format="onnx", notes=done, facts={"edits": len(step.edits)})
