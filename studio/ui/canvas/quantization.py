"""The quantisation overlay: where a graph computes in integers, and where it goes to and fro."""

from __future__ import annotations

from studio.graph import Graph
from studio.graph.labels import scale_text
from studio.graph.quantization_roles import (
    BORDER,
    FLOAT,
    INTEGER,
    ISLAND,
    OTHER,
    REQUANTIZE,
    quantization_codes,
)
from studio.ui.canvas.overlay import Category, Hatch, Icon, Overlay
from studio.ui.texts import translate


def quantization_overlay(graph: Graph) -> Overlay:
    """Where a graph computes in integers: integer nodes, the borders to float, pairs that only change
    the scale (a dequantize straight into a quantize), and float islands in a quantised model."""
    codes = quantization_codes(graph)
    return Overlay(
        name=translate("Canvas", "Quantisation"),
        categories=(
            Category(translate("Canvas", "integer"), "integer", Icon.CHECK, Hatch.SOLID, 1),
            Category(translate("Canvas", "float"), "same", Icon.NONE, Hatch.STRIPES, 0),
            Category(translate("Canvas", "quantize / dequantize"), "boundary", Icon.DOT, Hatch.DOTTED, 2),
            Category(
                translate("Canvas", "requantize pair"), "conditional", Icon.DIAMOND, Hatch.CROSSED, 3, True
            ),
            Category(translate("Canvas", "float island"), "floating", Icon.TRIANGLE, Hatch.DIAGONAL, 4, True),
            Category(translate("Canvas", "no arithmetic on activations"), "same", Icon.NONE, Hatch.SOLID, 0),
        ),
        codes=codes,
        sentence=lambda node: _sentence(graph, int(codes[node]), node),
    )


def _sentence(graph: Graph, code: int, node: int) -> str:
    word = {
        INTEGER: translate("Canvas", "Computes in integers."),
        FLOAT: translate("Canvas", "Computes in floating point."),
        BORDER: translate("Canvas", "Goes between floating point and integers."),
        REQUANTIZE: translate(
            "Canvas", "Only changes scale or zero point: often a sign of mismatched parameters."
        ),
        ISLAND: translate("Canvas", "Computes in floating point inside a quantised model."),
        OTHER: translate("Canvas", "Does not compute on activations."),
    }[code]
    outputs = graph.outputs_of(node).tolist()
    notes = [scale_text(graph.tensor_quantization[t]) for t in outputs if t in graph.tensor_quantization]
    return f"{word} {' · '.join(n for n in notes if n)}".strip()
