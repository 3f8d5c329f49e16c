"""Measurement: a value with its unit, count and spread; and the two families of figures we show."""

from __future__ import annotations

from studio.records import Record


class Measurement(Record):
    """One figure. `spread` is the standard deviation in the same unit."""

    name: str
    value: float
    unit: str
    n: int = 1
    spread: float | None = None


class LatencyStats(Record):
    """Latency in milliseconds over n inferences; percentiles by linear interpolation (numpy default)."""

    p50: float
    p90: float
    p99: float
    mean: float
    std: float
    n: int


class ErrorFigures(Record):
    """Result against the float original on the same inputs, over all outputs.

    snr_db = 10·log10(Σ ref² / Σ (ref − out)²), infinite (None) when equal; cosine over flattened
    outputs, mean of samples; accuracy as fractions where labels are known. `nonfinite` counts
    values that are NaN or infinite where the original's are not: above 0 the result is broken.
    """

    samples: int
    snr_db: float | None
    cosine: float
    max_abs_error: float
    argmax_agreement: float | None = None
    accuracy: float | None = None
    reference_accuracy: float | None = None
    is_equal: bool = False
    nonfinite: int = 0
