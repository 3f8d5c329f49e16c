"""LogPanel: what tools and jobs said, newest last; copied or cleared by a click."""

from __future__ import annotations

from PySide6.QtCore import QTime
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from studio.jobs.job import Done, Failed, Log
from studio.ui.session import Session
from studio.ui.views.step_texts import seconds_text
from studio.ui.widgets.banner import text_of
from studio.ui.widgets.parts import button, copy_text

_MOST_LINES = 5_000


class LogPanel(QWidget):
    """Plain text in a fixed-width font."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("DockBody")
        self._session = session
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setMaximumBlockCount(_MOST_LINES)
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(12)
        self._text.setFont(font)
        self._text.setAccessibleName(self.tr("Log"))
        self._text.setPlaceholderText(self.tr("What jobs and tools say appears here."))
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(button(self.tr("Copy all"), lambda: copy_text(self._text.toPlainText()), role="link"))
        row.addWidget(button(self.tr("Clear"), self._text.clear, role="link"))
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 8, 6)
        column.setSpacing(2)
        column.addWidget(self._text)
        column.addLayout(row)
        session.job_event.connect(self._on_event)
        session.job_finished.connect(self._on_finished)
        session.logged.connect(self.add)

    @property
    def text(self) -> str:
        """All lines."""
        return self._text.toPlainText()

    def add(self, who: str, line: str) -> None:
        """Adds a line with the time and who said it."""
        time = QTime.currentTime().toString("HH:mm:ss")
        self._text.appendPlainText(f"{time}  {who}  {line}")
        self._text.horizontalScrollBar().setValue(0)  # a long line must not scroll the times out of sight

    def _on_event(self, job_id: str, event: object) -> None:
        if isinstance(event, Log):
            self.add(self._session.runner.state(job_id).title, event.text)

    def _on_finished(self, job_id: str, outcome: Done | Failed) -> None:
        job = self._session.runner.state(job_id)
        if isinstance(outcome, Failed):
            self.add(job.title, text_of(outcome))
        else:
            self.add(job.title, self.tr("done") + f" ({seconds_text(job.seconds)})")
