"""Signs of an SVG: hatching and icons of categories, so that colour never stands alone."""

from __future__ import annotations

from collections.abc import Sequence

from studio.report.paint import Category
from studio.report.palette import ICONS, Palette

_LINES = {
    "/": '<path d="M-1 7L7 -1M5 13L13 5"/>',
    "x": '<path d="M-1 7L7 -1M5 13L13 5M-1 5L7 13M5 -1L13 7"/>',
    ".": '<path d="M0 3H3M6 9H9"/>',
    "-": '<path d="M0 3H12M0 9H12"/>',
}
"""Hatching on a tile of 12 × 12."""


def hatch_patterns(categories: Sequence[Category], palette: Palette) -> str:
    """Patterns `bar0`, `box0`, …: strong on the bar, faint on the box."""
    parts = []
    for code, category in enumerate(categories):
        if not category.hatch:
            continue
        for name, colour, opacity, size, width in (
            ("bar", palette.panel, 0.75, 6, 2.6),
            ("box", category.colour, 0.22, 12, 1.2),
        ):
            if name == "box" and category.is_calm:
                continue
            parts.append(
                f'<pattern id="{name}{code}" width="12" height="12" patternUnits="userSpaceOnUse" '
                f'data-hatch="{category.hatch}" '
                f'patternTransform="scale({size / 12})"><g stroke="{colour}" stroke-opacity="{opacity}" '
                f'stroke-width="{width}" fill="none">{_LINES[category.hatch]}</g></pattern>'
            )
    return "".join(parts)


def icon(category: Category, x: float, y: float) -> str:
    """A category's icon, 14 × 14, with its top left corner there."""
    path, filled = ICONS[category.icon]
    if not path:
        return ""
    style = (
        f'fill="{category.colour}"'
        if filled
        else f'fill="none" stroke="{category.colour}" stroke-width="2" stroke-linecap="round"'
    )
    return f'<path transform="translate({x:.1f} {y:.1f})" d="{path}" {style}/>'
