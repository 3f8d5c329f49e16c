"""The one table that people look for: size, accuracy, error and latency of the original and all made."""

from __future__ import annotations

from studio.measure.measurement import ErrorFigures
from studio.measure.run_file import Run
from studio.measure.statistics import latency_stats
from studio.report import charts
from studio.report.content import ReportContent, device_name, latency_ms
from studio.report.words import distance_words, escape, section, size_text, table


def glance_section(content: ReportContent) -> str:
    """The table and a chart of all runs; empty when nothing was made or run."""
    models = content.made_models
    summary = content.summary if content.is_file else None
    base = summary.file_bytes if summary is not None else models[0].artifact.size_bytes if models else 0
    base_name = "source" if summary is not None else models[0].step_id if models else ""
    rows = []
    if summary is not None:
        for run in content.source_runs:
            error = run.compared.figures if run.compared is not None else None
            rows.append(_row("source", summary.format, summary.file_bytes, base, run, error))
    for step in models:
        artifact = step.artifact
        for found in content.runs_of(step) or (None,):
            error = content.error_of(step, found)
            rows.append(_row(step.step_id, artifact.format, artifact.size_bytes, base, found, error))
    if not rows:
        return ""
    ratio = f"÷ {escape(base_name)}"
    head = ("step", "file", "size", ratio, "accuracy", "SNR vs float", "p50 ms", "p90 ms", "ran on")
    chart = charts.comparison([(_run_name(content, run), latency_ms(run)) for run in content.runs])
    figure = f'<div class="card">{chart}</div>' if chart else ""
    return section("At a glance", [table(head, rows, "llrrrrrrl"), figure])


def _row(
    name: str, file_format: str, size_bytes: int, base: int, run: Run | None, error: ErrorFigures | None
) -> tuple[str, ...]:
    stats = latency_stats(run.latency_ns) if run is not None else None
    return (
        f"<b>{escape(name)}</b>",
        escape(file_format),
        size_text(size_bytes),
        f"{size_bytes / base:.2f}" if base else "–",
        f"{100 * error.accuracy:.2f} %" if error and error.accuracy is not None else "–",
        escape(distance_words(error)),
        f"{stats.p50:.3f}" if stats is not None else "–",
        f"{stats.p90:.3f}" if stats is not None else "–",
        _where(run) if run is not None else "–",
    )


def _run_name(content: ReportContent, run: Run) -> str:
    mark = " (simulated)" if run.hello.is_simulated else ""
    return f"{content.step_of(run)} · {run.hello.target} · {device_name(run)}{mark}"


def _where(run: Run) -> str:
    ran = run.loaded.target_ran if run.loaded is not None else "nothing"
    mark = ' <span class="simulated">simulated</span>' if run.hello.is_simulated else ""
    red = ' class="bad"' if ran != run.hello.target else ""
    return f"<span{red}>{escape(ran)}</span> · {escape(device_name(run))}{mark}"
