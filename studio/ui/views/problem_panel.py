"""ProblemPanel: what is wrong with this model on these targets; a click goes to the node."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QListView,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from studio.backends.packages import package_version
from studio.graph.tensor_list import holds_weights_only
from studio.targets import TARGETS
from studio.ui import theme
from studio.ui.icons import paint_icon
from studio.ui.session import Session
from studio.ui.tables.problem_list import NOTE_ROLE, PROBLEM_ROLE, VALUE_ROLE, ProblemList, SortBy
from studio.ui.views.partition_rows import tax_text
from studio.ui.views.verdict_card import fix_title
from studio.ui.widgets.parts import ElidedLabel, button, copy_text, label

_ALL = "*"
_PACKAGES = {
    "ort": "onnxruntime", "litert": "ai-edge-litert", "executorch": "executorch", "pytorch-mobile": "torch",
}  # fmt: skip
"""runtime → the distribution whose version an issue should name."""


class ProblemPanel(QWidget):
    """A list with a filter by target, an order, and *copy as Markdown*."""

    count_changed = Signal(int)
    fix_requested = Signal(str, int)
    """Apply this fix where this node needs it."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("DockBody")
        self._session = session
        self._turn = (-1, -1)  # (row, which of its nodes was shown last)
        self.list = ProblemList(self)
        self._view = QListView()
        self._view.setModel(self.list)
        self._view.setItemDelegate(_ProblemDelegate(self._view))
        self._view.setUniformItemSizes(True)
        self._view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._view.setAccessibleName(self.tr("Problems"))
        self._view.clicked.connect(self._show_node)
        self._view.activated.connect(self._show_node)
        self._target = QComboBox()
        self._target.setAccessibleName(self.tr("Problems of which target"))
        self._target.currentIndexChanged.connect(self._on_filter)
        self._target.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._target.setMinimumContentsLength(8)
        self._sort = QComboBox()
        self._sort.setAccessibleName(self.tr("Order of the problems"))
        self._sort.addItem(self.tr("by cost"), SortBy.COST)
        self._sort.addItem(self.tr("by verdict"), SortBy.VERDICT)
        self._sort.addItem(self.tr("by operator"), SortBy.OPERATOR)
        self._sort.currentIndexChanged.connect(self._on_filter)
        self._copy = button(self.tr("Copy"), self.copy_markdown, role="link")
        self._fix = button(self.tr("Fix…"), self._ask_for_fix, role="link")
        self._view.selectionModel().currentChanged.connect(self._show_fix)
        self._copy.setToolTip(self.tr("Copy the listed problems as Markdown"))
        row = QHBoxLayout()
        row.setContentsMargins(10, 0, 8, 0)
        row.setSpacing(6)
        row.addWidget(self._target, 1)
        row.addWidget(self._sort)
        row.addWidget(self._fix)
        row.addWidget(self._copy)
        self._empty = label("", "quiet", wrap=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._empty.setContentsMargins(14, 6, 14, 6)
        body = QWidget()
        self._stack = QStackedLayout(body)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self._view)
        self._stack.addWidget(self._empty)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(body, 1)
        self._tax = ElidedLabel("", "small")
        below = QHBoxLayout()
        below.setContentsMargins(14, 0, 12, 0)
        below.addWidget(self._tax)
        column.addLayout(below)
        self._tools = (self._target, self._sort, self._fix, self._copy)
        session.project_changed.connect(self.refresh)
        session.stage_opened.connect(self.refresh)
        session.stages_changed.connect(self.refresh)
        session.current_stage_changed.connect(self.refresh)
        session.target_changed.connect(self._show_tax)
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Lists the problems of the graph that is looked at."""
        opened = self._session.opened
        self._fill_targets()
        shown = (opened.problems if opened else (), opened.graph if opened else None)
        self.list.set_problems(*shown)
        self._on_filter()

    def copy_markdown(self) -> None:
        """Puts the list on the clipboard as Markdown, with model, targets and versions above it."""
        from studio.report.problems_markdown import problems_markdown

        session = self._session
        stage, opened = session.current_stage, session.opened
        if stage is None or opened is None:
            return
        targets = dict.fromkeys(p.target_id for p in self.list.shown)
        names = dict.fromkeys(_PACKAGES.get(TARGETS[t].runtime, "") for t in targets)
        text = problems_markdown(
            opened.graph,
            self.list.shown,
            opened.verdicts,
            file=stage.path.name if stage.path else stage.id,
            soc=session.project.soc if session.project else "",
            versions={name: package_version(name) for name in names if name},
        )
        copy_text(text)

    def next_problem(self) -> None:
        """Goes to the next problem of the list."""
        count = self.list.rowCount()
        if count:
            row = (self._view.currentIndex().row() + 1) % count
            self._view.setCurrentIndex(self.list.index(row))
            self._show_node(self.list.index(row))

    def _fill_targets(self) -> None:
        wanted = self._session.project.targets if self._session.project else ()
        known = [self._target.itemData(i) for i in range(self._target.count())]
        if known == [_ALL, *wanted]:
            return
        chosen = self._target.currentData()
        self._target.blockSignals(True)
        self._target.clear()
        self._target.addItem(self.tr("All targets"), _ALL)
        for target_id in wanted:
            self._target.addItem(TARGETS[target_id].title, target_id)
        self._target.setCurrentIndex(max(0, self._target.findData(chosen)))
        self._target.blockSignals(False)

    def _on_filter(self, *_: object) -> None:
        target = self._target.currentData()
        self.list.set_filter("" if target in (None, _ALL) else target, SortBy(self._sort.currentData()))
        self._turn = (-1, -1)
        count = self.list.rowCount()
        self._stack.setCurrentWidget(self._view if count else self._empty)
        has_graph = self._session.opened is not None
        for tool in self._tools:
            tool.setVisible(has_graph)
        self._copy.setEnabled(count > 0)
        self._show_fix()
        if not count:
            self._empty.setText(self._why_empty())
        self.count_changed.emit(count)
        self._show_tax()

    def _show_fix(self, *_: object) -> None:
        """The first fix of the problem that is chosen, by name in the tool tip."""
        problem = self._view.currentIndex().data(PROBLEM_ROLE)
        fixes = problem.fixes if problem is not None else ()
        self._fix.setEnabled(bool(fixes))
        self._fix.setToolTip(fix_title(fixes[0]) if fixes else self.tr("Choose a problem that has a fix"))

    def _ask_for_fix(self) -> None:
        problem = self._view.currentIndex().data(PROBLEM_ROLE)
        if problem is not None and problem.fixes:
            self._session.set_target(problem.target_id)
            self.fix_requested.emit(problem.fixes[0], int(problem.nodes[0]))

    def _show_tax(self, *_: object) -> None:
        """Transposes and their bytes on the target that is listed, else on the one that is looked at."""
        opened, chosen = self._session.opened, self._target.currentData()
        target_id = self._session.target_id if chosen in (None, _ALL) else chosen
        tax = opened.layout_tax(target_id) if opened is not None else None
        has_tax = tax is not None and bool(tax.held or tax.inserted)
        if tax is not None and has_tax:
            self._tax.setText(f"{TARGETS[target_id].title} · {tax_text(tax)}")
        self._tax.setVisible(has_tax)

    def _why_empty(self) -> str:
        session = self._session
        if session.project is None:
            return self.tr("Open a model to see what its targets do not take, why, and what helps.")
        if session.opened is None:
            return self.tr("The graph is not open yet.")
        if holds_weights_only(session.opened.graph):
            return self.tr("This file holds weights only: there is nothing to judge.")
        if not session.project.targets:
            return self.tr("Choose targets above to see what they do not take.")
        if not session.opened.verdicts:
            return self.tr("This graph was not judged; the log says why.")
        return self.tr("Nothing here: every node runs where it was asked to.")

    def _show_node(self, index: QModelIndex | QPersistentModelIndex) -> None:
        """Selects the problem's first node; clicking again walks through the others."""
        problem = index.data(PROBLEM_ROLE)
        if problem is None or not problem.nodes:
            return
        turn = self._turn[1] + 1 if self._turn[0] == index.row() else 0
        self._turn = (index.row(), turn % len(problem.nodes))
        self._session.set_target(problem.target_id)
        self._session.go_to_node(int(problem.nodes[self._turn[1]]))


class _ProblemDelegate(QStyledItemDelegate):
    """Two lines: icon, operator and target; below what it costs and why."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Room for both lines."""
        return QSize(120, QFontMetrics(option.font).height() + 26)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draws one problem."""
        colors = theme.current().colors
        problem = index.data(PROBLEM_ROLE)
        box = QRect(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, QColor(colors.selection))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, QColor(colors.hover))
        painter.setPen(QColor(colors.line))
        painter.drawLine(box.left() + 14, box.bottom(), box.right() - 10, box.bottom())
        metrics = QFontMetrics(option.font)
        line = QRect(box.left() + 36, box.top() + 6, box.width() - 48, metrics.height())
        icon_box = QRectF(box.left() + 14, line.center().y() - 6, 13, 13)
        paint_icon(painter, f"verdict-{problem.verdict.value}", icon_box, problem.verdict.value)
        middle = Qt.AlignmentFlag.AlignVCenter
        small = QFont(option.font)
        small.setPixelSize(11)
        small_metrics = QFontMetrics(small)
        painter.setFont(option.font)
        painter.setPen(QColor(colors.text))
        title = str(index.data(Qt.ItemDataRole.DisplayRole))
        title = metrics.elidedText(title, Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(line, int(Qt.AlignmentFlag.AlignLeft | middle), title)
        painter.setFont(small)
        painter.setPen(QColor(colors.quiet))
        note_line = QRect(line.left(), line.bottom() + 3, line.width(), small_metrics.height())
        note = f"{index.data(VALUE_ROLE)} · {index.data(NOTE_ROLE)}"
        note = small_metrics.elidedText(note, Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(note_line, int(Qt.AlignmentFlag.AlignLeft | middle), note)
        painter.restore()
