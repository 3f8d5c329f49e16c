"""TensorTable: the tensors of a file that holds weights only, a row each."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from studio.graph import Graph
from studio.graph.dtypes import element_count
from studio.ui.node_facts import shape_text
from studio.ui.views.step_texts import bytes_text

_Index = QModelIndex | QPersistentModelIndex
SORT_ROLE = Qt.ItemDataRole.UserRole
_NUMBERS = (3, 4)


class TensorTable(QAbstractTableModel):
    """Name, type, shape, elements, bytes, in file order; a proxy sorts and filters by `SORT_ROLE`."""

    def __init__(self, graph: Graph, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._graph = graph

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Tensors."""
        return 0 if parent.isValid() else self._graph.tensor_count

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Name, type, shape, elements, bytes."""
        return 0 if parent.isValid() else 5

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> str | None:
        """Column titles."""
        if orientation is not Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return (
            self.tr("Tensor"), self.tr("Type"), self.tr("Shape"), self.tr("Elements"), self.tr("Size"),
        )[section]  # fmt: skip

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The texts of a row; numbers to sort by."""
        graph, tensor, column = self._graph, index.row(), index.column()
        if role == Qt.ItemDataRole.TextAlignmentRole and column in _NUMBERS:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, SORT_ROLE):
            return None
        if column == 0:
            return graph.tensor_name[tensor]
        if column == 1:
            return graph.tensor_dtype[tensor] or "?"
        if column == 2:
            return shape_text(graph.tensor_shape[tensor])
        number = element_count(graph.tensor_shape[tensor]) if column == 3 else int(graph.tensor_bytes[tensor])
        if role == SORT_ROLE:
            return number
        if number < 0:
            return "?"
        return f"{number:,}" if column == 3 else bytes_text(number)
