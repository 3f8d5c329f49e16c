"""StageArea: the middle of the window: a tab per stage, the matrix, the comparison, and empty states."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from studio.graph import Graph
from studio.graph.tensor_list import holds_weights_only
from studio.ui.session import Session
from studio.ui.stages import Stage, StageStatus
from studio.ui.texts import fill
from studio.ui.views.compare_view import CompareView, stage_title
from studio.ui.views.graph_view import GraphView
from studio.ui.views.matrix_view import MatrixView
from studio.ui.views.tensor_list_view import TensorListView
from studio.ui.widgets.message_page import MessagePage

MATRIX = "matrix"
COMPARE = "compare"


class StageArea(QWidget):
    """Tabs and what they show. The tabs of stages without a graph are left out."""

    wizard_requested = Signal(str)
    run_requested = Signal(str)
    """Run this step."""
    netron_requested = Signal()
    tensor_requested = Signal(int)
    """Show the values of this constant."""
    menu_requested = Signal(QPoint)
    """The context menu of the graph, at this point of the screen."""
    beside_requested = Signal()
    """Open another file beside the project."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Canvas")
        self._session = session
        self._views: dict[int, GraphView] = {}
        self._tensors: tuple[Stage, TensorListView] | None = None
        self._keys: list[str] = []
        self._tabs = QTabBar()
        self._tabs.setExpanding(False)
        self._tabs.setDrawBase(False)
        self._tabs.setUsesScrollButtons(True)
        self._tabs.setAccessibleName(self.tr("Stages"))
        self._tabs.currentChanged.connect(self._on_tab)
        self._stack = QStackedWidget()
        self.matrix = MatrixView(session)
        self.matrix.nodes_chosen.connect(self.mark_nodes)
        self.matrix.graph_requested.connect(lambda: self.show_tab(session.current_stage_id))
        self._stack.addWidget(self.matrix)
        self._compare: CompareView | None = None
        self._message = MessagePage(self)
        self._offers_run = True
        self._stack.addWidget(self._message)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._tools = QStackedWidget()
        self._tools.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._no_tools = QWidget()
        self._tools.addWidget(self._no_tools)
        row = QHBoxLayout()
        row.setContentsMargins(12, 4, 8, 0)
        row.setSpacing(12)
        row.addWidget(self._tabs, 0, Qt.AlignmentFlag.AlignBottom)
        row.addWidget(self._tools, 1)
        column.addLayout(row)
        column.addWidget(self._stack, 1)
        session.stages_changed.connect(self.refresh)
        session.jobs_changed.connect(self._on_jobs)
        session.current_stage_changed.connect(self._on_stage)
        session.stage_opened.connect(self.refresh)
        session.project_opened.connect(self._on_project)
        session.node_requested.connect(self._on_node_requested)
        self.refresh()

    @property
    def current_key(self) -> str:
        """The stage id, "matrix" or "compare" that is shown."""
        index = self._tabs.currentIndex()
        return self._keys[index] if 0 <= index < len(self._keys) else ""

    @property
    def graph_view(self) -> GraphView | None:
        """The graph that is in sight."""
        widget = self._stack.currentWidget()
        return widget if isinstance(widget, GraphView) else None

    def show_tab(self, key: str) -> None:
        """Turns to a stage, to the matrix, or to the comparison."""
        if key in self._keys:
            self._tabs.setCurrentIndex(self._keys.index(key))

    def refresh(self, *_: object) -> None:
        """Follows the stages: which tabs there are, and what the current one shows."""
        stages = [s for s in self._session.stages if s.has_graph and (s.path or s.artifact)]
        keys = [s.id for s in stages]
        if stages:
            keys += [MATRIX] + ([COMPARE] if len(stages) > 1 else [])
        if keys != self._keys:
            self._make_tabs(keys)
        self._show_current()

    def _make_tabs(self, keys: list[str]) -> None:
        shown = self.current_key
        steps = {s.id: s for s in self._session.project.recipe.steps} if self._session.project else {}
        self._tabs.blockSignals(True)
        while self._tabs.count():
            self._tabs.removeTab(0)
        self._keys = keys
        for key in keys:
            stage = self._session.stage(key)
            if stage is not None:
                self._tabs.addTab(stage_title(stage, steps.get(key)))
            else:
                self._tabs.addTab(self.tr("Matrix") if key == MATRIX else self.tr("Compare"))
        wanted = shown if shown in keys else self._session.current_stage_id
        self._tabs.setCurrentIndex(keys.index(wanted) if wanted in keys else 0)
        self._tabs.blockSignals(False)
        self._tabs.setVisible(bool(keys))

    def _on_tab(self, _index: int) -> None:
        key = self.current_key
        if self._session.stage(key) is not None:
            self._session.set_current_stage(key)
        self._show_current()

    def _on_stage(self, stage_id: str) -> None:
        self.show_tab(stage_id)
        self._show_current()

    def _on_node_requested(self, _node: int) -> None:
        self.show_tab(self._session.current_stage_id)

    def mark_nodes(self, nodes: tuple[int, ...], words: str) -> None:
        """Fades all other nodes of the current stage's graph, in sight or not."""
        stage = self._session.current_stage
        view = self._views.get(id(stage)) if stage is not None else None
        if view is not None:
            view.focus_on(nodes, words)

    def _on_project(self) -> None:
        for view in self._views.values():
            self._stack.removeWidget(view)
            self._tools.removeWidget(view.bar)
            view.bar.deleteLater()
            view.deleteLater()
        self._views.clear()
        self._forget_tensors()
        if self._compare is not None:
            self._compare.stop()
            self._stack.removeWidget(self._compare)
            self._compare.deleteLater()
            self._compare = None

    def _show_current(self) -> None:
        key = self.current_key
        if key == MATRIX:
            self._stack.setCurrentWidget(self.matrix)
        elif key == COMPARE:
            self._stack.setCurrentWidget(self._compare_view())
        else:
            self._show_stage(self._session.stage(key or self._session.current_stage_id))
        view = self.graph_view
        self._tools.setCurrentWidget(view.bar if view is not None else self._no_tools)

    def _compare_view(self) -> QWidget:
        if self._compare is None:
            compare = CompareView(self._session)
            compare.other_file_requested.connect(self.beside_requested)
            self._compare = compare
            self._stack.addWidget(self._compare)
        return self._compare

    def _show_stage(self, stage: Stage | None) -> None:
        if stage is None:
            self._message.show_text("", "")
            self._stack.setCurrentWidget(self._message)
        elif stage.opened is not None and holds_weights_only(stage.opened.graph):
            self._stack.setCurrentWidget(self._tensor_list(stage, stage.opened.graph))
        elif stage.status is StageStatus.OPEN and stage.opened is not None:
            view = self._views.get(id(stage))
            if view is None:
                view = self._views[id(stage)] = GraphView(self._session, stage)
                view.beside_requested.connect(self.beside_requested)
                view.canvas.menu_requested.connect(self.menu_requested)
                self._stack.addWidget(view)
                self._tools.addWidget(view.bar)
                if len(self._views) == 1 and self.window().focusWidget() in (None, self._tabs):
                    view.canvas.setFocus()  # the keys are for the graph that was just opened
            self._stack.setCurrentWidget(view)
        else:
            self._show_message(stage)
            self._stack.setCurrentWidget(self._message)

    def _tensor_list(self, stage: Stage, graph: Graph) -> TensorListView:
        if self._tensors is None or self._tensors[0] is not stage:
            self._forget_tensors()
            view = TensorListView(graph)
            view.tensor_requested.connect(self.tensor_requested)
            self._stack.addWidget(view)
            self._tensors = (stage, view)
        return self._tensors[1]

    def _forget_tensors(self) -> None:
        if self._tensors is not None:
            self._stack.removeWidget(self._tensors[1])
            self._tensors[1].deleteLater()
            self._tensors = None

    def _show_message(self, stage: Stage) -> None:
        message = self._message
        self._offers_run = not self._is_recipe_running
        if stage.status is StageStatus.FAILED and stage.failure is not None:
            message.show_failure(stage.failure, self._retry(stage))
            message.add_button(self.tr("Open in Netron"), self.netron_requested.emit)
        elif stage.path is not None and stage.path.suffix == ".py":
            message.show_text(
                self.tr("The source is Python"),
                self.tr("Its graph appears once it is exported. Nothing of it runs before you trust it."),
            )
            if self._is_recipe_running:
                message.show_busy()
                return
            message.add_button(self.tr("Export now"), lambda: self.run_requested.emit("export"))
            message.add_button(self.tr("Start wizard…"), lambda: self.wizard_requested.emit(""))
        elif stage.status is StageStatus.OPENING:
            name = stage.path.name if stage.path else ""
            message.show_text(fill(self.tr("Opening {file}…"), file=name), "")
            message.show_busy()
        else:
            message.show_text(self.tr("This step has not run yet"), self.tr("Run it to see what it makes."))
            if self._is_recipe_running:
                message.show_busy()
            else:
                message.add_button(self.tr("Run"), lambda: self.run_requested.emit(stage.id))

    @property
    def _is_recipe_running(self) -> bool:
        return any(job.kind == "run_recipe" and not job.is_over for job in self._session.jobs)

    def _on_jobs(self) -> None:
        """What cannot be pressed twice is not offered while the recipe runs."""
        if self._offers_run != (not self._is_recipe_running) and self._stack.currentWidget() is self._message:
            self._show_current()

    def _retry(self, stage: Stage) -> Callable[[], object]:
        return lambda: self._session.open_stage(stage.id, again=True)
