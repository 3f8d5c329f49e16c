"""A picture as PNG, without a display.

Why resvg: it draws the very SVG that we write, text included, and its wheel is 1.4 MB without
dependencies. Qt would draw it as well but lives in `ui` alone; a browser or Cairo is not
everywhere.
"""

from __future__ import annotations

import re
import tempfile
from functools import lru_cache
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


@lru_cache(maxsize=1)
def last_resort_fonts() -> tuple[Path, ...]:
    """The font inside Pillow as a file, on machines without any font (small containers); else none."""
    import resvg_py

    probe = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">'
        '<text y="15" font-family="{}">{}</text></svg>'
    )
    family = "Inter,Arial,DejaVu Sans,Noto Sans,Liberation Sans"
    empty = resvg_py.svg_to_bytes(svg_string=probe.format(family, ""))
    if resvg_py.svg_to_bytes(svg_string=probe.format(family, "Conv")) != empty:
        return ()
    from PIL import ImageFont

    font = ImageFont.load_default(12)
    data = getattr(font, "font_bytes", b"")
    if not data:
        return ()
    path = Path(tempfile.mkdtemp(prefix="deployment-studio-font-")) / "Aileron.otf"
    path.write_bytes(data)
    return (path,)
