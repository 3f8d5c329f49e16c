"""Pictures and pages for people: SVG and PNG of a graph, HTML. No Qt.

What lives here: `graph_svg` (a layout, coloured, as SVG text), `picture_svg` and `write_picture`
(a whole graph as a file), `Paint` (what colour says; `overlays` and `measured_paint` make them). What does
not: where boxes are (`graph.layout`), and the interactive canvas (`ui.canvas`).
"""

from studio.report.graph_png import svg_to_png
from studio.report.graph_svg import Region, graph_svg
from studio.report.paint import Category, Paint, diff_paint, value_paint, verdict_paint
from studio.report.picture import picture_svg, write_picture

__all__ = [
    "Category",
    "Paint",
    "Region",
    "diff_paint",
    "graph_svg",
    "picture_svg",
    "svg_to_png",
    "value_paint",
    "verdict_paint",
    "write_picture",
]
