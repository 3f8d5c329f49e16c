"""JobRunner: starts workers, reads their events, and turns silence into `Failed(crashed)`.

A job waits in a *lane* until there is room: `compute` takes one job, `light` two, `device:<id>`
one each, `watch` (jobs that never end) any number. Cancelling closes the worker's stdin, waits the
grace (one second unless the caller knows better) and kills the process group.

Why a process and not a thread: STYLE.md §5 has the measurements. Why one idle worker is kept
ready: imports cost seconds, and the person who clicks should not pay them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, QProcessEnvironment, QTimer, Signal

from studio.jobs.job import Done, Event, Failed, Job, Log, Progress
from studio.paths import own_process
from studio.records import Choice
from studio.ui.worker_process import WorkerProcess

COMPUTE = "compute"
LIGHT = "light"
WATCH = "watch"

_CAPACITY = {COMPUTE: 1, LIGHT: 2, WATCH: 64}
_GRACE_MS = 1000
_KEPT_LINES = 400
_WARM = "numpy,onnx,studio.jobs.open_graph,studio.support,studio.graph"


def device_lane(device_id: str) -> str:
    """The lane of a device: one job at a time touches it."""
    return f"device:{device_id}"


def worker_command() -> list[str]:
    """How this program starts its own worker, from a checkout, a wheel or a frozen build."""
    return list(own_process("worker", "studio.jobs.worker"))


class JobStatus(Choice):
    """Where a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    STOPPING = "stopping"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(slots=True)
class JobState:
    """What the window knows of one job."""

    id: str
    kind: str
    title: str
    lane: str
    status: JobStatus = JobStatus.QUEUED
    progress: Progress | None = None
    outcome: Done | Failed | None = None
    started_at: float = 0.0  # time.monotonic()
    seconds: float = 0.0
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_KEPT_LINES))

    @property
    def is_over(self) -> bool:
        return self.status in (JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED)


class JobRunner(QObject):
    """Runs jobs in worker processes, lane by lane."""

    jobs_changed = Signal()
    """A job was queued, began, moved on or ended."""
    event_received = Signal(str, object)
    """(job id, event), every event but the last one."""
    job_finished = Signal(str, object)
    """(job id, Done | Failed), exactly once for every job."""

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        command: Sequence[str] | None = None,
        keep_one_ready: bool = True,
    ) -> None:
        super().__init__(parent)
        self._command = list(command) if command else worker_command()
        self._environment = QProcessEnvironment.systemEnvironment()
        # Messages of tools are read by people through us: UTF-8 whatever the terminal says.
        self._environment.insert("PYTHONIOENCODING", "utf-8")
        self._states: dict[str, JobState] = {}
        self._queue: list[tuple[str, Job]] = []
        self._workers: dict[str, WorkerProcess] = {}
        self._idle: WorkerProcess | None = None
        self._keeps_one_ready = keep_one_ready
        self._count = 0

    @property
    def jobs(self) -> list[JobState]:
        """All jobs of this session, oldest first."""
        return list(self._states.values())

    def state(self, job_id: str) -> JobState:
        """The state of a job."""
        return self._states[job_id]

    def set_environment(self, variables: dict[str, str]) -> None:
        """Variables for workers started from now on, e.g. where a vendor's tools are."""
        for name, value in variables.items():
            self._environment.insert(name, value)
        self._drop_idle()

    def prewarm(self) -> None:
        """Starts the idle worker; call it when the window has been painted."""
        if self._keeps_one_ready and self._idle is None:
            self._idle = WorkerProcess(self, [*self._command, f"--warm={_WARM}"], self._environment)

    def start(self, job: Job, *, title: str, lane: str = COMPUTE) -> str:
        """Queues the job and returns its id; it starts at once when its lane has room."""
        self._count += 1
        job_id = f"{job.kind}-{self._count}"
        self._states[job_id] = JobState(id=job_id, kind=job.kind, title=title, lane=lane)
        self._queue.append((job_id, job))
        self._fill_lanes()
        self.jobs_changed.emit()
        return job_id

    def cancel(self, job_id: str, *, grace_ms: int = _GRACE_MS) -> None:
        """Takes a queued job out, or ends a running one: politely, then after `grace_ms` by force."""
        state = self._states[job_id]
        if state.status is JobStatus.QUEUED:
            self._queue = [(i, job) for i, job in self._queue if i != job_id]
            self._finish(job_id, Failed(error="cancelled", message="The job was cancelled.", exit_code=130))
        elif state.status in (JobStatus.RUNNING, JobStatus.STOPPING):
            state.status = JobStatus.STOPPING
            self._workers[job_id].leave(grace_ms)
            self.jobs_changed.emit()

    def clear_finished(self) -> None:
        """Forgets the jobs that are over."""
        self._states = {i: s for i, s in self._states.items() if not s.is_over}
        self.jobs_changed.emit()

    def shut_down(self, *, grace_ms: int = _GRACE_MS) -> None:
        """Ends every worker; returns when none is left."""
        self._queue.clear()
        self._keeps_one_ready = False
        workers = [*self._workers.values(), *([self._idle] if self._idle else [])]
        for worker in workers:
            worker.close_stdin()
        deadline = time.monotonic() + grace_ms / 1000
        for worker in workers:
            worker.end_by(deadline)
        self._workers.clear()
        self._idle = None

    def _fill_lanes(self) -> None:
        for job_id, job in list(self._queue):
            lane = self._states[job_id].lane
            busy = sum(self._states[other].lane == lane for other in self._workers)
            if busy < _CAPACITY.get(lane, 1):
                self._queue.remove((job_id, job))
                self._launch(job_id, job)

    def _launch(self, job_id: str, job: Job) -> None:
        worker, self._idle = self._idle or WorkerProcess(self, self._command, self._environment), None
        state = self._states[job_id]
        state.status, state.started_at = JobStatus.RUNNING, time.monotonic()
        self._workers[job_id] = worker
        worker.event_read.connect(lambda event: self._on_event(job_id, event))
        worker.said.connect(lambda line: self._on_event(job_id, Log(text=line)))
        worker.ended.connect(lambda outcome: self._on_ended(job_id, outcome))
        worker.send(job)
        QTimer.singleShot(1500, self, self.prewarm)

    def _on_event(self, job_id: str, event: Event) -> None:
        state = self._states.get(job_id)
        if state is None:
            return
        if isinstance(event, Progress):
            state.progress = event
            self.jobs_changed.emit()
        elif isinstance(event, Log):
            state.lines.append(event.text)
        self.event_received.emit(job_id, event)

    def _on_ended(self, job_id: str, outcome: Done | Failed) -> None:
        self._workers.pop(job_id, None)
        was_stopping = self._states[job_id].status is JobStatus.STOPPING
        if was_stopping and isinstance(outcome, Failed) and outcome.error in ("crashed", "cancelled"):
            outcome = Failed(error="cancelled", message="The job was cancelled.", exit_code=130)
        self._finish(job_id, outcome)
        self._fill_lanes()
        self.jobs_changed.emit()

    def _finish(self, job_id: str, outcome: Done | Failed) -> None:
        state = self._states[job_id]
        state.outcome = outcome
        state.seconds = time.monotonic() - state.started_at if state.started_at else 0.0
        if isinstance(outcome, Done):
            state.status = JobStatus.DONE
        else:
            state.status = JobStatus.CANCELLED if outcome.error == "cancelled" else JobStatus.FAILED
        self.job_finished.emit(job_id, outcome)
        self.jobs_changed.emit()

    def _drop_idle(self) -> None:
        if self._idle is not None:
            self._idle.close_stdin()
            self._idle = None
            self.prewarm()
