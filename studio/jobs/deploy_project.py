"""Deploys an artifact of a project: on the project's own real inputs, compared with its float original.

`deploy` knows files; this joins it with the project, so that the window and the command line never
show a speed without its error.
"""

from __future__ import annotations

from pathlib import Path

from studio.devices.device import RunSettings
from studio.devices.this_computer import DEVICE_ID
from studio.errors import StudioError
from studio.jobs import deploy
from studio.jobs.deploy import Deploy, DeployResult
from studio.jobs.job import Report
from studio.jobs.run_recipe import RunRecipe, project_of
from studio.project import Project
from studio.recipes.recipe import VerifyStep
from studio.recipes.reference import Reference, prepare_reference
from studio.records import Record

_SAMPLES = 200
"""Real inputs when no verify step says how many: the same as a new verify step's."""


class DeployProject(Record):
    """What to run: the artifact of step `stage_id` of a project, saved (`project_path`) or not."""

    artifact_path: str
    settings: RunSettings
    project_path: str = ""
    project: Project | None = None
    folder: str = ""
    stage_id: str = "source"
    artifact_format: str = ""
    artifact_sha256: str = ""
    device_id: str = DEVICE_ID
    runs_dir: str = ""
    live_interval_ms: float = 0.0


def run(spec: DeployProject, report: Report) -> DeployResult:
    """The run's figures with the error against the float original.

    When the original cannot be run, the run goes on without an error figure, and a note says why.
    """
    project, folder = project_of(
        RunRecipe(project_path=spec.project_path, project=spec.project, folder=spec.folder)
    )
    reference, why_not = _reference(project, folder, spec.stage_id, report)
    result = deploy.run(
        Deploy(
            device_id=spec.device_id,
            artifact_path=spec.artifact_path,
            artifact_format=spec.artifact_format,
            artifact_sha256=spec.artifact_sha256,
            settings=spec.settings,
            inputs_path=reference.inputs_path if reference else "",
            reference_outputs=reference.outputs_path if reference else "",
            labels_path=reference.labels_path if reference else "",
            runs_dir=spec.runs_dir,
            live_interval_ms=spec.live_interval_ms,
        ),
        report,
    )
    if why_not:
        from msgspec.structs import replace

        result = replace(result, notes=(why_not, *result.notes))
    return result


def samples_of_stage(project: Project, stage_id: str) -> int:
    """How many real inputs the stage is compared on: what its verify step says, so that the cache is met."""
    steps = [s for s in project.recipe.steps if isinstance(s, VerifyStep)]
    own = next((s for s in steps if s.after == stage_id), None)
    chosen = own or (steps[0] if steps else None)
    return chosen.samples if chosen else _SAMPLES


def _reference(project: Project, folder: Path, stage_id: str, report: Report) -> tuple[Reference | None, str]:
    from studio.project.trust import is_trusted

    trusted = project.source.path.endswith(".py") and is_trusted(folder)
    samples = samples_of_stage(project, stage_id)
    try:
        return prepare_reference(project, folder, report, samples=samples, trusted=trusted), ""
    except StudioError as error:
        return None, f"The error is not known: {error}"
