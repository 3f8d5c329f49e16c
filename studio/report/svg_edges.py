"""Edges as SVG: curves, arrow heads, portals with names, and what crosses a border thick by its bytes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from studio.graph.curves import curves_of, svg_path
from studio.graph.graph import Graph
from studio.graph.labels import short_tensor
from studio.graph.layout import Layout
from studio.graph.scales import weight_classes
from studio.report.paint import Paint
from studio.report.palette import Palette, mix
from studio.report.svg_text import cut, escape, text_width

Points = npt.NDArray[np.float32]
_NOTE_SIZE = 10  # pixels


def edges_svg(
    graph: Graph,
    layout: Layout,
    paint: Paint | None,
    palette: Palette,
    is_seen: Callable[[Points], bool],
    *,
    detailed: bool,
) -> tuple[list[str], list[str], float]:
    """(edges that `is_seen` says yes to, texts above all lines, where the rightmost text ends in pixels).

    Without details no heads and no texts.
    """
    colour = mix(palette.canvas, palette.quiet, 0.62)
    offsets, curves = curves_of(layout.edge_offsets, layout.edge_points)
    weights = weight_classes(layout.edge_tensor, paint.tensor_bytes if paint else {})
    lines: list[str] = []
    heavy: dict[int, list[str]] = {}
    heads: list[str] = []
    portals: list[int] = []
    notes: dict[tuple[int, int], tuple[float, float, str]] = {}
    for edge in range(len(layout.edge_source)):
        points = layout.edge_points[layout.edge_offsets[edge] : layout.edge_offsets[edge + 1]]
        if not is_seen(points):
            continue
        if layout.edge_is_portal[edge]:
            portals.append(edge)
        else:
            path = svg_path(curves[int(offsets[edge]) : int(offsets[edge + 1])])
            (heavy.setdefault(int(weights[edge]), []) if weights[edge] else lines).append(path)
            tensor = int(layout.edge_tensor[edge])
            note = paint.tensor_note.get(tensor, "") if paint else ""
            if note:  # beside the beginning of the edge
                x, y = points[0].tolist()
                notes.setdefault((int(layout.edge_source[edge]), tensor), (x + 8, y + 13, note))
        x, y = points[-1].tolist()
        heads.append(f"M{x:.1f} {y:.1f}l-3.6 -6.5h7.2z")
    parts = (
        [f'<path d="{"".join(lines)}" fill="none" stroke="{colour}" stroke-width="1.2"/>'] if lines else []
    )
    parts += [
        f'<path d="{"".join(paths)}" fill="none" stroke="{palette.boundary}" stroke-width="{0.8 + width}"/>'
        for width, paths in sorted(heavy.items())
    ]
    parts += _portals(graph, layout, portals, colour, palette, detailed=detailed)
    if not detailed:
        return parts, [], 0.0
    parts.append(f'<path d="{"".join(heads)}" fill="{colour}"/>')
    words = list(notes.values())
    end = max((x + text_width(text, _NOTE_SIZE) for x, _, text in words), default=0.0)
    return parts, [_note(x, y, text, palette) for x, y, text in words], end


def _note(x: float, y: float, words: str, palette: Palette) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{_NOTE_SIZE}" fill="{palette.boundary}" '
        f'stroke="{palette.canvas}" stroke-width="3" paint-order="stroke">{escape(words)}</text>'
    )


def _portals(
    graph: Graph, layout: Layout, edges: list[int], colour: str, palette: Palette, *, detailed: bool
) -> list[str]:
    """Stubs of cut edges, and one label for all stubs on one side of a box: the tensors' names."""
    parts = []
    labels: dict[tuple[bool, int], tuple[float, float, list[str]]] = {}
    seen: set[tuple[bool, int, int]] = set()
    for edge in edges:
        points = layout.edge_points[layout.edge_offsets[edge] : layout.edge_offsets[edge + 1]].tolist()
        tensor = int(layout.edge_tensor[edge])
        for is_source, item, (x0, y0), (x1, y1) in (
            (True, int(layout.edge_source[edge]), points[0], points[1]),
            (False, int(layout.edge_target[edge]), points[3], points[2]),
        ):
            if (is_source, item, tensor) in seen:
                continue
            seen.add((is_source, item, tensor))
            parts.append(
                f'<path d="M{x0:.1f} {y0:.1f}V{y1:.1f}" stroke="{colour}" stroke-dasharray="3 2"/>'
                f'<circle cx="{x1:.1f}" cy="{y1:.1f}" r="3" fill="{palette.accent}"/>'
            )
            x, y, names = labels.setdefault((is_source, item), (x1, y1, []))
            names.append(short_tensor(graph.tensor_name[tensor]))
            labels[is_source, item] = (max(x, x1), y, names)
    for (is_source, item), (x, y, names) in labels.items() if detailed else ():
        left, width = float(layout.item_x[item]), float(layout.item_width[item])
        x = x if is_source else max(x, left + width / 2)
        more = f" +{len(names) - 1}" if len(names) > 1 else ""
        room = max(left + width + 12 - x - 7 * len(more), 36.0)
        parts.append(
            f'<text x="{x + 7:.1f}" y="{y + 3.5:.1f}" font-size="10" fill="{palette.accent}" '
            f'stroke="{palette.canvas}" stroke-width="3" paint-order="stroke">'
            f"{escape(cut(names[0], room, 10, keep_tail=True))}{more}</text>"
        )
    return parts
