"""What a report is made from: a project with its facts, gathered by the job that writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from studio.graph import Graph
from studio.graph.summary import GraphSummary
from studio.measure.measurement import ErrorFigures
from studio.measure.run_file import Run
from studio.project import Project
from studio.recipes.run import StepResult
from studio.support import Problem, TargetVerdicts


@dataclass(frozen=True, slots=True)
class Picture:
    """The graph, drawn for both themes, and what it shows."""

    light: str
    dark: str
    caption: str


@dataclass(frozen=True, slots=True)
class ReportContent:
    """Everything the page says. What is absent is left out of the page and named in `notes`."""

    project: Project
    project_file: str  # the name alone: a report travels, paths of one machine do not
    made_at: str
    studio_version: str
    summary: GraphSummary | None = None
    graph: Graph | None = None
    steps: tuple[StepResult, ...] = ()
    missing_steps: tuple[str, ...] = ()
    verdicts: Mapping[str, TargetVerdicts] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    picture: Picture | None = None
    runs: tuple[Run, ...] = ()  # newest per artifact, device and target
    older_runs: int = 0
    notes: tuple[str, ...] = ()

    @property
    def made_models(self) -> tuple[StepResult, ...]:
        """Steps that made a model, in order."""
        return tuple(s for s in self.steps if s.kind != "verify")

    @property
    def is_file(self) -> bool:
        """Whether the float original is a model file itself (and not Python that is exported)."""
        return not self.project.source.path.endswith(".py")

    @property
    def source_runs(self) -> tuple[Run, ...]:
        """The runs of the float original itself."""
        return tuple(r for r in self.runs if self.step_of(r) == "source")

    def runs_of(self, step: StepResult) -> tuple[Run, ...]:
        """The runs of what a step made."""
        return tuple(r for r in self.runs if r.hello.artifact_sha256 == step.artifact.sha256)

    def step_of(self, run: Run) -> str:
        """The id of the step whose artifact ran, or words for one that is not of this recipe."""
        if self.summary is not None and run.hello.artifact_sha256 == self.summary.sha256 and self.is_file:
            return "source"
        found = next((s for s in self.steps if s.artifact.sha256 == run.hello.artifact_sha256), None)
        return found.step_id if found else f"{run.hello.artifact_path} (an earlier file)"

    def error_of(self, step: StepResult, run: Run | None) -> ErrorFigures | None:
        """Against the float original: as measured in the run, else by the verify step that follows."""
        if run is not None and run.compared is not None:
            return run.compared.figures
        verify = {s.id for s in self.project.recipe.steps if s.after == step.step_id}
        return next((s.figures for s in self.steps if s.step_id in verify and s.figures), None)


def latency_ms(run: Run) -> npt.NDArray[np.float64]:
    """The latencies of a run in milliseconds, in order."""
    return run.latency_ns.astype(np.float64) / 1e6


def device_name(run: Run) -> str:
    """What the run calls its device, in words."""
    name = str(run.hello.device.get("name") or run.hello.device_id)
    return "This computer" if name == "this-computer" else name
