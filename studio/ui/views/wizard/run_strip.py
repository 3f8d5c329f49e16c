"""RunStrip: the button that runs a page's steps, how far they are, and what came out."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from studio.jobs.job import Done, Failed
from studio.recipes.plan import settings_of
from studio.ui import recipe_jobs
from studio.ui.domain_texts import translate_sentence
from studio.ui.icons import icon
from studio.ui.job_runner import JobState
from studio.ui.session import Session
from studio.ui.views.wizard.made_text import made_text, progress_text
from studio.ui.widgets.banner import Banner
from studio.ui.widgets.parts import ElidedLabel, button, label, set_role


class RunStrip(QFrame):
    """Runs the steps `steps()` with what they need; one job at a time."""

    finished = Signal()
    done_changed = Signal(bool)
    """Whether everything is made as the choices say: Next is then what to press."""

    def __init__(
        self, session: Session, text: str, steps: Callable[[], tuple[str, ...]], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._steps = steps
        self._job_id = ""
        self._is_allowed = True
        self.is_done = False
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(12)
        self.run_button = button(text, self.start, role="primary", icon_name="play")
        self.run_button.setObjectName("RunStep")
        self.run_button.setAutoDefault(False)
        row.addWidget(self.run_button)
        self._status = ElidedLabel("", "quiet")
        row.addWidget(self._status, 1)
        self.cancel_button = button(self.tr("Cancel"), self.cancel)
        self.cancel_button.setObjectName("CancelStep")
        self.cancel_button.setAutoDefault(False)
        row.addWidget(self.cancel_button)
        column.addLayout(row)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        column.addWidget(self._bar)
        self._notes = label("", "small", wrap=True, selectable=True)
        column.addWidget(self._notes)
        self.banner = Banner()
        column.addWidget(self.banner)
        session.jobs_changed.connect(self.refresh)
        session.stages_changed.connect(self.refresh)
        session.project_changed.connect(self.refresh)
        session.job_finished.connect(self._on_finished)
        self.refresh()

    @property
    def status(self) -> str:
        """The line beside the button."""
        return self._status.text()

    @property
    def job(self) -> JobState | None:
        """The recipe job that runs now, whoever started it."""
        running = (j for j in self._session.jobs if j.kind == "run_recipe" and not j.is_over)
        return next(running, None)

    def set_allowed(self, is_allowed: bool) -> None:
        """Whether the choices can be run as they are."""
        self._is_allowed = is_allowed
        self.refresh()

    def start(self) -> None:
        """Runs the steps, anew when everything is made already."""
        wanted = self._steps()
        if not wanted or self.job is not None:
            return
        self.banner.close_banner()
        is_repeat = all(self._is_current(step_id) for step_id in wanted)
        self._job_id = recipe_jobs.run_steps(self._session, only=wanted, force=is_repeat)
        self.refresh()

    def cancel(self) -> None:
        """Ends the job; what earlier steps made stays."""
        job = self.job
        if job is not None:
            self._session.cancel(job.id)

    def refresh(self, *_: object) -> None:
        """Follows jobs and stages."""
        job = self.job
        self.cancel_button.setVisible(job is not None)
        self._bar.setVisible(job is not None)
        self.run_button.setEnabled(job is None and self._is_allowed and bool(self._steps()))
        if job is not None:
            progress = job.progress
            if progress is not None and progress.total and progress.unit != "steps":
                self._bar.setRange(0, progress.total)
                self._bar.setValue(progress.done)
            else:
                self._bar.setRange(0, 0)
            self._say(progress_text(self._session, job) or self.tr("Starting…"), "quiet")
            self._notes.hide()
            return
        self._show_made()
        wanted = self._steps()
        self._set_done(all(self._is_current(step_id) for step_id in wanted))

    def _show_made(self) -> None:
        texts, notes, is_current = [], [], True
        for step_id in self._steps():
            stage = self._session.stage(step_id)
            if stage is None or stage.artifact is None:
                is_current = False
                continue
            if stage.kind != "verify":
                texts.append(made_text(stage.artifact, was_cached=stage.was_cached))
            notes += [translate_sentence(note) for note in stage.artifact.notes]
            is_current = is_current and self._is_current(step_id)
        self._notes.setText("\n".join(dict.fromkeys(notes)))
        self._notes.setVisible(bool(notes) and is_current)
        if texts and not is_current:
            self._say(self.tr("The choices changed since it was made: run it again."), "warn")
        elif len(texts) == 1:
            self._say(texts[0], "good")
        elif is_current and self._steps():
            self._say(self.tr("Made; nothing has changed since."), "good")
        else:
            self._say(self.tr("Not made yet."), "quiet")

    def _is_current(self, step_id: str) -> bool:
        """Whether the step's artifact was made by the choices as they stand."""
        project, stage = self._session.project, self._session.stage(step_id)
        if project is None or stage is None or stage.artifact is None:
            return False
        steps = {step.id: step for step in project.recipe.steps}
        return step_id in steps and stage.artifact.settings == settings_of(steps[step_id], steps)

    def _set_done(self, is_done: bool) -> None:
        set_role(self.run_button, "" if is_done else "primary")
        self.run_button.setIcon(icon("play", "text" if is_done else "on_accent"))
        if is_done != self.is_done:
            self.is_done = is_done
            self.done_changed.emit(is_done)

    def _say(self, text: str, role: str) -> None:
        self._status.setText(text)
        set_role(self._status, role)

    def _on_finished(self, job_id: str, outcome: Done | Failed) -> None:
        if job_id != self._job_id:
            return
        self._job_id = ""
        if isinstance(outcome, Failed) and outcome.error != "cancelled":
            self.banner.show_failure(outcome)
        self.refresh()
        self.finished.emit()
