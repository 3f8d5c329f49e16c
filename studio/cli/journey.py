"""The whole way of a project: recipe, then every made model on every device, with one table.

JSON (`run` and `demo`): `{"project", "passed", "steps": [step], "runs": [{"step", "device", "result":
run}], "skipped": [{"step", "device", "reason"}]}`, a step as in `studio.cli.steps`, a run as in
`studio.cli.bench`.
"""

from __future__ import annotations

from pathlib import Path

from studio.cli import tables
from studio.cli.opening import OpenedProject
from studio.cli.output import Output
from studio.cli.steps import StepAnswer, answers_of, error_text
from studio.devices.device import DeviceState, RunSettings
from studio.devices.registry import list_devices
from studio.devices.this_computer import DEVICE_ID
from studio.errors import DeviceError, StudioError, UnsupportedError
from studio.jobs.deploy import DeployResult
from studio.jobs.deploy_project import DeployProject
from studio.jobs.deploy_project import run as deploy
from studio.jobs.run_recipe import RunRecipe
from studio.jobs.run_recipe import run as run_recipe
from studio.measure.measurement import ErrorFigures
from studio.project.places import runs_dir
from studio.recipes.recipe import ConvertStep
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
    for device_id in devices:
        for step in steps:
            if step.kind not in MADE_KINDS or output.report.stopped:
                continue
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
        steps=steps,
        runs=tuple(runs),
        skipped=tuple(skipped),
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


def text_of(answer: JourneyAnswer) -> str:
    """The one table: step, artifact, size, accuracy, error against float, latency."""
    rows = []
    for step in answer.steps:
        if step.kind not in MADE_KINDS:
            continue
        runs: list[DeployResult | None] = [r.result for r in answer.runs if r.step == step.id]
        rows += [_row(answer, step, result) for result in runs or [None]]
    head = ("step", "file", "size", "accuracy", "error vs float", "p50 ms", "p90 ms", "ran on")
    lines = [tables.table(head, rows, right="llrrrrrl")]
    for step in answer.steps:
        if step.error is not None:
            sign = "✕" if step.failures else "✓"
            lines.append(f"{sign} {step.id}: {error_text(step.error)}")
        lines += [f"✕ {step.id}: {text}" for text in step.failures]
    for run in answer.runs:
        if run.result.target_ran != run.result.target:
            lines.append(f"✕ {run.step}: {run.result.target} was asked for, {run.result.target_ran} ran.")
    lines += [f"note: {' on '.join(filter(None, (s.step, s.device)))}: {s.reason}" for s in answer.skipped]
    return "\n".join(lines)


def _row(answer: JourneyAnswer, step: StepAnswer, result: DeployResult | None) -> tuple[str, ...]:
    error = result.error if result is not None and result.error is not None else _verified(answer, step)
    accuracy = "–" if error is None else tables.percent(error.accuracy, 2)
    if error is None:
        distance = "–"
    elif error.is_equal:
        distance = "equal"
    else:
        distance = "–" if error.snr_db is None else f"{error.snr_db:.1f} dB"
    latency = result.latency_ms if result is not None else None
    where = "–"
    if result is not None:
        mark = " (simulated)" if result.is_simulated else ""
        where = f"{result.target_ran} · {result.device_name or result.device_id}{mark}"
    return (
        step.id,
        Path(step.path).name,
        tables.size(step.size_bytes),
        accuracy,
        distance,
        tables.milliseconds(latency.p50 if latency else None),
        tables.milliseconds(latency.p90 if latency else None),
        where,
    )


def _verified(answer: JourneyAnswer, step: StepAnswer) -> ErrorFigures | None:
    """The figures of the verify step that follows a step, when it was not run on a device."""
    steps = [s for s in answer.steps if s.error is not None and s.after == step.id]
    return steps[0].error if steps else None
