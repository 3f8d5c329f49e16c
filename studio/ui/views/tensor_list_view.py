"""TensorListView: what a file of weights holds (GGUF, safetensors), where a model has its graph."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QLineEdit, QTableView, QVBoxLayout, QWidget

from studio.graph import Graph
from studio.ui.icons import icon
from studio.ui.tables.tensor_table import SORT_ROLE, TensorTable
from studio.ui.texts import fill
from studio.ui.widgets.parts import label


class TensorListView(QWidget):
    """A list to filter and to sort; a double click or Enter shows a tensor's values."""

    tensor_requested = Signal(int)
    """Show the values of this tensor."""

    def __init__(self, graph: Graph, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Canvas")
        self._total = graph.tensor_count
        self.table = QSortFilterProxyModel(self)
        self.table.setSourceModel(TensorTable(graph, self))
        self.table.setSortRole(SORT_ROLE)
        self.table.setFilterKeyColumn(-1)
        self.table.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.field = QLineEdit()
        self.field.setPlaceholderText(self.tr("Filter: a part of a name, a type or a shape"))
        self.field.setAccessibleName(self.tr("Filter the tensors"))
        self.field.addAction(icon("search", "quiet"), QLineEdit.ActionPosition.LeadingPosition)
        self.field.setClearButtonEnabled(True)
        self.field.setMaximumWidth(420)
        self.field.textChanged.connect(self._filter)
        self.view = QTableView()
        self.view.setModel(self.table)
        self.view.setAccessibleName(self.tr("Tensors"))
        self.view.verticalHeader().hide()
        self.view.verticalHeader().setDefaultSectionSize(26)
        self.view.setShowGrid(False)
        self.view.setAlternatingRowColors(True)
        self.view.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.view.setSortingEnabled(True)
        header = self.view.horizontalHeader()
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)  # the file's order
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.view.activated.connect(self._show_values)
        self._count = label("", "small")
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(8)
        hint = self.tr("This file holds weights and no graph. Double-click a tensor to see its values.")
        column.addWidget(label(hint, "quiet", wrap=True))
        column.addWidget(self.field)
        column.addWidget(self.view, 1)
        column.addWidget(self._count)
        self._filter("")

    def _filter(self, text: str) -> None:
        self.table.setFilterFixedString(text.strip())
        shown = self.table.rowCount()
        words = self.tr("{n} tensors") if shown == self._total else self.tr("{n} of {total} tensors")
        self._count.setText(fill(words, n=f"{shown:,}", total=f"{self._total:,}"))

    def _show_values(self, index: QModelIndex | QPersistentModelIndex) -> None:
        self.tensor_requested.emit(self.table.mapToSource(index).row())
