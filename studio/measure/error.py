"""The error of outputs against the float original on the same inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.errors import InputError
from studio.measure.measurement import ErrorFigures

Outputs = Mapping[str, npt.NDArray[Any]]


def error_figures(
    reference: Outputs, result: Outputs, labels: npt.NDArray[Any] | None = None
) -> ErrorFigures:
    """Figures of `result` against `reference`, arrays [N, …] by output name, N samples.

    Outputs are paired by name, or by order when the names differ but count and sizes agree
    (converters rename). Values of `result` that are not finite count as 0 and are told in
    `nonfinite`, so that a NaN is an error and not a hole. Class figures (argmax, accuracy) come
    from the first output when it is [N, classes]. Raises InputError when they cannot be paired.
    """
    pairs = _pairs(reference, result)
    samples = len(pairs[0][0])
    noise = signal = worst = cosines = 0.0
    nonfinite = 0
    for index in range(samples):  # one sample at a time: outputs may be large
        wanted = np.concatenate([r[index].reshape(-1).astype(np.float64) for r, _ in pairs])
        got = np.concatenate([o[index].reshape(-1).astype(np.float64) for _, o in pairs])
        known = np.isfinite(wanted)  # where the original is not finite there is nothing to compare
        bad = known & ~np.isfinite(got)
        nonfinite += int(bad.sum())
        wanted, got = np.where(known, wanted, 0.0), np.where(known & ~bad, got, 0.0)
        difference = wanted - got
        noise += float(difference @ difference)
        signal += float(wanted @ wanted)
        worst = max(worst, float(np.abs(difference).max(initial=0.0)))
        cosines += _cosine(wanted, got)
    is_equal = worst == 0.0 and nonfinite == 0
    snr = None if is_equal else decibel(signal, noise)
    agreement = accuracy = reference_accuracy = None
    first_reference, first_result = pairs[0]
    if first_reference.ndim == 2 and first_reference.shape[1] > 1:
        chosen = np.nan_to_num(first_result.astype(np.float64), nan=-np.inf).argmax(axis=1)
        meant = first_reference.argmax(axis=1)
        agreement = float((chosen == meant).mean())
        if labels is not None and len(labels) >= samples:
            truth = np.asarray(labels)[:samples].reshape(-1)
            accuracy = float((chosen == truth).mean())
            reference_accuracy = float((meant == truth).mean())
    return ErrorFigures(
        samples=samples,
        snr_db=snr,
        cosine=cosines / samples,
        max_abs_error=worst,
        argmax_agreement=agreement,
        accuracy=accuracy,
        reference_accuracy=reference_accuracy,
        is_equal=is_equal,
        nonfinite=nonfinite,
    )


def decibel(signal: float, noise: float) -> float:
    """10·log10(signal / noise); 0 without a signal. A noise that underflowed is the smallest there is."""
    if signal == 0.0:
        return 0.0
    return 10 * float(np.log10(signal) - np.log10(max(noise, np.finfo(np.float64).tiny)))


def _cosine(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    """Two zero vectors are alike; one zero vector is like nothing."""
    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    if norms == 0.0:
        return 0.0 if a.any() or b.any() else 1.0
    return float(np.clip((a @ b) / norms, -1.0, 1.0))


def _pairs(reference: Outputs, result: Outputs) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    if not reference or not result:
        raise InputError("There are no outputs to compare.", hint="Run with real inputs.")
    if set(reference) <= set(result):
        names = [(name, name) for name in reference]
    elif len(reference) == len(result):
        names = list(zip(reference, result))
    else:
        raise InputError(
            f"The outputs {', '.join(result)} cannot be paired with {', '.join(reference)} of the original.",
            hint="Compare models with the same outputs.",
        )
    pairs = []
    for wanted_name, name in names:
        wanted, got = np.asarray(reference[wanted_name]), np.asarray(result[name])
        samples = min(len(wanted), len(got)) if wanted.ndim and got.ndim else 0
        if not samples or wanted[:samples].size != got[:samples].size:
            raise InputError(
                f"Output {name} has shape {list(got.shape)}, "
                f"the original's {wanted_name} has {list(wanted.shape)}.",
                hint="Compare models with the same outputs on the same inputs.",
            )
        pairs.append((wanted[:samples], got[:samples].reshape(wanted[:samples].shape)))
    if len({len(wanted) for wanted, _ in pairs}) != 1:
        raise InputError("The outputs differ in their number of samples.", hint="Run them all again.")
    return pairs
