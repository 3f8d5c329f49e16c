"""RecipePanel: where am I in the recipe, what is next (one button), what came out so far."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from studio.recipes.recipe import SOURCE, Step
from studio.ui.domain_texts import translate_sentence
from studio.ui.job_runner import JobStatus
from studio.ui.runnable import can_ever_run
from studio.ui.session import Session
from studio.ui.so_far import figures_of, next_step
from studio.ui.stages import OTHER, Stage, StageStatus
from studio.ui.texts import fill
from studio.ui.views.step_texts import bytes_text, seconds_text, step_note, step_title
from studio.ui.widgets.parts import ElidedLabel, button, heading, label
from studio.ui.widgets.row import Row


class RecipePanel(QWidget):
    """One row per step; a click looks at what the step made, or opens the wizard at it."""

    wizard_requested = Signal(str)
    """The wizard, at the page of this step's kind ("" = where work goes on)."""
    deploy_requested = Signal()
    save_requested = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("DockBody")
        self._session = session
        self._rows: dict[str, Row] = {}
        self._shown_figures: list[tuple[str, str]] | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 0, 6, 8)
        column.setSpacing(0)
        body = QWidget()
        self._steps = QVBoxLayout(body)
        self._steps.setContentsMargins(0, 0, 0, 0)
        self._steps.setSpacing(0)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(body)
        column.addWidget(self._scroll, 1000)
        self._teach = label(
            self.tr("The steps appear here with a model: export, quantize, convert, verify, deploy."),
            "quiet",
            wrap=True,
        )
        self._teach.setContentsMargins(8, 0, 8, 0)
        column.addWidget(self._teach)
        column.addSpacing(8)
        self._below = QWidget()
        inner = QVBoxLayout(self._below)
        inner.setContentsMargins(8, 0, 8, 0)
        inner.setSpacing(6)
        column.addWidget(self._below)
        self._next = button("", self._on_next, role="primary")
        self._next.setObjectName("NextStep")
        inner.addWidget(self._next)
        self._advice = label("", "small", wrap=True)
        inner.addWidget(self._advice)
        inner.addSpacing(4)
        self._so_far = heading(self.tr("So far"))
        inner.addWidget(self._so_far)
        self._figures = QVBoxLayout()
        self._figures.setSpacing(4)
        inner.addLayout(self._figures)
        column.addStretch(1)
        for signal in (session.project_changed, session.stages_changed, session.current_stage_changed,
                       session.jobs_changed, session.job_finished, session.runs_changed):  # fmt: skip
            signal.connect(self.refresh)
        self.refresh()

    @property
    def rows(self) -> dict[str, Row]:
        """The rows by stage id, in order."""
        return self._rows

    def refresh(self, *_: object) -> None:
        """Follows the project, its stages and the jobs."""
        stages = [s for s in self._session.stages if s.kind != OTHER]
        ids = [s.id for s in stages] + (["deploy"] if can_ever_run(self._session) else [])
        if list(self._rows) != ids:
            self._make_rows(ids)
        steps = {s.id: s for s in self._session.project.recipe.steps} if self._session.project else {}
        for stage in stages:
            self._show_stage(self._rows[stage.id], stage, steps.get(stage.id))
        self._teach.setVisible(not stages)
        self._scroll.setVisible(bool(stages))
        if "deploy" in self._rows:
            self._show_deploy(self._rows["deploy"])
        self._show_next()
        self._show_figures(figures_of(self._session))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Finds out again how much a row may say."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Two lines a row where they fit, else one; what still does not fit is scrolled."""
        wanted = sum(row.full_height() for row in self._rows.values())
        room = self.height() - self._below.sizeHint().height() - 24
        for row in self._rows.values():
            row.set_compact(wanted > room)
        shown = sum(row.sizeHint().height() for row in self._rows.values())
        self._scroll.setMaximumHeight(max(shown, 1))

    def _make_rows(self, ids: list[str]) -> None:
        for row in self._rows.values():
            self._steps.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = {}
        for stage_id in ids:
            row = Row()
            row.clicked.connect(lambda _=False, s=stage_id: self._on_row(s))
            self._steps.addWidget(row)
            self._rows[stage_id] = row

    def _show_stage(self, row: Row, stage: Stage, step: Step | None) -> None:
        title = step_title(stage.kind, step)
        note = step_note(step) if step is not None else (stage.path.name if stage.path else "")
        value, value_color = "", "quiet"
        icon, color = "step-waiting", "quiet"
        progress = self._session.step_progress.get(stage.id)
        if progress is not None:
            icon, color = "step-running", "accent"
            value, value_color = progress, "accent"
        elif stage.id in self._session.step_failures:
            icon, color = "step-failed", "fails"
            value, value_color = self.tr("failed"), "fails"
            note = translate_sentence(self._session.step_failures[stage.id].message)
        elif stage.kind == "verify" and stage.id in self._session.step_results:
            is_good = not self._session.step_results[stage.id].failures
            icon, color = ("step-done", "runs") if is_good else ("step-failed", "fails")
            value = self._verified_value(stage) if is_good else self.tr("over budget")
            value_color = "quiet" if is_good else "fails"
        elif stage.artifact is not None or stage.id == SOURCE:
            icon, color = "step-done", "runs"
            value = self._made_value(stage)
        if stage.status is StageStatus.FAILED and stage.failure is not None:
            icon, color = "step-failed", "fails"
            note = translate_sentence(stage.failure.message)
        tip = note
        if stage.artifact is not None and not stage.was_cached:
            took = fill(self.tr("made in {time}"), time=seconds_text(stage.artifact.seconds))
            tip = f"{note} · {took}"
        row.show_texts(
            title, note=note, value=value, value_color=value_color, icon=icon, icon_color=color, tip=tip
        )
        row.set_selected(stage.id == self._session.current_stage_id)

    def _verified_value(self, stage: Stage) -> str:
        figures = self._session.step_results[stage.id].figures
        if figures is None:
            return self.tr("good")
        if figures.accuracy is not None:
            return f"{figures.accuracy * 100:.1f} %"
        if figures.is_equal:
            return self.tr("equal")
        return f"{figures.snr_db:.0f} dB" if figures.snr_db is not None else self.tr("good")

    def _made_value(self, stage: Stage) -> str:
        if stage.artifact is None:
            source_bytes = self._session.source_bytes
            return bytes_text(source_bytes) if source_bytes is not None else ""
        return "" if stage.kind == "verify" else bytes_text(stage.artifact.size_bytes)

    def _show_deploy(self, row: Row) -> None:
        session = self._session
        names = {d.id: translate_sentence(d.name) for d in session.devices}
        wanted = session.project.devices if session.project else ()
        note = ", ".join(names.get(d, d) for d in wanted)
        icon, color, value = "step-waiting", "quiet", ""
        if session.run_jobs:
            icon, color, value = "step-running", "accent", self.tr("running")
        elif session.last_results:
            icon, color = "step-done", "runs"
            best = min(
                (r.latency_ms.p50 for r in session.last_results.values() if r.latency_ms is not None),
                default=None,
            )
            value = f"{best:.3g} ms" if best is not None else ""
        elif session.run_failures:
            icon, color, value = "step-failed", "fails", self.tr("failed")
            note = translate_sentence(next(reversed(session.run_failures.values())).message)
        row.show_texts(
            self.tr("Deploy"), note=note, value=value, value_color="fails" if color == "fails" else "quiet",
            icon=icon, icon_color=color, tip=note,
        )  # fmt: skip

    def _show_next(self) -> None:
        step = next_step(self._session)
        self._next.setVisible(step is not None)
        self._advice.setVisible(step is not None and bool(step.why))
        if step is not None:
            self._next.setText(step.title)
            self._next.setToolTip(step.why)
            self._advice.setText(step.why)

    def _show_figures(self, figures: list[tuple[str, str]]) -> None:
        if figures == self._shown_figures:
            return
        self._shown_figures = figures
        while (item := self._figures.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        self._so_far.setVisible(bool(figures))
        for name, value in figures:
            text = label(value, selectable=True)
            text.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            row = ElidedLabel(name, "quiet")  # a phone's name may be long: it must not widen the panel
            row.setMinimumWidth(40)
            line = QWidget()
            beside = QHBoxLayout(line)  # the figure has its room first, the name what is left
            beside.setContentsMargins(0, 0, 0, 0)
            beside.setSpacing(8)
            beside.addWidget(row, 1)
            beside.addWidget(text)
            self._figures.addWidget(line)
            text.setAccessibleName(fill("{name}: {value}", name=name, value=value))

    def _on_row(self, stage_id: str) -> None:
        if stage_id == "deploy":
            self.deploy_requested.emit()
            return
        stage = self._session.stage(stage_id)
        if stage is None:
            return
        if stage.path is not None and stage.has_graph:
            self._session.set_current_stage(stage_id)
        else:
            self.wizard_requested.emit(stage.kind)

    def _on_next(self) -> None:
        step = next_step(self._session)
        if step is None:
            return
        if step.id == "stop":
            for job in self._session.jobs:
                if job.kind == "run_recipe" and job.status is JobStatus.RUNNING:
                    self._session.cancel(job.id)
        elif step.id == "deploy":
            self.deploy_requested.emit()
        elif step.id == "save":
            self.save_requested.emit()
        else:
            self.wizard_requested.emit(step.id)
