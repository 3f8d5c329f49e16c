"""A picture as PDF of one page, without a display: vectors, and text that can be selected and searched.

Why reportlab on our own SVG: it is pure Python, writes text with embedded fonts, and our SVG uses a dozen
elements (`svg_*`), so that this file reads all of them. resvg draws pixels only, Cairo and Qt need
libraries that are not everywhere or live in `ui` alone.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, replace
from typing import Any

from studio.errors import InputError
from studio.report.pdf_fonts import MISSING, FontBook

LONGEST = 14_000.0
"""Points; a page of a PDF ends at 14,400 (ISO 32000-1, annex C)."""

_NUMBER = r"-?\d*\.?\d+(?:e-?\d+)?"
_TOKEN = re.compile(rf"[MLHVCZmlhvcz]|{_NUMBER}")
_TRANSLATE = re.compile(rf"translate\(({_NUMBER})[ ,]+({_NUMBER})\)")
_SCALE = re.compile(rf"scale\(({_NUMBER})\)")
_URL = re.compile(r"url\(#(\w+)\)")
_ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "Z": 0}


def svg_to_pdf(svg: str, *, title: str = "") -> bytes:
    """PDF bytes of an SVG that `graph_svg` wrote: one page of its size, smaller where a page must end.

    Raises InputError when the text is not such an SVG or holds nothing.
    """
    from reportlab.pdfgen.canvas import Canvas

    try:
        root = ElementTree.fromstring(svg)
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
    except (ElementTree.ParseError, KeyError, ValueError):
        raise InputError(
            "This is not an SVG with a width and a height.", hint="Make it with `graph_svg`."
        ) from None
    if width <= 0 or height <= 0:
        raise InputError("The picture is empty.", hint="Draw a graph with at least one node.")
    factor = min(1.0, LONGEST / max(width, height))
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(width * factor, height * factor), pageCompression=1, invariant=1)
    canvas.setTitle(title or next((t.text or "" for t in root if _tag(t) == "title"), ""))
    canvas.setCreator("Deployment Studio")
    _Page(canvas, root, _Place(0, height, factor)).draw()
    canvas.showPage()
    canvas.save()
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class _Place:
    """From the SVG's coordinates (y down) to the page's (y up)."""

    dx: float
    dy: float  # the page's height in the SVG's units, less what was moved down
    factor: float

    def x(self, x: float) -> float:
        return (x + self.dx) * self.factor

    def y(self, y: float) -> float:
        return (self.dy - y) * self.factor

    def moved(self, transform: str) -> _Place:
        match = _TRANSLATE.search(transform)
        return replace(self, dx=self.dx + float(match[1]), dy=self.dy - float(match[2])) if match else self


class _Page:
    """Draws the elements of one SVG onto one page."""

    def __init__(self, canvas: Any, root: ElementTree.Element, place: _Place) -> None:
        self.canvas = canvas
        self.root = root
        self.place = place
        self.fonts = FontBook()
        self.named = {e.attrib["id"]: e for e in root.iter() if "id" in e.attrib}

    def draw(self) -> None:
        for element in self.root:
            self._element(element, self.place)

    def _element(self, element: ElementTree.Element, place: _Place) -> None:
        tag = _tag(element)
        if tag == "g":
            self._group(element, place)
        elif tag == "rect":
            self._rect(element, place)
        elif tag == "path":
            self._path(element, place.moved(element.get("transform", "")))
        elif tag == "circle":
            self._circle(element, place)
        elif tag == "text":
            self._text(element, place)

    def _group(self, element: ElementTree.Element, place: _Place) -> None:
        place = place.moved(element.get("transform", ""))
        self.canvas.saveState()
        clip = _URL.search(element.get("clip-path", ""))
        if clip and clip[1] in self.named:
            shape = self.named[clip[1]][0]
            path = self.canvas.beginPath()
            x, y, width, height = (float(shape.get(k, "0")) for k in ("x", "y", "width", "height"))
            path.rect(place.x(x), place.y(y + height), width * place.factor, height * place.factor)
            self.canvas.clipPath(path, stroke=0, fill=0)
        for child in element:
            self._element(child, place)
        self.canvas.restoreState()

    def _paint(self, element: ElementTree.Element, place: _Place) -> tuple[int, int]:
        """Sets colours and line; (stroke, fill) as reportlab wants them."""
        canvas = self.canvas
        fill, stroke = element.get("fill", "none"), element.get("stroke", "none")
        has_fill, has_stroke = fill.startswith("#"), stroke.startswith("#")
        if has_fill:
            canvas.setFillColor(fill)
        if has_stroke:
            canvas.setStrokeColor(stroke)
            canvas.setLineWidth(float(element.get("stroke-width", "1")) * place.factor)
            dashes = [float(d) * place.factor for d in element.get("stroke-dasharray", "").split()]
            canvas.setDash(dashes or [], 0)
            canvas.setLineCap(1 if element.get("stroke-linecap") == "round" else 0)
        return int(has_stroke), int(has_fill)

    def _rect(self, element: ElementTree.Element, place: _Place) -> None:
        x, y = float(element.get("x", "0")), float(element.get("y", "0"))
        size = (element.get("width", "0"), element.get("height", "0"))
        whole = (float(self.root.attrib["width"]), float(self.root.attrib["height"]))
        width, height = (w if s == "100%" else float(s) for s, w in zip(size, whole))
        radius = min(float(element.get("rx", "0")), width / 2, height / 2) * place.factor
        box = (place.x(x), place.y(y + height), width * place.factor, height * place.factor)
        pattern = _URL.search(element.get("fill", ""))
        if pattern and pattern[1] in self.named:
            self._hatch(self.named[pattern[1]], box, place)
            return
        stroke, fill = self._paint(element, place)
        if radius:
            self.canvas.roundRect(*box, radius, stroke=stroke, fill=fill)
        else:
            self.canvas.rect(*box, stroke=stroke, fill=fill)

    def _hatch(
        self, pattern: ElementTree.Element, box: tuple[float, float, float, float], place: _Place
    ) -> None:
        """Lines across a box as the pattern's tile would make them."""
        canvas, lines = self.canvas, pattern[0]
        scale = _SCALE.search(pattern.get("patternTransform", ""))
        size = place.factor * (float(scale[1]) if scale else 1.0)
        canvas.saveState()
        clip = canvas.beginPath()
        clip.rect(*box)
        canvas.clipPath(clip, stroke=0, fill=0)
        canvas.setStrokeColor(lines.get("stroke", "#000000"))
        canvas.setStrokeAlpha(float(lines.get("stroke-opacity", "1")))
        canvas.setLineWidth(float(lines.get("stroke-width", "1")) * size)
        canvas.lines(_hatch_lines(pattern.get("data-hatch", "/"), box, size))
        canvas.restoreState()

    def _circle(self, element: ElementTree.Element, place: _Place) -> None:
        x, y, r = (float(element.get(k, "0")) for k in ("cx", "cy", "r"))
        stroke, fill = self._paint(element, place)
        self.canvas.circle(place.x(x), place.y(y), r * place.factor, stroke=stroke, fill=fill)

    def _path(self, element: ElementTree.Element, place: _Place) -> None:
        path = self.canvas.beginPath()
        draw_path(path, element.get("d", ""), place.x, place.y)
        stroke, fill = self._paint(element, place)
        self.canvas.drawPath(path, stroke=stroke, fill=fill)

    def _text(self, element: ElementTree.Element, place: _Place) -> None:
        size = float(element.get("font-size", "13"))
        pieces: list[tuple[str, ElementTree.Element]] = [(element.text or "", element)]
        for span in element:
            pieces += [(span.text or "", span), (span.tail or "", element)]
        words = []
        for text, style in pieces:
            own = float(style.get("font-size", str(size)))
            gap = float(style.get("dx", "0")) if style is not element else 0.0
            is_bold = style.get("font-weight", element.get("font-weight", "")) == "600"
            runs = self.fonts.runs(text, own, bold=is_bold)
            if runs:
                words.append((gap, own, style.get("fill", element.get("fill", "#000000")), runs))
        total = sum(gap + sum(run.width for run in runs) for gap, _, _, runs in words)
        anchor = element.get("text-anchor", "start")
        x = float(element.get("x", "0")) - total * {"middle": 0.5, "end": 1.0}.get(anchor, 0.0)
        y = float(element.get("y", "0"))
        if element.get("paint-order") == "stroke" and total:
            self._ground(element, x, y, total, size, place)
        for gap, own, colour, runs in words:
            x += gap
            self.canvas.setFillColor(colour)
            for run in runs:
                if run.font == MISSING:
                    self._boxes(run.text, x, y, own, colour, place)
                else:
                    self.canvas.setFont(run.font, own * place.factor)
                    self.canvas.drawString(place.x(x), place.y(y), run.text)
                x += run.width

    def _ground(
        self, element: ElementTree.Element, x: float, y: float, width: float, size: float, place: _Place
    ) -> None:
        """What keeps a line from running through a text: the SVG's halo."""
        f = place.factor
        self.canvas.setFillColor(element.get("stroke", "#ffffff"))
        self.canvas.rect(
            place.x(x - 1), place.y(y + size * 0.25), (width + 2) * f, size * 1.1 * f, stroke=0, fill=1
        )

    def _boxes(self, text: str, x: float, y: float, size: float, colour: str, place: _Place) -> None:
        """A box for each character that no font has, which is copied as the character."""
        canvas, f = self.canvas, place.factor
        code = "".join(f"{unit:02X}" for unit in b"\xfe\xff" + text.encode("utf-16-be", "replace"))
        canvas._code.append(f"/Span <</ActualText <{code}>>> BDC")
        canvas.setStrokeColor(colour)
        canvas.setLineWidth(0.7 * f)
        canvas.setDash([], 0)
        for k in range(len(text)):
            left, bottom = place.x(x + (k + 0.12) * size), place.y(y)
            canvas.rect(left, bottom, 0.76 * size * f, 0.72 * size * f, stroke=1, fill=0)
        canvas.setFont("Helvetica", size * f)
        words = canvas.beginText(place.x(x), place.y(y))
        words.setTextRenderMode(3)  # unseen, so that there is a text to select
        words.textOut("?" * len(text))
        canvas.drawText(words)
        canvas._code.append("EMC")


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rsplit("}", 1)[-1]


def _hatch_lines(
    kind: str, box: tuple[float, float, float, float], size: float
) -> list[tuple[float, float, float, float]]:
    """Lines that fill a box (x, y, width, height): diagonals "/" and "x", level "-", dashes "."."""
    x, y, width, height = box
    step = 6.0 * size
    if kind in ("/", "x"):
        step *= 2**0.5
        starts = [x - height + step * k for k in range(int((width + height) / step) + 1)]
        rising = [(s, y, s + height, y + height) for s in starts]
        return rising + ([(s, y + height, s + height, y) for s in starts] if kind == "x" else [])
    rows = [y + step * (k + 0.5) for k in range(int(height / step) + 1)]
    if kind == "-":
        return [(x, row, x + width, row) for row in rows]
    columns = range(int(width / step / 2) + 1)
    dashes = [(x + step * (2 * k + r % 2), row) for r, row in enumerate(rows) for k in columns]
    return [(start, row, start + step / 2, row) for start, row in dashes]


def draw_path(path: Any, data: str, to_x: Any, to_y: Any) -> None:
    """Draws SVG path data (M L H V C Z, absolute or relative) into a reportlab path."""
    tokens = _TOKEN.findall(data)
    x = y = start_x = start_y = 0.0
    at = 0
    command = ""
    while at < len(tokens):
        if tokens[at].isalpha():
            command = tokens[at]
            at += 1
        kind = command.upper()
        count = _ARGUMENTS.get(kind, 0)
        values = [float(token) for token in tokens[at : at + count]]
        at += count
        base_x, base_y = (x, y) if command.islower() else (0.0, 0.0)
        if kind == "Z":
            path.close()
            x, y = start_x, start_y
            continue
        if not values:
            return  # not a command that we write
        if kind == "H":
            x = base_x + values[0]
        elif kind == "V":
            y = base_y + values[0]
        else:
            points = [(base_x + p, base_y + q) for p, q in zip(values[::2], values[1::2])]
            x, y = points[-1]
            if kind == "C":
                path.curveTo(*(v for p, q in points for v in (to_x(p), to_y(q))))
                continue
            if kind == "M":
                path.moveTo(to_x(x), to_y(y))
                start_x, start_y = x, y
                command = "l" if command == "m" else "L"
                continue
        path.lineTo(to_x(x), to_y(y))
