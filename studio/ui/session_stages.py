"""SessionStages: which stages there are, whose graph is open, and what is looked at and selected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from studio.errors import StudioError
from studio.jobs.job import ArtifactMade, Done, Event, Failed, failed_from
from studio.recipes.recipe import SOURCE
from studio.ui.job_runner import LIGHT
from studio.ui.session_jobs import SessionJobs
from studio.ui.session_state import Selection
from studio.ui.stages import OTHER, OpenedGraph, Stage, StageStatus, stages_of
from studio.ui.texts import fill

if TYPE_CHECKING:
    from studio.graph.layout import Layout
    from studio.graph.view import GraphView


class SessionStages(SessionJobs):
    """The state with its stages, target and selection."""

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
            etrecord=str(stage.etrecord or ""),
        )
        stage.status, stage.failure = StageStatus.OPENING, None
        title = fill(self.tr("Open {file}"), file=stage.path.name)
        stage.job_id = self.start(
            spec, title=title, lane=LIGHT, then=lambda outcome: self._on_opened(stage, outcome), quiet=True
        )
        self.stages_changed.emit()

    def open_etrecord(self, path: Path) -> None:
        """Opens the current `.pte` file again with this record of its making.

        A record that does not fit is told; what is shown stays.
        """
        stage = self.current_stage
        if stage is not None:
            stage.etrecord = path.absolute()
            self.open_stage(stage.id, again=True)

    def _on_event(self, job_id: str, event: Event) -> None:
        if isinstance(event, ArtifactMade):
            self._on_artifact(event)
        super()._on_event(job_id, event)

    def _refresh_stages(self) -> None:
        project = self.project
        self.stages = stages_of(project, self.folder, self.stages) if project else []
        if self.stage(self.current_stage_id) is None and self.stages:
            self.set_current_stage(SOURCE)
        self.stages_changed.emit()

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
            if stage.etrecord is not None and stage.opened is not None:
                stage.etrecord, stage.status = None, StageStatus.OPEN
                self.tell(refused.failed)
                self.stages_changed.emit()
                return
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

    def _on_artifact(self, event: ArtifactMade) -> None:
        stage = self.stage(event.step_id)
        if stage is None:
            return
        path = Path(event.artifact.path)
        is_new = stage.path != path
        stage.artifact, stage.path, stage.was_cached = event.artifact, path, event.was_cached
        if is_new or stage.status is StageStatus.ABSENT:
            stage.former = stage.opened or stage.former
            stage.status, stage.opened, stage.etrecord = StageStatus.MADE, None, None
        self.stages_changed.emit()
        current = self.current_stage
        if stage.id == self.current_stage_id:
            self.open_stage(stage.id)
        elif stage.has_graph and current is not None and not current.has_graph:
            self.set_current_stage(stage.id)  # Python source has no graph; its export has


class _Refused(Exception):
    """A worker's failure on its way to the place where failures are kept."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.message)
        self.failed = failed
