"""Error figures: what they say, and that they never hide a broken output."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.errors import InputError
from studio.measure.error import error_figures
from studio.measure.measurement import ErrorFigures
from studio.records import from_json, to_json


def test_equal_outputs() -> None:
    logits = np.random.default_rng(0).normal(size=(8, 10)).astype(np.float32)
    figures = error_figures({"y": logits}, {"y": logits.copy()}, logits.argmax(axis=1))
    assert figures.is_equal and figures.snr_db is None
    assert figures.cosine == pytest.approx(1.0)
    assert (figures.argmax_agreement, figures.accuracy, figures.reference_accuracy) == (1.0, 1.0, 1.0)


def test_snr_is_signal_over_noise_power() -> None:
    figures = error_figures({"y": np.array([[3.0, 4.0]])}, {"y": np.array([[3.0, 4.5]])})
    assert figures.snr_db == pytest.approx(10 * np.log10(25 / 0.25))
    assert figures.max_abs_error == 0.5


def test_accuracy_counts_against_labels() -> None:
    reference = np.eye(4)
    result = np.eye(4)[[0, 1, 2, 0]]
    figures = error_figures({"y": reference}, {"y": result}, np.array([0, 1, 2, 3]))
    assert figures.accuracy == 0.75
    assert figures.reference_accuracy == 1.0
    assert figures.argmax_agreement == 0.75


def test_nan_is_an_error_and_is_counted() -> None:
    figures = error_figures({"y": np.ones((2, 3))}, {"y": np.full((2, 3), np.nan)})
    assert figures.nonfinite == 6
    assert not figures.is_equal
    assert figures.snr_db == 0.0 and figures.max_abs_error == 1.0
    assert from_json(to_json(figures), ErrorFigures, where="t") == figures


def test_where_the_original_is_not_finite_nothing_is_compared() -> None:
    reference = np.array([[1.0, -np.inf]])
    assert error_figures({"y": reference}, {"y": np.array([[1.0, -65504.0]])}).is_equal


def test_zero_original_and_wrong_result_is_not_perfect() -> None:
    figures = error_figures({"y": np.zeros((1, 4))}, {"y": np.ones((1, 4))})
    assert not figures.is_equal and figures.cosine == 0.0 and figures.snr_db == 0.0


def test_renamed_outputs_are_paired_by_order() -> None:
    a, b = np.ones((2, 3)), np.zeros((2, 5))
    assert error_figures({"a": a, "b": b}, {"x:0": a, "x:1": b}).is_equal


def test_layout_of_a_sample_may_differ_but_not_its_size() -> None:
    assert error_figures({"y": np.ones((2, 1, 6))}, {"y": np.ones((2, 6))}).is_equal
    with pytest.raises(InputError, match="has shape"):
        error_figures({"y": np.ones((2, 6))}, {"y": np.ones((2, 7))})


def test_outputs_that_cannot_be_paired_are_refused() -> None:
    with pytest.raises(InputError, match="cannot be paired"):
        error_figures({"y": np.ones((1, 2))}, {"a": np.ones((1, 2)), "b": np.ones((1, 2))})
    with pytest.raises(InputError, match="no outputs"):
        error_figures({"y": np.ones((1, 2))}, {})


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.floats(allow_nan=True, allow_infinity=True)),
        min_size=1,
        max_size=12,
    )
)
def test_figures_are_always_finite_and_equal_means_equal(pairs: list[tuple[float, float]]) -> None:
    wanted = np.array([[a for a, _ in pairs]])
    got = np.array([[b if abs(b) < 1e9 or not np.isfinite(b) else 1e9 for _, b in pairs]])
    figures = error_figures({"y": wanted}, {"y": got})
    assert figures.is_equal == bool(np.array_equal(wanted, got))
    assert np.isfinite([figures.cosine, figures.max_abs_error]).all()
    assert figures.snr_db is None or np.isfinite(figures.snr_db)
