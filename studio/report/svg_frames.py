"""Frames of open scopes, and the dashed lines round groups of nodes, as SVG."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.graph.bands import bands_of, lines_round
from studio.graph.graph import Graph
from studio.graph.layout import Layout
from studio.graph.repeats import repeats
from studio.graph.scopes import frame_words, scope_tree
from studio.report.paint import Group
from studio.report.palette import Palette, mix
from studio.report.svg_text import cut, escape, rect, text_width

_TITLE = 11


def scope_title(graph: Graph, scope: int) -> str:
    """A scope's name, and how many are alike: `layers.3 ×12`."""
    name, alike = scope_tree(graph).name[scope][:80], int(repeats(graph).count[scope])
    return f"{name} ×{alike}" if alike > 1 else name


def frames_svg(graph: Graph, layout: Layout, palette: Palette) -> tuple[list[str], list[str]]:
    """(frames, their titles, which come above the lines), outer ones first."""
    frames, titles = [], []
    scopes = scope_tree(graph).size
    for i in np.argsort(layout.frame_depth, kind="stable").tolist():
        x, y = float(layout.frame_x[i]), float(layout.frame_y[i])
        width, height = float(layout.frame_width[i]), float(layout.frame_height[i])
        fill = mix(palette.canvas, palette.quiet, 0.045 * min(int(layout.frame_depth[i]), 4))
        scope = int(layout.frame_scope[i])
        title, kind = frame_words(graph, scope)
        if scope < scopes:
            title = scope_title(graph, scope)
        title = cut(title, width - 24, _TITLE, bold=True)
        text = f'<tspan font-weight="600">{escape(title)}</tspan>'
        kind = cut(kind, width - 30 - text_width(title, _TITLE, bold=True), _TITLE) if kind else ""
        if kind:
            text += f" {escape(kind)}"
        frames.append(
            f'<rect {rect(x, y, width, height)} rx="8" fill="{fill}" '
            f'stroke="{mix(palette.line, palette.quiet, 0.25)}"/>'
        )
        titles.append(
            f'<text x="{x + 12:.1f}" y="{y + 16:.1f}" font-size="{_TITLE}" fill="{palette.quiet}" '
            f'stroke="{fill}" stroke-width="4" stroke-linejoin="round" paint-order="stroke">{text}</text>'
        )
    return frames, titles


@dataclass(frozen=True, slots=True)
class _Boxes:
    left: npt.NDArray[np.float32]
    right: npt.NDArray[np.float32]
    top: npt.NDArray[np.float32]
    bottom: npt.NDArray[np.float32]


def groups_svg(layout: Layout, groups: tuple[Group, ...], palette: Palette) -> list[str]:
    """A dashed line round every group that is drawn, with its title."""
    group_of = np.full(len(layout.item_x), -1, np.int32)
    for index, group in enumerate(groups):
        items = layout.node_item[group.nodes]
        group_of[items[items >= 0]] = index
    left, top = np.nan_to_num(layout.item_x), np.nan_to_num(layout.item_y)
    boxes = _Boxes(
        left, left + np.nan_to_num(layout.item_width), top, top + np.nan_to_num(layout.item_height)
    )
    parts, titles = [], []
    for index, bands in bands_of(boxes, group_of).items():
        group = groups[index]
        path = "".join(f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" for x0, y0, x1, y1 in lines_round(bands))
        parts.append(
            f'<path d="{path}" fill="none" stroke="{group.colour}" stroke-width="1.5" '
            'stroke-dasharray="4 3"/>'
        )
        first = min(bands, key=lambda band: (band.top, band.left))
        titles.append(
            f'<text x="{first.left + 8:.1f}" y="{first.top + 3.5:.1f}" font-size="10" font-weight="600" '
            f'fill="{group.colour}" stroke="{palette.canvas}" stroke-width="4" stroke-linejoin="round" '
            f'paint-order="stroke">{escape(group.title)}</text>'
        )
    return parts + titles
