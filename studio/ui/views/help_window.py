"""HelpWindow: short pages from `resources/help/`, offline, in the language of the window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import (
    QBrush,
    QColor,
    QDesktopServices,
    QKeyEvent,
    QKeySequence,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextFrameFormat,
    QTextOption,
    QTextTable,
)
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QMainWindow, QTextBrowser, QWidget

from studio.paths import resources
from studio.ui import domain_texts, theme

PAGES = ("start", "verdicts", "wizard", "devices", "nodes", "projects", "keys", "troubleshooting", "audit")


def page_path(page: str, language: str) -> Path | None:
    """The Markdown file of a page, in English when it is not there in that language."""
    folder = resources() / "help"
    for name in (f"{page}.{language}.md", f"{page}.md"):
        if (folder / name).is_file():
            return folder / name
    return None


def title_of(path: Path) -> str:
    """The first heading of a page."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            return line[2:].strip()
    return path.stem


class HelpWindow(QWidget):
    """A list of pages and the page."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle(self.tr("Help"))
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.resize(900, 640)
        language = domain_texts.current_language()
        found = [(page, page_path(page, language)) for page in PAGES]
        self._pages = [(page, path) for page, path in found if path is not None]
        self._list = QListWidget()
        self._list.setFixedWidth(224)
        self._list.setAccessibleName(self.tr("Pages"))
        for _page, path in self._pages:
            item = QListWidgetItem(title_of(path), self._list)
            item.setSizeHint(QSize(0, 30))
        self._list.currentRowChanged.connect(self._show_row)
        self._text = QTextBrowser()
        self._text.setOpenLinks(False)
        self._text.anchorClicked.connect(self._on_link)
        self._text.setWordWrapMode(QTextOption.WrapMode.WordWrap)  # a table scrolls before it breaks words
        self._text.document().setDocumentMargin(20)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._list)
        row.addWidget(self._text, 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes it, as it closes every dialog."""
        if event.matches(QKeySequence.StandardKey.Cancel):
            self.close()
            return
        super().keyPressEvent(event)

    def show_page(self, page: str) -> None:
        """Turns to a page."""
        names = [name for name, _ in self._pages]
        if page in names:
            self._list.setCurrentRow(names.index(page))
        elif names:
            self._list.setCurrentRow(0)

    def _show_row(self, row: int) -> None:
        if 0 <= row < len(self._pages):
            self._text.setMarkdown(self._pages[row][1].read_text(encoding="utf-8"))
            _space_out(self._text.document())
            _rule_tables(self._text.document())
            self._text.moveCursor(QTextCursor.MoveOperation.Start)

    def _on_link(self, url: QUrl) -> None:
        if url.scheme() in ("http", "https"):
            QDesktopServices.openUrl(url)
        else:
            self.show_page(url.path().removesuffix(".md"))


def _space_out(document: QTextDocument) -> None:
    """Gives paragraphs the air that Markdown leaves to the reader's program."""
    block = document.begin()
    while block.isValid():
        cursor = QTextCursor(block)
        layout = block.blockFormat()
        layout.setLineHeight(125, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        if cursor.currentTable() is None:
            layout.setTopMargin(10 if block.blockFormat().headingLevel() else 2)
            layout.setBottomMargin(6)
        cursor.setBlockFormat(layout)
        block = block.next()


def _rule_tables(document: QTextDocument) -> None:
    """Draws tables with hairlines and some air; Markdown's own have black double frames."""
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            layout = frame.format().toTableFormat()
            layout.setBorderCollapse(True)
            layout.setBorder(1)
            layout.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
            layout.setBorderBrush(QBrush(QColor(theme.current().colors.line)))
            layout.setCellPadding(5)
            frame.setFormat(layout)


def show_help(window: QMainWindow, page: str) -> None:
    """Shows the one help window of a main window at a page."""
    found = window.findChild(HelpWindow)
    help_window = found if found is not None else HelpWindow(window)
    help_window.show_page(page)
    help_window.show()
    help_window.raise_()
    help_window.activateWindow()
