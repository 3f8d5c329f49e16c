"""The picture of a graph as SVG text: title, legend, and the coloured layout.

The same columns that the canvas paints (`Layout`), the same curves, scales and bands; no font is needed to
make it, and every colour comes with a sign and a word. What is drawn where: `svg_legend` (the head),
`svg_frames`, `svg_edges`, `svg_boxes`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph
from studio.graph.layout import Layout
from studio.report.paint import Paint
from studio.report.palette import LIGHT, Palette
from studio.report.svg_boxes import BoxSketcher
from studio.report.svg_edges import edges_svg
from studio.report.svg_frames import frames_svg, groups_svg
from studio.report.svg_legend import Head, head_svg
from studio.report.svg_signs import hatch_patterns
from studio.report.svg_text import escape, rect

FONT = (
    "Inter,'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans','Noto Sans','Noto Sans CJK SC','Microsoft YaHei',"
    "'PingFang SC','WenQuanYi Micro Hei','Noto Color Emoji',sans-serif"
)
DETAIL_LIMIT = 4_000
"""Boxes beyond which a picture leaves out names and shapes: nobody could read them, and files stay small."""


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a layout, in its pixels."""

    x: float
    y: float
    width: float
    height: float

    def holds(self, points: npt.NDArray[np.float32]) -> bool:
        """Whether the bounds of some points touch it."""
        low, high = points.min(axis=0), points.max(axis=0)
        return bool(
            low[0] <= self.x + self.width
            and high[0] >= self.x
            and low[1] <= self.y + self.height
            and high[1] >= self.y
        )

    def items(self, layout: Layout) -> list[int]:
        """The boxes that touch it."""
        seen = (
            (layout.item_x <= self.x + self.width)
            & (layout.item_x + layout.item_width >= self.x)
            & (layout.item_y <= self.y + self.height)
            & (layout.item_y + layout.item_height >= self.y)
        )
        return np.flatnonzero(seen).tolist()


def graph_svg(
    graph: Graph,
    layout: Layout,
    paint: Paint | None = None,
    *,
    title: str = "",
    subtitle: str = "",
    palette: Palette = LIGHT,
    region: Region | None = None,
    header: bool = True,
) -> str:
    """SVG text of the whole layout or of a region, coloured by `paint`, under a title and a legend."""
    title = title or graph.name
    is_whole = region is None
    region = region or Region(0, 0, layout.width, layout.height)
    seen = region.items(layout)
    detailed = len(seen) <= DETAIL_LIMIT
    boxes = BoxSketcher(graph, layout, paint, palette, detailed=detailed)
    frames, frame_titles = frames_svg(graph, layout, palette)
    edges, notes, notes_end = edges_svg(graph, layout, paint, palette, region.holds, detailed=detailed)
    if is_whole:
        region = replace(region, width=max(region.width, notes_end))
    head = Head("", 0.0, 0.0)
    if header:
        head = head_svg(title, subtitle, paint, boxes.scale, palette, region.width)
    width, height = max(region.width, head.width), region.height + head.height
    left = (width - region.width) / 2
    clip = f'<clipPath id="region"><rect {rect(region.x, region.y, region.width, region.height)}/></clipPath>'
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.1f} {height:.1f}" font-family="{FONT}" font-size="13">',
            f"<title>{escape(title[:400])}</title>",
            f"<defs>{clip}{hatch_patterns(paint.categories if paint else (), palette)}</defs>",
            f'<rect width="100%" height="100%" fill="{palette.canvas}"/>',
            head.svg,
            f'<g transform="translate({left - region.x:.1f} {head.height - region.y:.1f})">',
            '<g clip-path="url(#region)">',
            *frames,
            *edges,
            *(groups_svg(layout, paint.groups, palette) if paint else ()),
            *notes,
            *frame_titles,
            *(boxes.box(item) for item in seen),
            "</g></g></svg>",
        )
    )
