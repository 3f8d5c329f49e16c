"""The torch source as a `.pt2` program on disk: what the LiteRT and ExecuTorch tool chains start from."""

from __future__ import annotations

import shutil
from pathlib import Path

from studio.backends.explain import tool_error
from studio.backends.quiet import quiet
from studio.errors import UnsupportedError
from studio.recipes.load_torch import dynamic_shapes, load_torch
from studio.recipes.steps.context import StepContext


def save_program(context: StepContext) -> Path:
    """Exports the source by torch.export into the step's folder; a `.pt2` source is copied.

    Raises InputError for the source's faults, UnsupportedError for TorchScript, ToolError when
    torch.export cannot trace the model.
    """
    import torch

    made = context.out_dir / f"{context.source_path.stem}.pt2"
    if context.source_format == "pt2":
        shutil.copyfile(context.source_path, made)
        return made
    context.report.progress("Loading the source", 0, None)
    source = load_torch(context.project.source, context.folder, trusted=context.trusted)
    if source.is_script:
        raise UnsupportedError(
            f"{context.source_path.name} is TorchScript, which LiteRT and ExecuTorch do not take any more.",
            hint="Start from the Python file of the network, or from a .pt2 program.",
        )
    context.report.progress("Tracing with torch.export", 0, None)
    shapes = dynamic_shapes(source)
    try:
        with quiet() as output:
            program = torch.export.export(source.call, source.examples, dynamic_shapes=shapes)
            torch.export.save(program, made)
    except Exception as error:
        raise tool_error(
            f"torch.export cannot trace {context.source_path.name}.",
            f"{output.getvalue()}\n{type(error).__name__}: {error}",
            tools=("torch.export",),
        ) from None
    return made
