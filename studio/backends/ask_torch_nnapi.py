"""Asks PyTorch's NNAPI serializer: it converts a traced module or raises at the first node it lacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from studio.backends.ask import ToolAnswer, ToolNode
from studio.backends.packages import package_version, require
from studio.backends.quiet import quiet
from studio.errors import InputError

_UNKNOWN_KIND = re.compile(r"Unsupported node kind \('([\w:]+)'\)")


def ask(path: Path, shapes: Sequence[Sequence[int]]) -> ToolAnswer:
    """The answer for a TorchScript file, run on inputs of these shapes (float32)."""
    require("torch", "Asking PyTorch's NNAPI serializer", "")
    import torch

    from studio.graph.torch_archive import refuse_file_operators

    refuse_file_operators(path)
    try:
        module = torch.jit.load(str(path), map_location="cpu").eval()
    except RuntimeError as error:
        raise InputError(
            f"{path.name} is not a TorchScript file: {error}", hint="Save it with torch.jit.save."
        ) from None
    return ask_module(module, [torch.zeros(tuple(s)) for s in shapes])


def ask_module(module: Any, inputs: Sequence[Any]) -> ToolAnswer:
    """The answer for a traced module. Node by node until the serializer raises; after that it did not say."""
    import torch
    from torch.backends._nnapi.serializer import _NnapiSerializer

    order: list[str] = []
    failed: tuple[int, str] | None = None

    class Spy(_NnapiSerializer):  # type: ignore[misc]
        """The serializer itself, keeping where it was."""

        def add_node(self, node: Any) -> None:
            order.append(node.kind())
            super().add_node(node)

    with quiet(), torch.no_grad():
        frozen = torch.jit.freeze(module) if _is_not_frozen(module) else module
        kinds = [n.kind() for n in frozen.graph.nodes()]
        try:
            Spy(config=None).serialize_model(frozen, list(inputs), None)
        except Exception as error:  # whatever it raises is its answer
            text = " ".join(str(error).split())
            match = _UNKNOWN_KIND.search(text)
            failed = (len(order) - 1, match[0] if match else text or type(error).__name__)
    nodes = []
    for index, kind in enumerate(kinds):
        taken: bool | None = True
        reason = ""
        if failed is not None and index >= failed[0]:
            taken = False if index == failed[0] else None
            reason = failed[1] if index == failed[0] else ""
        nodes.append(ToolNode(name=f"{kind}#{index}", op=kind, taken=taken, reason=reason))
    return ToolAnswer(
        tool="NNAPI serializer",
        version=f"torch {package_version('torch')}",
        target_id="pytorch-mobile/nnapi",
        nodes=tuple(nodes),
        partitions=0 if failed is not None else 1,
    )


def _is_not_frozen(module: Any) -> bool:
    return any(n.kind() == "prim::GetAttr" for n in module.graph.nodes())
