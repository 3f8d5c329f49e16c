"""SessionState: what the session knows and what it can tell; `Session` adds what can be done.

Views read it. Only `Session` and the modules that start jobs for it (`…_jobs.py`) change it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from studio.devices import DeviceInfo
from studio.jobs.job import (
    Failed,
)
from studio.measure.live import LiveRun
from studio.project import Project
from studio.project.edit import History
from studio.recipes.recipe import SOURCE
from studio.support import TargetVerdicts
from studio.ui.job_runner import JobRunner, JobState
from studio.ui.preferences import (
    Preferences,
    load_preferences,
    worker_environment,
)
from studio.ui.stages import OpenedGraph, Stage

if TYPE_CHECKING:
    from studio.graph.op_docs import OpDoc
    from studio.jobs.deploy import DeployResult
    from studio.jobs.serve_netron import ServeNetron
    from studio.recipes.run import StepResult


@dataclass(frozen=True, slots=True)
class Selection:
    """What is selected in the current stage; nothing when all are None."""

    node: int | None = None
    tensor: int | None = None
    scope: int | None = None
    """A scope of `scope_tree`, or, beyond its size, an opened body."""


@dataclass(frozen=True, slots=True)
class NetronView:
    """A file that is served to Netron: by which job, where, and with what."""

    job_id: str
    url: str
    spec: ServeNetron


class SessionState(QObject):
    """Fields, signals, and what follows from the fields."""

    project_opened = Signal()
    """Another project or model file was opened, or all was closed."""
    project_changed = Signal()
    """The project has another value or was saved (also sent after `project_opened`)."""
    stages_changed = Signal()
    """A stage came, went, or changed its status or file."""
    stage_opened = Signal(str)
    """A stage's graph is there, or was laid out or judged anew: `stage(id).opened`."""
    current_stage_changed = Signal(str)
    target_changed = Signal(str)
    overlay_changed = Signal(str)
    selection_changed = Signal()
    devices_changed = Signal()
    jobs_changed = Signal()
    job_event = Signal(str, object)
    """(job id, event) of every job."""
    job_finished = Signal(str, object)
    """(job id, Done | Failed)."""
    run_started = Signal(str, str)
    """(device id, job id): `live[device id]` is a fresh LiveRun."""
    measured = Signal(str, object)
    """(device id, StreamRecord), after `live[device id]` has taken it."""
    run_finished = Signal(str, object)
    """(device id, Done | Failed)."""
    runs_changed = Signal()
    """A run file was added to the project's runs."""
    layout_changed = Signal(str)
    """A stage's graph is shown in another view: `opened.view` and `opened.layout`."""
    node_requested = Signal(int)
    """A node of the current graph was selected from elsewhere and should be brought into sight."""
    facts_changed = Signal()
    """A profile or a comparison of layers was made: `opened.profile`, `opened.layer_errors`."""
    docs_read = Signal()
    """More operator documentation is in `docs`."""
    logged = Signal(str, str)
    """(who, line) for the log."""
    failed = Signal(object)
    """A `Failed` that a person should see."""
    failure_outdated = Signal()
    """What `failed` told last is being tried again."""
    trust_needed = Signal(str)
    """Python from this folder has to run, which is not trusted yet; answer with `trust` or `distrust`."""
    preferences_changed = Signal()

    def __init__(self, parent: QObject | None = None, *, runner: JobRunner | None = None) -> None:
        super().__init__(parent)
        self.preferences: Preferences = load_preferences()
        self.runner = runner or JobRunner(self)
        self.runner.set_environment(worker_environment(self.preferences))
        self.history: History | None = None
        self.project_path: Path | None = None
        self.folder: Path | None = None
        """What the project's relative paths are relative to."""
        self.stages: list[Stage] = []
        self.current_stage_id = SOURCE
        self.target_id = ""
        self.overlay = "verdict"
        self.selection = Selection()
        self.step_progress: dict[str, str] = {}
        """step id → how far it is, in a word, while it runs."""
        self.step_failures: dict[str, Failed] = {}
        self.step_results: dict[str, StepResult] = {}
        self.docs: dict[tuple[str, str, str], OpDoc | None] = {}
        """(format, domain, op) → documentation; None = asked for, none known."""
        self.served: dict[str, NetronView] = {}
        """file → the Netron view that is open on it."""
        self.devices: tuple[DeviceInfo, ...] = ()
        self.device_problem = ""
        """Why phones cannot be seen; empty when they can."""
        self.live: dict[str, LiveRun] = {}
        self.run_jobs: dict[str, str] = {}
        """device id → id of the job that runs there now."""
        self.last_results: dict[str, DeployResult] = {}
        """device id → what its last finished run says."""
        self.last_stages: dict[str, str] = {}
        """device id → the stage whose file it ran last."""
        self.run_failures: dict[str, Failed] = {}
        """device id → why its last run ended; none when it was stopped on purpose."""

    @property
    def project(self) -> Project | None:
        """The project as it stands, None when nothing is open."""
        return self.history.project if self.history else None

    @property
    def source_bytes(self) -> int | None:
        """The size of the source file with its weights; None when it is not there."""
        if self.project is None or self.folder is None:
            return None
        source = self.project.source
        try:
            return sum((self.folder / p).stat().st_size for p in (source.path, source.weights) if p)
        except OSError:
            return None

    @property
    def is_modified(self) -> bool:
        """Whether something would be lost if it were not saved."""
        return self.history is not None and not self.history.is_saved

    def stage(self, stage_id: str) -> Stage | None:
        """The stage of that id."""
        return next((s for s in self.stages if s.id == stage_id), None)

    @property
    def current_stage(self) -> Stage | None:
        """The stage that is looked at."""
        return self.stage(self.current_stage_id)

    @property
    def opened(self) -> OpenedGraph | None:
        """The graph that is looked at."""
        stage = self.current_stage
        return stage.opened if stage else None

    @property
    def verdicts(self) -> TargetVerdicts | None:
        """The verdicts of the current target on the current graph."""
        return self.opened.verdicts.get(self.target_id) if self.opened else None

    @property
    def jobs(self) -> list[JobState]:
        """All jobs of this session, oldest first."""
        return self.runner.jobs
