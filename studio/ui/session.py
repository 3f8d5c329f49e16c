"""Session: the only mutable state of the window and the only emitter of state.

It holds the project (as a History), the stages that can be looked at, what is selected, the
devices, the runs and the jobs. It is passed in, never global. Views read it and call its methods;
its signals are past events. Work that takes time goes to workers through `JobRunner`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject

from studio.errors import InputError, StudioError
from studio.jobs.job import (
    ArtifactMade,
    DevicesChanged,
    Done,
    Event,
    Failed,
    Measured,
    failed_from,
    job_of,
)
from studio.project import Project
from studio.project.edit import History
from studio.project.recovery import SwapFile
from studio.recipes.recipe import SOURCE
from studio.records import Record
from studio.ui.job_runner import COMPUTE, LIGHT, JobRunner
from studio.ui.preferences import (
    Preferences,
    save_preferences,
    with_recent,
    worker_environment,
)
from studio.ui.session_state import Selection, SessionState
from studio.ui.stages import OTHER, OpenedGraph, Stage, StageStatus, stages_of
from studio.ui.texts import fill

if TYPE_CHECKING:
    from studio.graph.layout import Layout
    from studio.graph.view import GraphView
    from studio.project.recovery import Recovered

_STOP_GRACE_MS = 15_000  # a run on a phone says goodbye: stop the runner, pull what it has

__all__ = ["Selection", "Session"]


class Session(SessionState):
    """See the module's docstring. Every method may be called from any view."""

    def __init__(self, parent: QObject | None = None, *, runner: JobRunner | None = None) -> None:
        super().__init__(parent, runner=runner)
        self._swap = SwapFile()
        self._when_trusted: Callable[[], object] | None = None
        self._when_done: dict[str, Callable[[Done | Failed], None]] = {}
        self._quiet: set[str] = set()
        self.runner.jobs_changed.connect(self.jobs_changed)
        self.runner.event_received.connect(self._on_event)
        self.runner.job_finished.connect(self._on_finished)

    # --- the project -----------------------------------------------------------------------

    def open_path(self, path: Path) -> None:
        """Opens a project (`.studio`) or a model file; a failure is told by `failed`."""
        with self.telling_failures():
            path = path.expanduser().absolute()
            if path.suffix == ".studio":
                self._open_project(path)
            else:
                self._open_model(path)
            self.set_preferences(with_recent(self.preferences, path))

    def close_project(self) -> None:
        """Back to the start page."""
        self._replace_project(None, path=None, folder=None)

    def edit(self, change: Callable[[Project], Project], label: str, *, merge: bool = False) -> bool:
        """Applies an edit and remembers it for undo; returns whether it was accepted."""
        if self.history is None:
            return False
        with self.telling_failures():
            self._set_history(self.history.do(change(self.history.project), label, merge=merge))
            return True
        return False

    def undo(self) -> None:
        """Takes the last edit back."""
        if self.history is not None:
            self._set_history(self.history.undo())

    def redo(self) -> None:
        """Does again what undo took back."""
        if self.history is not None:
            self._set_history(self.history.redo())

    def save(self, path: Path | None = None) -> bool:
        """Saves the project, at `path` when given; returns whether it is on disk."""
        from studio.project.store import save_project

        if self.history is None:
            return False
        with self.telling_failures():
            target = path or self.project_path
            if target is None:
                raise InputError("This project has no file yet.", hint="Choose a place with Save as.")
            project = self._placed_in(target.parent)
            save_project(project, target)
            if project != self.history.project:
                self.history = self.history.do(project, "Save as")
            self.history = self.history.mark_saved()
            self.project_path, self.folder = target, target.parent
            self._refresh_stages()
            self.set_preferences(with_recent(self.preferences, target))
            self._swap.clear()
            self.project_changed.emit()
            self.runs_changed.emit()
            return True
        return False

    def recover(self, recovered: Recovered) -> None:
        """Opens what was not saved when another window died; it is unsaved here as well."""
        from studio.project.recovery import forget

        history = History.start(recovered.project, is_saved=False)
        self._replace_project(history, path=recovered.project_path, folder=recovered.folder)
        self._write_swap()
        forget(recovered)

    def shut_down(self) -> None:
        """Ends all jobs and forgets the swap file; the window was closed on purpose."""
        self.runner.shut_down()
        self._swap.close()

    # --- stages, target, selection ---------------------------------------------------------

    def set_current_stage(self, stage_id: str) -> None:
        """Looks at another stage and opens its graph when there is a file."""
        if self.stage(stage_id) is None:
            return
        if stage_id != self.current_stage_id:
            self.current_stage_id = stage_id
            self.selection = Selection()
            self.current_stage_changed.emit(stage_id)
            self.selection_changed.emit()
        self.open_stage(stage_id)

    def set_target(self, target_id: str) -> None:
        """Looks at the graph with another target's eyes."""
        if target_id != self.target_id:
            self.target_id = target_id
            self.target_changed.emit(target_id)

    def set_overlay(self, overlay: str) -> None:
        """What the nodes' colours mean: "verdict", "partitions", "macs", "bytes", …"""
        if overlay != self.overlay:
            self.overlay = overlay
            self.overlay_changed.emit(overlay)

    def select_node(self, node: int | None) -> None:
        """Selects a node of the current graph."""
        self._select(Selection(node=node))

    def select_tensor(self, tensor: int | None) -> None:
        """Selects a tensor of the current graph."""
        self._select(Selection(tensor=tensor))

    def select_scope(self, scope: int | None) -> None:
        """Selects a scope of the current graph."""
        self._select(Selection(scope=scope))

    def go_to_node(self, node: int) -> None:
        """Selects a node and asks for it to be brought into sight."""
        self.select_node(node)
        self.node_requested.emit(node)

    def set_view(self, view: GraphView, layout: Layout) -> None:
        """Shows the current graph in another view."""
        if self.opened is not None:
            self.opened.view, self.opened.layout = view, layout
            self.layout_changed.emit(self.current_stage_id)

    def open_beside(self, path: Path) -> None:
        """Opens another file as a stage of its own, to look at and to compare with."""
        path = path.absolute()
        stage_id = f"{OTHER}:{path}"
        if self.stage(stage_id) is None:
            stage = Stage(id=stage_id, kind=OTHER, path=path, status=StageStatus.MADE)
            self.stages = [*self.stages, stage]
            self.stages_changed.emit()
        self.set_current_stage(stage_id)

    def open_stage(self, stage_id: str, *, again: bool = False) -> None:
        """Lets a worker open the stage's file, unless that is done or under way."""
        from studio.jobs.open_graph import OpenGraph

        stage = self.stage(stage_id)
        if stage is None or stage.path is None or not stage.has_graph:
            return
        if stage.status is StageStatus.OPENING or (stage.status is StageStatus.OPEN and not again):
            return
        project = self.project
        spec = OpenGraph(
            path=str(stage.path),
            targets=project.targets if project else (),
            soc=project.soc if project else "",
        )
        stage.status, stage.failure = StageStatus.OPENING, None
        title = fill(self.tr("Open {file}"), file=stage.path.name)
        stage.job_id = self.start(
            spec, title=title, lane=LIGHT, then=lambda outcome: self._on_opened(stage, outcome), quiet=True
        )
        self.stages_changed.emit()

    # --- jobs ------------------------------------------------------------------------------

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
        job_id = self.runner.start(job_of(spec), title=title, lane=lane)
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
        self.failed.emit(failed if isinstance(failed, Failed) else failed_from(failed))

    def telling_failures(self) -> _Telling:
        """A block whose StudioErrors are shown instead of raised."""
        return _Telling(self)

    # --- trust -------------------------------------------------------------------------------

    def ask_for_trust(self, go_on: Callable[[], object]) -> None:
        """Asks whether Python in the project's folder may run; `go_on` follows a yes."""
        if self.folder is not None:
            self._when_trusted = go_on
            self.trust_needed.emit(str(self.folder))

    def trust(self) -> None:
        """The person said yes to `trust_needed`."""
        from studio.project.trust import trust_folder

        go_on, self._when_trusted = self._when_trusted, None
        if self.folder is None or go_on is None:
            return
        with self.telling_failures():
            trust_folder(self.folder)
            go_on()

    def distrust(self) -> None:
        """The person said no to `trust_needed`."""
        self._when_trusted = None

    # --- preferences -----------------------------------------------------------------------

    def set_preferences(self, preferences: Preferences) -> None:
        """Takes and saves other preferences."""
        if preferences == self.preferences:
            return
        before, self.preferences = self.preferences, preferences
        with self.telling_failures():
            save_preferences(preferences)
        if worker_environment(before) != worker_environment(preferences):
            self.runner.set_environment(worker_environment(preferences))
        self.preferences_changed.emit()

    # --- inside ----------------------------------------------------------------------------

    def open_python(self, path: Path, project: Project) -> None:
        """Opens a project that was made from a Python source; nothing of it runs yet."""
        self._replace_project(History.start(project), path=None, folder=path.parent)
        self.set_preferences(with_recent(self.preferences, path))

    def _open_project(self, path: Path) -> None:
        from studio.project.store import load_project

        self._replace_project(History.start(load_project(path)), path=path, folder=path.parent)

    def _open_model(self, path: Path) -> None:
        from studio.ui.model_source import project_of_model

        project = project_of_model(path)
        self._replace_project(History.start(project), path=None, folder=path.parent)

    def _replace_project(self, history: History | None, *, path: Path | None, folder: Path | None) -> None:
        for stage in self.stages:
            if stage.status is StageStatus.OPENING:
                self.runner.cancel(stage.job_id)
        self.history, self.project_path, self.folder = history, path, folder
        self.stages = []
        self.current_stage_id, self.selection = SOURCE, Selection()
        self.live.clear()
        self.last_results.clear()
        self.step_progress.clear()
        self.step_failures.clear()
        self.step_results.clear()
        self._swap.clear()
        project = self.project
        self.target_id = project.targets[0] if project and project.targets else ""
        self._refresh_stages()
        self.project_opened.emit()
        self.project_changed.emit()
        self.runs_changed.emit()
        self.current_stage_changed.emit(SOURCE)
        self.selection_changed.emit()
        self.target_changed.emit(self.target_id)
        self.open_stage(SOURCE)

    def _set_history(self, history: History) -> None:
        before = self.project
        self.history = history
        project = history.project
        if self.target_id not in project.targets:
            self.set_target(project.targets[0] if project.targets else "")
        self._write_swap()
        self._refresh_stages()
        self.project_changed.emit()
        if before is not None and (before.targets, before.soc) != (project.targets, project.soc):
            for stage in self.stages:
                if stage.status is StageStatus.OPEN:
                    self.open_stage(stage.id, again=True)

    def _write_swap(self) -> None:
        if self.history is None or self.folder is None:
            return
        with self.telling_failures():
            if self.history.is_saved:
                self._swap.clear()
            else:
                self._swap.write(self.history.project, project_path=self.project_path, folder=self.folder)

    def _refresh_stages(self) -> None:
        project = self.project
        self.stages = stages_of(project, self.folder, self.stages) if project else []
        if self.stage(self.current_stage_id) is None and self.stages:
            self.set_current_stage(SOURCE)
        self.stages_changed.emit()

    def _placed_in(self, folder: Path) -> Project:
        """The project with its paths made relative to `folder`."""
        from studio.project.places import relative_to_folder, stored_paths

        assert self.history is not None and self.folder is not None
        project = self.history.project
        if folder == self.folder:
            return project
        moved = {
            field: relative_to_folder(self.folder / path, folder)
            for field, path in stored_paths(project).items()
        }
        for field, path in moved.items():
            owner, name = field.split(".")
            part = msgspec.structs.replace(getattr(project, owner), **{name: path})
            project = msgspec.structs.replace(project, **{owner: part})
        return project

    def _select(self, selection: Selection) -> None:
        if selection != self.selection:
            self.selection = selection
            self.selection_changed.emit()

    def _on_opened(self, stage: Stage, outcome: Done | Failed) -> None:
        from studio.ui.fact_jobs import load_facts
        from studio.ui.opened import load_opened, look_alike

        if stage not in self.stages:
            return  # another project is open by now
        try:
            if isinstance(outcome, Failed):
                raise _Refused(outcome)
            opened = load_opened(outcome)
            look_alike(opened, self._shown_before(stage))
            stage.opened, stage.former = opened, None
            load_facts(self, stage)
            stage.status = StageStatus.OPEN
        except _Refused as refused:
            stage.failure, stage.status = refused.failed, StageStatus.FAILED
        except StudioError as error:
            stage.failure, stage.status = failed_from(error), StageStatus.FAILED
        self.stages_changed.emit()
        if stage.status is StageStatus.OPEN:
            self.stage_opened.emit(stage.id)

    def _shown_before(self, stage: Stage) -> OpenedGraph | None:
        """What a stage should look like: itself before, else the nearest earlier stage that is open."""
        if stage.opened is not None or stage.former is not None or stage.kind == OTHER:
            return stage.opened or stage.former
        before = self.stages[: self.stages.index(stage)]
        return next((s.opened for s in reversed(before) if s.opened is not None and s.kind != OTHER), None)

    def _on_event(self, job_id: str, event: Event) -> None:
        if isinstance(event, Measured):
            live = self.live.get(event.device_id)
            if live is not None:
                live.add(event.record)
            self.measured.emit(event.device_id, event.record)
        elif isinstance(event, ArtifactMade):
            self._on_artifact(event)
        elif isinstance(event, DevicesChanged):
            self.devices, self.device_problem = event.devices, event.problem
            self.devices_changed.emit()
        self.job_event.emit(job_id, event)

    def _on_artifact(self, event: ArtifactMade) -> None:
        stage = self.stage(event.step_id)
        if stage is None:
            return
        path = Path(event.artifact.path)
        is_new = stage.path != path
        stage.artifact, stage.path, stage.was_cached = event.artifact, path, event.was_cached
        if is_new or stage.status is StageStatus.ABSENT:
            stage.former = stage.opened or stage.former
            stage.status, stage.opened = StageStatus.MADE, None
        self.stages_changed.emit()
        current = self.current_stage
        if stage.id == self.current_stage_id:
            self.open_stage(stage.id)
        elif stage.has_graph and current is not None and not current.has_graph:
            self.set_current_stage(stage.id)  # Python source has no graph; its export has

    def _on_finished(self, job_id: str, outcome: Done | Failed) -> None:
        then = self._when_done.pop(job_id, None)
        if then is not None:
            then(outcome)
        for device_id in [d for d, j in self.run_jobs.items() if j == job_id]:
            del self.run_jobs[device_id]
            self.run_finished.emit(device_id, outcome)
            self.runs_changed.emit()
        is_quiet = job_id in self._quiet
        self._quiet.discard(job_id)
        if isinstance(outcome, Failed) and outcome.error != "cancelled" and not is_quiet:
            self.failed.emit(outcome)
        self.job_finished.emit(job_id, outcome)


class _Telling:
    """Shows a StudioError that leaves the block, and goes on after it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, StudioError):
            return False
        self._session.tell(error)
        return True


class _Refused(Exception):
    """A worker's failure on its way to the place where failures are kept."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.message)
        self.failed = failed
