"""MatrixTable: operators down, targets across, in each cell how many nodes have which verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from studio.support import VERDICTS, Reason, TargetVerdicts, Verdict
from studio.targets import TARGETS
from studio.ui.widgets.verdict_pill import word

if TYPE_CHECKING:
    from studio.graph import Graph

_Index = QModelIndex | QPersistentModelIndex

_SEVERITY = (Verdict.FAILS, Verdict.FALLS_BACK, Verdict.UNKNOWN, Verdict.CONDITIONAL, Verdict.RUNS)


@dataclass(frozen=True, slots=True)
class CellReason:
    """One reason in a cell and the nodes that it holds for."""

    verdict: Verdict
    reason: Reason
    nodes: tuple[int, ...]


class MatrixTable(QAbstractTableModel):
    """Rows are sorted by how bad the worst target is, then by number of nodes."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ops: list[str] = []
        self._totals: list[int] = []
        self._targets: list[str] = []
        self._counts: np.ndarray[Any, Any] = np.zeros((0, 0, len(VERDICTS)), np.int64)
        self._nodes: dict[str, np.ndarray[Any, Any]] = {}
        self._verdicts: dict[str, TargetVerdicts] = {}

    def set_graph(
        self, graph: Graph | None, verdicts: dict[str, TargetVerdicts], targets: Sequence[str]
    ) -> None:
        """Counts the verdicts of a graph for those targets that were judged."""
        self.beginResetModel()
        self._targets = [t for t in targets if t in verdicts]
        self._verdicts = verdicts
        ops = np.array(graph.node_op if graph else [], dtype=object)
        names, inverse = np.unique(ops.astype(str), return_inverse=True)
        counts = np.zeros((len(names), len(self._targets), len(VERDICTS)), np.int64)
        for column, target_id in enumerate(self._targets):
            np.add.at(counts[:, column, :], (inverse, verdicts[target_id].codes), 1)
        bad = [VERDICTS.index(v) for v in (Verdict.FAILS, Verdict.FALLS_BACK, Verdict.UNKNOWN)]
        trouble = counts[:, :, bad].sum(axis=(1, 2)) if len(names) else np.zeros(0)
        totals = np.bincount(inverse, minlength=len(names)) if len(ops) else np.zeros(0, np.int64)
        order = np.lexsort((names, -totals, -trouble)) if len(names) else np.zeros(0, np.int64)
        self._ops = [str(names[i]) for i in order]
        self._totals = [int(totals[i]) for i in order]
        self._counts = counts[order]
        self._nodes = {str(names[i]): np.flatnonzero(inverse == i) for i in order}
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Operators."""
        return 0 if parent.isValid() else len(self._ops)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """The operator, the number of nodes, and one column per target."""
        return 0 if parent.isValid() else 2 + len(self._targets)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Column titles; the operators are titles of the rows."""
        if orientation is Qt.Orientation.Vertical and role == Qt.ItemDataRole.DisplayRole:
            return self._ops[section]
        if orientation is not Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        if section == 0:
            return self.tr("Operator")
        return self.tr("Nodes") if section == 1 else TARGETS[self._targets[section - 2]].title

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Texts, and the counts that the delegate paints."""
        row, column = index.row(), index.column()
        if role == Qt.ItemDataRole.TextAlignmentRole and column == 1:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if column == 0:
            return self._ops[row] if role == Qt.ItemDataRole.DisplayRole else None
        if column == 1:
            return f"{self._totals[row]:,}" if role == Qt.ItemDataRole.DisplayRole else None
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            said = ", ".join(f"{n} {word(v)}" for v, n in self.counts(row, column).items())
            reason = self._reason(row, column)
            return f"{said}\n{reason}" if reason else said
        return None

    def counts(self, row: int, column: int) -> dict[Verdict, int]:
        """The verdicts in a cell, the worst first."""
        cell = self._counts[row, column - 2]
        return {v: int(cell[VERDICTS.index(v)]) for v in _SEVERITY if cell[VERDICTS.index(v)]}

    def target_of(self, column: int) -> str:
        """The target of a column, "" for the first two."""
        return self._targets[column - 2] if column >= 2 else ""

    def worst_node(self, row: int, column: int) -> int | None:
        """A node of that operator with the worst verdict of the cell."""
        nodes = self._nodes[self._ops[row]]
        if column < 2:
            return int(nodes[0]) if len(nodes) else None
        codes = self._verdicts[self.target_of(column)].codes[nodes]
        for verdict in _SEVERITY:
            found = np.flatnonzero(codes == VERDICTS.index(verdict))
            if len(found):
                return int(nodes[found[0]])
        return None

    def nodes(self, row: int) -> tuple[int, ...]:
        """The nodes of a row's operator."""
        return tuple(self._nodes[self._ops[row]].tolist())

    def op_of(self, row: int) -> str:
        """The operator of a row."""
        return self._ops[row]

    def reasons(self, row: int, column: int) -> list[CellReason]:
        """Why the nodes of a cell have their verdicts: the worst first, then what holds for most."""
        if column < 2:
            return []
        found = self._verdicts[self.target_of(column)]
        groups: dict[tuple[Verdict, Reason], list[int]] = {}
        for node in self._nodes[self._ops[row]].tolist():
            groups.setdefault((found.verdict(node), found.reason(node)), []).append(node)
        ranked = sorted(groups.items(), key=lambda g: (_SEVERITY.index(g[0][0]), -len(g[1]), g[1][0]))
        return [CellReason(verdict, reason, tuple(nodes)) for (verdict, reason), nodes in ranked]

    def _reason(self, row: int, column: int) -> str:
        from studio.ui.domain_texts import translate_sentence

        node = self.worst_node(row, column)
        if node is None:
            return ""
        return translate_sentence(self._verdicts[self.target_of(column)].reason(node).text)
