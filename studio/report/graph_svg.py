"""The picture of a graph as SVG text: title, legend, and the coloured layout.

The same columns that the canvas paints (`Layout`) and the same curves; no font is needed to make
it, and every colour comes with a sign and a word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.graph import items
from studio.graph.curves import curves_of, svg_path
from studio.graph.graph import Graph
from studio.graph.labels import (
    elide_left,
    elide_right,
    nodes_text,
    output_text,
    short_name,
    short_tensor,
    tensor_text,
)
from studio.graph.layout import ItemKind, Layout
from studio.graph.repeats import repeats
from studio.graph.scopes import ScopeTree, frame_words, scope_tree
from studio.report.paint import Category, Paint
from studio.report.palette import ICONS, LIGHT, Palette, mix

FONT = "Inter,'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans','Noto Sans',sans-serif"
DETAIL_LIMIT = 4_000
"""Boxes beyond which a picture leaves out names and shapes: nobody could read them, and files stay small."""

_MARGIN = 24.0
_HEADER_WIDTH = 560.0
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a layout, in its pixels."""

    x: float
    y: float
    width: float
    height: float


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
    return _Picture(graph, layout, paint, palette, region).draw(title or graph.name, subtitle, header)


def escape(text: str) -> str:
    """Text made safe for XML: characters that XML cannot hold become `�`."""
    text = _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text).replace("\n", " ")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


class _Picture:
    """One drawing: collects the parts of the SVG in painting order."""

    def __init__(
        self, graph: Graph, layout: Layout, paint: Paint | None, palette: Palette, region: Region | None
    ) -> None:
        self.graph = graph
        self.tree: ScopeTree = scope_tree(graph)
        self.repeats = repeats(graph)
        self.layout = layout
        self.paint = paint
        self.palette = palette
        self.region = region or Region(0, 0, layout.width, layout.height)
        self.parts: list[str] = []
        self.detailed = len(layout.item_x) <= DETAIL_LIMIT
        self.item_codes = _item_codes(layout, paint)

    def draw(self, title: str, subtitle: str, header: bool) -> str:
        p = self.palette
        region = self.region
        head, head_width, head_height = self._header(title, subtitle) if header else ("", 0.0, 0.0)
        width = max(region.width, head_width)
        height = region.height + head_height
        left = (width - region.width) / 2
        titles = self._frames()
        self._edges()
        self.parts += titles
        self._items()
        rect = _rect(region.x, region.y, region.width, region.height)
        clip = f'<clipPath id="region"><rect {rect}/></clipPath>'
        return "".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
                f'viewBox="0 0 {width:.1f} {height:.1f}" font-family="{FONT}" font-size="13">',
                f"<title>{escape(title)}</title>",
                f"<defs>{clip}{self._patterns()}</defs>",
                f'<rect width="100%" height="100%" fill="{p.canvas}"/>',
                head,
                f'<g transform="translate({left - region.x:.1f} {head_height - region.y:.1f})">',
                '<g clip-path="url(#region)">',
                *self.parts,
                "</g></g></svg>",
            )
        )

    # Header ------------------------------------------------------------------------------------

    def _header(self, title: str, subtitle: str) -> tuple[str, float, float]:
        """(SVG, width, height) of title, subtitle and legend."""
        p = self.palette
        room = max(self.region.width, _HEADER_WIDTH) - 2 * _MARGIN
        y = _MARGIN + 14
        parts = [
            f'<text x="{_MARGIN}" y="{y}" font-size="17" font-weight="600" fill="{p.text}">'
            f"{escape(elide_right(title, int(room / 10)))}</text>"
        ]
        for line in _wrapped(subtitle, int(room / 7)):
            y += 20
            parts.append(f'<text x="{_MARGIN}" y="{y}" font-size="12" fill="{p.quiet}">{escape(line)}</text>')
        x = _MARGIN
        counts = self._counts()
        entries = list(enumerate(self.paint.categories)) if self.paint else []
        if entries:
            y += 28
        for code, category in entries:
            if self.paint and self.paint.show_counts and not counts[code]:
                continue
            word = (
                f"{category.word} {counts[code]:,}"
                if self.paint and self.paint.show_counts
                else category.word
            )
            advance = 34 + 7.2 * len(word) + 18
            if x > _MARGIN and x + advance > room + _MARGIN:
                x, y = _MARGIN, y + 24
            parts.append(self._swatch(code, category, x, y))
            parts.append(
                f'<text x="{x + 34:.1f}" y="{y}" font-size="12" fill="{p.text}">{escape(word)}</text>'
            )
            x += advance
        return "".join(parts), room + 2 * _MARGIN, y + 16

    def _swatch(self, code: int, category: Category, x: float, y: float) -> str:
        """A legend sign: a small bar as on the boxes, and the icon."""
        return (
            f'<rect x="{x:.1f}" y="{y - 11:.1f}" width="8" height="14" rx="2" fill="{category.colour}"/>'
            + (
                f'<rect x="{x:.1f}" y="{y - 11:.1f}" width="8" height="14" rx="2" fill="url(#bar{code})"/>'
                if category.hatch
                else ""
            )
            + self._icon(category, x + 14, y - 11)
        )

    def _counts(self) -> list[int]:
        if not self.paint:
            return []
        codes = self.paint.codes[self.paint.codes >= 0]
        return np.bincount(codes, minlength=len(self.paint.categories)).tolist()  # type: ignore[no-any-return]

    def _patterns(self) -> str:
        """Hatching per category: strong on the bar, faint on the box."""
        p = self.palette
        parts = []
        for code, category in enumerate(self.paint.categories if self.paint else ()):
            for name, colour, opacity in (("bar", p.panel, 0.75), ("box", category.colour, 0.22)):
                if not category.hatch:
                    continue
                lines = {
                    "/": '<path d="M-1 7L7 -1M5 13L13 5"/>',
                    "x": '<path d="M-1 7L7 -1M5 13L13 5M-1 5L7 13M5 -1L13 7"/>',
                    ".": '<path d="M0 3H3M6 9H9"/>',
                }[category.hatch]
                size = 12 if name == "box" else 6
                parts.append(
                    f'<pattern id="{name}{code}" width="12" height="12" patternUnits="userSpaceOnUse" '
                    f'patternTransform="scale({size / 12})"><g stroke="{colour}" stroke-opacity="{opacity}" '
                    f'stroke-width="{1.2 if name == "box" else 2.6}" fill="none">{lines}</g></pattern>'
                )
        return "".join(parts)

    def _icon(self, category: Category, x: float, y: float) -> str:
        path, filled = ICONS[category.icon]
        if not path:
            return ""
        style = (
            f'fill="{category.colour}"'
            if filled
            else f'fill="none" stroke="{category.colour}" stroke-width="2" stroke-linecap="round"'
        )
        return f'<path transform="translate({x:.1f} {y:.1f})" d="{path}" {style}/>'

    # Graph -------------------------------------------------------------------------------------

    def _frames(self) -> list[str]:
        """Draws the frames; returns their titles, which come above the lines."""
        p, layout = self.palette, self.layout
        titles = []
        for i in np.argsort(layout.frame_depth, kind="stable").tolist():
            x, y = float(layout.frame_x[i]), float(layout.frame_y[i])
            width, height = float(layout.frame_width[i]), float(layout.frame_height[i])
            fill = mix(p.canvas, p.quiet, 0.045 * min(int(layout.frame_depth[i]), 4))
            scope = int(layout.frame_scope[i])
            title, kind = frame_words(self.graph, scope)
            if scope < self.tree.size:
                title = self._scope_title(scope)
            room = int((width - 24) / 6.6)
            text = f'<tspan font-weight="600">{escape(elide_right(title, room))}</tspan>'
            if kind and len(title) + 3 < room:
                text += f" {escape(elide_right(kind, room - len(title) - 1))}"
            self.parts.append(
                f'<rect {_rect(x, y, width, height)} rx="8" fill="{fill}" '
                f'stroke="{mix(p.line, p.quiet, 0.25)}"/>'
            )
            titles.append(
                f'<text x="{x + 12:.1f}" y="{y + 16:.1f}" font-size="11" fill="{p.quiet}" stroke="{fill}" '
                f'stroke-width="4" stroke-linejoin="round" paint-order="stroke">{text}</text>'
            )
        return titles

    def _scope_title(self, scope: int) -> str:
        """A scope's name, and how many are alike: `layers.3 ×12`."""
        alike = int(self.repeats.count[scope])
        return f"{self.tree.name[scope][:80]} ×{alike}" if alike > 1 else self.tree.name[scope][:80]

    def _edges(self) -> None:
        p, layout = self.palette, self.layout
        colour = mix(p.canvas, p.quiet, 0.62)
        offsets, curves = curves_of(layout.edge_offsets, layout.edge_points)
        lines: list[str] = []
        heads: list[str] = []
        portals: list[int] = []
        for edge in range(len(layout.edge_source)):
            start, end = int(layout.edge_offsets[edge]), int(layout.edge_offsets[edge + 1])
            points = layout.edge_points[start:end]
            if not self._is_seen(points):
                continue
            if layout.edge_is_portal[edge]:
                portals.append(edge)
            else:
                lines.append(svg_path(curves[int(offsets[edge]) : int(offsets[edge + 1])]))
            x, y = points[-1].tolist()
            heads.append(f"M{x:.1f} {y:.1f}l-3.6 -6.5h7.2z")
        self.parts.append(f'<path d="{"".join(lines)}" fill="none" stroke="{colour}" stroke-width="1.2"/>')
        self.parts += self._portals(portals, colour)
        if self.detailed:
            self.parts.append(f'<path d="{"".join(heads)}" fill="{colour}"/>')

    def _portals(self, edges: list[int], colour: str) -> list[str]:
        """Stubs of cut edges, and one label for all stubs on one side of a box: the tensors' names."""
        layout = self.layout
        accent = self.palette.accent
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
                    f'<circle cx="{x1:.1f}" cy="{y1:.1f}" r="3" fill="{accent}"/>'
                )
                x, y, names = labels.setdefault((is_source, item), (x1, y1, []))
                names.append(short_tensor(self.graph.tensor_name[tensor]))
                labels[is_source, item] = (max(x, x1), y, names)
        if self.detailed:
            for (is_source, item), (x, y, names) in labels.items():
                left, _, width, _ = self._place(item)
                x = x if is_source else max(x, left + width / 2)
                more = f" +{len(names) - 1}" if len(names) > 1 else ""
                room = max(int((left + width + 12 - x) / 6) - len(more), 6)
                parts.append(
                    f'<text x="{x + 7:.1f}" y="{y + 3.5:.1f}" font-size="10" fill="{accent}" '
                    f'stroke="{self.palette.canvas}" stroke-width="3" paint-order="stroke">'
                    f"{escape(elide_left(names[0], room))}{more}</text>"
                )
        return parts

    def _is_seen(self, points: npt.NDArray[np.float32]) -> bool:
        r = self.region
        low, high = points.min(axis=0), points.max(axis=0)
        return bool(
            low[0] <= r.x + r.width and high[0] >= r.x and low[1] <= r.y + r.height and high[1] >= r.y
        )

    def _items(self) -> None:
        layout, r = self.layout, self.region
        seen = (
            (layout.item_x <= r.x + r.width)
            & (layout.item_x + layout.item_width >= r.x)
            & (layout.item_y <= r.y + r.height)
            & (layout.item_y + layout.item_height >= r.y)
        )
        for item in np.flatnonzero(seen).tolist():
            kind = int(layout.item_kind[item])
            if kind in (ItemKind.INPUT, ItemKind.OUTPUT):
                self._pill(item)
            else:
                self._box(item, kind)

    def _place(self, item: int) -> tuple[float, float, float, float]:
        layout = self.layout
        return (
            float(layout.item_x[item]),
            float(layout.item_y[item]),
            float(layout.item_width[item]),
            float(layout.item_height[item]),
        )

    def _pill(self, item: int) -> None:
        p = self.palette
        x, y, width, height = self._place(item)
        tensor = int(self.layout.item_ref[item])
        shape = tensor_text(self.graph, tensor) if self.detailed else ""
        room = int((width - 24) / items.NAME_ADVANCE) - len(shape) - 1
        name = elide_right(self.graph.tensor_name[tensor][:200], max(room, 4))
        self.parts.append(
            f'<rect {_rect(x, y, width, height)} rx="{height / 2:.1f}" '
            f'fill="{p.selection}" stroke="{mix(p.selection, p.accent, 0.45)}"/>'
            f'<text x="{x + width / 2:.1f}" y="{y + height / 2 + 4:.1f}" font-size="11.5" '
            f'text-anchor="middle" fill="{p.text}">{escape(name)}'
            f'<tspan font-size="10.5" fill="{p.quiet}" dx="6">{escape(shape)}</tspan></text>'
        )

    def _box(self, item: int, kind: int) -> None:
        p = self.palette
        x, y, width, height = self._place(item)
        code = int(self.item_codes[item])
        category = self.paint.categories[code] if self.paint and code >= 0 else None
        border = mix(p.line, p.quiet, 0.3)
        if kind == ItemKind.SCOPE:
            self.parts.append(
                f'<rect {_rect(x + 4, y + 4, width, height)} rx="6" fill="{p.panel}" stroke="{border}"/>'
            )
        fill = mix(p.panel, category.colour, 0.07) if category else p.panel
        rect = _rect(x, y, width, height) + ' rx="6"'
        self.parts.append(f'<rect {rect} fill="{fill}" stroke="{border}"/>')
        if category and category.hatch:
            self.parts.append(f'<rect {rect} fill="url(#box{code})"/>')
        if self.paint:
            self._bar(item, kind, x, y, height)
        if category:
            self.parts.append(self._icon(category, x + width - 24, y + height / 2 - 7))
        head, quiet, second = self._words(item, kind)
        room = width - (44 if category else 26)
        self.parts.append(
            f'<text x="{x + 16:.1f}" y="{y + (19 if second else height / 2 + 4.5):.1f}" fill="{p.text}">'
            f'<tspan font-weight="600">{escape(elide_right(head, int(room / 8)))}</tspan>'
        )
        left = int((room - len(head) * 8.2 - 8) / 6.6)
        if quiet and left >= 4 and self.detailed:
            self.parts.append(
                f'<tspan dx="6" font-size="11" fill="{p.quiet}">{escape(elide_left(quiet, left))}</tspan>'
            )
        self.parts.append("</text>")
        if second and self.detailed:
            self.parts.append(
                f'<text x="{x + 16:.1f}" y="{y + 35:.1f}" font-size="11" fill="{p.quiet}">'
                f"{escape(elide_right(second, int(room / 6.6)))}</text>"
            )

    def _words(self, item: int, kind: int) -> tuple[str, str, str]:
        """(bold, quiet beside it, second line) of a box."""
        ref = int(self.layout.item_ref[item])
        if kind == ItemKind.NODE:
            return self.graph.node_op[ref] or "?", short_name(self.graph, ref), output_text(self.graph, ref)
        count = nodes_text(int(self.layout.item_nodes[item]))
        type_name = self.tree.type[ref].rsplit(".", 1)[-1]
        return self._scope_title(ref), "", f"{count} · {type_name}" if type_name else count

    def _bar(self, item: int, kind: int, x: float, y: float, height: float) -> None:
        """The coloured bar at the left; a scope's is divided by its nodes' categories."""
        assert self.paint is not None
        shares: list[tuple[int, float]]
        if kind == ItemKind.SCOPE:
            codes = self.paint.codes[self.layout.node_item == item]
            codes = codes[codes >= 0]
            counts = np.bincount(codes, minlength=len(self.paint.categories))
            shares = [(c, float(n) / max(len(codes), 1)) for c, n in enumerate(counts.tolist()) if n]
        else:
            code = int(self.item_codes[item])
            shares = [(code, 1.0)] if code >= 0 else []
        at = y + 5
        tall = height - 10
        for code, share in shares:
            category = self.paint.categories[code]
            rect = _rect(x + 5, at, 5, max(tall * share, 1.5)) + ' rx="2"'
            self.parts.append(f'<rect {rect} fill="{category.colour}"/>')
            if category.hatch:
                self.parts.append(f'<rect {rect} fill="url(#bar{code})"/>')
            at += tall * share


def _rect(x: float, y: float, width: float, height: float) -> str:
    return f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'


def _item_codes(layout: Layout, paint: Paint | None) -> npt.NDArray[np.int16]:
    """The gravest category of every item's nodes, −1 when none has one."""
    codes = np.full(len(layout.item_x), -1, np.int16)
    if paint is not None:
        shown = layout.node_item >= 0
        np.maximum.at(codes, layout.node_item[shown], paint.codes[shown])
    return codes


def _wrapped(text: str, columns: int) -> list[str]:
    """The text broken at spaces into lines of at most so many columns."""
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= columns:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines
