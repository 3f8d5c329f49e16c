"""ProblemList: the problems of the graph that is looked at, filtered, sorted, and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from studio.records import Choice
from studio.support import VERDICTS
from studio.targets import TARGETS
from studio.ui.domain_texts import translate_sentence
from studio.ui.texts import fill
from studio.ui.widgets.verdict_pill import word

if TYPE_CHECKING:
    from studio.graph import Graph
    from studio.support import Problem

_Index = QModelIndex | QPersistentModelIndex

PROBLEM_ROLE = Qt.ItemDataRole.UserRole
NOTE_ROLE = Qt.ItemDataRole.UserRole + 1
VALUE_ROLE = Qt.ItemDataRole.UserRole + 2


class SortBy(Choice):
    """What comes first."""

    COST = "cost"
    VERDICT = "verdict"
    OPERATOR = "operator"


class ProblemList(QAbstractListModel):
    """One row per problem. `find_problems` has sorted them by what they cost."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: tuple[Problem, ...] = ()
        self._shown: list[Problem] = []
        self._graph: Graph | None = None
        self._target_id = ""
        self._sort = SortBy.COST

    @property
    def shown(self) -> list[Problem]:
        """The problems as they are listed."""
        return self._shown

    def set_problems(self, problems: tuple[Problem, ...], graph: Graph | None) -> None:
        """The problems of another graph."""
        self._all, self._graph = problems, graph
        self._rebuild()

    def set_filter(self, target_id: str, sort: SortBy) -> None:
        """Only that target ("" = all), in that order."""
        if (target_id, sort) != (self._target_id, self._sort):
            self._target_id, self._sort = target_id, sort
            self._rebuild()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """How many are listed."""
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Title, tool tip, and what the delegate paints."""
        problem = self._shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{problem.op} · {TARGETS[problem.target_id].title}"
        if role == PROBLEM_ROLE:
            return problem
        if role == NOTE_ROLE:
            return translate_sentence(problem.sentence)
        if role == VALUE_ROLE:
            return self._cost_text(problem)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole):
            lines = [word(problem.verdict), translate_sentence(problem.sentence), problem.source]
            lines.append(self._nodes_text(problem))
            return "\n".join(line for line in lines if line)
        return None

    def _rebuild(self) -> None:
        self.beginResetModel()
        found = [p for p in self._all if not self._target_id or p.target_id == self._target_id]
        if self._sort is SortBy.VERDICT:
            found.sort(key=lambda p: -VERDICTS.index(p.verdict))
        elif self._sort is SortBy.OPERATOR:
            found.sort(key=lambda p: (p.op, p.target_id))
        self._shown = found
        self.endResetModel()

    def _cost_text(self, problem: Problem) -> str:
        fixed = problem.partitions_if_fixed
        if fixed is not None and fixed < problem.partitions:
            return fill(self.tr("{now} → {then} partitions"), now=problem.partitions, then=fixed)
        if problem.macs_share is not None and problem.macs_share >= 0.0005:
            return fill(self.tr("{share} % of MACs"), share=f"{problem.macs_share * 100:.1f}")
        n = len(problem.nodes)
        return self.tr("1 node") if n == 1 else fill(self.tr("{n} nodes"), n=f"{n:,}")

    def _nodes_text(self, problem: Problem) -> str:
        if self._graph is None:
            return ""
        names = ", ".join(self._graph.label(n) for n in problem.nodes[:8])
        return names + (" …" if len(problem.nodes) > 8 else "")
