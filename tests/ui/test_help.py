"""The help: every page in both languages, every link leads somewhere, the menu's keys are the real ones."""

from __future__ import annotations

import itertools
import re

from PySide6.QtGui import QTextDocument
from pytestqt.qtbot import QtBot

from studio.paths import resources
from studio.ui.actions import ACTIONS
from studio.ui.views.help_window import PAGES, page_path, title_of

FOLDER = resources() / "help"


def test_every_page_is_there_in_both_languages() -> None:
    for page in PAGES:
        english = page_path(page, "en")
        if page == "audit" and english is None:
            continue  # written by the audit
        assert english is not None, page
        assert title_of(english)
        if page != "audit":
            assert page_path(page, "zh_CN") == FOLDER / f"{page}.zh_CN.md"


def test_links_between_pages_lead_somewhere() -> None:
    for path in FOLDER.glob("*.md"):
        for link in re.findall(r"\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
            assert link.startswith("http") or link.removesuffix(".md") in PAGES, (path.name, link)


def test_the_page_of_keys_names_every_shortcut() -> None:
    for name in ("keys.md", "keys.zh_CN.md"):
        text = (FOLDER / name).read_text(encoding="utf-8").replace("左", "Left").replace("右", "Right")
        shown = [a.shortcut for a in ACTIONS if a.shortcut]
        missing = [s for s in shown if s not in text]
        # Quitting, closing and settings have the keys that every program has.
        assert set(missing) <= {"Ctrl+Q", "Ctrl+W", "Ctrl+,", "Ctrl+Shift+C"}, name


def test_the_window_shows_a_page_and_follows_links(qtbot: QtBot, open_window) -> None:  # type: ignore[no-untyped-def]
    from PySide6.QtCore import QUrl

    from studio.ui.views.help_window import HelpWindow

    window = open_window().window
    window.commands.show_help("devices")
    shown = window.findChild(HelpWindow)
    assert "USB" in shown._text.toPlainText()
    shown._on_link(QUrl("projects.md"))
    assert "git" in shown._text.toPlainText()
    window.commands.show_help("keys")
    assert len(window.findChildren(HelpWindow)) == 1
    shown.close()


def test_no_mark_of_markdown_is_left_on_a_page(qtbot: QtBot) -> None:
    for page in PAGES:
        for language in ("en", "zh_CN"):
            path = page_path(page, language)
            assert path is not None
            document = QTextDocument()
            document.setMarkdown(path.read_text(encoding="utf-8"))
            assert "**" not in document.toPlainText(), path.name


def test_tables_of_the_chinese_pages_have_chinese_headings() -> None:
    for page in PAGES:
        lines = (FOLDER / f"{page}.zh_CN.md").read_text(encoding="utf-8").splitlines()
        for heading, rule in itertools.pairwise(lines):
            if heading.startswith("|") and re.fullmatch(r"[|:\- ]+", rule):
                cells = [cell.strip() for cell in heading.strip("|").split("|")]
                assert all(re.search(r"[\u4e00-\u9fff]", cell) for cell in cells), (page, cells)


def test_escape_closes_the_help(qtbot: QtBot, open_window) -> None:  # type: ignore[no-untyped-def]
    from PySide6.QtCore import Qt

    from studio.ui.views.help_window import HelpWindow

    window = open_window().window
    window.commands.show_help("devices")
    shown = window.findChild(HelpWindow)
    assert shown.isVisible()
    qtbot.keyClick(shown._list, Qt.Key.Key_Escape)
    assert not shown.isVisible()
