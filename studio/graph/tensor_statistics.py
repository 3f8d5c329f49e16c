"""TensorStatistics: what the inspector shows of a constant's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from studio.records import Record

BINS = 64
PREVIEW = 64
_CHUNK = 1 << 22


class TensorStatistics(Record):
    """Figures over all finite values; None where there are none (empty, strings). Counts are exact.

    `histogram` has 64 equal bins from `min` to `max`; `preview` the first values in file order.
    """

    count: int
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None
    zeros: int = 0
    nans: int = 0
    infinities: int = 0
    histogram: tuple[int, ...] = ()
    preview: tuple[float | int | bool | str | None, ...] = ()


def statistics_of(values: npt.NDArray[Any]) -> TensorStatistics:
    """The statistics of an array, by chunks, so that a mapped tensor of gigabytes is never copied whole.

    Complex values are taken by magnitude. Mean and standard deviation (population) are float64.
    """
    flat = values.reshape(-1)
    head = tuple(_plain(v) for v in flat[:PREVIEW].tolist())
    if flat.dtype == object or not flat.size:
        return TensorStatistics(count=flat.size, preview=head)
    low, high = np.inf, -np.inf
    total = 0.0
    finite = zeros = nans = infinities = 0
    for chunk in _chunks(flat):
        ok = np.isfinite(chunk)
        nans += int(np.isnan(chunk).sum())
        infinities += int(np.isinf(chunk).sum())
        good = chunk[ok]
        if good.size:
            low, high = min(low, float(good.min())), max(high, float(good.max()))
            total += float(good.sum())
            finite += good.size
            zeros += int((good == 0).sum())
    if not finite:
        return TensorStatistics(count=flat.size, nans=nans, infinities=infinities, preview=head)
    mean = total / finite
    squares = 0.0
    histogram = np.zeros(BINS, np.int64)
    for chunk in _chunks(flat):
        good = chunk[np.isfinite(chunk)]
        squares += float(((good - mean) ** 2).sum())
        histogram += _histogram(good, low, high)
    return TensorStatistics(
        count=flat.size,
        min=low,
        max=high,
        mean=mean,
        std=float(np.sqrt(squares / finite)),
        zeros=zeros,
        nans=nans,
        infinities=infinities,
        histogram=tuple(histogram.tolist()),
        preview=head,
    )


def _chunks(flat: npt.NDArray[Any]) -> list[npt.NDArray[np.float64]] | Any:
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK]
        yield (np.abs(part) if np.iscomplexobj(part) else part).astype(np.float64)


def _histogram(values: npt.NDArray[np.float64], low: float, high: float) -> npt.NDArray[np.int64]:
    if high <= low or not np.isfinite(high - low):
        result = np.zeros(BINS, np.int64)
        result[BINS // 2] = values.size
        return result
    return np.histogram(values, BINS, (low, high))[0].astype(np.int64)


def _plain(value: Any) -> float | int | bool | str | None:
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, complex):
        return str(value)
    return float(value) if value is not None else None
