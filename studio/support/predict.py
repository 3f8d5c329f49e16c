"""Prediction through conversion: what a converter makes of a node, for targets with another language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from studio.support.op_node import OpNode
from studio.support.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Lowering:
    """What becomes of one node: `parts` to be judged, or a verdict of its own.

    `is_sure` False: the mapping is a prediction that attributes may still change, so a yes stays conditional.
    """

    text: str
    source: str
    parts: tuple[OpNode, ...] = ()
    verdict: Verdict | None = None
    fixes: tuple[str, ...] = ()
    is_sure: bool = True


Lower = Callable[[OpNode], Lowering]

NATIVE = {
    "onnx": "onnx",
    "ort": "onnx",
    "tflite": "tflite",
    "torchscript": "aten",
    "pt2": "aten",
    "pte": "aten",
}


def lowering_for(graph_format: str, ir: str) -> Lower | None:
    """How nodes of a file become nodes of `ir`; None when they already are."""
    native = NATIVE.get(graph_format, "")
    if native == ir:
        return None
    text = f"Nothing is known here of how {native or graph_format} becomes {ir}."
    return lambda node: Lowering(text, "studio.support.predict", verdict=Verdict.UNKNOWN)
