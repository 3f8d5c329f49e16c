"""CellReasons: why the nodes of a cell of the matrix have their verdicts, a reason a line."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from studio.ui.domain_texts import translate_sentence
from studio.ui.tables.matrix_table import CellReason
from studio.ui.texts import fill
from studio.ui.views.verdict_card import source_text
from studio.ui.widgets.parts import button, label
from studio.ui.widgets.verdict_pill import VerdictPill

_MOST_SHOWN = 30


class CellReasons(QWidget):
    """Below the matrix: the worst verdict first, each reason with its source and its nodes."""

    nodes_requested = Signal(object)
    """Show these nodes in the graph."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("DockBody")
        self._title = label("", "title")
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 8, 8, 8)
        column.setSpacing(4)
        column.addWidget(self._title)
        column.addWidget(self._area, 1)
        self.hide()

    def show_reasons(self, title: str, reasons: list[CellReason]) -> None:
        """Lists the reasons of a cell."""
        self._title.setText(title)
        body = QWidget()
        rows = QVBoxLayout(body)
        rows.setContentsMargins(0, 0, 6, 0)
        rows.setSpacing(8)
        for reason in reasons[:_MOST_SHOWN]:
            rows.addWidget(self._row(reason))
        if len(reasons) > _MOST_SHOWN:
            more = fill(self.tr("… and {n} more"), n=f"{len(reasons) - _MOST_SHOWN:,}")
            rows.addWidget(label(more, "small"))
        rows.addStretch(1)
        self._area.setWidget(body)
        self.show()

    def _row(self, reason: CellReason) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(10)
        line.addWidget(VerdictPill(reason.verdict), 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(1)
        text = translate_sentence(reason.reason.text) or self.tr("No reason is given.")
        words.addWidget(label(text, wrap=True, selectable=True))
        words.addWidget(label(source_text(reason.reason), "small", wrap=True, selectable=True))
        line.addLayout(words, 1)
        n = len(reason.nodes)
        title = self.tr("Show 1 node") if n == 1 else fill(self.tr("Show {n} nodes"), n=f"{n:,}")
        show = button(title, partial(self.nodes_requested.emit, reason.nodes), role="link")
        line.addWidget(show, 0, Qt.AlignmentFlag.AlignTop)
        return row
