"""Charts as inline SVG: latency distribution, timeline, comparison of runs, verdict bars.

Colours are the page's CSS variables, so that one drawing serves light, dark and paper; every
chart has axes with units and a text alternative.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_WIDTH = 720.0
_LEFT = 56.0
_RIGHT = 16.0
_BUCKETS = 240  # of a timeline: more points than that are drawn as bands


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a panel: seconds and values, with its name for the legend."""

    name: str
    seconds: Floats
    values: Floats


@dataclass(frozen=True, slots=True)
class Panel:
    """One strip of a timeline. `is_dense`: thousands of points, drawn as a band with its median."""

    title: str
    unit: str
    series: tuple[Series, ...]
    is_dense: bool = False


def distribution(latency_ms: Floats, *, title: str) -> str:
    """A histogram with p50 and p90. The far tail is counted in words, or it would squeeze the rest."""
    if not len(latency_ms):
        return ""
    p50, p90, most = (float(np.percentile(latency_ms, q)) for q in (50, 90, 99.5))
    low = float(latency_ms.min())
    high = max(min(most, max(1.5 * p90, 2 * p50)), low * 1.02, low + 1e-6)
    inside = latency_ms[latency_ms <= high]
    counts, edges = np.histogram(inside, bins=48, range=(low, high))
    top, height = 26.0, 150.0
    axis = _Axis(low, high, _RIGHT, _WIDTH - _RIGHT)
    scale = height / max(int(counts.max()), 1)
    parts = []
    for count, left, right in zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist()):
        if count:
            x, tall = axis.place(left), count * scale
            width = max(axis.place(right) - x - 1, 0.7)
            parts.append(
                f'<rect class="bar" x="{x:.1f}" y="{top + height - tall:.1f}" width="{width:.1f}" '
                f'height="{tall:.1f}"/>'
            )
    parts.append(axis.draw(top + height, "ms"))
    parts += _marks(axis, top, top + height, ((p50, f"p50 {p50:.3g}"), (p90, f"p90 {p90:.3g}")))
    beyond = len(latency_ms) - len(inside)
    if beyond:
        slowest = f"{beyond} slower, up to {latency_ms.max():.3g} ms →"
        parts.append(_text(_WIDTH - _RIGHT, top + 12, slowest, "quiet", "end"))
    label = f"{title}: latency distribution, median {p50:.3g} ms, 90 % below {p90:.3g} ms"
    return _svg(top + height + 36, label, parts)


def timeline(panels: Sequence[Panel], marks: Sequence[tuple[float, str]], *, title: str) -> str:
    """Panels over one axis of seconds; `marks` are moments worth a word (throttled, link lost)."""
    panels = [p for p in panels if any(len(s.values) for s in p.series)]
    if not panels:
        return ""
    end = max(float(s.seconds.max()) for p in panels for s in p.series if len(s.seconds))
    axis = _Axis(0.0, max(end, 1e-3), _LEFT, _WIDTH - _RIGHT)
    parts: list[str] = []
    y = 8.0
    for number, panel in enumerate(panels):
        tall = 120.0 if number == 0 else 72.0
        parts.append(_draw_panel(panel, axis, y + 18, tall))
        y += tall + 34
    bottom = y - 16
    for at, word in marks:
        x = axis.place(at)
        parts.append(f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="8" y2="{bottom:.1f}"/>')
        parts.append(_text(x + 3, bottom - 3, word, "quiet", "start"))
    parts.append(axis.draw(bottom, "s"))
    return _svg(bottom + 36, f"{title}: " + ", ".join(p.title for p in panels) + " over time", parts)


def comparison(rows: Sequence[tuple[str, Floats]]) -> str:
    """One row per run: from the 10th to the 90th percentile, with the median as a dot."""
    rows = [(name, ms) for name, ms in rows if len(ms)]
    if len(rows) < 2:
        return ""
    spans = [np.percentile(ms, (10, 50, 90)) for _, ms in rows]
    left = 280.0
    axis = _Axis(0.0, 1.05 * max(float(s[2]) for s in spans), left, _WIDTH - 96)
    parts = []
    for i, ((name, _), (low, middle, high)) in enumerate(zip(rows, spans)):
        y = 18.0 + 26 * i
        parts.append(_text(left - 10, y + 4, _short(name, 46), "label", "end"))
        x1, x2 = axis.place(float(low)), axis.place(float(high))
        parts.append(
            f'<rect class="span" x="{x1:.1f}" y="{y - 5:.1f}" width="{max(x2 - x1, 1):.1f}" '
            'height="10" rx="3"/>'
        )
        parts.append(f'<circle class="dot" cx="{axis.place(float(middle)):.1f}" cy="{y:.1f}" r="4.5"/>')
        parts.append(_text(x2 + 8, y + 4, f"p50 {_figure(float(middle))} ms", "label", "start"))
    bottom = 18.0 + 26 * len(rows) - 8
    parts.append(axis.draw(bottom, "ms"))
    return _svg(bottom + 36, "Latency of every run, 10th to 90th percentile with the median", parts)


def verdict_bar(counts: dict[str, int]) -> str:
    """A thin bar of a target's verdicts, in the order of the counts."""
    total = sum(counts.values())
    parts, x = [], 0.0
    for verdict, count in counts.items():
        if count:
            width = 200.0 * count / total
            parts.append(
                f'<rect class="v-{verdict}" x="{x:.2f}" y="0" width="{max(width - 1, 0.8):.2f}" height="10"/>'
            )
            x += width
    words = ", ".join(f"{n} {v.replace('_', ' ')}" for v, n in counts.items() if n)
    return (
        f'<svg class="verdicts" viewBox="0 0 200 10" role="img" aria-label="{html.escape(words)}" '
        f'preserveAspectRatio="none">{"".join(parts)}</svg>'
    )


def nice_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """At most `most` round numbers from `low` to `high`."""
    span = max(high - low, 1e-12)
    power = 10.0 ** np.floor(np.log10(span / most))
    step = next((m * power for m in (1, 2, 5, 10) if span / (m * power) <= most), 10 * power)
    first = np.ceil(low / step - 1e-9)
    return [float((first + i) * step) for i in range(int((high + 1e-9 * span) // step - first) + 1)]


@dataclass(frozen=True, slots=True)
class _Axis:
    """A linear x axis from `low` at pixel `left` to `high` at pixel `right`."""

    low: float
    high: float
    left: float
    right: float

    def place(self, value: float) -> float:
        return self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left)

    def draw(self, y: float, unit: str) -> str:
        parts = [f'<line class="axis" x1="{self.left}" x2="{self.right}" y1="{y:.1f}" y2="{y:.1f}"/>']
        ticks = nice_ticks(self.low, self.high)
        for tick in ticks:
            x = self.place(tick)
            parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{y + 4:.1f}"/>')
            parts.append(_text(x, y + 17, f"{tick:.6g}", "quiet", "middle"))
        parts.append(_text(self.right, y + 31, unit, "quiet", "end"))
        return "".join(parts)


def _draw_panel(panel: Panel, axis: _Axis, top: float, tall: float) -> str:
    values = np.concatenate([s.values for s in panel.series])
    low, high = float(values.min()), float(values.max())
    if panel.is_dense:  # one outlier must not flatten the rest: the tail is cut, and the axis says so
        high = min(high, 1.25 * float(np.percentile(values, 99.5)))
    pad = max(0.08 * (high - low), 0.02 * abs(high), 1e-9)  # a tremble of 0.01 % is no hill
    low, high = max(low - pad, 0.0) if low >= 0 else low - pad, high + pad
    parts = [_text(_LEFT, top - 6, f"{panel.title}, {panel.unit}", "label", "start")]
    for tick in nice_ticks(low, high, 4):
        y = top + tall * (high - tick) / (high - low)
        parts.append(f'<line class="grid" x1="{axis.left}" x2="{axis.right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(axis.left - 6, y + 4, f"{tick:.4g}", "quiet", "end"))

    def at(seconds: Floats, values: Floats) -> str:
        x = axis.left + (seconds - axis.low) / (axis.high - axis.low) * (axis.right - axis.left)
        y = top + tall * (high - np.clip(values, low, high)) / (high - low)
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist()))

    for number, series in enumerate(panel.series):
        if panel.is_dense and len(series.values) > _BUCKETS:
            seconds, lowest, middle, highest = _bands(series.seconds, series.values)
            outline = f"{at(seconds, highest)} {at(seconds[::-1], lowest[::-1])}"
            parts.append(f'<polygon class="band" points="{outline}"/>')
            parts.append(f'<polyline class="line s{number % 6}" points="{at(seconds, middle)}"/>')
        elif len(series.values) == 1:
            left, high_up = at(series.seconds, series.values).split(",")
            parts.append(f'<circle class="dot" cx="{left}" cy="{high_up}" r="3"/>')
        else:
            parts.append(
                f'<polyline class="line s{number % 6}" points="{at(series.seconds, series.values)}"/>'
            )
    if len(panel.series) > 1:
        names = "   ".join(f"{s.name}" for s in panel.series[:6])
        parts.append(_text(axis.right, top - 6, _short(names, 70), "quiet", "end"))
    return "".join(parts)


def _bands(seconds: Floats, values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """(middle of bucket, 5th percentile, median, 95th percentile) of equal stretches of points."""
    pieces = np.array_split(np.arange(len(values)), _BUCKETS)
    middle = np.array([seconds[p].mean() for p in pieces])
    five, half, most = (np.array([np.percentile(values[p], q) for p in pieces]) for q in (5, 50, 95))
    return middle, five, half, most


def _marks(axis: _Axis, top: float, bottom: float, marks: Sequence[tuple[float, str]]) -> list[str]:
    parts, taken = [], -1e9
    for value, word in marks:
        x = axis.place(min(value, axis.high))
        parts.append(f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{top - 4:.1f}" y2="{bottom:.1f}"/>')
        y = top - 9 if x - taken > 70 else top + 26  # two labels side by side must not run into each other
        parts.append(_text(x + 4, y, word, "label", "start"))
        taken = x
    return parts


def _text(x: float, y: float, text: str, kind: str, anchor: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>'


def _figure(value: float) -> str:
    """Three significant figures, zeros at the end included: 0.530 under 0.514."""
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3}f}"


def _short(text: str, most: int) -> str:
    """Shortened in the middle: the end may say that a figure is simulated."""
    end = most // 3
    return text if len(text) <= most else f"{text[: most - 1 - end]}…{text[-end:]}"


def _svg(height: float, label: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH:.0f} {height:.0f}" role="img" '
        f'aria-label="{html.escape(label)}">{"".join(parts)}</svg>'
    )
