"""A TorchScript archive as torch loads it: the module, its graph, and the shapes it was traced with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from studio.errors import InputError
from studio.graph.graph import Shape
from studio.graph.onnx_tensors import short
from studio.graph.torch_archive import refuse_file_operators


def load_module(path: Path, *, restore_shapes: bool = False) -> Any:
    """The loaded archive on the CPU. Raises InputError, which quotes torch's own first line."""
    import torch

    refuse_file_operators(path)
    try:
        return torch.jit.load(str(path), map_location="cpu", _restore_shapes=restore_shapes)
    except Exception as error:  # RuntimeError mostly; damaged archives also raise others
        text = str(error).strip()
        unknown = re.search(r"Unknown builtin op: ([\w:.]+)", text)
        if unknown:
            raise InputError(
                f"The archive calls {unknown.group(1)}, an operator this torch does not have.",
                hint="Install the package that defines it, or export the model without it.",
            ) from None
        line = next((x for x in text.splitlines() if x.strip()), type(error).__name__)
        raise InputError(
            f"torch cannot load the archive: {short(line.strip(), 160)}", hint="Save the model again."
        ) from None


def forward_graph(module: Any) -> Any:
    """The inlined graph of `forward`, else of the first method. Raises InputError when torch shows none."""
    import torch

    methods = list(getattr(module._c, "_method_names", list)())
    name = "forward" if "forward" in methods or not methods else methods[0]
    try:
        graph = module._c._get_method(name).graph.copy()
        torch._C._jit_pass_inline(graph)
    except Exception as error:  # torch raises RuntimeError for whatever it dislikes
        raise InputError(
            f"The archive's method “{short(name)}” has no readable graph: {short(str(error), 120)}",
            hint="Save a module with a forward method.",
        ) from None
    return graph


def traced_shapes(module: Any, values: list[Any], given: dict[str, Shape]) -> dict[str, Shape]:
    """Shapes of inputs by value: the caller's by name, else what the archive was traced with."""
    import torch

    result: dict[str, Shape] = {}
    traced: list[Any] = []
    try:
        traced = list(module._c._retrieve_traced_inputs().get("forward", []))
    except (RuntimeError, AttributeError):
        traced = []
    for index, value in enumerate(values):
        full = value.debugName()
        found = given.get(full) or given.get(full.rpartition(".")[0] or full)
        example = traced[index] if index < len(traced) else None
        dtype = torch.float32
        if isinstance(example, torch.Tensor):
            dtype = example.dtype
            found = found or tuple(example.shape)
        if found is None or not str(value.type()).startswith("Tensor"):
            continue
        result[full] = found
        if all(isinstance(d, int) for d in found):
            # An expanded scalar has the shape without its memory.
            value.inferTypeFrom(torch.zeros((), dtype=dtype).expand(tuple(found)))
    return result
