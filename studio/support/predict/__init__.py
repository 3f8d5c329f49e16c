"""Predictions through conversion: what a node becomes before a target sees it.

What lives here: `lowering_for(format, ir)` and one module per pair of languages. What does not: the
conversion itself (`backends`), verdicts (`rules`). Where the converted file exists it is judged
itself; a prediction names itself as such in its source.
"""

from __future__ import annotations

from dataclasses import replace

from studio.support.op_node import OpNode
from studio.support.predict import (
    onnx_to_tflite,
    onnx_to_torch,
    torch_to_edge,
    torch_to_onnx,
    torch_to_tflite,
)
from studio.support.predict.aten import base_name
from studio.support.predict.edge_nodes import SOURCE as EDGE_SOURCE
from studio.support.predict.lowering import Lower, Lowering, becomes, not_known, then

NATIVE = {
    "onnx": "onnx", "ort": "onnx", "tflite": "tflite", "torchscript": "torch", "pt": "torch", "ptl": "torch",
    "pt2": "torch", "pte": "edge", "etrecord": "edge",
}  # fmt: skip

__all__ = ["Lower", "Lowering", "lowering_for"]


def _to_torchscript(node: OpNode) -> Lowering:
    """The name that TorchScript has for an operator of a `.pt2` or a rebuilt module."""
    name = base_name(node.op)
    if node.op.startswith(("prim::", "aten::", "quantized::")):
        return Lowering("", "", (node,))
    if not name:
        return not_known(f"{node.op} is not an aten operator.", EDGE_SOURCE)
    return becomes("torch.jit.trace of the same module", replace(node, op=f"aten::{name}"))


def lowering_for(graph_format: str, ir: str) -> Lower | None:
    """How nodes of a file become nodes of `ir`; None when they already are."""
    native = NATIVE.get(graph_format, graph_format or "this format")
    if native == ir or (graph_format in ("torchscript", "pt", "ptl") and ir == "torchscript"):
        return None
    found = _STEPS.get((native, ir))
    if found is not None:
        return _as_known(found)
    text = f"The studio has no way from a {graph_format} file to this target."
    return lambda node: not_known(text, "studio/support/predict/__init__.py")


def _as_known(lower: Lower) -> Lower:
    """The conversion, unsure where the file leaves out what the converter will see."""

    def careful(node: OpNode) -> Lowering:
        made = lower(node)
        if made.verdict is not None:
            return made
        if node.in_subgraph:
            return _unsure(made, "Only if the conversion keeps this branch or loop body.")
        if any(not t.dtype for t in (*node.inputs[:1], *node.outputs[:1])):
            return _unsure(made, "The file does not say the tensors' types.")
        return made

    return careful


def _unsure(made: Lowering, why: str) -> Lowering:
    return replace(made, is_sure=False, text=f"{made.text} {why}".strip())


_STEPS: dict[tuple[str, str], Lower] = {
    ("onnx", "tflite"): onnx_to_tflite.lower,
    ("onnx", "edge"): then(onnx_to_torch.lower, torch_to_edge.lower),
    ("onnx", "torchscript"): then(onnx_to_torch.lower, _to_torchscript),
    ("torch", "onnx"): torch_to_onnx.lower,
    ("torch", "tflite"): torch_to_tflite.lower,
    ("torch", "edge"): torch_to_edge.lower,
    ("torch", "torchscript"): _to_torchscript,
}
