"""Texts of an SVG: made safe, measured without a font, cut to their room, broken into lines."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW = frozenset("iIjlt.,:;!'|()[]{} /\\-`")
_WIDE = frozenset("mwMW@%…")
_SIGNS = frozenset("×−±+=<>~")
_LONGEST = 400  # characters; a name may be 1 MB, and no picture shows more


def escape(text: str) -> str:
    """Text made safe for XML: characters that XML cannot hold become `�`."""
    text = _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text).replace("\n", " ")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def rect(x: float, y: float, width: float, height: float) -> str:
    """The attributes of a rectangle."""
    return f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'


@lru_cache(maxsize=4096)
def _advance(character: str) -> float:
    """About how wide a character is, in ems: a little more than in the sans serif fonts that are usual."""
    if character in _NARROW:
        return 0.36
    if character in _WIDE:
        return 1.0
    if character in _SIGNS:
        return 0.84
    if character.isdigit():
        return 0.64
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if unicodedata.combining(character):
        return 0.0
    return 0.72 if character.isupper() else 0.61


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """About how wide a text is, in pixels; not less than it really is in the usual fonts."""
    return sum(map(_advance, text[:_LONGEST])) * size * (1.1 if bold else 1.0)


def cut(text: str, room: float, size: float, *, bold: bool = False, keep_tail: bool = False) -> str:
    """The text, or so much of its beginning (or end) and … as has room; "" where not even that has."""
    if len(text) <= _LONGEST and text_width(text, size, bold=bold) <= room:
        return text
    room -= size * 0.9
    kept = []
    for character in reversed(text[-_LONGEST:]) if keep_tail else text[:_LONGEST]:
        room -= text_width(character, size, bold=bold)
        if room < 0:
            break
        kept.append(character)
    if not kept:
        return ""
    return "…" + "".join(reversed(kept)) if keep_tail else "".join(kept).rstrip() + "…"


def wrapped(text: str, room: float, size: float) -> list[str]:
    """The text broken at spaces into lines that have room."""
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines
