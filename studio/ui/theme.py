"""Theme: the palette of the window in light and dark, and what makes Qt wear it.

`current()` answers the theme that is worn now; views read `current().colors` when they paint and
get a `QEvent.PaletteChange` when it changes. Colours are text (`#rrggbb`), so that the SVG and
HTML writers may share them. Source of the values: looks/LOOK.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cache

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from studio.records import Choice
from studio.support import Verdict

_AA = 4.5
"""The contrast that WCAG 2.2 asks of text (1.4.3)."""


class ThemeChoice(Choice):
    """What the user asked for."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True)
class Colors:
    """The palette; every field is `#rrggbb`."""

    window: str
    panel: str
    canvas: str
    line: str
    text: str
    quiet: str
    accent: str
    on_accent: str
    selection: str
    hover: str
    runs: str
    conditional: str
    falls_back: str
    fails: str
    unknown: str

    def ink(self, name: str) -> str:
        """A colour as words wear it: shifted towards the text until it reads at 4.5 to 1 (WCAG AA)."""
        return _readable(str(getattr(self, name)), self.text, self.selection)

    def of_verdict(self, verdict: Verdict) -> str:
        """The colour of a verdict."""
        return str(getattr(self, verdict.value))


def contrast(one: str, other: str) -> float:
    """The contrast of two colours `#rrggbb`, 1 to 21 (WCAG 2.2, relative luminance)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@cache
def _readable(color: str, text: str, ground: str) -> str:
    for percent in range(0, 101, 4):
        pairs = [(int(color[at : at + 2], 16), int(text[at : at + 2], 16)) for at in (1, 3, 5)]
        mixed = "#" + "".join(f"{round(a + (b - a) * percent / 100):02x}" for a, b in pairs)
        if contrast(mixed, ground) >= _AA:
            return mixed
    return text


LIGHT = Colors(
    window="#f6f7f9", panel="#ffffff", canvas="#fbfbfc", line="#e2e5ea", text="#1c2430", quiet="#66707f",
    accent="#2563c9", on_accent="#ffffff", selection="#e8f0fd", hover="#eef1f5",
    runs="#0a8f6a", conditional="#b97a00", falls_back="#c4560a", fails="#b3261e", unknown="#7b8594",
)  # fmt: skip

DARK = Colors(
    window="#15181d", panel="#1c2026", canvas="#181b20", line="#2c323b", text="#e4e8ee", quiet="#98a2b0",
    accent="#6aa5ff", on_accent="#0d1218", selection="#24344f", hover="#262b33",
    runs="#35c79a", conditional="#e8b04a", falls_back="#ff9050", fails="#ff7b72", unknown="#8b95a3",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Theme:
    """A palette and whether it is dark."""

    colors: Colors
    is_dark: bool

    def color(self, name: str) -> QColor:
        """The QColor of a palette field, e.g. `color("accent")`."""
        return QColor(getattr(self.colors, name))


_THEMES = {False: Theme(LIGHT, False), True: Theme(DARK, True)}
_current = _THEMES[False]


def current() -> Theme:
    """The theme worn now."""
    return _current


def resolve(choice: ThemeChoice) -> Theme:
    """The theme of a choice; the system's own when it has one, else light."""
    if choice is ThemeChoice.SYSTEM:
        hints = QGuiApplication.styleHints()
        return _THEMES[hints is not None and hints.colorScheme() is Qt.ColorScheme.Dark]
    return _THEMES[choice is ThemeChoice.DARK]


def apply(app: QApplication, choice: ThemeChoice) -> Theme:
    """Makes the application wear the chosen theme and returns it."""
    global _current
    _current = resolve(choice)
    app.setStyle(QStyleFactory.create("Fusion"))
    app.setPalette(palette(_current.colors))
    app.setFont(ui_font(app.font()))
    app.setStyleSheet(stylesheet(_current))
    return _current


def ui_font(base: QFont) -> QFont:
    """The system's family at 13 px; figures in tables line up where the font can."""
    font = QFont(base)
    font.setPixelSize(13)
    font.setStyleStrategy(QFont.StyleStrategy.PreferAntialias)
    return font


def palette(colors: Colors) -> QPalette:
    """A QPalette for the parts that no style sheet reaches."""
    result = QPalette()
    roles = {
        QPalette.ColorRole.Window: colors.window,
        QPalette.ColorRole.Base: colors.panel,
        QPalette.ColorRole.AlternateBase: colors.canvas,
        QPalette.ColorRole.ToolTipBase: colors.panel,
        QPalette.ColorRole.ToolTipText: colors.text,
        QPalette.ColorRole.Text: colors.text,
        QPalette.ColorRole.WindowText: colors.text,
        QPalette.ColorRole.Button: colors.panel,
        QPalette.ColorRole.ButtonText: colors.text,
        QPalette.ColorRole.BrightText: colors.on_accent,
        QPalette.ColorRole.Highlight: colors.accent,
        QPalette.ColorRole.HighlightedText: colors.on_accent,
        QPalette.ColorRole.Link: colors.accent,
        QPalette.ColorRole.LinkVisited: colors.accent,
        QPalette.ColorRole.PlaceholderText: colors.quiet,
        QPalette.ColorRole.Light: colors.panel,
        QPalette.ColorRole.Midlight: colors.line,
        QPalette.ColorRole.Mid: colors.line,
        QPalette.ColorRole.Dark: colors.line,
        QPalette.ColorRole.Shadow: colors.line,
        QPalette.ColorRole.Accent: colors.accent,
    }
    for role, value in roles.items():
        result.setColor(role, QColor(value))
    disabled = QPalette.ColorGroup.Disabled
    for role in (QPalette.ColorRole.Text, QPalette.ColorRole.WindowText, QPalette.ColorRole.ButtonText):
        result.setColor(disabled, role, QColor(colors.quiet))
    return result


def stylesheet(theme: Theme) -> str:
    """`resources/themes/window.qss` with the palette's values put in for `@name`."""
    from studio.paths import resources

    text = (resources() / "themes" / "window.qss").read_text(encoding="utf-8")
    folder = (resources() / "icons").as_posix()
    # Longest names first: `@on_accent` must not be met by a shorter one.
    text = re.sub(r"@ink_(\w+)", lambda match: theme.colors.ink(match[1]), text)
    for name in sorted((f.name for f in fields(Colors)), key=len, reverse=True):
        text = text.replace(f"@{name}", str(getattr(theme.colors, name)))
    return text.replace("@icons", folder).replace("@shade", "dark" if theme.is_dark else "light")


def with_alpha(color: str, alpha: float) -> QColor:
    """The QColor of `#rrggbb` at an opacity of 0..1."""
    result = QColor(color)
    result.setAlphaF(alpha)
    return result
