"""Fonts of a PDF: for every character the first font that has it, so that no name vanishes.

In order: Helvetica (in every reader, nothing to embed), a TrueType font of this computer (embedded, only
the letters that are used), the Asian fonts that every reader substitutes (PDF 1.7, 9.7.5.2: predefined
CMaps), and for what none has (an emoji, mostly) a small box that is copied as the character it stands for.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path

MISSING = ""
"""The name of no font: what is drawn as a box."""

_MOST_FONTS = 60
_GOOD = ("dejavusans.", "notosans-", "arial.", "segoeui.", "wqy", "msyh", "simsun", "malgun", "notosanssc")
"""Beginnings of file names that are tried first: plain faces of many scripts."""
_ODD = ("bold", "italic", "oblique", "mono", "condensed", "light", "thin", "black", "serif")
_BOX_EMS = 1.0


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text in one font; `font` MISSING = boxes."""

    text: str
    font: str
    width: float


class FontBook:
    """Finds fonts for characters; embeds what it hands out."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, bool], str] = {}
        self._open: list[tuple[str, dict[int, int]]] = []
        self._paths: Iterator[Path] = iter(font_files()[:_MOST_FONTS])

    def runs(self, text: str, size: float, *, bold: bool) -> list[Run]:
        """The text in pieces of one font each, in reading order; right-to-left pieces turned round."""
        from reportlab.pdfbase.pdfmetrics import stringWidth

        result = []
        for (font, _), letters in groupby(text, key=lambda c: (self.font_of(c, bold=bold), _is_rtl(c))):
            piece = "".join(letters)
            if piece and _is_rtl(piece[0]):
                piece = piece[::-1]
            width = stringWidth(piece, font, size) if font else _BOX_EMS * size * len(piece)
            result.append(Run(piece, font, width))
        return result

    def font_of(self, character: str, *, bold: bool) -> str:
        """The name of a registered font that has the character, or MISSING."""
        key = (character, bold)
        if key not in self._found:
            self._found[key] = self._find(character, bold=bold)
        return self._found[key]

    def _find(self, character: str, *, bold: bool) -> str:
        try:
            character.encode("cp1252")
        except UnicodeEncodeError:
            pass
        else:
            return "Helvetica-Bold" if bold else "Helvetica"
        for name, letters in self._open:
            if ord(character) in letters:
                return name
        for path in self._paths:
            opened = _register(path)
            if opened is not None:
                self._open.append(opened)
                if ord(character) in opened[1]:
                    return opened[0]
        return _asian_font(character)


def _is_rtl(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("R", "AL")


def _register(path: Path) -> tuple[str, dict[int, int]] | None:
    """(name, characters) of a TrueType font; None for one whose outlines cannot be embedded."""
    from reportlab.pdfbase import pdfmetrics, ttfonts

    name = f"Studio-{path.stem}"
    try:
        font = ttfonts.TTFont(name, str(path))
        letters = dict(font.face.charToGlyph)
        pdfmetrics.registerFont(font)
    except (ttfonts.TTFError, OSError, ValueError, KeyError, IndexError, TypeError, AttributeError):
        return None  # PostScript outlines, bitmaps, or a damaged file: the next one
    return name, letters


def _asian_font(character: str) -> str:
    """A font that readers of PDF bring along, for Chinese, Japanese and Korean."""
    from reportlab.pdfbase import cidfonts, pdfmetrics

    name = unicodedata.name(character, "")
    if name.startswith("HANGUL"):
        font = "HYSMyeongJo-Medium"
    elif name.startswith(("HIRAGANA", "KATAKANA")):
        font = "HeiseiKakuGo-W5"
    elif name.startswith(("CJK", "IDEOGRAPHIC", "FULLWIDTH")) and ord(character) < 0x10000:
        font = "STSong-Light"
    else:
        return MISSING
    if font not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(cidfonts.UnicodeCIDFont(font))
    return font


@lru_cache(maxsize=1)
def font_files() -> tuple[Path, ...]:
    """The TrueType files of this computer, those with many scripts first."""
    found = {path for folder in _folders() for path in _files(folder)}

    def order(path: Path) -> tuple[int, int, str]:
        name = path.name.lower()
        good = next((k for k, start in enumerate(_GOOD) if name.startswith(start)), len(_GOOD))
        return sum(word in name for word in _ODD), good, name

    return tuple(sorted(found, key=order))


def _folders() -> list[Path]:
    home = Path.home()
    if sys.platform == "win32":
        local = Path(os.environ.get("LOCALAPPDATA", str(home)))
        return [Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts", local / "Microsoft/Windows/Fonts"]
    if sys.platform == "darwin":
        return [Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library/Fonts"]
    shared = [Path("/usr/share/fonts"), Path("/usr/local/share/fonts")]
    return [*shared, home / ".fonts", home / ".local/share/fonts"]


def _files(folder: Path) -> Iterator[Path]:
    for root, _, names in os.walk(folder):
        yield from (Path(root) / name for name in names if name.lower().endswith((".ttf", ".ttc")))
