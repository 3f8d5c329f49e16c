"""What a deploy says: the figures of `bench --json`, and what else a reader of them must know."""

from __future__ import annotations

from studio.errors import DeviceError
from studio.jobs.recorder import Recorder
from studio.measure.measurement import ErrorFigures, LatencyStats
from studio.measure.statistics import (
    Drift,
    MinuteStats,
    ThrottleMark,
    drift,
    latency_stats,
    per_minute,
    throttle_marks,
)
from studio.records import Record


class DeployResult(Record):
    """What the run says. The first seven fields are the contract of `bench --json`."""

    latency_ms: LatencyStats | None
    load_ms: float | None
    peak_rss_bytes: int | None
    target: str
    target_ran: str
    error: ErrorFigures | None
    run_file: str
    device_id: str
    device_name: str = ""
    is_simulated: bool = False
    is_complete: bool = True
    evidence: str = ""
    delegated_nodes: int | None = None
    total_nodes: int | None = None
    minutes: tuple[MinuteStats, ...] = ()
    drift: Drift | None = None
    throttled: tuple[ThrottleMark, ...] = ()
    notes: tuple[str, ...] = ()


def result_of(
    recorder: Recorder,
    name: str,
    is_simulated: bool,
    error: ErrorFigures | None,
    notes: list[str],
) -> DeployResult:
    """The figures of what was recorded. Raises DeviceError when it was stopped before it began."""
    if recorder.builder.hello is None:
        raise DeviceError("The run was stopped before it began.", hint="Run again.")
    done = recorder.builder.build()
    loaded = done.loaded
    ran = loaded.target_ran if loaded is not None else ""
    target = done.hello.target
    if ran and ran != target:
        notes.insert(0, f"{target} was asked for, but {ran} ran.")
    if error is not None and error.nonfinite:
        notes.insert(0, f"{error.nonfinite} output values are not numbers (NaN or infinite).")
    notes += [
        f"The runner told only a summary of {s.name}: mean {s.mean_ns / 1e6:.3f} ms over {s.count} "
        f"inferences ({s.min_ns / 1e6:.3f} to {s.max_ns / 1e6:.3f} ms)."
        for s in done.summaries
    ]
    notes += [p.detail for p in done.phases if p.name == "inputs" and "assumed" in p.detail]
    return DeployResult(
        latency_ms=latency_stats(done.latency_ns),
        load_ms=loaded.load_ns / 1e6 if loaded is not None and loaded.load_ns is not None else None,
        peak_rss_bytes=done.end.peak_rss_bytes if done.end is not None else None,
        target=target,
        target_ran=ran,
        error=error,
        run_file=str(recorder.path or ""),
        device_id=recorder.device_id,
        device_name=name,
        is_simulated=is_simulated or done.hello.is_simulated,
        is_complete=done.is_complete and done.end is not None and done.end.reason == "done",
        evidence=loaded.evidence if loaded is not None else "",
        delegated_nodes=loaded.delegated_nodes if loaded is not None else None,
        total_nodes=loaded.total_nodes if loaded is not None else None,
        minutes=per_minute(done),
        drift=drift(done),
        throttled=throttle_marks(done),
        notes=tuple(notes),
    )
