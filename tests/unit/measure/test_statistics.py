"""Latency figures, minutes, drift and throttling of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from studio.devices.stream import Hello, Inference, Sample
from studio.measure.run_file import Run, RunBuilder
from studio.measure.statistics import drift, latency_stats, per_minute, throttle_marks

MINUTE = 60 * 10**9


def run_of(*records: object) -> Run:
    builder = RunBuilder(Path("run.jsonl"))
    builder.add(
        Hello(runner="r", runtime="ort", target="ort/cpu", device_id="d", wall_time="2026-11-30T12:00:00Z")
    )
    for record in records:
        builder.add(record)
    return builder.build()


def inferences(times_ns: list[int], latency_ns: list[int]) -> list[Inference]:
    return [
        Inference(i=i, t_ns=t, latency_ns=latency) for i, (t, latency) in enumerate(zip(times_ns, latency_ns))
    ]


def test_percentiles_are_numpys_and_std_is_of_the_sample() -> None:
    values = [1_000_000, 2_000_000, 3_000_000, 4_000_000, 10_000_000]
    stats = latency_stats(values)
    assert stats is not None
    assert stats.p50 == 3.0
    assert stats.p90 == pytest.approx(np.percentile([1, 2, 3, 4, 10], 90))
    assert stats.mean == 4.0
    assert stats.std == pytest.approx(np.std([1, 2, 3, 4, 10], ddof=1))
    assert stats.n == 5


def test_no_inference_has_no_figures() -> None:
    assert latency_stats([]) is None
    assert per_minute(run_of()) == ()
    assert drift(run_of()) is None


def test_one_inference_has_no_spread() -> None:
    stats = latency_stats([5_000_000])
    assert stats is not None and stats.std == 0.0 and stats.p99 == 5.0


def test_minutes_start_at_the_first_inference_and_skip_empty_ones() -> None:
    start = 17 * MINUTE + 123
    run = run_of(*inferences([start, start + 10, start + 3 * MINUTE], [10**6, 3 * 10**6, 9 * 10**6]))
    minutes = per_minute(run)
    assert [(m.minute, m.latency_ms.p50) for m in minutes] == [(0, 2.0), (3, 9.0)]


def test_drift_compares_whole_minutes_only() -> None:
    times = [0, MINUTE, 2 * MINUTE - 1, 2 * MINUTE + 5]
    run = run_of(*inferences(times, [10 * 10**6, 20 * 10**6, 20 * 10**6, 99 * 10**6]))
    found = drift(run)
    assert found is not None
    assert (found.first_p50_ms, found.last_p50_ms, found.ratio) == (10.0, 20.0, 2.0)


def test_a_short_run_has_no_drift() -> None:
    assert drift(run_of(*inferences([0, 90 * 10**9], [10**6, 10**6]))) is None


def test_throttling_is_marked_when_it_begins_and_again_after_recovery() -> None:
    def sample(second: int, status: int, cap: float) -> Sample:
        return Sample(t_ns=second * 10**9, thermal_status=status, frequency_cap_hz={"cpu7": cap})

    run = run_of(
        *inferences([0], [10**6]),
        sample(1, 0, 3e9),
        sample(2, 1, 3e9),
        sample(3, 1, 2e9),
        sample(4, 1, 2e9),
        sample(5, 0, 3e9),
        sample(6, 2, 1e9),
    )
    assert [(m.seconds, m.what) for m in throttle_marks(run)] == [
        (2.0, "thermal status light"),
        (3.0, "cpu7 capped at 2000 MHz"),
        (6.0, "thermal status moderate"),
        (6.0, "cpu7 capped at 1000 MHz"),
    ]
