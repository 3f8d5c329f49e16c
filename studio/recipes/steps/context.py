"""What a step is given: its settings, its input file, the source, the data, where to write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from studio.artifact import Artifact
from studio.backends.backend import Report
from studio.recipes.recipe import Preprocessing, Recipe, Step
from studio.recipes.source import DataSet, SourceModel


class RecipeInput(Protocol):
    """What running a recipe needs of a project; `studio.project.Project` has all of it."""

    @property
    def source(self) -> SourceModel: ...
    @property
    def recipe(self) -> Recipe: ...
    @property
    def calibration(self) -> DataSet | None: ...
    @property
    def evaluation(self) -> DataSet | None: ...
    @property
    def preprocessing(self) -> Preprocessing: ...


@dataclass(frozen=True)
class StepContext:
    """One step at work. `made` holds the artifacts of earlier steps by step id."""

    step: Step
    project: RecipeInput
    folder: Path  # the project's; source and data are relative to it
    out_dir: Path  # empty folder that becomes the artifact's
    made: dict[str, Artifact]
    trusted: bool  # whether the source's Python may run
    report: Report

    @property
    def source_path(self) -> Path:
        return (self.folder / self.project.source.path).resolve()

    @property
    def input_path(self) -> Path:
        """The file that this step works on: an earlier step's, else the source's."""
        found = self.made.get(self.step.after)
        return Path(found.path) if found else self.source_path

    @property
    def input_format(self) -> str:
        """Format of that file: an artifact's, or the source's (“py”, “pt2”, “pt”, “onnx”)."""
        found = self.made.get(self.step.after)
        return found.format if found else self.source_format

    @property
    def source_format(self) -> str:
        return self.source_path.suffix.lstrip(".").lower()

    @property
    def is_torch_source(self) -> bool:
        return self.source_format in ("py", "pt2", "pt", "pth", "jit")
