"""The one table of a journey: what was made, how big, how right and how fast, per device."""

from __future__ import annotations

from pathlib import Path

from studio.cli import tables
from studio.cli.journey import MADE_KINDS, JourneyAnswer
from studio.cli.steps import StepAnswer, error_text
from studio.jobs.deploy import DeployResult
from studio.measure.measurement import ErrorFigures


def text_of(answer: JourneyAnswer) -> str:
    """The one table: step, artifact, size, accuracy, error against float, latency."""
    rows = []
    models = [s for s in answer.steps if s.kind in MADE_KINDS]
    for step in [*filter(None, [answer.source]), *models]:
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
