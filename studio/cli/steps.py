"""What the steps of a recipe left, as the commands say it: records for `--json`, a table for people.

JSON of a step: `{"id", "kind", "after", "path", "format", "sha256", "size_bytes", "seconds", "was_cached",
"notes": [text], "error": ErrorFigures | null, "failures": [text]}`; `error` and `failures` (broken
budgets) are those of verify steps.
"""

from __future__ import annotations

from studio.cli import tables
from studio.measure.measurement import ErrorFigures
from studio.recipes.recipe import Recipe
from studio.recipes.run import RecipeResult, StepResult
from studio.records import Record


class StepAnswer(Record):
    """What one step left. `path` lies in the cache."""

    id: str
    kind: str
    after: str
    path: str
    format: str
    sha256: str
    size_bytes: int
    seconds: float
    was_cached: bool
    notes: tuple[str, ...]
    error: ErrorFigures | None
    failures: tuple[str, ...]


def answers_of(result: RecipeResult, recipe: Recipe) -> tuple[StepAnswer, ...]:
    """The steps of a recipe's result, in order."""
    after = {step.id: step.after for step in recipe.steps}
    return tuple(_answer(step, after[step.step_id]) for step in result.steps)


def _answer(step: StepResult, after: str) -> StepAnswer:
    artifact = step.artifact
    return StepAnswer(
        id=step.step_id,
        kind=step.kind,
        after=after,
        path=artifact.path,
        format=artifact.format,
        sha256=artifact.sha256,
        size_bytes=artifact.size_bytes,
        seconds=artifact.seconds,
        was_cached=step.was_cached,
        notes=artifact.notes,
        error=step.figures,
        failures=step.failures,
    )


def text_of(steps: tuple[StepAnswer, ...]) -> str:
    """A table of the steps, then their notes and the budgets that were broken."""
    rows = []
    for step in steps:
        time = "unchanged" if step.was_cached else f"{step.seconds:.1f} s"
        if step.error is None:
            rows.append((step.id, step.format, tables.size(step.size_bytes), time, ""))
        else:
            verdict = "✕ failed" if step.failures else "✓ passed"
            rows.append((step.id, verdict, "", time, error_text(step.error)))
    lines = [tables.table(("step", "made", "size", "time", ""), rows, right="llrrl")]
    lines += [f"✕ {step.id}: {text}" for step in steps for text in step.failures]
    lines += [f"note: {step.id}: {text}" for step in steps for text in step.notes]
    return "\n".join(lines)


def error_text(error: ErrorFigures) -> str:
    """The error against the float original in a few words."""
    parts = []
    if error.is_equal:
        parts.append("equal")
    elif error.snr_db is not None:
        parts.append(f"SNR {error.snr_db:.1f} dB")
    if error.accuracy is not None:
        parts.append(f"accuracy {tables.percent(error.accuracy, 2)}")
        if error.reference_accuracy is not None:
            parts.append(f"(float {tables.percent(error.reference_accuracy, 2)})")
    elif error.argmax_agreement is not None:
        parts.append(f"same answer {tables.percent(error.argmax_agreement, 1)}")
    if error.nonfinite:
        parts.append(f"{error.nonfinite} values are not numbers")
    return " ".join([*parts, f"on {error.samples} samples"])
