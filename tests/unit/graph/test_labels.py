"""The words on a box."""

from __future__ import annotations

import pytest

from studio.graph.labels import short_shape_text, value_text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.25e6, "MACs", "1.25 M MACs"),
        (12.5, "%", "12.5 %"),
        (43.2e-6, "s", "43.2 µs"),
        (float("inf"), "%", "∞ %"),  # a layer that gives NaN has no bounded error
        (-float("inf"), "dB", "−∞ dB"),
        (float("nan"), "s", ""),
    ],
)
def test_a_value_has_its_unit_and_infinity_no_prefix(value: float, unit: str, text: str) -> None:
    assert value_text(value, unit) == text


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (None, ""),
        ((1, 3, "height", "width"), "[1,3,height,width]"),
        (("batch_size", "sequence", 384), "[ba…e,se…e,384]"),
        (("DynamicDimension.0", "Reshape_470_o0__d2", 120), "[Dy…0,Re…2,120]"),
        (("batch_size", 3, None), "[batch_size,3,?]"),
        (("DynamicDimension.0", 3, "DynamicDimension.1"), "[Dyn…0,3,Dyn…1]"),
        (("DynamicDimension.0", 96, "floor(DynamicDimension.1/2 - 1/2) + 1", 7), "[Dyn…0,96,(…),7]"),
    ],
)
def test_every_dim_has_its_place_on_a_box(shape: tuple[int | str | None, ...] | None, text: str) -> None:
    assert short_shape_text(shape) == text
