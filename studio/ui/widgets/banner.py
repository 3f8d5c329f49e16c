"""Banner: an error where the work is: what happened, where, the next step, and a copy button."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from studio.jobs.job import Failed
from studio.ui.widgets.icon_label import IconLabel
from studio.ui.widgets.parts import button, copy_text, icon_button, label


def text_of(failed: Failed) -> str:
    """The whole failure as text to paste into an issue."""
    parts = [failed.message, failed.hint]
    if failed.nodes:
        parts.append("Nodes: " + ", ".join(failed.nodes))
    if failed.detail:
        parts.append("\n" + failed.detail)
    return "\n".join(p for p in parts if p)


class Banner(QFrame):
    """Shows one failure until it is closed or replaced."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Banner")
        self._failed: Failed | None = None
        self._way_on: Callable[[], object] = lambda: None
        outer = QVBoxLayout(self)
        outer.setContentsMargins(12, 10, 8, 10)
        outer.setSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(10)
        picture = IconLabel("error", "fails", 16)
        row.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(2)
        self._message = label("", wrap=True, selectable=True)
        self._hint = label("", "quiet", wrap=True, selectable=True)
        words.addWidget(self._message)
        words.addWidget(self._hint)
        row.addLayout(words, 1)
        self._other = button("", lambda: self._way_on(), role="link")
        self._other.setAccessibleName(self.tr("Another way"))
        self._more = button(self.tr("Details"), self._toggle, role="link")
        self._copy = button(self.tr("Copy"), self.copy, role="link")
        self._copy.setToolTip(self.tr("Copy the message with its details"))
        row.addWidget(self._other, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._more, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._copy, 0, Qt.AlignmentFlag.AlignTop)
        close = icon_button("close", self.tr("Close this message"), self.close_banner)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        outer.addLayout(row)
        self._detail = QPlainTextEdit()
        self._detail.setReadOnly(True)
        self._detail.setAccessibleName(self.tr("Details"))
        self._detail.setMaximumHeight(160)
        self._detail.hide()
        outer.addWidget(self._detail)
        self.hide()

    @property
    def failed(self) -> Failed | None:
        """What is shown, None when hidden."""
        return self._failed

    def show_failure(self, failed: Failed) -> None:
        """Shows it, in place of the one before."""
        from studio.ui.domain_texts import translate_sentence

        self._failed = failed
        self._message.setText(translate_sentence(failed.message))
        hint = translate_sentence(failed.hint)
        if failed.nodes:
            shown = ", ".join(failed.nodes[:6]) + (" …" if len(failed.nodes) > 6 else "")
            hint = f"{hint} {shown}".strip()
        self._hint.setText(hint)
        self._hint.setVisible(bool(hint))
        self._other.hide()
        self._more.setVisible(bool(failed.detail))
        self._detail.setPlainText(failed.detail)
        self._detail.hide()
        self.setAccessibleName(f"{failed.message} {hint}")
        self.show()

    def offer(self, text: str, run: Callable[[], object]) -> None:
        """Adds a button for another way to what the failure stopped; it goes with the failure."""
        self._way_on = run
        self._other.setText(text)
        self._other.setAccessibleName(text)
        self._other.show()

    def close_banner(self) -> None:
        """Hides it."""
        self._failed = None
        self.hide()
        self.closed.emit()

    def copy(self) -> None:
        """Copies all of it, in the words in which it came."""
        if self._failed is not None:
            copy_text(text_of(self._failed))

    def _toggle(self) -> None:
        self._detail.setVisible(self._detail.isHidden())
