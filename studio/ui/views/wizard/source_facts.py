"""What the wizard needs to know of the source: is it torch, has it convolutions, which opset."""

from __future__ import annotations

from studio.recipes.recipe import SOURCE
from studio.ui.session import Session

_TORCH_SUFFIXES = (".py", ".pt2", ".pt", ".pth", ".jit", ".ts")
_CONVOLUTION_WORDS = ("conv",)


def is_torch_source(session: Session) -> bool:
    """Whether the recipe starts from torch, so that there is something to export."""
    return session.project is not None and session.project.source.path.lower().endswith(_TORCH_SUFFIXES)


def source_opset(session: Session) -> int | None:
    """The ONNX opset of the source, None when it is not ONNX or not read yet."""
    stage = session.stage(SOURCE)
    return stage.opened.graph.opsets.get("") if stage is not None and stage.opened is not None else None


def has_convolutions(session: Session) -> bool | None:
    """Whether any graph that was opened has convolutions; None when none was opened yet."""
    opened = [stage.opened for stage in session.stages if stage.opened is not None]
    if not opened:
        return None
    return any(word in op.lower() for o in opened for op in o.graph.node_op for word in _CONVOLUTION_WORDS)
