"""PyTorch Mobile: TorchScript files, loaded and run on this computer's torch.

PyTorch Mobile is in maintenance; the studio proposes ExecuTorch. Making its files is not offered:
this torch is built without XNNPACK, so `optimize_for_mobile` fails in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from studio.backends.ask import ToolNode
from studio.backends.backend import Array, Availability, Converted, InputInfo, LoadedModel, Report
from studio.backends.explain import tool_error
from studio.backends.packages import availability_of
from studio.errors import InputError, UnsupportedError

TOOLS = ("torchscript",)
TARGETS = ("pytorch-mobile/cpu", "pytorch-mobile/nnapi")


class TorchscriptBackend:
    """TorchScript on this computer's torch."""

    backend_id = "pytorch-mobile"

    def probe(self) -> Availability:
        """Whether torch is installed."""
        return availability_of(
            self.backend_id, "PyTorch Mobile (TorchScript)", "torch", install="torch", targets=TARGETS
        )

    def convert(self, source: Path, settings: Mapping[str, Any], out_dir: Path, report: Report) -> Converted:
        """Always raises UnsupportedError."""
        raise UnsupportedError(
            "Making PyTorch Mobile files is not offered: PyTorch Mobile is in maintenance.",
            hint="Convert to .pte for ExecuTorch, its successor.",
        )

    def load(self, path: Path, *, target: str = "pytorch-mobile/cpu", threads: int = 1) -> LoadedModel:
        """The file as a script module. Raises UnsupportedError for NNAPI, which only a phone has."""
        return TorchscriptModel(path, target=target, threads=threads)


class TorchscriptModel:
    """A script module. Inputs are named by the file; their shapes are not in it."""

    def __init__(self, path: Path, *, target: str, threads: int) -> None:
        if target not in TARGETS:
            raise InputError(
                f"PyTorch Mobile has no target “{target}”.", hint=f"Choose one of {', '.join(TARGETS)}."
            )
        if target != "pytorch-mobile/cpu":
            raise UnsupportedError(
                f"{target} needs a phone.", hint="Choose pytorch-mobile/cpu to run the file here."
            )
        import torch

        from studio.graph.torch_archive import refuse_file_operators

        torch.set_num_threads(threads)
        refuse_file_operators(path)
        try:
            self._script = torch.jit.load(str(path), map_location="cpu").eval()
        except Exception as error:
            known = tool_error("", str(error), tools=TOOLS)
            raise InputError(f"{path.name} is not a TorchScript program.", hint=known.hint) from None
        names = [argument.name for argument in self._script.forward.schema.arguments[1:]]
        self.inputs: Sequence[InputInfo] = [InputInfo(name=name, dtype="", shape=()) for name in names]
        self.outputs: Sequence[InputInfo] = []
        self.target_ran = target
        self.evidence = f"torch {torch.__version__} runs the whole script"
        self.delegated_nodes: int | None = None
        self.total_nodes: int | None = None
        self.placed: Sequence[ToolNode] = ()
        self.is_whole = True
        self._bound: list[Any] = []

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs in order as `output_0`, …. Raises InputError or ToolError."""
        import torch
        from torch.utils import _pytree

        self.bind(feeds)
        try:
            with torch.no_grad():
                made = self._script(*self._bound)
        except Exception as error:
            raise tool_error("TorchScript failed while running the model.", str(error), tools=TOOLS) from None
        tensors = [leaf for leaf in _pytree.tree_flatten(made)[0] if isinstance(leaf, torch.Tensor)]
        return {f"output_{i}": tensor.numpy() for i, tensor in enumerate(tensors)}

    def bind(self, feeds: Mapping[str, Array]) -> None:
        """Keeps the inputs as tensors that share memory with the arrays."""
        import torch

        missing = [info.name for info in self.inputs if info.name not in feeds]
        if missing:
            raise InputError(
                f"The input “{missing[0]}” of the model was not given.",
                hint=f"Given: {', '.join(feeds) or 'nothing'}.",
            )
        self._bound = [
            torch.from_numpy(np.ascontiguousarray(np.asarray(feeds[info.name]))) for info in self.inputs
        ]

    def invoke(self) -> None:
        """One inference on the bound inputs."""
        import torch

        with torch.inference_mode():
            self._script(*self._bound)
