"""LiveRun: what a run's stream says so far, as series that can be drawn at any zoom in constant time.

The run file is the truth and is written first; this is the picture's memory. A series keeps its
samples and a pyramid of minima and maxima over blocks of 8, 64, 512, …, so that an hour at
100 samples/s costs no more to draw than a minute.

Why not a ring buffer with decimation per frame: 20 series × 360,000 samples × 20 Hz is a whole
core in numpy alone; with the pyramid a frame touches a few thousand numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from studio.devices.stream import (
    End,
    Fault,
    Hello,
    Inference,
    Loaded,
    Phase,
    Sample,
    StreamRecord,
    Summary,
    Warm,
)

Floats = npt.NDArray[np.float64]

_FACTOR = 8
_LEVELS = 6
_MAX_SAMPLES = 1 << 20  # per series; beyond it the older half is let go (the run file has it)
_PERCENTILES_OVER = 100  # inferences
_PERCENTILES_EVERY_S = 0.2


class Series:
    """One quantity over time: times in seconds since the run's start, values in the unit given."""

    def __init__(self, name: str, unit: str) -> None:
        self.name = name
        self.unit = unit
        self.count = 0
        self._t: Floats = np.empty(256)
        self._v: Floats = np.empty(256)
        self._low: list[Floats] = [np.empty(32) for _ in range(_LEVELS)]
        self._high: list[Floats] = [np.empty(32) for _ in range(_LEVELS)]
        self._built = [0] * _LEVELS

    def append(self, t_s: float, value: float) -> None:
        """Adds one sample; times must not go back (an earlier one is set to the last)."""
        if self.count == len(self._t):
            self._make_room()
        if self.count and t_s < self._t[self.count - 1]:
            t_s = float(self._t[self.count - 1])
        self._t[self.count] = t_s
        self._v[self.count] = value
        self.count += 1

    @property
    def times(self) -> Floats:
        """Seconds since the start, [count]."""
        return self._t[: self.count]

    @property
    def values(self) -> Floats:
        """Values, [count]."""
        return self._v[: self.count]

    def last(self) -> float | None:
        """The newest value, None when there is none."""
        return float(self._v[self.count - 1]) if self.count else None

    def since(self, t_s: float) -> Floats:
        """The values from that time on."""
        start = int(np.searchsorted(self.times, t_s, side="left"))
        return self.values[start:]

    def at(self, t_s: float) -> float | None:
        """The value that held at that time: the last sample not after it."""
        index = int(np.searchsorted(self.times, t_s, side="right")) - 1
        return float(self._v[index]) if index >= 0 else None

    def window(self, start_s: float, end_s: float, pixels: int) -> tuple[Floats, Floats]:
        """(times, values) that draw the window truthfully: at most about four points a pixel.

        Every extreme survives: above the sample rate the samples themselves, below it the minimum
        and the maximum of each block. One sample on either side is kept so that lines reach the edge.
        """
        times = self.times
        first = max(int(np.searchsorted(times, start_s, side="left")) - 1, 0)
        stop = min(int(np.searchsorted(times, end_s, side="right")) + 1, self.count)
        wanted = max(pixels, 1) * 4
        block, level = 1, -1
        while wanted < (stop - first) // block >= 2 * _FACTOR and level + 1 < _LEVELS:
            block *= _FACTOR
            level += 1
        if level < 0:
            return times[first:stop], self.values[first:stop]
        self._build(level)
        low, high = self._low[level], self._high[level]
        start_block, stop_block = first // block, min(stop // block + 1, self._built[level])
        if stop_block <= start_block:
            return times[first:stop], self.values[first:stop]
        starts = times[np.arange(start_block, stop_block) * block]
        lows, highs = low[start_block:stop_block], high[start_block:stop_block]
        tail = self.values[stop_block * block : stop]
        if len(tail):
            starts = np.append(starts, times[stop_block * block])
            lows, highs = np.append(lows, np.fmin.reduce(tail)), np.append(highs, np.fmax.reduce(tail))
        return np.repeat(starts, 2), np.column_stack([lows, highs]).ravel()

    def _build(self, level: int) -> None:
        """Brings the pyramid up to date as far as whole blocks exist."""
        for k in range(level + 1):
            low_below = self._v if k == 0 else self._low[k - 1]
            high_below = self._v if k == 0 else self._high[k - 1]
            available = (self.count if k == 0 else self._built[k - 1]) // _FACTOR
            done = self._built[k]
            if available <= done:
                continue
            if available > len(self._low[k]):
                size = max(available, 2 * len(self._low[k]))
                self._low[k] = np.resize(self._low[k], size)
                self._high[k] = np.resize(self._high[k], size)
            part = slice(done * _FACTOR, available * _FACTOR)
            self._low[k][done:available] = np.fmin.reduce(low_below[part].reshape(-1, _FACTOR), axis=1)
            self._high[k][done:available] = np.fmax.reduce(high_below[part].reshape(-1, _FACTOR), axis=1)
            self._built[k] = available

    def _make_room(self) -> None:
        if self.count < _MAX_SAMPLES:
            self._t = np.resize(self._t, 2 * self.count)
            self._v = np.resize(self._v, 2 * self.count)
            return
        half = self.count // 2
        self._t[:half] = self._t[half : self.count]
        self._v[:half] = self._v[half : self.count]
        self.count = half
        self._built = [0] * _LEVELS


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment worth a line: a phase began, throttling, a lost link, an error."""

    t_s: float
    name: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class LiveFigures:
    """Latency so far in milliseconds; `drift_percent` compares the last minute with the first."""

    n: int
    p50_ms: float
    p90_ms: float
    drift_percent: float | None


@dataclass(eq=False)
class LiveRun:
    """One run as it arrives. Feed it records in order with `add`."""

    device_id: str
    hello: Hello | None = None
    loaded: Loaded | None = None
    end: End | None = None
    faults: list[Fault] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    """Phases of a runner that cannot tell single inferences."""
    marks: list[Mark] = field(default_factory=list)
    unavailable: dict[str, str] = field(default_factory=dict)
    series: dict[str, Series] = field(default_factory=dict)
    _start_ns: int | None = None
    _throttled: bool = False
    _percentiles_at_s: float = -1.0

    @property
    def duration_s(self) -> float:
        """Seconds from the first to the newest record."""
        return max((float(s.times[-1]) for s in self.series.values() if s.count), default=0.0)

    def add(self, record: StreamRecord) -> None:
        """Takes one record of the stream."""
        if isinstance(record, Hello):
            self.hello = record
            return
        t_s = self._seconds(record.t_ns)
        if isinstance(record, Inference):
            self._append("latency", "ms", t_s, record.latency_ns / 1e6)
            self._run_percentiles(t_s)
        elif isinstance(record, Sample):
            self._add_sample(t_s, record)
        elif isinstance(record, Loaded):
            self.loaded = record
        elif isinstance(record, Summary):
            self.summaries.append(record)
        elif isinstance(record, Warm):
            self.marks.append(Mark(t_s, "measure", f"after {record.runs} warm-up runs"))
        elif isinstance(record, Phase):
            self.marks.append(Mark(t_s, record.name, record.detail))
        elif isinstance(record, Fault):
            self.faults.append(record)
            self.marks.append(Mark(t_s, "error", record.message))
        elif isinstance(record, End):
            self.end = record

    def figures(self) -> LiveFigures | None:
        """Percentiles over all inferences so far; None before the first."""
        latency = self.series.get("latency")
        if latency is None or not latency.count:
            return None
        p50, p90 = np.percentile(latency.values, [50, 90])
        drift = None
        times = latency.times
        if times[-1] - times[0] >= 120.0:
            first = latency.values[: int(np.searchsorted(times, times[0] + 60.0))]
            last = latency.since(float(times[-1]) - 60.0)
            drift = float(np.median(last) / np.median(first) - 1.0) * 100.0
        return LiveFigures(latency.count, float(p50), float(p90), drift)

    def family(self, prefix: str) -> list[Series]:
        """The series of a kind, e.g. "temperature", in the order in which they appeared."""
        return [s for key, s in self.series.items() if key == prefix or key.startswith(prefix + ":")]

    def _seconds(self, t_ns: int) -> float:
        if self._start_ns is None:
            self._start_ns = t_ns
        return (t_ns - self._start_ns) / 1e9

    def _run_percentiles(self, t_s: float) -> None:
        """Running p50 and p90 over the last inferences, a few times a second at most."""
        latency = self.series["latency"]
        if latency.count < 5 or t_s - self._percentiles_at_s < _PERCENTILES_EVERY_S:
            return
        self._percentiles_at_s = t_s
        p50, p90 = np.percentile(latency.values[-_PERCENTILES_OVER:], [50, 90])
        self._append("running:p50", "ms", t_s, float(p50))
        self._append("running:p90", "ms", t_s, float(p90))

    def _append(self, key: str, unit: str, t_s: float, value: float) -> None:
        found = self.series.get(key)
        if found is None:
            found = self.series[key] = Series(key.partition(":")[2] or key, unit)
        found.append(t_s, value)

    def _add_sample(self, t_s: float, sample: Sample) -> None:
        for name, celsius in sample.temperature_celsius.items():
            self._append(f"temperature:{name}", "°C", t_s, celsius)
        for name, hz in sample.frequency_hz.items():
            self._append(f"frequency:{name}", "GHz", t_s, hz / 1e9)
        for name, hz in sample.frequency_cap_hz.items():
            self._append(f"cap:{name}", "GHz", t_s, hz / 1e9)
        if sample.rss_bytes is not None:
            self._append("memory:process", "MB", t_s, sample.rss_bytes / 1e6)
        if sample.free_bytes is not None:
            self._append("free", "MB", t_s, sample.free_bytes / 1e6)
        if sample.power_watts is not None:
            self._append("power", "W", t_s, sample.power_watts)
        if sample.thermal_status is not None:
            throttled = sample.thermal_status > 0
            if throttled != self._throttled:
                self.marks.append(Mark(t_s, "throttling" if throttled else "throttling over"))
            self._throttled = throttled
        self.unavailable.update(sample.unavailable)
