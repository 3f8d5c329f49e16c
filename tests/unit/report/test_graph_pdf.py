"""A picture as PDF: vectors, one page, and words of any script that can be copied."""

from __future__ import annotations

import base64
import re
import zlib
from pathlib import Path

import pytest

from studio.errors import InputError
from studio.report import pdf_fonts
from studio.report.graph_pdf import LONGEST, draw_path, svg_to_pdf
from studio.report.pdf_fonts import MISSING, FontBook
from studio.report.picture import picture_svg
from tests.unit.report.test_graph_picture import chain, judged


def streams(pdf: bytes) -> list[bytes]:
    """The decoded streams of a PDF that reportlab wrote."""
    found = []
    for head, data in re.findall(
        rb"<<([^<>]*(?:<<[^<>]*>>)*[^<>]*)>>\s*stream\r?\n(.*?)endstream", pdf, re.S
    ):
        data = data.strip()
        if b"ASCII85Decode" in head:
            data = base64.a85decode(data.removeprefix(b"<~").removesuffix(b"~>"))
        found.append(zlib.decompress(data) if b"FlateDecode" in head else data)
    return found


def page(pdf: bytes) -> str:
    """The drawing of the one page."""
    return next(s for s in streams(pdf) if b" Tf" in s).decode("latin-1")


def copied(pdf: bytes) -> str:
    """The characters that embedded fonts say their glyphs mean."""
    maps = [s.decode("latin-1") for s in streams(pdf) if b"begincmap" in s]
    codes = re.findall(r"<[0-9A-F]{2,4}>\s*<([0-9A-F]{4,8})>", "".join(maps))
    ranges = re.findall(r"\[([^\]]*)\]", "".join(maps))
    codes += [code for row in ranges for code in re.findall(r"<([0-9A-F]{4,8})>", row)]
    return "".join(bytes.fromhex(code).decode("utf-16-be", "replace") for code in codes)


def test_it_is_one_page_of_vectors_with_text() -> None:
    svg = picture_svg(chain(["Conv", "Relu", "Resize"]), judged(3), title="A net")
    pdf = svg_to_pdf(svg)
    size = re.search(r'width="(\d+)" height="(\d+)"', svg)
    assert size is not None
    assert re.search(rb"/MediaBox \[ 0 0 %s %s \]" % (size[1].encode(), size[2].encode()), pdf)
    drawn = page(pdf)
    for word in ("(Conv) Tj", "(Relu) Tj", "(Resize) Tj", "(A net) Tj", "(runs 1) Tj"):
        assert word in drawn
    assert " c" in drawn and " re" in drawn and "/Subtype /Image" not in pdf.decode("latin-1")
    assert pdf == svg_to_pdf(svg), "the same picture is the same file"


def test_names_in_any_script_are_drawn_and_can_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_fonts, "font_files", lambda: ())
    svg = picture_svg(chain(["Conv", "Relu"], ["输入层", "\N{GRINNING FACE}x"]))
    pdf = svg_to_pdf(svg)
    assert b"/STSong-Light" in pdf, "a font that readers have stands in"
    drawn = page(pdf)
    assert "/ActualText <FEFFD83DDE00>" in drawn, "a box that is copied as what it stands for"


def test_a_font_of_this_computer_is_embedded_where_it_has_the_letters() -> None:
    if not pdf_fonts.font_files():
        pytest.skip("this computer has no TrueType font")
    letter = next((c for c in "ΩЖ→" if FontBook().font_of(c, bold=False) != MISSING), "")
    assert letter, "no font has Greek, Cyrillic or an arrow"
    pdf = svg_to_pdf(picture_svg(chain(["A"], [f"n{letter}"])))
    assert b"/FontFile2" in pdf and letter in copied(pdf)


def test_runs_have_one_font_each_and_right_to_left_is_turned() -> None:
    runs = FontBook().runs("ab שלום", 10, bold=False)
    assert "".join(run.text for run in runs) == "ab " + "שלום"[::-1]
    assert all(run.width > 0 for run in runs)
    assert FontBook().runs("", 10, bold=True) == []


def test_a_damaged_font_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bad = tmp_path / "bad.ttf"
    bad.write_bytes(b"\0\1\0\0" + b"\xff" * 60)
    monkeypatch.setattr(pdf_fonts, "font_files", lambda: (bad,))
    assert FontBook().font_of("Ω", bold=False) == MISSING


def test_a_picture_longer_than_a_page_is_made_smaller() -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="40000"><rect width="100%" ' \
          'height="100%" fill="#ffffff"/></svg>'  # fmt: skip
    sizes = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", svg_to_pdf(svg))
    assert sizes is not None and float(sizes[2]) == LONGEST and float(sizes[1]) == 100 * LONGEST / 40000


@pytest.mark.parametrize("text", ["", "<svg", "<svg/>", '<svg width="0" height="0"/>'])
def test_what_is_no_picture_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        svg_to_pdf(text)


def test_path_data_is_followed_absolute_and_relative() -> None:
    class Pen:
        """Writes down what it is told."""

        def __init__(self) -> None:
            self.told: list[tuple[object, ...]] = []

        def moveTo(self, *at: float) -> None:
            self.told.append(("M", *at))

        def lineTo(self, *at: float) -> None:
            self.told.append(("L", *at))

        def curveTo(self, *at: float) -> None:
            self.told.append(("C", *at))

        def close(self) -> None:
            self.told.append(("Z",))

    pen = Pen()
    draw_path(pen, "M10 20l-3.5 -6.5h7zM1 1V5H2C3 3 4 4 5 5", lambda x: x, lambda y: -y)
    assert pen.told == [
        ("M", 10, -20), ("L", 6.5, -13.5), ("L", 13.5, -13.5), ("Z",),
        ("M", 1, -1), ("L", 1, -5), ("L", 2, -5), ("C", 3, -3, 4, -4, 5, -5),
    ]  # fmt: skip
