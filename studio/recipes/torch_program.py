"""The torch source as a `.pt2` program on disk: what the LiteRT and ExecuTorch tool chains start from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studio.backends.explain import own_line, tool_error
from studio.backends.quiet import quiet
from studio.errors import UnsupportedError
from studio.recipes.load_torch import load_torch
from studio.recipes.steps.context import StepContext


def save_program(context: StepContext) -> Path:
    """Traces the source by torch.export with fixed shapes into the step's folder; free dims become 1.

    Raises InputError for the source's faults, UnsupportedError for TorchScript, ToolError when
    torch.export cannot trace the model.
    """
    import torch

    context.report.progress("Loading the source", 0, None)
    source = load_torch(context.project.source, context.folder, trusted=context.trusted, free_dim=1)
    if source.is_script:
        raise UnsupportedError(
            f"{context.source_path.name} is TorchScript, which LiteRT and ExecuTorch do not take any more.",
            hint="Start from the Python file of the network, or from a .pt2 program.",
        )
    context.report.progress("Tracing with torch.export", 0, None)
    made = context.out_dir / f"{context.source_path.stem}.pt2"
    try:
        with quiet() as output:
            program = torch.export.export(source.call, source.examples)
            try:
                torch.export.save(program, made)
            except NotImplementedError:  # an output type without a serial form, for example torch.topk's
                torch.export.save(torch.export.export(with_plain_outputs(source.call), source.examples), made)
    except Exception as error:
        text = f"{output.getvalue()}\n{type(error).__name__}: {error}"
        raise tool_error(
            f"torch.export cannot trace {context.source_path.name}{own_line(text)}.",
            text,
            tools=("torch.export",),
        ) from None
    return made


def with_plain_outputs(module: Any) -> Any:
    """The module with its outputs as a flat tuple of tensors."""
    import torch
    from torch.utils import _pytree

    class Flat(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = module

        def forward(self, *args: Any) -> tuple[Any, ...]:
            return tuple(_pytree.tree_leaves(self.inner(*args)))

    return Flat().eval()
