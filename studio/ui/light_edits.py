"""Light edits from the window: each is put into an edit step of the recipe, which then runs.

The step runs again whenever its edits change, undo included, so that what is looked at is what the
project says.
"""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtCore import QObject

from studio.jobs.job import ArtifactMade
from studio.project import Project
from studio.project.edit import add_edits, free_step_id, insert_step
from studio.recipes.edit_records import Edit
from studio.recipes.recipe import EditStep, FixStep
from studio.ui.recipe_jobs import run_steps
from studio.ui.session import Session
from studio.ui.stages import OTHER


def can_edit(session: Session) -> bool:
    """Whether the graph that is looked at is an ONNX file of the recipe."""
    stage = session.current_stage
    return (
        stage is not None
        and stage.opened is not None
        and stage.kind != OTHER
        and stage.path is not None
        and stage.path.suffix == ".onnx"
    )


def can_edit_node(session: Session) -> bool:
    """Whether a node of the main graph of such a file is selected."""
    opened, node = session.opened, session.selection.node
    if opened is None or node is None or node >= opened.graph.node_count or not can_edit(session):
        return False
    return int(opened.graph.node_subgraph[node]) == 0


def can_rename(session: Session) -> bool:
    """Whether such a node or a tensor is selected."""
    return can_edit_node(session) or (can_edit(session) and session.selection.tensor is not None)


class LightEdits(QObject):
    """Puts edits and fixes of the current stage into the recipe, runs them, and turns to the result."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._ran = self._steps()
        self._wanted = ""
        session.project_opened.connect(self._on_project)
        session.project_changed.connect(self._follow)
        session.job_event.connect(self._on_event)

    def apply(self, edits: tuple[Edit, ...], label: str) -> None:
        """Appends edits of what the current stage holds."""
        project, stage = self._session.project, self._session.current_stage
        if project is None or stage is None or not edits:
            return
        with self._session.telling_failures():
            changed, self._wanted = add_edits(project, stage.id, edits)
            self._session.edit(lambda _project: changed, label)

    def add_fix(self, step: FixStep, label: str) -> None:
        """Puts a fix of what the current stage holds in between."""
        project = self._session.project
        if project is None:
            return
        named = replace(step, id=free_step_id(project, "fix"), after=self._session.current_stage_id)

        def insert(before: Project) -> Project:
            return insert_step(before, named)

        if self._session.edit(insert, label):
            self._wanted = named.id
            run_steps(self._session, only=(named.id,))

    def _steps(self) -> dict[str, EditStep]:
        project = self._session.project
        steps = project.recipe.steps if project else ()
        return {s.id: s for s in steps if isinstance(s, EditStep)}

    def _on_project(self) -> None:
        self._ran, self._wanted = self._steps(), ""  # nothing runs by itself when a project is opened

    def _follow(self) -> None:
        steps = self._steps()
        changed = tuple(i for i, step in steps.items() if self._ran.get(i) != step)
        self._ran = steps
        if changed:
            run_steps(self._session, only=changed)

    def _on_event(self, _job_id: str, event: object) -> None:
        if isinstance(event, ArtifactMade) and event.step_id == self._wanted:
            self._wanted = ""
            self._session.set_current_stage(event.step_id)
