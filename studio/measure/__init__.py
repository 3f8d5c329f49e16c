"""Numbers: Run (one execution, read from its file), Measurement, statistics, comparison.

What lives here: the run file (`NAME.runs/…jsonl`, only ever added), latency statistics, the error
of outputs against the float original, accuracy. What does not: getting the numbers (`devices`).
"""

from studio.measure.measurement import ErrorFigures, LatencyStats, Measurement

__all__ = ["ErrorFigures", "LatencyStats", "Measurement"]
