"""JobBar: in the status bar, what runs now, how far it is, a cancel that works, and the way to the log."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from studio.jobs.job import Progress
from studio.ui.job_runner import LIGHT, WATCH, JobState, JobStatus
from studio.ui.session import Session
from studio.ui.texts import fill
from studio.ui.views.step_texts import bytes_text, stage_text
from studio.ui.widgets.parts import ElidedLabel, button, label


class JobBar(QWidget):
    """Shows the running job that is closest to the person."""

    log_requested = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 2, 10, 2)
        row.setSpacing(10)
        self._title = label("", "quiet")
        self._bar = QProgressBar()
        self._bar.setFixedWidth(140)
        self._bar.setTextVisible(False)
        self._progress = ElidedLabel("", "quiet")
        self._cancel = button(self.tr("cancel"), self.cancel_shown, role="link")
        self._cancel.setAccessibleName(self.tr("Cancel the job"))
        self._state = label("", "quiet")
        self._log = button(self.tr("log"), self.log_requested.emit, role="link")
        row.addWidget(self._title)
        row.addWidget(self._bar)
        row.addWidget(self._progress, 1)
        row.addWidget(self._cancel)
        row.addStretch(0)
        row.addWidget(self._state)
        row.addWidget(self._log)
        session.jobs_changed.connect(self.refresh)
        session.project_changed.connect(self.refresh)
        self.refresh()

    @property
    def shown(self) -> JobState | None:
        """The job that is shown, None when nothing runs."""
        running = [
            job
            for job in self._session.jobs
            if job.lane != WATCH and job.status in (JobStatus.RUNNING, JobStatus.STOPPING)
        ]
        # What a person started matters more than what the window reads by itself.
        return max(running, key=lambda job: job.lane != LIGHT, default=None)

    def refresh(self) -> None:
        """Follows the jobs."""
        job = self.shown
        for widget in (self._bar, self._progress, self._cancel):
            widget.setVisible(job is not None)
        if job is None:
            self._title.setText(self.tr("Ready"))
        else:
            self._show_job(job)
        self._state.setText(self._state_text())

    def _show_job(self, job: JobState) -> None:
        progress = job.progress
        waiting = sum(j.status is JobStatus.QUEUED for j in self._session.jobs)
        more = fill(self.tr(" · {n} waiting"), n=waiting) if waiting else ""
        self._title.setText(job.title)
        is_stopping = job.status is JobStatus.STOPPING
        self._cancel.setEnabled(not is_stopping)
        if is_stopping:
            self._progress.setText(self.tr("stopping…"))
        elif progress is None:
            self._progress.setText(self.tr("starting…") + more)
        else:
            self._progress.setText(_progress_text(stage_text(self._session, progress.stage), progress) + more)
        if progress is not None and progress.total:
            self._bar.setRange(0, 1000)
            self._bar.setValue(int(1000 * progress.done / progress.total))
            self._bar.setAccessibleName(f"{100 * progress.done // progress.total} %")
        else:
            self._bar.setRange(0, 0)

    def _state_text(self) -> str:
        session = self._session
        if session.project is None:
            return ""
        done = sum(j.status is JobStatus.DONE and j.lane != WATCH for j in session.jobs)
        saved = (
            self.tr("not saved")
            if session.project_path is None
            else self.tr("unsaved changes")
            if session.is_modified
            else self.tr("saved")
        )
        jobs = self.tr("1 job done") if done == 1 else fill(self.tr("{n} jobs done"), n=done)
        return f"{saved} · {jobs}"

    def cancel_shown(self) -> None:
        """Cancels the job that is shown."""
        if (job := self.shown) is not None:
            self._session.cancel(job.id)


def _progress_text(stage: str, progress: Progress) -> str:
    done, total, unit = progress.done, progress.total, progress.unit
    if unit == "bytes":
        return f"{stage} {bytes_text(done)}" + (f" / {bytes_text(total)}" if total else "")
    if unit == "%":
        return f"{stage} {done} %"
    if total:
        return f"{stage} {done:,} / {total:,} {unit}".strip()
    return f"{stage} {done:,} {unit}".strip() if done else stage
