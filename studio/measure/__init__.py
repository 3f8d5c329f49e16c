"""Numbers: Run (one execution, read from its file), Measurement, statistics, comparison.

What lives here: the run file (`NAME.runs/…jsonl`, only ever added), latency statistics, the error
of outputs against the float original, accuracy, time and error per node (`node_profile`, `layer_errors`)
and the files that keep them (`fact_file`). What does not: getting the numbers (`devices`).
"""

from studio.measure.error import error_figures
from studio.measure.measurement import ErrorFigures, LatencyStats, Measurement
from studio.measure.run_file import Compared, Run, RunBuilder, RunFile, list_runs, new_run_file, read_run
from studio.measure.statistics import (
    Drift,
    MinuteStats,
    ThrottleMark,
    drift,
    latency_stats,
    per_minute,
    throttle_marks,
)

__all__ = [
    "Compared",
    "Drift",
    "ErrorFigures",
    "LatencyStats",
    "Measurement",
    "MinuteStats",
    "Run",
    "RunBuilder",
    "RunFile",
    "ThrottleMark",
    "drift",
    "error_figures",
    "latency_stats",
    "list_runs",
    "new_run_file",
    "per_minute",
    "read_run",
    "throttle_marks",
]
