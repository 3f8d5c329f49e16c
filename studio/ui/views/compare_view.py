"""CompareView: two stages side by side, what changed between them as colours and as a list."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QSplitter,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from studio.graph.diff import GraphDiff
from studio.graph.diff_store import load_diff
from studio.jobs.job import Done, Failed
from studio.recipes.recipe import Step
from studio.records import from_json
from studio.ui.canvas.compare import CompareCanvas
from studio.ui.domain_texts import translate_sentence
from studio.ui.job_runner import LIGHT
from studio.ui.session import Session
from studio.ui.stages import OpenedGraph, Stage, StageStatus
from studio.ui.tables.change_table import ChangeTable, difference_list
from studio.ui.texts import fill
from studio.ui.views.compare_sides import CompareSides
from studio.ui.views.step_texts import tab_title
from studio.ui.widgets.message_page import MessagePage
from studio.ui.widgets.parts import button, label

_Pair = tuple[OpenedGraph, OpenedGraph, bool]
"""Two opened graphs, and whether their weights are compared."""


class CompareView(QWidget):
    """Chooses the first and the last graph of the recipe; any two can be chosen, other files too."""

    other_file_requested = Signal()
    compared = Signal()
    """A worker has compared the chosen pair, and it is in sight."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Canvas")
        self._session = session
        self._shown: _Pair | None = None
        self._running: tuple[_Pair, str] | None = None  # what a worker compares now, and its job
        self._given_up: _Pair | None = None  # was cancelled or failed: not tried again by itself
        self.canvas = CompareCanvas()
        self._sides = CompareSides(session, self.canvas, self._chosen)
        self.table = ChangeTable(self)
        self._list = difference_list(self.table, self._go)
        self._from, self._to = QComboBox(), QComboBox()
        self._from.setAccessibleName(self.tr("First graph"))
        self._to.setAccessibleName(self.tr("Second graph"))
        for box in (self._from, self._to):
            box.setMinimumWidth(120)
            box.currentIndexChanged.connect(self._on_choice)
        self._weights = QCheckBox(self.tr("Compare weights"))
        self._weights.setToolTip(
            self.tr("Reads all constants of both files; small ones are always compared.")
        )
        self._weights.setChecked(True)
        self._weights.toggled.connect(self._on_choice)
        self._counts = label("", "quiet", wrap=True)  # a low window keeps its width
        self._counts.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row = QHBoxLayout()
        row.setContentsMargins(12, 6, 12, 6)
        row.setSpacing(8)
        row.addWidget(self._from)
        row.addWidget(label("→", "quiet"))
        row.addWidget(self._to)
        row.addWidget(button(self.tr("Other file…"), self.other_file_requested.emit, role="link"))
        row.addWidget(self._weights)
        row.addWidget(self._counts, 1)
        self._message = MessagePage(self)
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
        session.runner.jobs_changed.connect(self._on_progress)
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
            self.stop()
            self._say(self.tr("Choose two different graphs."))
            return
        if not self.isVisible():
            return  # opening and comparing waits until somebody looks
        for stage in (first, second):
            if stage.status is StageStatus.FAILED and stage.failure is not None:
                self._say(translate_sentence(stage.failure.message))
                return
            if stage.opened is None:
                self.stop()  # what was chosen before would come under the names of this pair
                self._session.open_stage(stage.id)
                self._say(fill(self.tr("Opening {file}…"), file=stage.path.name if stage.path else ""))
                self._message.show_busy()
                return
        assert first.opened is not None and second.opened is not None
        pair = (first.opened, second.opened, self._weights.isChecked())
        if pair == self._shown:
            self._sides.refresh()
            self._stack.setCurrentWidget(self._splitter)
        elif pair != self._given_up and (self._running is None or self._running[0] != pair):
            self._start(pair)

    def _start(self, pair: _Pair) -> None:
        """Lets a worker compare; what it compared before is no longer wanted."""
        from studio.jobs.compare_graphs import CompareGraphs

        self._cancel()
        first, second = self._from.currentText(), self._to.currentText()
        title = fill(self.tr("Compare {first} with {second}"), first=first, second=second)
        self._say(title)
        self._message.show_busy()
        self._message.add_button(self.tr("Cancel"), self._cancel)
        job_id = self._session.start(
            CompareGraphs(first=pair[0].graph_path, second=pair[1].graph_path, compare_weights=pair[2]),
            title=title,
            lane=LIGHT,
            then=lambda outcome: self._take(pair, outcome),
            quiet=True,
        )
        self._running = (pair, job_id)

    def _cancel(self) -> None:
        if self._running is not None:
            self._session.cancel(self._running[1])

    def stop(self) -> None:
        """Ends what is compared now, without a word: the view goes away."""
        self._cancel()
        self._running = None

    def _try_again(self) -> None:
        self._given_up = None
        self._compare()

    def _on_progress(self) -> None:
        """How far the worker is, under the title."""
        if self._running is None:
            return
        progress = self._session.runner.state(self._running[1]).progress
        if progress is not None:
            self._message.say(translate_sentence(progress.stage))
            self._message.show_busy(progress.done, progress.total)

    def _take(self, pair: _Pair, outcome: Done | Failed) -> None:
        """Shows what a worker found, unless something else was chosen meanwhile."""
        from studio.jobs.compare_graphs import GraphsCompared

        if self._running is None or self._running[0] != pair:
            return
        self._running = None
        if isinstance(outcome, Done):
            found = from_json(bytes(outcome.result), GraphsCompared, where="compare_graphs")
            with self._session.telling_failures():
                self._show(pair, load_diff(Path(found.diff_path)))
        elif outcome.error == "cancelled":
            self._say(self.tr("Comparing was cancelled."))
            self._given_up = pair
            self._message.add_button(self.tr("Compare again"), self._try_again, primary=True)
        else:
            self._given_up = pair
            self._message.show_failure(outcome, self._try_again)
            self._counts.setText("")
            self._stack.setCurrentWidget(self._message)

    def _show(self, pair: _Pair, diff: GraphDiff) -> None:
        first, second, _ = pair
        self._shown = pair
        self._sides.face(diff)
        self._stack.setCurrentWidget(self._splitter)
        self.canvas.set_graphs(
            (first.graph, first.layout),
            (second.graph, second.layout),
            diff,
            titles=(self._from.currentText(), self._to.currentText()),
            subgraphs=(first.view.subgraph, second.view.subgraph),
        )
        self.table.set_diff(diff, first.graph, second.graph)
        counts = fill(
            self.tr("{same} same · {changed} changed · {added} added · {removed} removed"),
            **{name: f"{n:,}" for name, n in diff.counts().items()},
        )
        self._counts.setText(
            " · ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in counts.split(" · "))
        )
        self._counts.setToolTip("\n".join(diff.notes[:20]))
        self.compared.emit()

    def showEvent(self, event: QShowEvent) -> None:
        """Compares when somebody looks."""
        self._compare()

    def _say(self, text: str) -> None:
        self._message.show_text(text, "")
        self._counts.setText("")
        self._stack.setCurrentWidget(self._message)

    def _go(self, row: int) -> None:
        change = self.table.change(row)
        self._sides.go(change.node_a, change.node_b)


def stage_title(stage: Stage, step: Step | None) -> str:
    """What a stage is called in a list: its tab's title, or the file of one that was added."""
    if stage.kind == "other" and stage.path is not None:
        return stage.path.name
    return tab_title(stage.kind, step)
