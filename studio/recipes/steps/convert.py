"""→ the file that a runtime loads: `.ort` from ONNX, `.tflite` and `.pte` from the torch source.

*Why an ONNX source does not become `.tflite` or `.pte`:* the way leads through a torch module, and
the one package that makes it, onnx2torch 1.5.15, requires torchvision and was released before the
operators that today's exporters write (looked at 2026-11). A refusal that names the way out is
better than a module that is nearly the model.
"""

from __future__ import annotations

from typing import Any, cast

from studio.backends.backend import Converted
from studio.backends.registry import open_backend
from studio.errors import InputError, UnsupportedError
from studio.recipes.recipe import SOURCE, ConvertStep, ExportStep
from studio.recipes.steps.context import StepContext
from studio.recipes.torch_program import save_program

BACKEND_OF = {"ort": "ort", "tflite": "litert", "pte": "executorch"}
"""format → id of the backend that makes it."""

FROM_TORCH = ("tflite", "pte")
_CPU_TARGETS = ("", "ort/cpu")


def convert(context: StepContext) -> Converted:
    """The runtime's file. Raises UnsupportedError when there is no way from the input to the format."""
    step = cast(ConvertStep, context.step)
    backend_id = BACKEND_OF.get(step.format)
    if backend_id is None:
        raise InputError(
            f"The step “{step.id}” converts to “{step.format}”, which no tool chain here makes.",
            hint=f"Choose one of {', '.join(BACKEND_OF)}.",
        )
    backend = open_backend(backend_id)
    available = backend.probe()
    if not available.is_available:
        raise UnsupportedError(f"{available.title} is not installed. {available.reason}", hint=available.fix)
    if step.format in FROM_TORCH:
        return _from_torch(context, step)
    if context.input_format != "onnx":
        raise UnsupportedError(
            f"A .{step.format} file is made from ONNX, but “{step.id}” is given .{context.input_format}.",
            hint="Let the step come after an export or quantize step.",
        )
    settings = {"optimization": optimization_level(step)}
    return backend.convert(context.input_path, settings, context.out_dir, context.report)


def optimization_level(step: ConvertStep) -> str:
    """The level for a `.ort` file. “auto” is extended for the CPU, basic where an accelerator looks on.

    A loaded `.ort` file is not optimized again: at basic level our int8 sample took 5.6 times as
    long as at extended level (ONNX Runtime 1.32, x86-64, 2026-11). Above basic, NNAPI and
    XNNPACK find fused nodes that they cannot take. “all” ties the file to this kind of processor.
    """
    if step.optimization != "auto":
        return step.optimization
    return "extended" if step.target in _CPU_TARGETS else "basic"


def starts_from_torch(step: ConvertStep, steps: dict[str, Any]) -> bool:
    """Whether a step's input is the source itself or its plain export, which stand for the torch source."""
    return step.after == SOURCE or (
        isinstance(steps.get(step.after), ExportStep) and steps[step.after].after == SOURCE
    )


def _from_torch(context: StepContext, step: ConvertStep) -> Converted:
    title = {"tflite": "LiteRT", "pte": "ExecuTorch"}[step.format]
    if not context.is_torch_source:
        raise UnsupportedError(
            f"{title} files are made from a torch source; this source is .{context.source_format}.",
            hint="Start from the torch model (a Python file or .pt2), or deploy the .onnx or .ort file.",
        )
    if not starts_from_torch(step, {s.id: s for s in context.project.recipe.steps}):
        raise UnsupportedError(
            f"{title} files are made from the torch source, but “{step.id}” comes after “{step.after}”.",
            hint="Let the step come after “source”.",
        )
    program = save_program(context)
    settings = {"target": step.target, "etrecord": step.etrecord}
    try:
        return open_backend(BACKEND_OF[step.format]).convert(
            program, settings, context.out_dir, context.report
        )
    finally:
        program.unlink(missing_ok=True)
