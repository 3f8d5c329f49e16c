"""The report's part about measurements: per run its figures, distribution and timeline."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from studio.devices.stream import Sample
from studio.measure.run_file import Run
from studio.measure.statistics import drift, latency_stats, throttle_marks
from studio.report import charts
from studio.report.charts import Panel, Series
from studio.report.content import ReportContent, device_name, latency_ms
from studio.report.words import definition_list, error_words, escape, settings_words, size_text


def run_section(content: ReportContent) -> str:
    """Every run in full; empty when there are none."""
    if not content.runs:
        return ""
    parts = [_run(content, run) for run in content.runs]
    if content.older_runs:
        folder = content.project_file.rsplit(".", 1)[0]
        parts.append(
            f'<p class="quiet">{content.older_runs} older runs are in the folder {escape(folder)}.runs.</p>'
        )
    return "<section>\n<h2>Measurements</h2>\n" + "\n".join(parts) + "\n</section>"


def _run(content: ReportContent, run: Run) -> str:
    name = f"{content.step_of(run)} on {device_name(run)}"
    mark = ' <span class="simulated">simulated</span>' if run.hello.is_simulated else ""
    parts = [f"<h3>{escape(name)}{mark}</h3>", f'<div class="card">{definition_list(_figures(run))}</div>']
    for fault in run.faults:
        parts.append(f'<p class="bad">{escape(fault.message)} {escape(fault.hint)}</p>')
    if not run.is_complete:
        parts.append(
            '<p class="bad">This run was cut before its end: what it measured is shown, not judged.</p>'
        )
    drawings = (charts.distribution(latency_ms(run), title=name), _timeline(run, name))
    captions = ("How long an inference took", "Over the run")
    for drawing, caption in zip(drawings, captions):
        if drawing:
            parts.append(f'<figure class="card">{drawing}<figcaption>{caption}</figcaption></figure>')
    missing = {what: why for sample in run.samples for what, why in sample.unavailable.items()}
    if missing:
        words = "; ".join(f"{what}: {why}" for what, why in sorted(missing.items()))
        parts.append(f'<p class="quiet">Not measured: {escape(words)}.</p>')
    return "\n".join(parts)


def _figures(run: Run) -> list[tuple[str, str]]:
    stats = latency_stats(run.latency_ns)
    when = run.hello.wall_time.replace("T", " ").split(".")[0].removesuffix("+00:00")
    rows = [("when", f"{when} UTC"), ("target asked for", run.hello.target)]
    if run.loaded is not None:
        rows.append(("really ran", f"{run.loaded.target_ran} ({run.loaded.evidence})".replace(" ()", "")))
        if run.loaded.load_ns is not None:
            rows.append(("load time", f"{run.loaded.load_ns / 1e6:.1f} ms"))
    if stats is not None:
        rows.append(
            (
                "latency",
                f"p50 {stats.p50:.3f} · p90 {stats.p90:.3f} · p99 {stats.p99:.3f} · mean {stats.mean:.3f} "
                f"± {stats.std:.3f} ms over {stats.n:,} inferences",
            )
        )
    if run.end is not None and run.end.peak_rss_bytes:
        rows.append(("peak memory", size_text(run.end.peak_rss_bytes)))
    compared = run.compared
    rows.append(("error vs float", error_words(compared.figures if compared is not None else None)))
    if compared is not None and compared.figures.accuracy is not None:
        original = compared.figures.reference_accuracy
        of_float = f", float {100 * original:.2f} %" if original is not None else ""
        rows.append(("accuracy", f"{100 * compared.figures.accuracy:.2f} %{of_float}"))
    settings = {name: value for name, value in run.hello.settings.items() if name != "target"}
    rows.append(("settings", settings_words(settings)))
    rows += [("inputs", p.detail) for p in run.phases if p.name == "inputs"]
    change = drift(run)
    if change is not None:
        rows.append(("drift", f"last minute ÷ first minute: {change.ratio:.2f}"))
    return rows


def _timeline(run: Run, name: str) -> str:
    """Latency, temperature, frequency, memory and power over the seconds of the measured part."""
    if not len(run.t_ns):
        return ""
    start = int(run.t_ns[0])
    seconds = (run.t_ns - start) / 1e9
    panels = [Panel("latency", "ms", (Series("latency", seconds, latency_ms(run)),), is_dense=True)]
    samples = [s for s in run.samples if s.t_ns >= start]
    panels += [
        _by_name("temperature", "°C", samples, start, lambda s: s.temperature_celsius, 1.0),
        _by_name("frequency", "GHz", samples, start, lambda s: s.frequency_hz, 1e-9),
        _by_name("memory of the runner", "MB", samples, start, lambda s: _one("rss", s.rss_bytes), 1e-6),
        _by_name("power", "W", samples, start, lambda s: _one("power", s.power_watts), 1.0),
    ]
    marks = [(mark.seconds, mark.what) for mark in throttle_marks(run)]
    return charts.timeline([p for p in panels if p.series], marks, title=name)


def _one(name: str, value: float | None) -> dict[str, float]:
    return {} if value is None else {name: float(value)}


def _by_name(
    title: str,
    unit: str,
    samples: list[Sample],
    start: int,
    read: Callable[[Sample], dict[str, float]],
    factor: float,
) -> Panel:
    """A panel with a series per sensor; sensors that never differ from another are left out."""
    found: dict[str, list[tuple[float, float]]] = {}
    for sample in samples:
        for name, value in read(sample).items():
            found.setdefault(name, []).append(((sample.t_ns - start) / 1e9, value * factor))
    series: list[Series] = []
    for name, points in found.items():
        array = np.array(points, np.float64)
        if len(array) < 2 or any(
            len(s.values) == len(array) and np.array_equal(s.values, array[:, 1]) for s in series
        ):
            continue
        series.append(Series(name, array[:, 0], array[:, 1]))
    return Panel(title, unit, tuple(series))
