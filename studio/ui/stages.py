"""Stages: the source and every artifact of the recipe, as things that can be looked at.

A stage has a graph once a worker has opened its file; the worker leaves packed files, and reading
those (`load_opened`) is quick, needs no onnx and no torch, and may happen in the window.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from studio.artifact import Artifact
from studio.jobs.job import Failed
from studio.project import Project
from studio.recipes.recipe import SOURCE
from studio.records import Choice
from studio.support import TargetVerdicts

if TYPE_CHECKING:
    from studio.graph import Graph
    from studio.graph.cost import Costs
    from studio.graph.layout import Layout
    from studio.graph.view import GraphView
    from studio.measure.layer_errors import LayerErrors
    from studio.measure.node_profile import NodeProfile
    from studio.support import LayoutTax, Problem


OTHER = "other"
"""The kind of a stage that is no part of the recipe: a file to compare with."""


class StageStatus(Choice):
    """Whether there is a file, and whether its graph can be looked at."""

    ABSENT = "absent"  # the step has not run yet
    MADE = "made"  # the file is there, its graph was not asked for
    OPENING = "opening"
    OPEN = "open"
    FAILED = "failed"


@dataclass(slots=True, eq=False)
class OpenedGraph:
    """A graph with everything that is shown of it."""

    graph: Graph
    layout: Layout
    view: GraphView
    verdicts: dict[str, TargetVerdicts] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    costs: Costs | None = None
    graph_path: str = ""
    """The packed file of the graph, for workers that read more of it."""
    notes: tuple[str, ...] = ()
    profile: NodeProfile | None = None
    """How long each node took, when the file was profiled."""
    layer_errors: LayerErrors | None = None
    """How far its layers are from those of another file, when they were compared."""
    verdict_paths: dict[str, str] = field(default_factory=dict)
    """Target → the packed file of its verdicts as they are shown."""
    measured_from: tuple[tuple[str, ...], dict[str, str]] | None = None
    """The run files and verdicts that were last put together."""
    _taxes: dict[str, tuple[TargetVerdicts, LayoutTax]] = field(default_factory=dict)

    def layout_tax(self, target_id: str) -> LayoutTax | None:
        """What transposing costs on a target; None when it was not judged. Computed once per verdicts."""
        from studio.support import layout_tax

        verdicts = self.verdicts.get(target_id)
        if verdicts is None:
            return None
        known = self._taxes.get(target_id)
        if known is None or known[0] is not verdicts:
            known = self._taxes[target_id] = (verdicts, layout_tax(self.graph, verdicts))
        return known[1]


@dataclass(slots=True, eq=False)
class Stage:
    """One place of the recipe: "source" or a step's id."""

    id: str
    kind: str  # "source", "export", "quantize", "convert", "verify", "other"
    path: Path | None = None
    artifact: Artifact | None = None
    was_cached: bool = False
    etrecord: Path | None = None
    """The ETRecord that was chosen for a `.pte` file, until the file is made anew."""
    status: StageStatus = StageStatus.ABSENT
    opened: OpenedGraph | None = None
    former: OpenedGraph | None = None
    """What was shown of the file before it was made anew, until the new one is open."""
    failure: Failed | None = None
    job_id: str = ""

    @property
    def has_graph(self) -> bool:
        """Whether the stage's file holds a graph: not so for a comparison, nor for Python source."""
        return self.kind != "verify" and (self.path is None or self.path.suffix != ".py")


def stages_of(project: Project, folder: Path | None, old: Iterable[Stage] = ()) -> list[Stage]:
    """The stages of a project in recipe order; a stage that stayed keeps what it has."""
    kept = {stage.id: stage for stage in old}
    path = (folder / project.source.path) if folder else Path(project.source.path)
    source = kept.get(SOURCE)
    if source is None or source.path != path:
        source = Stage(id=SOURCE, kind=SOURCE, path=path, status=StageStatus.MADE)
    result = [source]
    for step in project.recipe.steps:
        kind = type(step).__struct_config__.tag
        found = kept.get(step.id)
        if found is None or found.kind != kind:
            found = Stage(id=step.id, kind=str(kind))
        result.append(found)
    # Files that were opened beside the project stay until it is closed.
    return result + [stage for stage in kept.values() if stage.kind == OTHER]
