"""ChangeTable: the differences of two graphs, a row each, and the list that shows them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QHeaderView, QTableView

from studio.graph import Graph
from studio.graph.diff import Change, ChangeKind, GraphDiff
from studio.ui.texts import QT_TRANSLATE_NOOP, translate

_KINDS = {
    ChangeKind.ADDED: QT_TRANSLATE_NOOP("CompareView", "added"),
    ChangeKind.REMOVED: QT_TRANSLATE_NOOP("CompareView", "removed"),
    ChangeKind.OPERATOR: QT_TRANSLATE_NOOP("CompareView", "operator"),
    ChangeKind.ATTRIBUTE: QT_TRANSLATE_NOOP("CompareView", "attribute"),
    ChangeKind.SHAPE: QT_TRANSLATE_NOOP("CompareView", "shape"),
    ChangeKind.DTYPE: QT_TRANSLATE_NOOP("CompareView", "type"),
    ChangeKind.QUANTIZATION: QT_TRANSLATE_NOOP("CompareView", "quantisation"),
    ChangeKind.INPUTS: QT_TRANSLATE_NOOP("CompareView", "inputs"),
    ChangeKind.WEIGHTS: QT_TRANSLATE_NOOP("CompareView", "weights"),
}
_Index = QModelIndex | QPersistentModelIndex


def difference_list(table: ChangeTable, go: Callable[[int], object]) -> QTableView:
    """A list of the table's differences; a click or Enter calls `go` with the row."""
    view = QTableView()
    view.setModel(table)
    view.verticalHeader().hide()
    view.verticalHeader().setDefaultSectionSize(24)
    view.setShowGrid(False)
    view.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
    view.setAccessibleName(translate("CompareView", "Differences"))
    header = view.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)  # all are seen; tool tips say what is cut
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
    header.resizeSection(0, 110)
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    view.clicked.connect(lambda index: go(index.row()))
    view.activated.connect(lambda index: go(index.row()))
    return view


class ChangeTable(QAbstractTableModel):
    """One row per difference: kind, node, what, before → after."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._changes: tuple[Change, ...] = ()
        self._graphs: tuple[Graph, Graph] | None = None

    def set_diff(self, diff: GraphDiff, first: Graph, second: Graph) -> None:
        """The differences of another pair."""
        self.beginResetModel()
        self._changes, self._graphs = diff.changes, (first, second)
        self.endResetModel()

    def change(self, row: int) -> Change:
        """The difference in a row."""
        return self._changes[row]

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Differences."""
        return 0 if parent.isValid() else len(self._changes)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Kind, node, what, before, after."""
        return 0 if parent.isValid() else 5

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> str | None:
        """Column titles."""
        if orientation is not Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return (
            self.tr("Difference"), self.tr("Node"), self.tr("What"), self.tr("Before"), self.tr("After"),
        )[section]  # fmt: skip

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        """The texts of a row."""
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole) or self._graphs is None:
            return None
        change = self._changes[index.row()]
        first, second = self._graphs
        node = second.label(change.node_b) if change.node_b >= 0 else first.label(change.node_a)
        kind = translate("CompareView", _KINDS[change.kind])
        return (kind, node, change.what, change.before, change.after)[index.column()]
