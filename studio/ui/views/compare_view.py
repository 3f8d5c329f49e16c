"""CompareView: two stages side by side, what changed between them as colours and as a list."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QSplitter,
    QStackedLayout,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from studio.graph import Graph
from studio.graph.diff import Change, ChangeKind, GraphDiff, diff_graphs
from studio.graph.layout import lay_out
from studio.graph.scopes import reveal, scope_tree, toggle_bodies, toggle_scope
from studio.recipes.recipe import Step
from studio.ui.canvas.compare import CompareCanvas
from studio.ui.session import Session
from studio.ui.stages import Stage, StageStatus
from studio.ui.texts import QT_TRANSLATE_NOOP, fill, translate
from studio.ui.views.step_texts import tab_title
from studio.ui.widgets.parts import button, label

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


class CompareView(QWidget):
    """Chooses the first and the last graph of the recipe; any two can be chosen, other files too."""

    other_file_requested = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Canvas")
        self._session = session
        self._shown: tuple[object, object] = (None, None)
        self.canvas = CompareCanvas()
        self.canvas.scope_toggled.connect(self._toggle_scope)
        self.table = ChangeTable(self)
        self._list = difference_list(self.table, self._go)
        self._from, self._to = QComboBox(), QComboBox()
        self._from.setAccessibleName(self.tr("First graph"))
        self._to.setAccessibleName(self.tr("Second graph"))
        for box in (self._from, self._to):
            box.setMinimumWidth(120)
            box.currentIndexChanged.connect(self._on_choice)
        self._counts = label("", "quiet")
        row = QHBoxLayout()
        row.setContentsMargins(12, 6, 12, 6)
        row.setSpacing(8)
        row.addWidget(self._from)
        row.addWidget(label("→", "quiet"))
        row.addWidget(self._to)
        row.addWidget(button(self.tr("Other file…"), self.other_file_requested.emit, role="link"))
        row.addStretch(1)
        row.addWidget(self._counts)
        self._message = label("", "quiet", wrap=True)
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(self.canvas)
        splitter.addWidget(self._list)
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([420, 140])
        body = QWidget()
        self._stack = QStackedLayout(body)
        self._stack.addWidget(splitter)
        self._stack.addWidget(self._message)
        self._splitter = splitter
        column_layout = QVBoxLayout(self)
        column_layout.setContentsMargins(0, 0, 0, 0)
        column_layout.setSpacing(0)
        column_layout.addLayout(row)
        column_layout.addWidget(body, 1)
        session.stages_changed.connect(self.refresh)
        session.stage_opened.connect(self.refresh)
        self.refresh()

    def choose(self, first: str, second: str) -> None:
        """Compares these two stages."""
        self._from.setCurrentIndex(self._from.findData(first))
        self._to.setCurrentIndex(self._to.findData(second))

    def refresh(self, *_: object) -> None:
        """Follows the stages that are there."""
        project = self._session.project
        steps = {s.id: s for s in project.recipe.steps} if project else {}
        stages = [s for s in self._session.stages if s.has_graph and s.path is not None]
        known = [self._from.itemData(i) for i in range(self._from.count())]
        ids = [s.id for s in stages]
        if known != ids:
            first = self._from.currentData() or (ids[0] if ids else "")
            second = self._to.currentData() or (ids[-1] if ids else "")
            for box, wanted in ((self._from, first), (self._to, second)):
                box.blockSignals(True)
                box.clear()
                for stage in stages:
                    box.addItem(stage_title(stage, steps.get(stage.id)), stage.id)
                box.setCurrentIndex(max(0, box.findData(wanted)))
                box.blockSignals(False)
        self._compare()

    def _on_choice(self, _index: int) -> None:
        self._compare()

    def _chosen(self) -> tuple[Stage | None, Stage | None]:
        return (
            self._session.stage(self._from.currentData() or ""),
            self._session.stage(self._to.currentData() or ""),
        )

    def _compare(self) -> None:
        first, second = self._chosen()
        if first is None or second is None or first is second:
            self._say(self.tr("Choose two different graphs."))
            return
        if not self.isVisible():
            return  # opening and comparing waits until somebody looks
        for stage in (first, second):
            if stage.status is StageStatus.FAILED and stage.failure is not None:
                self._say(stage.failure.message)
                return
            if stage.opened is None:
                self._session.open_stage(stage.id)
                self._say(fill(self.tr("Opening {file}…"), file=stage.path.name if stage.path else ""))
                return
        assert first.opened is not None and second.opened is not None
        shown = (first.opened, second.opened)
        self._stack.setCurrentWidget(self._splitter)
        if shown == self._shown:
            return
        self._shown = shown
        diff = diff_graphs(first.opened.graph, second.opened.graph)
        self.canvas.set_graphs(
            (first.opened.graph, first.opened.layout),
            (second.opened.graph, second.opened.layout),
            diff,
            titles=(self._from.currentText(), self._to.currentText()),
        )
        self.table.set_diff(diff, first.opened.graph, second.opened.graph)
        counts = diff.counts()
        self._counts.setText(
            fill(
                self.tr("{same} same · {changed} changed · {added} added · {removed} removed"),
                **{name: f"{n:,}" for name, n in counts.items()},
            )
        )

    def showEvent(self, event: QShowEvent) -> None:
        """Compares when somebody looks."""
        self._compare()

    def _say(self, text: str) -> None:
        self._message.setText(text)
        self._counts.setText("")
        self._stack.setCurrentWidget(self._message)

    def _go(self, row: int) -> None:
        change = self.table.change(row)
        for is_second, node in ((False, change.node_a), (True, change.node_b)):
            self._reveal(node, is_second=is_second)
        self.canvas.show_pair(change.node_a, change.node_b)

    def _reveal(self, node: int, *, is_second: bool) -> None:
        """Opens the scopes around a node of one side."""
        stage = self._chosen()[1 if is_second else 0]
        if node < 0 or stage is None or stage.opened is None:
            return
        opened = stage.opened
        view = reveal(opened.graph, opened.view, node)
        if view != opened.view:
            opened.view, opened.layout = view, lay_out(opened.graph, view)
            self.canvas.set_layout(opened.layout, is_second=is_second)

    def _toggle_scope(self, is_second: bool, scope: int) -> None:
        stage = self._chosen()[1 if is_second else 0]
        if stage is None or stage.opened is None:
            return
        opened = stage.opened
        body = scope - scope_tree(opened.graph).size
        if body >= 0:
            opened.view = toggle_bodies(opened.graph, opened.view, opened.graph.subgraphs[body].parent_node)
        else:
            opened.view = toggle_scope(opened.view, scope)
        opened.layout = lay_out(opened.graph, opened.view)
        self.canvas.set_layout(opened.layout, is_second=is_second)


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
    header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    header.setStretchLastSection(True)
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    for column, width in enumerate((90, 220, 120, 240)):
        header.resizeSection(column, width)
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


def stage_title(stage: Stage, step: Step | None) -> str:
    """What a stage is called in a list: its tab's title, or the file of one that was added."""
    if stage.kind == "other" and stage.path is not None:
        return stage.path.name
    return tab_title(stage.kind, step)
