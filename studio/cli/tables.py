"""Texts for people: aligned tables and figures with their units."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from studio.report.words import size_text

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""What steers a terminal or turns the direction of what follows; tab and newline are left out."""


def visible(text: str) -> str:
    """The text with what steers a terminal written out (`\\x1b`): names come from files of strangers."""
    return _UNSEEN.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def _cell(text: str) -> str:
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: str = "") -> str:
    """An aligned table; `right` names the columns set flush right, one letter per column: "lrr"."""
    header, rows = [_cell(c) for c in header], [[_cell(c) for c in row] for row in rows]
    widths = [max(_width(row[i]) for row in (header, *rows)) for i in range(len(header))]
    sides = right or "l" * len(header)

    def line(row: Sequence[str]) -> str:
        cells = (_pad(cell, width, side) for cell, width, side in zip(row, widths, sides))
        return "  ".join(cells).rstrip()

    return "\n".join([line(header), line(["─" * w for w in widths]), *map(line, rows)])


def pairs(rows: Sequence[tuple[str, str]]) -> str:
    """Two columns without a header."""
    rows = [(_cell(name), visible(value)) for name, value in rows]
    width = max((_width(name) for name, _ in rows), default=0)
    return "\n".join(f"{_pad(name, width, 'l')}  {value}".rstrip() for name, value in rows)


def _width(text: str) -> int:
    """Columns in a terminal: a Chinese character takes two."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def _pad(text: str, width: int, side: str) -> str:
    space = " " * (width - _width(text))
    return space + text if side == "r" else text + space


def size(count: int | None) -> str:
    """Bytes in decimal units, three digits: "585 kB"; a dash when not known."""
    return "–" if count is None or count < 0 else size_text(count)


def count(number: int | None) -> str:
    """A count in short form: "1.20 M"; a dash when not known."""
    if number is None or number < 0:
        return "–"
    value, unit = float(number), ""
    for bigger in ("k", "M", "G", "T"):
        if value < 999.5:
            break
        value, unit = value / 1000, f" {bigger}"
    return f"{value:.0f}" if not unit else f"{value:#.3g}".rstrip(".") + unit


def percent(fraction: float | None, digits: int = 1) -> str:
    """A fraction as percent."""
    return "–" if fraction is None else f"{100 * fraction:.{digits}f} %"


def number(value: float | None, digits: int = 3) -> str:
    """A figure with so many significant digits."""
    return "–" if value is None else f"{value:.{digits}g}"


def milliseconds(value: float | None) -> str:
    """A latency: "1.234"."""
    if value is None:
        return "–"
    return f"{value:.{3 if value < 10 else 2 if value < 100 else 1}f}"


def shape(dims: Sequence[int | str | None] | None) -> str:
    """A shape as text; unknown rank is "?"."""
    return "?" if dims is None else "[" + ", ".join("?" if d is None else str(d) for d in dims) + "]"
