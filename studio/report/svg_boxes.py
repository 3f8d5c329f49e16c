"""Boxes as SVG: nodes, closed scopes, inputs and outputs, each with bar, icon, words and figure."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph
from studio.graph.labels import nodes_text, output_text, short_name, tensor_text, value_text
from studio.graph.layout import ItemKind, Layout
from studio.graph.scales import HeatScale, gather_figures, heat_scale, heat_table
from studio.graph.scopes import scope_tree
from studio.report.paint import Category, Paint
from studio.report.palette import Palette, mix
from studio.report.svg_frames import scope_title
from studio.report.svg_signs import icon
from studio.report.svg_text import cut, escape, rect, text_width

_TITLE, _SMALL = 13, 11
_LEFT = 16.0


class BoxSketcher:
    """Draws the boxes of a layout, coloured by a paint."""

    def __init__(
        self, graph: Graph, layout: Layout, paint: Paint | None, palette: Palette, *, detailed: bool
    ) -> None:
        self.graph = graph
        self.layout = layout
        self.paint = paint
        self.palette = palette
        self.detailed = detailed
        count = len(layout.item_x)
        self._codes = _item_codes(layout, paint)
        self._figures = np.full(count, np.nan)
        self.scale: HeatScale | None = None
        """Of a heat map's boxes; None when the paint has no figures."""
        if paint is not None and paint.figures is not None:
            figures = paint.figures
            self._figures = gather_figures(
                figures.values, layout.node_item, count, take_largest=figures.take_largest
            )
            self.scale = heat_scale(self._figures)
        self._places = self.scale.places(self._figures) if self.scale else np.full(count, np.nan, np.float32)

    def box(self, item: int) -> str:
        """One box."""
        kind = int(self.layout.item_kind[item])
        return self._pill(item) if kind in (ItemKind.INPUT, ItemKind.OUTPUT) else self._card(item, kind)

    def _place(self, item: int) -> tuple[float, float, float, float]:
        layout = self.layout
        return (
            float(layout.item_x[item]),
            float(layout.item_y[item]),
            float(layout.item_width[item]),
            float(layout.item_height[item]),
        )

    def _pill(self, item: int) -> str:
        p = self.palette
        x, y, width, height = self._place(item)
        tensor = int(self.layout.item_ref[item])
        shape = tensor_text(self.graph, tensor) if self.detailed else ""
        room, name = width - 24, self.graph.tensor_name[tensor]
        left = room - text_width(shape, 10.5) - 6
        if shape and left < min(text_width(name, 11.5), 46):
            shape, left = "", room  # a name says more than a shape
        name = cut(name, left, 11.5)
        beside = f'<tspan font-size="10.5" fill="{p.quiet}" dx="6">{escape(shape)}</tspan>' if shape else ""
        return (
            f'<rect {rect(x, y, width, height)} rx="{height / 2:.1f}" '
            f'fill="{p.selection}" stroke="{mix(p.selection, p.accent, 0.45)}"/>'
            f'<text x="{x + width / 2:.1f}" y="{y + height / 2 + 4:.1f}" font-size="11.5" '
            f'text-anchor="middle" fill="{p.text}">{escape(name)}{beside}</text>'
        )

    def _card(self, item: int, kind: int) -> str:
        p = self.palette
        x, y, width, height = self._place(item)
        code = int(self._codes[item])
        category = self.paint.categories[code] if self.paint and code >= 0 else None
        border = mix(p.line, p.quiet, 0.3)
        parts = []
        if kind == ItemKind.SCOPE:
            parts.append(
                f'<rect {rect(x + 4, y + 4, width, height)} rx="6" fill="{p.panel}" stroke="{border}"/>'
            )
        is_loud = category is not None and not category.is_calm
        fill = mix(p.panel, category.colour, 0.07) if category and is_loud else p.panel
        shape = rect(x, y, width, height) + ' rx="6"'
        parts.append(f'<rect {shape} fill="{fill}" stroke="{border}"/>')
        if category and is_loud and category.hatch:
            parts.append(f'<rect {shape} fill="url(#box{code})"/>')
        parts.append(self._bar(item, kind, x, y, height))
        has_icon = category is not None and bool(category.icon)
        if category is not None and has_icon:
            parts.append(icon(category, x + width - 24, y + height / 2 - 7))
        parts.append(self._text(item, kind, width - (44 if has_icon else 26)))
        return "".join(parts)

    def _text(self, item: int, kind: int, room: float) -> str:
        p = self.palette
        x, y, width, height = self._place(item)
        head, quiet, second = self._words(item, kind)
        if not self.detailed:
            quiet = second = ""
        figure = float(self._figures[item])
        unit = self.paint.figures.unit if self.paint and self.paint.figures else ""
        said = value_text(figure, unit) if figure > 0 and self.detailed else ""
        head = cut(head, room, _TITLE, bold=True)
        left = room - text_width(head, _TITLE, bold=True) - 8
        quiet = cut(quiet, left, _SMALL, keep_tail=True) if quiet and left >= 26 else ""
        baseline = y + (19 if second or said else height / 2 + 4.5)
        beside = (
            f'<tspan dx="6" font-size="{_SMALL}" fill="{p.quiet}">{escape(quiet)}</tspan>' if quiet else ""
        )
        parts = [
            f'<text x="{x + _LEFT:.1f}" y="{baseline:.1f}" fill="{p.text}">'
            f'<tspan font-weight="600">{escape(head)}</tspan>{beside}</text>'
        ]
        if said:
            parts.append(
                f'<text x="{x + width - 8:.1f}" y="{y + 35:.1f}" font-size="{_SMALL}" text-anchor="end" '
                f'fill="{p.text}">{escape(said)}</text>'
            )
        second = cut(second, room - (text_width(said, _SMALL) + 6 if said else 0), _SMALL) if second else ""
        if second:
            parts.append(
                f'<text x="{x + _LEFT:.1f}" y="{y + 35:.1f}" font-size="{_SMALL}" fill="{p.quiet}">'
                f"{escape(second)}</text>"
            )
        return "".join(parts)

    def _words(self, item: int, kind: int) -> tuple[str, str, str]:
        """(bold, quiet beside it, second line) of a box."""
        ref = int(self.layout.item_ref[item])
        if kind == ItemKind.NODE:
            return self.graph.node_op[ref] or "?", short_name(self.graph, ref), output_text(self.graph, ref)
        count = nodes_text(int(self.layout.item_nodes[item]))
        type_name = scope_tree(self.graph).type[ref].rsplit(".", 1)[-1]
        return scope_title(self.graph, ref), "", f"{count} · {type_name}" if type_name else count

    def _bar(self, item: int, kind: int, x: float, y: float, height: float) -> str:
        """The coloured bar at the left; a scope's is divided by its nodes' categories, the gravest on top."""
        place = float(self._places[item])
        if place == place:
            r, g, b = heat_table(self.palette.is_dark)[int(place * 255)].tolist()
            return f'<rect {rect(x + 5, y + 5, 5, height - 10)} rx="2" fill="#{r:02x}{g:02x}{b:02x}"/>'
        if self.paint is None:
            return ""
        shares: list[tuple[int, float]] = []
        if kind == ItemKind.SCOPE:
            codes = self.paint.codes[self.layout.node_item == item]
            codes = codes[codes >= 0]
            counts = np.bincount(codes, minlength=len(self.paint.categories)).tolist()
            shares = [(c, n / len(codes)) for c, n in reversed(list(enumerate(counts))) if n]
        elif self._codes[item] >= 0:
            shares = [(int(self._codes[item]), 1.0)]
        return "".join(self._stacked(shares, x + 5, y + 5, height - 10))

    def _stacked(self, shares: list[tuple[int, float]], x: float, y: float, height: float) -> list[str]:
        assert self.paint is not None
        parts = []
        for code, share in shares:
            category: Category = self.paint.categories[code]
            shape = rect(x, y, 5, max(height * share, 1.5)) + ' rx="2"'
            parts.append(f'<rect {shape} fill="{category.colour}"/>')
            if category.hatch:
                parts.append(f'<rect {shape} fill="url(#bar{code})"/>')
            y += height * share
        return parts


def _item_codes(layout: Layout, paint: Paint | None) -> npt.NDArray[np.int16]:
    """The gravest category of every item's nodes, −1 when none has one."""
    codes = np.full(len(layout.item_x), -1, np.int16)
    if paint is not None:
        shown = layout.node_item >= 0
        np.maximum.at(codes, layout.node_item[shown], paint.codes[shown])
    return codes
