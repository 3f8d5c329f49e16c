"""Small pieces of the page: escaped text, tables, sizes, and an error in a few words."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence

from studio.measure.measurement import ErrorFigures


def escape(text: object) -> str:
    """Text that is safe in HTML; names come from strangers' models."""
    return html.escape(str(text))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], sides: str) -> str:
    """A table of cells that are HTML already; `sides` names right-set columns: "lrl"."""

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f"<{tag}{' class=n' if side == 'r' else ''}>{cell}</{tag}>" for cell, side in zip(row, sides)
        )

    lines = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    top = f"<thead><tr>{cells('th', head)}</tr></thead>"
    return f'<div class="scroll"><table>{top}<tbody>{lines}</tbody></table></div>'


def section(title: str, parts: Iterable[str]) -> str:
    """A headed part of the page; empty when all its parts are."""
    body = "\n".join(part for part in parts if part)
    return f"<section>\n<h2>{escape(title)}</h2>\n{body}\n</section>" if body else ""


def definition_list(rows: Iterable[tuple[str, str]]) -> str:
    """Names and values, escaped."""
    return "<dl>" + "".join(f"<dt>{escape(n)}</dt><dd>{escape(v)}</dd>" for n, v in rows) + "</dl>"


def size_text(count: int) -> str:
    """Bytes in decimal units."""
    value, unit = float(count), "B"
    for bigger in ("kB", "MB", "GB"):
        if value < 999.5:
            break
        value, unit = value / 1000, bigger
    digits = 0 if unit == "B" or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {unit}"


def error_words(error: ErrorFigures | None) -> str:
    """The error against the float original; "not known" when it was not compared."""
    if error is None:
        return "not known"
    if error.nonfinite:
        return f"{error.nonfinite} values are not numbers"
    if error.is_equal:
        return f"equal on {error.samples} samples"
    snr = "" if error.snr_db is None else f"SNR {error.snr_db:.1f} dB, "
    return f"{snr}max {error.max_abs_error:.2g} on {error.samples} samples"


def distance_words(error: ErrorFigures | None) -> str:
    """The signal to noise ratio alone, for a table."""
    if error is None:
        return "–"
    if error.nonfinite:
        return "not finite"
    if error.is_equal:
        return "equal"
    return "–" if error.snr_db is None else f"{error.snr_db:.1f} dB"


def settings_words(settings: Mapping[str, object]) -> str:
    """Settings as people say them: "opset 18, per channel, no dynamic batch"; empty ones left out."""
    words = []
    for name, value in settings.items():
        plain = name.replace("_", " ")
        if name.endswith("_hz"):
            words.append(f"{plain.removesuffix(' hz')}s at {value:g} Hz")
            continue
        if isinstance(value, bool):
            words.append(plain if value else f"no {plain}")
        elif value not in ("", None, 0.0):
            words.append(f"{plain} {value:g}" if isinstance(value, float) else f"{plain} {value}")
    return ", ".join(words)


def count_text(number: int) -> str:
    """A large count with three digits and k, M, G or T; a small one as it is."""
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.3g} {unit}"
    return str(number)
