"""SoFar: the figures that matter until now, and the one next step."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from studio.measure import ErrorFigures
from studio.recipes.recipe import ConvertStep, VerifyStep
from studio.ui.domain_texts import translate_sentence
from studio.ui.job_runner import JobStatus
from studio.ui.runnable import can_ever_run
from studio.ui.session import Session
from studio.ui.texts import fill
from studio.ui.views.step_texts import bytes_text, step_title


@dataclass(frozen=True, slots=True)
class NextStep:
    """What the one button does: `id` is a step's kind, "deploy", "stop" or "save"."""

    id: str
    title: str
    why: str = ""


def _tr(text: str) -> str:
    return QCoreApplication.translate("SoFar", text)


def next_step(session: Session) -> NextStep | None:
    """What a person would do now; None when nothing is open that could be run."""
    project = session.project
    if project is None:
        return None
    if any(j.kind == "run_recipe" and j.status is JobStatus.RUNNING for j in session.jobs):
        return NextStep("stop", _tr("Stop the recipe"))
    if not can_ever_run(session):
        return None
    if not project.recipe.steps:
        return NextStep("deploy", _tr("Deploy…"), _tr("This file can be run as it is."))
    missing = [
        step
        for step in project.recipe.steps
        if step.id not in session.step_results and _artifact_missing(session, step.id)
    ]
    if missing:
        stage = session.stage(missing[0].id)
        kind = stage.kind if stage else "export"
        title = step_title(kind, missing[0])
        text = _tr("Continue wizard…") if len(missing) < len(project.recipe.steps) else _tr("Start wizard…")
        return NextStep(kind, text, fill(_tr("Next: {step}"), step=title))
    if session.run_jobs:
        return None  # the run has its own button: Stop
    if not session.last_results:
        return NextStep("deploy", _tr("Deploy…"), _tr("Next: measure it on a device"))
    if session.project_path is None or session.is_modified:
        return NextStep("save", _tr("Save project…"), _tr("Next: share it with your team"))
    return NextStep("deploy", _tr("Deploy again…"))


def figures_of(session: Session) -> list[tuple[str, str]]:
    """(name, value) rows of size, accuracy, error and latency, as far as they are known."""
    rows: list[tuple[str, str]] = []
    size = _size_row(session)
    if size:
        rows.append((_tr("Size"), size))
    worst = _worst_verification(session)
    if worst is not None:
        figures = worst
        if figures.accuracy is not None and figures.reference_accuracy is not None:
            before, after = figures.reference_accuracy * 100, figures.accuracy * 100
            rows.append((_tr("Accuracy"), f"{before:.1f} → {after:.1f} %"))
        if figures.is_equal:
            rows.append((_tr("Error"), _tr("none, equal")))
        elif figures.snr_db is not None:
            rows.append((_tr("SNR"), f"{figures.snr_db:.0f} dB"))
    names = {d.id: d for d in session.devices}
    for device_id, result in session.last_results.items():
        if result.latency_ms is not None:
            info = names.get(device_id)
            name = translate_sentence(info.name if info else result.device_name or device_id)
            mark = " " + _tr("(simulated)") if result.is_simulated else ""
            rows.append(
                (name, f"p50 {result.latency_ms.p50:.3g} ms{mark}")
            )  # a long name may be cut, the mark not
    return rows


def _artifact_missing(session: Session, step_id: str) -> bool:
    stage = session.stage(step_id)
    return stage is None or stage.artifact is None


def _size_row(session: Session) -> str:
    """Float → smallest converted file."""
    project = session.project
    if project is None:
        return ""
    sizes = {s.id: s.artifact.size_bytes for s in session.stages if s.artifact is not None}
    converted = [sizes[s.id] for s in project.recipe.steps if isinstance(s, ConvertStep) and s.id in sizes]
    floats = [sizes[s.id] for s in session.stages if s.kind == "export" and s.id in sizes]
    first = floats[0] if floats else session.source_bytes
    if first is None:
        return ""
    last = min(converted) if converted else None
    if last is None:
        quantized = [sizes[s.id] for s in session.stages if s.kind == "quantize" and s.id in sizes]
        last = quantized[-1] if quantized else None
    return bytes_text(first) if last is None else f"{bytes_text(first)} → {bytes_text(last)}"


def _worst_verification(session: Session) -> ErrorFigures | None:
    project = session.project
    if project is None:
        return None
    found = []
    for step in project.recipe.steps:
        result = session.step_results.get(step.id)
        if isinstance(step, VerifyStep) and result is not None and result.figures is not None:
            found.append(result.figures)
    return min(found, key=lambda f: f.snr_db if f.snr_db is not None else float("inf"), default=None)
