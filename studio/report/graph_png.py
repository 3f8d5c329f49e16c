"""A picture as PNG, without a display.

Why resvg: it draws the very SVG that we write, text included, and its wheel is 1.4 MB without
dependencies. Qt would draw it as well but lives in `ui` alone; a browser or Cairo is not
everywhere.
"""

from __future__ import annotations

import re
import tempfile
import unicodedata
from functools import lru_cache
from html import escape
from io import BytesIO
from pathlib import Path

from studio.errors import InputError, ToolError

MAX_SIDE = 16_000
"""Pixels that a side may have; a bigger picture is scaled down. 16,000² RGBA would be 1 GB, so also: """
MAX_PIXELS = 120_000_000

_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')


def svg_to_png(svg: str, *, scale: float = 2.0) -> bytes:
    """PNG bytes of an SVG that `graph_svg` wrote, `scale` pixels to one of its own where that is not too big.

    Raises InputError when the text is not such an SVG, ToolError when it cannot be drawn.
    """
    import resvg_py

    match = _SIZE.search(svg)
    if match is None:
        raise InputError("This is not an SVG with a width and a height.", hint="Make it with `graph_svg`.")
    width, height = max(int(match[1]), 1), max(int(match[2]), 1)
    scale = min(scale, MAX_SIDE / width, MAX_SIDE / height, (MAX_PIXELS / (width * height)) ** 0.5)
    fonts = last_resort_fonts()
    try:
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=svg,
                width=max(round(width * scale), 1),
                height=max(round(height * scale), 1),
                font_files=[str(path) for path in fonts] or None,
                font_family="Aileron" if fonts else None,
                sans_serif_family="Aileron" if fonts else None,
            )
        )
    except ValueError as error:
        raise ToolError(
            f"The picture cannot be drawn as PNG: {error}.", hint="Write it as SVG instead."
        ) from None


_FAMILIES = "Inter,Arial,DejaVu Sans,Noto Sans,Liberation Sans"
_NO_LETTER = "\U0010fffd"  # for private use, and in no font
_CELL = 32
_MOST_PROBED = 1_000


def missing_characters(svg: str) -> str:
    """The letters and signs of an SVG that no font here has, sorted: they are left out or drawn as boxes."""
    import resvg_py
    from PIL import Image

    kinds = ("L", "N", "P", "S")
    asked = sorted({c for c in svg if not c.isascii() and unicodedata.category(c)[0] in kinds})[:_MOST_PROBED]
    if not asked:
        return ""
    texts = [
        f'<text x="8" y="{_CELL * k + 22}">{escape(c)}</text>' for k, c in enumerate([_NO_LETTER, *asked])
    ]
    probe = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * _CELL}" height="{_CELL * len(texts)}" '
        f'font-family="{_FAMILIES}" font-size="16">{"".join(texts)}</svg>'
    )
    fonts = [str(path) for path in last_resort_fonts()]
    family = "Aileron" if fonts else None
    drawn = resvg_py.svg_to_bytes(
        svg_string=probe, font_files=fonts or None, font_family=family, sans_serif_family=family
    )
    ink = Image.open(BytesIO(bytes(drawn))).getchannel("A")
    cells = [ink.crop((0, _CELL * k, 2 * _CELL, _CELL * (k + 1))).tobytes() for k in range(len(texts))]
    unknown = (bytes(len(cells[0])), cells[0])  # nothing, or the box that stands for no letter
    return "".join(c for c, cell in zip(asked, cells[1:]) if cell in unknown)


@lru_cache(maxsize=1)
def last_resort_fonts() -> tuple[Path, ...]:
    """The font inside Pillow as a file, on machines without any font (small containers); else none."""
    import resvg_py

    probe = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">'
        '<text y="15" font-family="{}">{}</text></svg>'
    )
    empty = resvg_py.svg_to_bytes(svg_string=probe.format(_FAMILIES, ""))
    if resvg_py.svg_to_bytes(svg_string=probe.format(_FAMILIES, "Conv")) != empty:
        return ()
    from PIL import ImageFont

    font = ImageFont.load_default(12)
    data = getattr(font, "font_bytes", b"")
    if not data:
        return ()
    path = Path(tempfile.mkdtemp(prefix="deployment-studio-font-")) / "Aileron.otf"
    path.write_bytes(data)
    return (path,)
