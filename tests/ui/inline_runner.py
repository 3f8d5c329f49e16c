"""InlineRunner: runs jobs in this process, for tests of what the window does with their results.

A worker costs a second of imports and more on a loaded machine; that it is a process of its own, can be
cancelled and may crash is held by `test_job_runner`, `tests/worker` and `tests/stories`. Specs, events and
results take the same way through JSON as with a worker.
"""

from __future__ import annotations

from typing import Any

import msgspec
from PySide6.QtCore import QObject, QTimer

from studio.jobs.job import Done, Failed, Job, Log, Progress, run_job
from studio.jobs.worker import failure_of
from studio.ui.job_runner import JobRunner, JobStatus

ENDLESS = frozenset({"watch_devices", "serve_netron", "virtual_phone"})


class _NoProcess:
    """What stands for a worker while its job waits or runs."""

    def __init__(self, end: Any) -> None:
        self._end = end

    def leave(self, grace_ms: int) -> None:
        self._end()

    def close_stdin(self) -> None: ...
    def end_by(self, deadline: float) -> None: ...


class InlineRunner(JobRunner):
    """A JobRunner without processes: a job runs when the event loop is next idle. Endless ones never do."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent, keep_one_ready=False)
        self._is_down = False

    def shut_down(self, *, grace_ms: int = 0) -> None:
        self._is_down = True
        super().shut_down(grace_ms=grace_ms)

    def _launch(self, job_id: str, job: Job) -> None:
        self._states[job_id].status = JobStatus.RUNNING
        gone = Failed(error="cancelled", message="The job was cancelled.", exit_code=130)
        self._workers[job_id] = _NoProcess(lambda: self._on_ended(job_id, gone))  # type: ignore[assignment]
        if job.kind not in ENDLESS:
            QTimer.singleShot(0, self, lambda: self._run(job_id, job))

    def _run(self, job_id: str, job: Job) -> None:
        if self._is_down or job_id not in self._workers:
            return
        outcome: Done | Failed
        try:
            result = run_job(job, _Report(self, job_id))
        except Exception as error:
            outcome = failure_of(error)
        else:
            outcome = Done(result=msgspec.Raw(msgspec.json.encode(result)))
        if job_id in self._workers:
            self._on_ended(job_id, outcome)


class _Report:
    """Tells the runner at once."""

    def __init__(self, runner: InlineRunner, job_id: str) -> None:
        self._runner, self._job_id = runner, job_id

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None:
        self.emit(Progress(stage=stage, done=done, total=total, unit=unit))

    def log(self, text: str) -> None:
        self.emit(Log(text=text))

    def emit(self, event: Any) -> None:
        self._runner._on_event(self._job_id, event)

    def should_stop(self) -> bool:
        return self._job_id not in self._runner._workers
