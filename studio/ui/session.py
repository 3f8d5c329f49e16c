"""Session: the only mutable state of the window and the only emitter of state.

It holds the project (as a History), the stages that can be looked at, what is selected, the
devices, the runs and the jobs. It is passed in, never global. Views read it and call its methods;
its signals are past events. Work that takes time goes to workers through `JobRunner`.

Its parts, each knowing those before it: `session_state` (what is known and told), `session_jobs`,
`session_stages`, and here the project with undo, saving, trust and preferences.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject

from studio.errors import InputError
from studio.project import Project
from studio.project.edit import History
from studio.project.recovery import SwapFile
from studio.recipes.recipe import SOURCE
from studio.ui.job_runner import JobRunner
from studio.ui.preferences import (
    Preferences,
    save_preferences,
    with_recent,
    worker_environment,
)
from studio.ui.session_stages import SessionStages
from studio.ui.session_state import Selection
from studio.ui.stages import StageStatus

if TYPE_CHECKING:
    from studio.project.recovery import Recovered

__all__ = ["Selection", "Session"]


class Session(SessionStages):
    """See the module's docstring. Every method may be called from any view."""

    def __init__(self, parent: QObject | None = None, *, runner: JobRunner | None = None) -> None:
        super().__init__(parent, runner=runner)
        self._swap = SwapFile()
        self._when_trusted: Callable[[], object] | None = None

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

    def open_python(self, path: Path, project: Project) -> None:
        """Opens a project that was made from a Python source; nothing of it runs yet."""
        self._replace_project(History.start(project), path=None, folder=path.parent)
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
        self.run_failures.clear()
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
