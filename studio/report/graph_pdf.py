"""A picture as PDF of one page, without a display.

Why an image in a page and not vectors: the text of a graph may be in any script, and a PDF has to
bring the fonts along; resvg has drawn it already. The window's PDF is vectors, Qt embeds fonts.
"""

from __future__ import annotations

import io
import zlib

from studio.errors import InputError
from studio.report.graph_png import svg_to_png

LONGEST = 14_000.0
"""Points; a page of a PDF ends at 14,400 (ISO 32000-1, annex C)."""


def svg_to_pdf(svg: str, *, scale: float = 2.0) -> bytes:
    """PDF bytes of an SVG that `graph_svg` wrote: one page of its size, the picture without loss.

    Raises as `svg_to_png` does.
    """
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # our own picture; `svg_to_png` has bounded it
    with Image.open(io.BytesIO(svg_to_png(svg, scale=scale))) as picture:
        pixels = picture.convert("RGB")
    wide, high = pixels.size
    if not wide or not high:
        raise InputError("The picture is empty.", hint="Draw a graph with at least one node.")
    factor = min(1 / scale, LONGEST / max(wide, high))
    return _pdf(zlib.compress(pixels.tobytes(), 6), wide, high, wide * factor, high * factor)


def _pdf(data: bytes, wide: int, high: int, page_wide: float, page_high: float) -> bytes:
    """A PDF with one deflated RGB image [high, wide] that fills its page (sizes in points)."""
    content = f"q {page_wide:.2f} 0 0 {page_high:.2f} 0 0 cm /Im Do Q".encode()
    image = (
        f"/Type /XObject /Subtype /Image /Width {wide} /Height {high} /ColorSpace /DeviceRGB"
        f" /BitsPerComponent 8 /Filter /FlateDecode /Length {len(data)}"
    )
    page = (
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {page_wide:.2f} {page_high:.2f}]"
        " /Resources << /XObject << /Im 4 0 R >> >> /Contents 5 0 R >>"
    )
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page.encode(),
        b"<< " + image.encode() + b" >>\nstream\n" + data + b"\nendstream",
        f"<< /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream",
    )
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)
