"""AdvicePanel: what the choices of a page mean, one sentence per target."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from studio.recipes.advice import Advice, Level
from studio.targets import TARGETS
from studio.ui.domain_texts import translate_sentence
from studio.ui.widgets.icon_label import IconLabel
from studio.ui.widgets.parts import heading, label

ICONS = {
    Level.GOOD: ("verdict-runs", "runs"),
    Level.INFO: ("info", "quiet"),
    Level.WARN: ("warning", "falls_back"),
    Level.BAD: ("verdict-fails", "fails"),
}


class AdvicePanel(QFrame):
    """A card with a row per target; empty when the project has none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Card")
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 6, 8)
        column.setSpacing(8)
        column.addWidget(heading(self.tr("What it means")))
        self._empty = label(self.tr("Choose targets in the bar of the main window."), "quiet", wrap=True)
        column.addWidget(self._empty)
        body = QWidget()
        self._rows = QVBoxLayout(body)
        self._rows.setContentsMargins(0, 0, 8, 0)
        self._rows.setSpacing(10)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(body)
        column.addWidget(scroll, 1)
        self._shown: tuple[Advice, ...] | None = None

    @property
    def shown(self) -> tuple[Advice, ...]:
        """The advice on show."""
        return self._shown or ()

    def show_advice(self, advice: tuple[Advice, ...]) -> None:
        """Replaces the rows."""
        if advice == self._shown:
            return
        self._shown = advice
        while self._rows.count():
            item = self._rows.takeAt(0)
            widget = item.widget() if item else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self._empty.setVisible(not advice)
        for entry in advice:
            self._rows.addWidget(_row(entry))
        self._rows.addStretch(1)


def _row(entry: Advice) -> QWidget:
    row = QWidget()
    line = QHBoxLayout(row)
    line.setContentsMargins(0, 0, 0, 0)
    line.setSpacing(8)
    name, color = ICONS[entry.level]
    picture = IconLabel(name, color, 14)
    picture.setFixedWidth(14)
    line.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
    words = QVBoxLayout()
    words.setSpacing(1)
    title = TARGETS[entry.target_id].title
    words.addWidget(label(title, wrap=True))
    text = translate_sentence(entry.text)
    words.addWidget(label(text, "quiet", wrap=True))
    line.addLayout(words, 1)
    row.setAccessibleName(f"{title}: {text}")
    if entry.source:
        row.setToolTip(entry.source)
    return row
