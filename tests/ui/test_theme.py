"""The palette as it is read: words in every colour stand out from every ground they lie on."""

from __future__ import annotations

import pytest

from studio.ui.theme import DARK, LIGHT, Colors, contrast, stylesheet
from studio.ui.theme import Theme as Worn

_INKS = ("quiet", "accent", "runs", "conditional", "falls_back", "fails", "unknown")
_GROUNDS = ("panel", "window", "canvas", "selection", "hover")


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # the well-known near miss


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_words_in_a_status_colour_are_readable_everywhere(colors: Colors) -> None:
    for name in _INKS:
        for ground in _GROUNDS:
            assert contrast(colors.ink(name), getattr(colors, ground)) >= 4.5, (name, ground)


def test_a_colour_that_reads_already_is_left_as_it_is() -> None:
    assert LIGHT.ink("fails") == LIGHT.fails
    assert DARK.ink("runs") == DARK.runs


@pytest.mark.parametrize(("colors", "is_dark"), [(LIGHT, False), (DARK, True)])
def test_the_style_sheet_has_no_name_left(colors: Colors, is_dark: bool) -> None:
    rules = stylesheet(Worn(colors, is_dark)).partition("*/")[2]
    assert "@" not in rules
    assert f'QLabel[role="good"] {{ color: {colors.ink("runs")}; }}' in rules
