"""The whole way of a project: recipe, then every made model on every device, with one table.

JSON (`run` and `demo`): `{"project", "passed", "source": step | null, "steps": [step], "runs": [{"step",
"device", "result": run}], "skipped": [{"step", "device", "reason"}]}`, a step as in `studio.cli.steps`, a
run as in `studio.cli.bench`. `source` is there when the float original is a file that is run as well.
"""

from __future__ import annotations

from studio.artifact import hash_file
from studio.cli.opening import OpenedProject
from studio.cli.output import Output
from studio.cli.steps import StepAnswer, answers_of
from studio.devices.device import DeviceState, RunSettings
from studio.devices.registry import list_devices
from studio.devices.this_computer import DEVICE_ID
from studio.errors import DeviceError, StudioError, UnsupportedError
from studio.jobs.deploy import DeployResult
from studio.jobs.deploy_project import DeployProject
from studio.jobs.deploy_project import run as deploy
from studio.jobs.run_recipe import RunRecipe
from studio.jobs.run_recipe import run as run_recipe
from studio.project.places import place_inside, runs_dir
from studio.recipes.recipe import SOURCE, ConvertStep
from studio.recipes.steps.verify import DEFAULT_TARGETS
from studio.records import Record
from studio.targets import TARGETS

MADE_KINDS = ("export", "quantize", "convert")


class RunAnswer(Record):
    """One made model on one device."""

    step: str
    device: str
    result: DeployResult


class Skipped(Record):
    """A run that was not possible, and why."""

    step: str
    device: str
    reason: str


class JourneyAnswer(Record):
    """What `run --json` and `demo --json` print.

    `passed`: no budget was broken, nothing ran elsewhere than asked, and no run failed.
    """

    project: str
    passed: bool
    source: StepAnswer | None
    steps: tuple[StepAnswer, ...]
    runs: tuple[RunAnswer, ...]
    skipped: tuple[Skipped, ...]


def travel(
    opened: OpenedProject,
    output: Output,
    *,
    device_ids: tuple[str, ...] | None = None,
    settings: RunSettings | None = None,
    force: bool = False,
) -> JourneyAnswer:
    """Runs the recipe and deploys what it made.

    `device_ids` None: the project's devices, those that are not here skipped; given: each must be
    ready, else DeviceError before anything is run. When nothing could be run, the last error is raised.
    """
    devices, skipped = _devices(opened, device_ids)
    spec = RunRecipe(project=opened.project, folder=str(opened.folder), force=force)
    result = run_recipe(spec, output.report)
    steps = answers_of(result, opened.project.recipe)
    runs: list[RunAnswer] = []
    problem: StudioError | None = None
    has_failed = False
    source = _source_model(opened)
    models = [*filter(None, [source]), *(s for s in steps if s.kind in MADE_KINDS)]
    for device_id in devices:
        for step in models:
            if output.report.stopped:
                break
            try:
                done = _deploy(opened, step, device_id, settings, output)
            except UnsupportedError as error:  # no runner for this file there: ordinary, said below
                skipped.append(Skipped(step=step.id, device=device_id, reason=str(error)))
                problem = problem or error
                continue
            except StudioError as error:
                skipped.append(Skipped(step=step.id, device=device_id, reason=str(error)))
                problem, has_failed = error, True
                continue
            runs.append(RunAnswer(step=step.id, device=device_id, result=done))
    if problem is not None and not runs:
        raise problem
    ran_elsewhere = any(r.result.target_ran != r.result.target for r in runs)
    return JourneyAnswer(
        project=str(opened.path),
        passed=result.passed and not ran_elsewhere and not has_failed,
        source=source,
        steps=steps,
        runs=tuple(runs),
        skipped=tuple(skipped),
    )


def _source_model(opened: OpenedProject) -> StepAnswer | None:
    """The float original as something to run, when it is a file that a runtime loads."""
    path = place_inside(opened.folder, opened.project.source.path, field="source.path")
    if path.suffix != ".onnx":
        return None
    return StepAnswer(
        id=SOURCE,
        kind=SOURCE,
        after="",
        path=str(path),
        format="onnx",
        sha256=hash_file(path),
        size_bytes=path.stat().st_size,
        seconds=0.0,
        was_cached=True,
        notes=(),
        error=None,
        failures=(),
    )


def _devices(opened: OpenedProject, asked: tuple[str, ...] | None) -> tuple[list[str], list[Skipped]]:
    """Ids of the devices to run on, and the project's that are not here."""
    known = {d.id: d for d in list_devices()}
    ready, skipped = [], []
    for device_id in opened.project.devices if asked is None else asked:
        info = known.get(device_id)
        if info is not None and info.state is DeviceState.READY:
            ready.append(device_id)
            continue
        reason = info.state_hint if info is not None else "It is not connected."
        if asked is not None:
            raise DeviceError(
                f"The device “{device_id}” is not ready. {reason}", hint="See: deployment-studio devices"
            )
        skipped.append(Skipped(step="", device=device_id, reason=reason))
    return ready, skipped


def _deploy(
    opened: OpenedProject, step: StepAnswer, device_id: str, settings: RunSettings | None, output: Output
) -> DeployResult:
    from msgspec.structs import replace

    base = settings or opened.project.run_settings
    output.note(f"{step.id} on {device_id}")
    spec = DeployProject(
        project=opened.project,
        folder=str(opened.folder),
        stage_id=step.id,
        artifact_path=step.path,
        artifact_format=step.format,
        artifact_sha256=step.sha256,
        device_id=device_id,
        settings=replace(base, target=target_for(opened, step, device_id)),
        runs_dir=str(runs_dir(opened.path)),
    )
    return deploy(spec, output.report)


def target_for(opened: OpenedProject, step: StepAnswer, device_id: str) -> str:
    """The target that a made file runs on: what it was lowered for; on this computer, its CPU."""
    if device_id != DEVICE_ID:
        wanted = next((s for s in opened.project.recipe.steps if s.id == step.id), None)
        lowered = wanted.target if isinstance(wanted, ConvertStep) else ""
        for target_id in (lowered, opened.project.run_settings.target):
            if target_id in TARGETS and step.format in TARGETS[target_id].formats:
                return target_id
    return DEFAULT_TARGETS[step.format]
