"""MatrixView: all operators of the graph against all targets, at a glance."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import (
    QHeaderView,
    QSplitter,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from studio.support import Verdict
from studio.targets import TARGETS
from studio.ui import theme
from studio.ui.session import Session
from studio.ui.tables.matrix_table import MatrixTable
from studio.ui.views.cell_reasons import CellReasons
from studio.ui.widgets.parts import label
from studio.ui.widgets.verdict_pill import PILL_HEIGHT, paint_pill, pill_font, pill_width


class MatrixView(QWidget):
    """A click on a cell marks its nodes in the graph, selects the worst, and lists the reasons below.

    A double click, or *Show … nodes* beside a reason, turns to the graph.
    """

    nodes_chosen = Signal(object, str)
    """(nodes, what they are in words): to be marked in the graph."""
    graph_requested = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Canvas")
        self._session = session
        self.table = MatrixTable(self)
        self._view = QTableView()
        self._view.setModel(self.table)
        self._view.setItemDelegate(_CountsDelegate(self._view))
        self._view.setShowGrid(False)
        self._view.setAlternatingRowColors(True)
        self._view.setColumnHidden(0, True)  # the operators are the row titles, which stay when scrolled
        rows = self._view.verticalHeader()
        rows.setDefaultSectionSize(28)
        rows.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._view.setSelectionBehavior(QTableView.SelectionBehavior.SelectItems)
        header = self._view.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._view.setAccessibleName(self.tr("Operators against targets"))
        self._view.clicked.connect(self._choose)
        self._view.activated.connect(self._show_in_graph)
        self.reasons = CellReasons()
        self.reasons.nodes_requested.connect(self._show_nodes)
        self._words = ""
        self._empty = label(self.tr("Open a graph and choose targets to compare them here."), "quiet")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self._view)
        self._split.addWidget(self.reasons)
        self._split.setStretchFactor(0, 3)
        self._split.setStretchFactor(1, 2)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._split)
        self._stack.addWidget(self._empty)
        session.stage_opened.connect(self.refresh)
        session.current_stage_changed.connect(self.refresh)
        session.project_changed.connect(self.refresh)
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Counts again for the graph that is looked at."""
        opened = self._session.opened
        targets = self._session.project.targets if self._session.project else ()
        self.table.set_graph(opened.graph if opened else None, opened.verdicts if opened else {}, targets)
        has_cells = self.table.rowCount() > 0 and self.table.columnCount() > 2
        self.reasons.hide()
        self._stack.setCurrentWidget(self._split if has_cells else self._empty)

    def _choose(self, index: QModelIndex | QPersistentModelIndex) -> None:
        row, column = index.row(), index.column()
        node, op = self.table.worst_node(row, column), self.table.op_of(row)
        target_id = self.table.target_of(column)
        self._words = f"{op} · {TARGETS[target_id].title}" if target_id else op
        if target_id:
            self._session.set_target(target_id)
            self.reasons.show_reasons(self._words, self.table.reasons(row, column))
        else:
            self.reasons.hide()
        self.nodes_chosen.emit(self.table.nodes(row), self._words)
        if node is not None:
            self._session.select_node(node)  # the graph is not turned to: other cells may be asked next

    def _show_in_graph(self, index: QModelIndex | QPersistentModelIndex) -> None:
        self._choose(index)
        self.graph_requested.emit()

    def _show_nodes(self, nodes: tuple[int, ...]) -> None:
        self.nodes_chosen.emit(nodes, self._words)
        self._session.go_to_node(nodes[0])
        self.graph_requested.emit()


class _CountsDelegate(QStyledItemDelegate):
    """Pills with counts, the worst verdict first."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """As wide as the pills."""
        counts = _counts(index)
        if counts is None:
            return super().sizeHint(option, index)
        font = pill_font(option.font)
        return QSize(12 + sum(pill_width(f"{n:,}", font) + 4 for n in counts.values()), 28)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draws a cell."""
        counts = _counts(index)
        if counts is None:
            super().paint(painter, option, index)
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(theme.current().colors.selection))
        font = pill_font(option.font)
        x = float(option.rect.left() + 6)
        y = option.rect.center().y() - PILL_HEIGHT / 2 + 1
        for verdict, n in counts.items():
            x += paint_pill(painter, x, y, verdict, f"{n:,}", font) + 4
        painter.restore()


def _counts(index: QModelIndex | QPersistentModelIndex) -> dict[Verdict, int] | None:
    """The verdicts of a cell; asked of the table itself, since Qt would turn the keys into text."""
    table = index.model()
    if index.column() < 2 or not isinstance(table, MatrixTable):
        return None
    return table.counts(index.row(), index.column())
