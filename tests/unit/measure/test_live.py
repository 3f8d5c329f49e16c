"""What the live picture remembers of a run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.devices import Inference, Phase, Sample
from studio.measure.live import LiveRun, Series


def filled(values: list[float], step_s: float = 0.01) -> Series:
    series = Series("latency", "ms")
    for i, value in enumerate(values):
        series.append(i * step_s, value)
    return series


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 3000), st.integers(1, 400), st.integers(0, 2**32 - 1))
def test_a_window_keeps_every_extreme(count: int, pixels: int, seed: int) -> None:
    values = np.random.default_rng(seed).uniform(-5, 5, count).tolist()
    series = filled(values)
    times, drawn = series.window(-1.0, count, pixels)
    assert drawn.min() == min(values)
    assert drawn.max() == max(values)
    assert len(times) == len(drawn) <= 8 * pixels + 34
    assert np.all(np.diff(times) >= 0)


def test_a_window_with_room_shows_the_samples_themselves() -> None:
    series = filled([3.0, 1.0, 2.0])
    times, drawn = series.window(0.0, 1.0, 800)
    assert drawn.tolist() == [3.0, 1.0, 2.0]
    assert times.tolist() == pytest.approx([0.0, 0.01, 0.02])


def test_a_full_series_lets_the_older_half_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.measure.live._MAX_SAMPLES", 256)
    series = filled([float(i) for i in range(300)])
    assert series.count < 256
    assert series.last() == 299.0
    assert series.values[0] == 128.0
    assert series.window(0, 10, 4)[1].max() == 299.0


def test_time_that_goes_back_is_held() -> None:
    series = Series("x", "ms")
    series.append(2.0, 1.0)
    series.append(1.0, 5.0)
    assert series.times.tolist() == [2.0, 2.0]


def test_figures_compare_the_last_minute_with_the_first() -> None:
    run = LiveRun("phone")
    for i in range(300):
        run.add(Inference(i=i, t_ns=i * 1_000_000_000, latency_ns=10_000_000 if i < 150 else 12_000_000))
    figures = run.figures()
    assert figures is not None
    assert figures.n == 300
    assert figures.drift_percent == pytest.approx(20.0)


def test_no_drift_is_claimed_before_two_minutes() -> None:
    run = LiveRun("phone")
    for i in range(100):
        run.add(Inference(i=i, t_ns=i * 1_000_000_000, latency_ns=10_000_000))
    figures = run.figures()
    assert figures is not None and figures.drift_percent is None


def test_throttling_leaves_a_mark_when_it_begins_and_ends() -> None:
    run = LiveRun("phone")
    for i, status in enumerate([0, 0, 2, 2, 0]):
        run.add(Sample(t_ns=i * 1_000_000_000, thermal_status=status))
    assert [(m.t_s, m.name) for m in run.marks] == [(2.0, "throttling"), (4.0, "throttling over")]


def test_what_cannot_be_read_has_its_reason_and_no_series() -> None:
    run = LiveRun("pc")
    run.add(Phase(t_ns=5, name="load"))
    run.add(Sample(t_ns=10, unavailable={"temperature": "no sensor is readable"}, rss_bytes=5_000_000))
    assert run.unavailable["temperature"]
    assert run.family("temperature") == []
    assert run.series["memory:process"].last() == 5.0
