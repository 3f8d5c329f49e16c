"""Calibration data for onnxruntime's quantizer, streamed: memory does not grow with the samples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from studio.backends.backend import Array
from studio.backends.ort import OrtBackend
from studio.errors import InputError
from studio.recipes.data import Samples, open_samples
from studio.recipes.steps.context import StepContext

_MOST_AT_ONCE = 16  # calibration samples whose intermediate outputs are in memory together


def calibration_samples(context: StepContext, source: Path, limit: int) -> Samples:
    """The project's calibration data for this model. Raises InputError."""
    assert context.project.calibration is not None
    loaded = OrtBackend().load(source, target="ort/cpu", threads=1)
    return open_samples(
        context.project.calibration, context.folder, context.project.preprocessing, loaded.inputs, limit
    )


class CalibrationReader:
    """onnxruntime's CalibrationDataReader over Samples, by range: one sample in memory at a time."""

    def __init__(self, samples: Samples, context: StepContext) -> None:
        self._samples = samples
        self._report = context.report
        self._feeds: Iterator[dict[str, Array]] = iter(samples)

    def __len__(self) -> int:
        return -(-self._samples.count // self._samples.batch_size)

    def set_range(self, start_index: int, end_index: int) -> None:
        size = self._samples.batch_size
        self._report.progress("Calibrating", start_index, len(self), "samples")
        self._feeds = (self._samples.feeds(i * size) for i in range(start_index, end_index))

    def get_next(self) -> dict[str, Array] | None:
        """The next feeds, None after the last. Raises InputError for NaN and infinity."""
        feeds = next(self._feeds, None)
        for name, array in (feeds or {}).items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise InputError(
                    f"The calibration data ({self._samples.origin}) hold NaN or infinity for “{name}”.",
                    hint="Leave those samples out.",
                )
        return feeds


def stride(count: int) -> int:
    """The largest divisor of the count that is not over the limit: onnxruntime wants equal parts."""
    return max(n for n in range(1, _MOST_AT_ONCE + 1) if count % n == 0)
