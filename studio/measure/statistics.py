"""Statistics of a run: latency figures, minute by minute, drift, and when it throttled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.measure.measurement import LatencyStats
from studio.measure.run_file import Run
from studio.records import Record

_MINUTE_NS = 60 * 10**9
_CAP_DROP = 0.98  # a cap below 98 % of its highest is a cap; the rest is rounding of the governor
THERMAL_STATUS = ("none", "light", "moderate", "severe", "critical", "emergency", "shutdown")
"""Android's PowerManager.THERMAL_STATUS_*, 0 to 6."""


class MinuteStats(Record):
    """Latency within one minute of the timed part; minute 0 is the first."""

    minute: int
    latency_ms: LatencyStats


class Drift(Record):
    """Last minute against the first: above 1 = slower. Only for runs of two minutes and more."""

    first_p50_ms: float
    last_p50_ms: float
    ratio: float
    minutes: int


class ThrottleMark(Record):
    """The device held itself back from here on; `seconds` since the first inference."""

    seconds: float
    what: str


def latency_stats(latency_ns: npt.NDArray[np.int64] | list[int]) -> LatencyStats | None:
    """Figures in ms over all inferences (std of the sample, n − 1), or None when there are none."""
    values = np.asarray(latency_ns, np.float64) / 1e6
    if not values.size:
        return None
    p50, p90, p99 = (float(v) for v in np.percentile(values, (50, 90, 99)))
    std = float(values.std(ddof=1)) if values.size > 1 else 0.0
    return LatencyStats(p50=p50, p90=p90, p99=p99, mean=float(values.mean()), std=std, n=int(values.size))


def per_minute(run: Run) -> tuple[MinuteStats, ...]:
    """Latency figures of each minute in which there was an inference."""
    if not run.t_ns.size:
        return ()
    minutes = (run.t_ns - run.t_ns[0]) // _MINUTE_NS
    found = []
    for minute in np.unique(minutes):
        stats = latency_stats(run.latency_ns[minutes == minute])
        if stats is not None:
            found.append(MinuteStats(minute=int(minute), latency_ms=stats))
    return tuple(found)


def drift(run: Run) -> Drift | None:
    """How much slower the last whole minute is than the first; None below two whole minutes."""
    if not run.t_ns.size:
        return None
    whole = int((run.t_ns[-1] - run.t_ns[0]) // _MINUTE_NS)
    minutes = [m for m in per_minute(run) if m.minute < whole]
    if whole < 2 or len(minutes) < 2:
        return None
    first, last = minutes[0].latency_ms.p50, minutes[-1].latency_ms.p50
    return Drift(first_p50_ms=first, last_p50_ms=last, ratio=last / first if first else 1.0, minutes=whole)


def throttle_marks(run: Run) -> tuple[ThrottleMark, ...]:
    """Where the thermal status rose or a frequency cap fell, in time order."""
    origin = int(run.t_ns[0]) if run.t_ns.size else (run.samples[0].t_ns if run.samples else 0)
    marks: list[ThrottleMark] = []
    status = 0
    best: dict[str, float] = {}
    capped: set[str] = set()
    for sample in run.samples:
        at = (sample.t_ns - origin) / 1e9
        if sample.thermal_status is not None:
            if sample.thermal_status > status:
                marks.append(ThrottleMark(seconds=at, what=f"thermal status {_word(sample.thermal_status)}"))
            status = sample.thermal_status
        for name, cap in sample.frequency_cap_hz.items():
            best[name] = max(best.get(name, cap), cap)
            if cap < best[name] * _CAP_DROP and name not in capped:
                capped.add(name)
                marks.append(ThrottleMark(seconds=at, what=f"{name} capped at {cap / 1e6:.0f} MHz"))
            elif cap >= best[name] * _CAP_DROP:
                capped.discard(name)
    return tuple(marks)


def _word(status: int) -> str:
    return THERMAL_STATUS[status] if 0 <= status < len(THERMAL_STATUS) else str(status)
