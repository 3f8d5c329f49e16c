"""Running a recipe: every step once, in order, from the cache where nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from studio.artifact import Artifact
from studio.backends.backend import Converted, Report
from studio.backends.quiet import aloud
from studio.errors import StudioError
from studio.measure.measurement import ErrorFigures
from studio.recipes.cache import Making, cached_or_made, sweep
from studio.recipes.plan import PlannedStep, kind_of, plan
from studio.recipes.recipe import VerifyStep
from studio.recipes.steps.context import RecipeInput, StepContext
from studio.recipes.steps.verify import Verification, broken_budgets
from studio.records import Record

OnArtifact = Callable[[str, Artifact, bool], None]
"""(step id, artifact, was it cached)"""


class StepResult(Record):
    """What a step left. `verification` is there for verify steps; `failures` name broken budgets."""

    step_id: str
    kind: str
    artifact: Artifact
    was_cached: bool
    verification: Verification | None = None
    failures: tuple[str, ...] = ()

    @property
    def figures(self) -> ErrorFigures | None:
        return self.verification.figures if self.verification else None


class RecipeResult(Record):
    """The steps that ran, in order. `passed` is False when a verify step broke a budget."""

    steps: tuple[StepResult, ...]
    passed: bool = True

    def of(self, step_id: str) -> StepResult | None:
        """The result of a step, None when it did not run."""
        return next((step for step in self.steps if step.step_id == step_id), None)

    def verification_of(self, step_id: str, project: RecipeInput) -> Verification | None:
        """The verification of what a step made, None when no verify step follows it directly."""
        names = {s.id for s in project.recipe.steps if isinstance(s, VerifyStep) and s.after == step_id}
        return next((r.verification for r in self.steps if r.step_id in names), None)


def run_recipe(
    project: RecipeInput,
    folder: Path,
    report: Report,
    *,
    trusted: bool = False,
    only: Iterable[str] | None = None,
    force: bool = False,
    on_artifact: OnArtifact | None = None,
) -> RecipeResult:
    """Makes what is not in the cache and returns every step's artifact.

    `folder` is the project's; `trusted`: the source's Python may run; `only`: these steps and
    what they work on; `force`: make the steps asked for anew. After a broken budget the remaining
    steps still run, and `passed` is False. Raises StudioError naming the step; what earlier steps
    made stays.
    """
    sweep()
    only = None if only is None else tuple(only)
    planned = plan(project, folder, only=only)
    made: dict[str, Artifact] = {}
    results = []
    for number, entry in enumerate(planned):
        is_forced = force and (only is None or entry.step.id in only)
        report.progress(entry.step.id, number, len(planned), "steps")
        artifact, was_cached = _run_step(entry, project, folder, made, trusted, is_forced, report)
        made[entry.step.id] = artifact
        if on_artifact is not None:
            on_artifact(entry.step.id, artifact, was_cached)
        results.append(step_result(entry, artifact, was_cached))
    report.progress("Done", len(planned), len(planned), "steps")
    return RecipeResult(steps=tuple(results), passed=not any(r.failures for r in results))


def cached_results(project: RecipeInput, folder: Path) -> tuple[StepResult, ...]:
    """What the cache already holds for this project, without running anything. Raises InputError."""
    return tuple(
        step_result(entry, entry.cached, was_cached=True)
        for entry in plan(project, folder)
        if entry.cached is not None
    )


def step_result(entry: PlannedStep, artifact: Artifact, was_cached: bool) -> StepResult:
    """The result of one step; budgets are judged here, since they are not part of the key."""
    verification: Verification | None = None
    failures: tuple[str, ...] = ()
    if isinstance(entry.step, VerifyStep):
        verification = msgspec.json.decode(Path(artifact.path).read_bytes(), type=Verification)
        failures = broken_budgets(entry.step, verification.figures)
    return StepResult(
        step_id=entry.step.id,
        kind=kind_of(entry.step),
        artifact=artifact,
        was_cached=was_cached,
        verification=verification,
        failures=failures,
    )


def _run_step(
    entry: PlannedStep,
    project: RecipeInput,
    folder: Path,
    made: dict[str, Artifact],
    trusted: bool,
    force: bool,
    report: Report,
) -> tuple[Artifact, bool]:
    if entry.cached is not None and not force:
        return entry.cached, True
    step = entry.step

    def make(out_dir: Path) -> Making:
        context = StepContext(
            step=step, project=project, folder=folder, out_dir=out_dir, made=made, trusted=trusted,
            report=StepReport(report, step.id),
        )  # fmt: skip
        done = step_function(kind_of(step))(context)
        return Making(path=Path(done.path), format=done.format, notes=done.notes, facts=done.facts)

    try:
        return cached_or_made(
            entry.key,
            make,
            made_by=kind_of(step),
            settings=entry.settings,
            inputs=(made[step.after].key,) if step.after in made else (),
            tool_versions=entry.tool_versions,
            force=force,
        )
    except StudioError as error:
        error.message = f"Step “{step.id}”: {error.message}"
        error.args = (error.message,)
        raise


def step_function(kind: str) -> Callable[[StepContext], Converted]:
    """The function of a kind of step, imported on first use."""
    if kind == "export":
        from studio.recipes.steps.export import export

        return export
    if kind == "edit":
        from studio.recipes.steps.edit import edit

        return edit
    if kind == "fix":
        from studio.recipes.steps.fix import fix

        return fix
    if kind == "quantize":
        from studio.recipes.steps.quantize import quantize

        return quantize
    if kind == "convert":
        from studio.recipes.steps.convert import convert

        return convert
    from studio.recipes.steps.verify import verify

    return verify


class StepReport:
    """Passes progress on with the step's name before the stage."""

    def __init__(self, report: Report, step_id: str) -> None:
        self._report = report
        self._step_id = step_id

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None:
        with aloud():
            self._report.progress(f"{self._step_id}: {stage}", done, total, unit)

    def log(self, text: str) -> None:
        with aloud():
            self._report.log(f"{self._step_id}: {text}")
