"""SessionJobs: starts jobs for the session, hears their events, and tells what they say."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from studio.errors import StudioError
from studio.jobs.job import DevicesChanged, Done, Event, Failed, Measured, failed_from, job_of
from studio.records import Record
from studio.ui.job_runner import COMPUTE, JobRunner
from studio.ui.session_state import SessionState

_STOP_GRACE_MS = 15_000  # a run on a phone says goodbye: stop the runner, pull what it has


class SessionJobs(SessionState):
    """The state with its jobs; the runner's signals end here."""

    def __init__(self, parent: QObject | None = None, *, runner: JobRunner | None = None) -> None:
        super().__init__(parent, runner=runner)
        self._when_done: dict[str, Callable[[Done | Failed], None]] = {}
        self._quiet: set[str] = set()
        self._told_kind = ""
        """The kind of job whose failure was told last."""
        self.runner.jobs_changed.connect(self.jobs_changed)
        self.runner.event_received.connect(self._on_event)
        self.runner.job_finished.connect(self._on_finished)

    def start(
        self,
        spec: Record,
        *,
        title: str,
        lane: str = COMPUTE,
        then: Callable[[Done | Failed], None] | None = None,
        quiet: bool = False,
    ) -> str:
        """Starts a job and returns its id; `then` is called with its outcome.

        A failure is told by `failed`, unless `quiet`: then whoever started it shows it in place.
        """
        job = job_of(spec)
        if job.kind == self._told_kind:
            self._told_kind = ""
            self.failure_outdated.emit()
        job_id = self.runner.start(job, title=title, lane=lane)
        if then is not None:
            self._when_done[job_id] = then
        if quiet:
            self._quiet.add(job_id)
        return job_id

    def cancel(self, job_id: str) -> None:
        """Cancels a job; a run on a device is given the time to say goodbye."""
        is_run = job_id in self.run_jobs.values()
        self.runner.cancel(job_id, **({"grace_ms": _STOP_GRACE_MS} if is_run else {}))

    def tell(self, failed: Failed | StudioError) -> None:
        """Shows a failure to the person."""
        self._told_kind = ""
        self.failed.emit(failed if isinstance(failed, Failed) else failed_from(failed))

    def telling_failures(self) -> _Telling:
        """A block whose StudioErrors are shown instead of raised."""
        return _Telling(self)

    def _on_event(self, job_id: str, event: Event) -> None:
        if isinstance(event, Measured):
            live = self.live.get(event.device_id)
            if live is not None:
                live.add(event.record)
            self.measured.emit(event.device_id, event.record)
        elif isinstance(event, DevicesChanged):
            self.devices, self.device_problem = event.devices, event.problem
            self.devices_changed.emit()
        self.job_event.emit(job_id, event)

    def _on_finished(self, job_id: str, outcome: Done | Failed) -> None:
        then = self._when_done.pop(job_id, None)
        if then is not None:
            then(outcome)
        for device_id in [d for d, j in self.run_jobs.items() if j == job_id]:
            del self.run_jobs[device_id]
            if isinstance(outcome, Failed) and outcome.error != "cancelled":
                self.run_failures[device_id] = outcome
            self.run_finished.emit(device_id, outcome)
            self.runs_changed.emit()
        is_quiet = job_id in self._quiet
        self._quiet.discard(job_id)
        if isinstance(outcome, Failed) and outcome.error != "cancelled" and not is_quiet:
            self._told_kind = next((j.kind for j in self.jobs if j.id == job_id), "")
            self.failed.emit(outcome)
        self.job_finished.emit(job_id, outcome)


class _Telling:
    """Shows a StudioError that leaves the block, and goes on after it."""

    def __init__(self, session: SessionJobs) -> None:
        self._session = session

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, StudioError):
            return False
        self._session.tell(error)
        return True
