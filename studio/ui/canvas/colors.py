"""CanvasColors: the colours that the graph canvas paints with, for a light and a dark theme.

What lives here: the palette of the canvas. What does not: the palette of the whole window
(`studio.ui.theme` makes a CanvasColors from it), the colours of groups and of heat maps, which
other pictures use as well (`studio.graph.scales`). Source of the values: the design's palette table.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from PySide6.QtGui import QColor

from studio.graph.scales import GROUP_COLORS, heat_table
from studio.ui.theme import Theme

PARTITION_COLORS = GROUP_COLORS
TEXT_CONTRAST = 4.5
"""What a text needs against its ground (WCAG 2.2, 1.4.3)."""
GRAPHIC_CONTRAST = 3.0
"""What a line or a mark that says something needs against its ground (WCAG 2.2, 1.4.11)."""


@dataclass(frozen=True, slots=True)
class CanvasColors:
    """Colours by role. Status roles are only used for status; `accent` only for the selection."""

    is_dark: bool
    canvas: str
    panel: str
    line: str
    text: str
    quiet: str
    accent: str
    selection: str
    edge: str
    runs: str
    conditional: str
    falls_back: str
    fails: str
    unknown: str
    added: str
    removed: str
    changed: str
    same: str
    integer: str
    floating: str
    boundary: str

    _made: dict[str, QColor] = field(default_factory=dict, init=False, repr=False, compare=False)

    def role(self, name: str) -> QColor:
        """The colour of a role's name, of `partition:N`, or of a literal `#rrggbb`. Not to be changed."""
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = self._make(name)
        return found

    def _make(self, name: str) -> QColor:
        if name.startswith("#"):
            return QColor(name)
        if name.startswith("partition:"):
            color = QColor(PARTITION_COLORS[int(name[10:]) % len(PARTITION_COLORS)])
            return readable(color, QColor(self.canvas), GRAPHIC_CONTRAST)
        return QColor(str(getattr(self, name)))


LIGHT = CanvasColors(
    is_dark=False, canvas="#fbfbfc", panel="#ffffff", line="#d5d9e0", text="#1c2430", quiet="#66707f",
    accent="#2563c9", selection="#e8f0fd", edge="#8a93a1", runs="#0a8f6a", conditional="#b97a00",
    falls_back="#c4560a", fails="#b3261e", unknown="#7b8594", added="#0a8f6a", removed="#b3261e",
    changed="#b97a00", same="#aab2bd", integer="#0072b2", floating="#c4560a", boundary="#7a5cc2",
)  # fmt: skip

DARK = CanvasColors(
    is_dark=True, canvas="#181b20", panel="#22272e", line="#3a414c", text="#e4e8ee", quiet="#98a2b0",
    accent="#6aa5ff", selection="#24344f", edge="#6b7482", runs="#35c79a", conditional="#e8b04a",
    falls_back="#ff9050", fails="#ff7b72", unknown="#8b95a3", added="#35c79a", removed="#ff7b72",
    changed="#e8b04a", same="#5a6370", integer="#56b4e9", floating="#ff9050", boundary="#b49cf0",
)  # fmt: skip


def of_theme(theme: Theme) -> CanvasColors:
    """The canvas's colours in a theme of the window."""
    own = theme.colors
    return replace(
        DARK if theme.is_dark else LIGHT,
        canvas=own.canvas, text=own.text, quiet=own.quiet, accent=own.accent, selection=own.selection,
        runs=own.runs, conditional=own.conditional, falls_back=own.falls_back, fails=own.fails,
        unknown=own.unknown,
    )  # fmt: skip


def frame_tint(colors: CanvasColors) -> QColor:
    """The ground of every second level of frames."""
    return mix(colors.role("canvas"), colors.role("quiet"), 0.07 if colors.is_dark else 0.055)


def label_ground(colors: CanvasColors) -> QColor:
    """What goes behind texts on lines: between canvas and tint, so that it shows on neither."""
    return mix(colors.role("canvas"), frame_tint(colors), 0.5)


def mix(a: QColor, b: QColor, share: float) -> QColor:
    """`a` with `share` (0..1) of `b` in it."""
    keep = 1.0 - share
    return QColor.fromRgbF(
        a.redF() * keep + b.redF() * share,
        a.greenF() * keep + b.greenF() * share,
        a.blueF() * keep + b.blueF() * share,
    )


def contrast(a: QColor, b: QColor) -> float:
    """How far two colours are apart, from 1 to 21 (WCAG 2.2, contrast ratio)."""
    low, high = sorted((_luminance(a), _luminance(b)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: QColor) -> float:
    """Relative luminance, 0 to 1 (WCAG 2.2)."""
    parts = (color.redF(), color.greenF(), color.blueF())
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def readable(color: QColor, ground: QColor, least: float = TEXT_CONTRAST) -> QColor:
    """The colour as that of a text: with as much white, or on a light ground black, as it needs there."""
    end = QColor("black" if _luminance(ground) > 0.18 else "white")
    shares = (step / 20 for step in range(21))
    return next((c for s in shares if contrast(c := mix(color, end, s), ground) >= least), end)


def heat_color(position: float, is_dark: bool) -> QColor:
    """The heat scale's colour at 0..1."""
    red, green, blue = heat_table(is_dark)[int(np.clip(position, 0, 1) * 255)].tolist()
    return QColor(red, green, blue)
