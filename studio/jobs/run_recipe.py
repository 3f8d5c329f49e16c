"""Job: run a project's recipe, or some of its steps, and tell every artifact as it is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from studio.artifact import Artifact
from studio.errors import InputError
from studio.jobs.job import ArtifactMade, Report
from studio.project.project import Project
from studio.recipes.run import RecipeResult, run_recipe
from studio.records import Record


class RunRecipe(Record):
    """What to run: a project file, or a project not saved yet and its folder.

    `only`: ids of steps, empty = all; `force`: make them anew. Python sources run only when the
    project's folder is trusted.
    """

    project_path: str = ""
    project: Project | None = None
    folder: str = ""
    only: tuple[str, ...] = ()
    force: bool = False


def run(spec: RunRecipe, report: Report) -> RecipeResult:
    """Every step's artifact and figures; `passed` is False when a budget is broken.

    Raises InputError, UnsupportedError or ToolError naming the step.
    """
    from studio.project.trust import is_trusted

    project, folder = project_of(spec)
    can_hold_code = project.source.path.endswith((".py", ".pt2"))
    return run_recipe(
        project,
        folder,
        report,
        trusted=can_hold_code and is_trusted(folder),
        only=spec.only or None,
        force=spec.force,
        on_artifact=_teller(report),
    )


def project_of(spec: RunRecipe) -> tuple[Project, Path]:
    """The project and its folder. Raises InputError when the spec names neither or both."""
    from studio.project.store import load_project

    if spec.project is not None and spec.folder:
        return spec.project, Path(spec.folder)
    if spec.project is None and spec.project_path:
        path = Path(spec.project_path)
        return load_project(path), path.parent
    raise InputError("The job names no project.", hint="Give project_path, or project and folder together.")


def _teller(report: Report) -> Callable[[str, Artifact, bool], None]:
    def tell(step_id: str, artifact: Artifact, was_cached: bool) -> None:
        report.emit(ArtifactMade(step_id=step_id, artifact=artifact, was_cached=was_cached))

    return tell
