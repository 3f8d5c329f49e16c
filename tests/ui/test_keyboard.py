"""The keyboard: Tab goes as one reads, a letter opens one thing, dialogs are as high as what they say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from models import save_model
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from studio.ui import domain_texts
from studio.ui.preferences import Preferences, save_preferences
from studio.ui.views.about_dialog import AboutDialog
from studio.ui.widgets.focus_order import move_focus, tab_stops

Open = Callable[..., object]


def letter(text: str) -> str:
    """The letter after the `&` of a text, "" when it has none."""
    found = re.search(r"&([^&])", text.replace("&&", ""))
    return found[1].lower() if found else ""


def twice(texts: list[str]) -> list[str]:
    return [key for key, n in Counter(letter(t) for t in texts if letter(t)).items() if n > 1]


@pytest.fixture(params=["en", "zh_CN"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    save_preferences(Preferences(language=request.param))
    yield request.param
    domain_texts.set_language("en")


def test_letters_are_unique_in_every_menu(
    qtbot: QtBot, open_inline: Open, tmp_path: Path, language: str
) -> None:
    window = open_inline(save_model(tmp_path / "m.onnx")).window  # type: ignore[attr-defined]

    assert twice([a.text() for a in window.menu_bar.actions()]) == []
    for menu in window.findChildren(QMenu):
        assert twice([a.text() for a in menu.actions()]) == [], menu.title()


def test_tab_goes_through_the_window_as_one_reads(qtbot: QtBot, open_inline: Open, tmp_path: Path) -> None:
    window = open_inline(save_model(tmp_path / "m.onnx")).window  # type: ignore[attr-defined]
    seen: list[QWidget] = []
    for _ in range(200):
        assert window.focusNextPrevChild(True)
        if window.focusWidget() in seen:
            break
        seen.append(window.focusWidget())
    places = (window.target_bar, window.recipe_panel, window.stage_area, window.device_panel, window.job_bar)
    order = [n for stop in seen for n, place in enumerate(places) if place.isAncestorOf(stop)]
    start = order.index(0)
    order = order[start:] + order[:start]
    while order[-1] == 0:  # the walk began amid the first place
        order.insert(0, order.pop())
    assert set(order) == set(range(len(places))) and order == sorted(order)
    assert set(window.recipe_panel.rows.values()) <= set(seen)


def test_tab_stops_follow_the_layout_and_skip_what_excludes_each_other(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    last, first = QPushButton("last"), QPushButton("first")  # made the other way round
    column = QVBoxLayout(page)
    column.addWidget(first)
    row = QHBoxLayout()
    column.addLayout(row)
    radios = [QRadioButton(name) for name in "abc"]
    for radio in radios:
        row.addWidget(radio)
    radios[1].setChecked(True)
    column.addWidget(last)
    page.show()
    assert list(tab_stops(page)) == [first, radios[1], last]
    first.setFocus()
    assert move_focus((page,), forward=False) and page.focusWidget() is last
    assert move_focus((page,), forward=True) and page.focusWidget() is first
    last.setEnabled(False)
    assert last not in list(tab_stops(page))


def test_a_dialog_is_never_lower_than_what_it_says(qtbot: QtBot) -> None:
    dialog = AboutDialog()
    qtbot.addWidget(dialog)
    dialog.resize(420, 300)  # as on a low screen
    dialog.show()
    for text in dialog.findChildren(QLabel):
        wanted = text.heightForWidth(text.width()) if text.wordWrap() else text.sizeHint().height()
        assert not text.text() or text.height() >= wanted, text.text()
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_the_time_of_unsaved_work_is_that_of_the_clock_on_the_wall() -> None:
    from datetime import datetime

    from studio.ui.views.recovery_dialog import local_time

    shown = local_time("2026-12-01T03:47:13+00:00")
    there = datetime.fromisoformat("2026-12-01T03:47:00+00:00").astimezone()
    assert shown == there.strftime("%Y-%m-%d %H:%M") and local_time("?") == "?"
