"""Light edits from the window: each is put into an edit step of the recipe, which then runs.

The step runs again whenever its edits change, undo included, so that what is looked at is what the
project says.
"""

from __future__ import annotations

from PySide6.QtCore import QObject

from studio.graph import Graph
from studio.project.edit import add_edits, free_step_id, insert_step
from studio.recipes.edit_records import Edit
from studio.recipes.recipe import SOURCE, EditStep, FixStep
from studio.ui.recipe_jobs import run_steps
from studio.ui.session import Session
from studio.ui.stages import OTHER, Stage


def can_edit(session: Session) -> bool:
    """Whether the graph that is looked at is an ONNX file of the recipe."""
    stage, opened = session.current_stage, session.opened
    return (
        stage is not None
        and opened is not None
        and stage.kind != OTHER
        and stage.path is not None
        and stage.path.suffix == ".onnx"
    )


def can_edit_node(session: Session) -> bool:
    """Whether a node of the main graph of an ONNX file is selected."""
    opened, node = session.opened, session.selection.node
    return can_edit(session) and opened is not None and node is not None and _is_in_main(opened.graph, node)


def _is_in_main(graph: Graph, node: int) -> bool:
    return node < graph.node_count and int(graph.node_subgraph[node]) == 0


def edit_graph(session: Session, edits: tuple[Edit, ...], label: str) -> str:
    """Puts edits of the current stage into the recipe, runs them, and looks at the result.

    Returns the id of the edit step; "" when the project took no edit.
    """
    project, stage = session.project, session.current_stage
    if project is None or stage is None or not edits:
        return ""
    with session.telling_failures():
        changed, step_id = add_edits(project, stage.id, edits)
        if session.edit(lambda _project: changed, label):
            session.set_current_stage(step_id)
            return step_id
    return ""


def add_fix(session: Session, step: FixStep, label: str) -> str:
    """Puts a fix of the current stage into the recipe, runs it, and looks at the result; its id."""
    project = session.project
    if project is None:
        return ""
    named = FixStep(
        id=free_step_id(project, "fix"), after=session.current_stage_id or SOURCE, fix=step.fix, dims=step.dims,
        opset=step.opset, limit=step.limit, target=step.target, nodes=step.nodes,
    )  # fmt: skip
    if not session.edit(lambda p: insert_step(p, named), label):
        return ""
    session.set_current_stage(named.id)
    run_steps(session, only=(named.id,))
    return named.id


class EditFollower(QObject):
    """Runs an edit step whenever the project says other edits than those that ran."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._ran: dict[str, EditStep] = {}
        session.project_opened.connect(self._on_project)
        session.project_changed.connect(self._follow)

    def _steps(self) -> dict[str, EditStep]:
        project = self._session.project
        steps = project.recipe.steps if project else ()
        return {s.id: s for s in steps if isinstance(s, EditStep)}

    def _on_project(self) -> None:
        self._ran = self._steps()  # what the cache has of them is looked for; nothing runs by itself

    def _follow(self) -> None:
        steps = self._steps()
        changed = tuple(i for i, step in steps.items() if self._ran.get(i) != step)
        self._ran = steps
        if changed:
            for step_id in changed:
                self._mark_stale(self._session.stage(step_id))
            run_steps(self._session, only=changed)

    def _mark_stale(self, stage: Stage | None) -> None:
        """What an older edit made is not what the step makes now."""
        if stage is not None:
            stage.path = stage.artifact = None
