"""MessagePage: what an empty area says: why nothing is there, how far the work is, what to do next."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from studio.jobs.job import Failed
from studio.ui.domain_texts import translate_sentence
from studio.ui.widgets.banner import text_of
from studio.ui.widgets.icon_label import IconLabel
from studio.ui.widgets.parts import button, copy_text, label


class MessagePage(QWidget):
    """A title, a sentence, buttons; or a bar that moves; in the middle of an empty area."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(40, 20, 40, 20)
        outer.addStretch(2)
        self._icon = IconLabel("error", "fails", 28)
        self._title = label("", "title", wrap=True, selectable=True)
        self._text = label("", "quiet", wrap=True, selectable=True)
        self._busy = QProgressBar()
        self._busy.setRange(0, 0)
        self._busy.setTextVisible(False)
        self._busy.setFixedWidth(220)
        self._busy.setAccessibleName(self.tr("Progress"))
        for widget in (self._icon, self._title, self._text):
            outer.addWidget(widget)
        for text in (self._title, self._text):
            text.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        outer.addWidget(self._busy, 0, Qt.AlignmentFlag.AlignHCenter)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        outer.addSpacing(6)
        outer.addLayout(self._buttons)
        outer.addStretch(3)

    def show_text(self, title: str, text: str) -> None:
        """A title and a sentence, no buttons yet."""
        self._icon.hide()
        self._busy.hide()
        self._title.setText(title)
        self._text.setText(text)
        self._text.setVisible(bool(text))
        while (item := self._buttons.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()

    def add_button(self, text: str, run: Callable[[], object], *, primary: bool = False) -> None:
        """One more button in the row."""
        if not self._buttons.count():
            self._buttons.addStretch(1)
            self._buttons.addStretch(1)
        made = button(text, run, role="primary" if primary else "")
        self._buttons.insertWidget(self._buttons.count() - 1, made)

    def show_busy(self, done: int = 0, total: int | None = None) -> None:
        """A bar that says: working, and how far where that is known."""
        self._busy.setRange(0, 1000 if total else 0)
        if total:
            self._busy.setValue(1000 * min(done, total) // total)
        self._busy.show()

    def say(self, text: str) -> None:
        """Another sentence under the same title."""
        self._text.setText(text)
        self._text.setVisible(bool(text))

    def show_failure(self, failed: Failed, retry: Callable[[], object]) -> None:
        """What went wrong, what to do, and a way to copy it."""
        self.show_text(translate_sentence(failed.message), translate_sentence(failed.hint))
        self._icon.show()
        self.add_button(self.tr("Try again"), retry)
        self.add_button(self.tr("Copy"), lambda: copy_text(text_of(failed)))
