"""The graph canvas: a widget that paints graphs of 50,000 nodes from arrays, and its overlays.

What lives here: `GraphCanvas`, `CompareCanvas`, `Overlay` and the functions that make overlays,
pictures of the canvas. What does not: laying out, searching and comparing graphs (`studio.graph`),
the docks and selectors round the canvas (`studio.ui`), the SVG of reports (`studio.report`).

Why one widget that paints from arrays, by software: measured at 50,000 nodes, one graphics item per
node takes 2.3 s to build and 1,056 ms a frame for the whole graph, OpenGL without a GPU 22 to
32 ms; arrays with levels of detail take under 8 ms everywhere.
"""

from studio.graph.labels import value_text
from studio.ui.canvas.canvas import GraphCanvas
from studio.ui.canvas.colors import DARK, LIGHT, CanvasColors
from studio.ui.canvas.compare import CompareCanvas, diff_overlay
from studio.ui.canvas.measured import error_overlay, latency_overlay
from studio.ui.canvas.overlay import Category, Gather, Hatch, Icon, Outline, Overlay
from studio.ui.canvas.overlays import (
    partition_overlay,
    value_overlay,
    verdict_overlay,
)
from studio.ui.canvas.quantization import quantization_overlay

__all__ = [
    "DARK",
    "LIGHT",
    "CanvasColors",
    "Category",
    "CompareCanvas",
    "Gather",
    "GraphCanvas",
    "Hatch",
    "Icon",
    "Outline",
    "Overlay",
    "diff_overlay",
    "error_overlay",
    "latency_overlay",
    "partition_overlay",
    "quantization_overlay",
    "value_overlay",
    "value_text",
    "verdict_overlay",
]
