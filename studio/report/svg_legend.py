"""The head of a graph's picture: title, subtitle, and what the colours mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studio.graph.labels import nodes_text, value_text
from studio.graph.scales import HeatScale, heat_table
from studio.report.paint import Category, Paint
from studio.report.palette import Palette
from studio.report.svg_signs import icon
from studio.report.svg_text import cut, escape, text_width, wrapped

MARGIN = 24.0
NARROWEST = 560.0
_ROW = 24.0
_SCALE = 236.0
_STEPS = 48


@dataclass(frozen=True, slots=True)
class Head:
    """The SVG of a head and its size."""

    svg: str
    width: float
    height: float


def head_svg(
    title: str, subtitle: str, paint: Paint | None, scale: HeatScale | None, palette: Palette, width: float
) -> Head:
    """Title, subtitle and legend, at least as wide as the picture below."""
    room = max(width, NARROWEST) - 2 * MARGIN
    y = MARGIN + 14
    parts = [
        f'<text x="{MARGIN}" y="{y}" font-size="17" font-weight="600" fill="{palette.text}">'
        f"{escape(cut(title, room, 17, bold=True))}</text>"
    ]
    for line in wrapped(subtitle, room, 12):
        y += 20
        words = escape(cut(line, room, 12))
        parts.append(f'<text x="{MARGIN}" y="{y}" font-size="12" fill="{palette.quiet}">{words}</text>')
    if paint is not None and scale is not None:
        svg, y = _heat_legend(paint, scale, palette, y)
        parts.append(svg)
    elif paint is not None:
        svg, y = _category_legend(paint, palette, y, room)
        parts.append(svg)
    return Head("".join(parts), room + 2 * MARGIN, y + 16)


def entries(paint: Paint) -> list[tuple[str, list[tuple[int, Category]], int]]:
    """(word, its categories with their codes, nodes) of every entry; those without nodes are left out."""
    is_counted = paint.codes >= 0
    if paint.uncounted is not None:
        is_counted &= ~paint.uncounted
    codes = paint.codes[is_counted]
    counts = np.bincount(codes, minlength=len(paint.categories)).tolist()
    found: dict[str, tuple[str, list[tuple[int, Category]], int]] = {}
    for code, category in enumerate(paint.categories):
        if not counts[code] and paint.show_counts:
            continue
        word = category.group or category.word
        _, known, total = found.get(word, (word, [], 0))
        found[word] = (word, [*known, (code, category)], total + counts[code])
    return list(found.values())


def _category_legend(paint: Paint, palette: Palette, y: float, room: float) -> tuple[str, float]:
    parts = []
    x = MARGIN
    found = entries(paint)
    if found:
        y += 28
    for word, categories, count in found:
        words = f"{word} {count:,}" if paint.show_counts else word
        swatch = 34.0 if len(categories) == 1 else 38.0
        advance = swatch + text_width(words, 12) + 18
        if x > MARGIN and x + advance > room + MARGIN:
            x, y = MARGIN, y + _ROW
        parts.append(_swatch(categories, x, y))
        parts.append(
            f'<text x="{x + swatch:.1f}" y="{y}" font-size="12" fill="{palette.text}">{escape(words)}</text>'
        )
        x += advance
    return "".join(parts), y


def _swatch(categories: list[tuple[int, Category]], x: float, y: float) -> str:
    """A legend sign: a small bar as on the boxes and the icon, or a strip of the colours of a group."""
    if len(categories) == 1:
        code, category = categories[0]
        bar = f'x="{x:.1f}" y="{y - 11:.1f}" width="8" height="14" rx="2"'
        hatch = f'<rect {bar} fill="url(#bar{code})"/>' if category.hatch else ""
        return f'<rect {bar} fill="{category.colour}"/>{hatch}{icon(category, x + 14, y - 11)}'
    shown = categories[:8]
    wide = 30 / len(shown)
    return "".join(
        f'<rect x="{x + wide * k:.1f}" y="{y - 11:.1f}" width="{wide:.1f}" height="14" fill="{c.colour}"/>'
        for k, (_, c) in enumerate(shown)
    )


def _heat_legend(paint: Paint, scale: HeatScale, palette: Palette, y: float) -> tuple[str, float]:
    """The heat scale with the figures at its ends and its middle (it is not linear), and the unknown."""
    assert paint.figures is not None
    y += 26
    parts = [
        f'<text x="{MARGIN}" y="{y}" font-size="12" font-weight="600" fill="{palette.text}">'
        f"{escape(cut(paint.name, 400, 12, bold=True))}</text>"
    ]
    y += 10
    small = f'font-size="11" fill="{palette.quiet}"'
    if scale.largest <= 0:
        y += 12
        parts.append(f'<text x="{MARGIN}" y="{y}" {small}>{escape(paint.figures.nothing)}</text>')
    else:
        wide = _SCALE / _STEPS
        for k, (r, g, b) in enumerate(heat_table(palette.is_dark)[:: 256 // _STEPS][:_STEPS].tolist()):
            colour = f"#{r:02x}{g:02x}{b:02x}"
            # half a pixel more, so that no gap shows between two steps
            parts.append(
                f'<rect x="{MARGIN + wide * k:.1f}" y="{y:.1f}" width="{wide + 0.5:.1f}" height="9" '
                f'fill="{colour}"/>'
            )
        y += 23
        for place, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
            words = value_text(scale.figure_at(place), paint.figures.unit)
            at = MARGIN + _SCALE * place
            parts.append(f'<text x="{at:.1f}" y="{y}" text-anchor="{anchor}" {small}>{escape(words)}</text>')
    unknown = int(np.isnan(paint.figures.values).sum())
    if unknown:
        y += 18
        words = paint.figures.unknown or f"unknown: {nodes_text(unknown)}"
        parts.append(f'<text x="{MARGIN}" y="{y}" {small}>{escape(words)}</text>')
    return "".join(parts), y
