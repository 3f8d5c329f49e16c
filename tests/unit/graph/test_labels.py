"""The words on a box."""

from __future__ import annotations

import pytest

from studio.graph.labels import value_text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.25e6, "MACs", "1.25 M MACs"),
        (12.5, "%", "12.5%"),
        (43.2e-6, "s", "43.2 µs"),
        (float("inf"), "%", "∞%"),  # a layer that gives NaN has no bounded error
        (-float("inf"), "dB", "−∞ dB"),
        (float("nan"), "s", ""),
    ],
)
def test_a_value_has_its_unit_and_infinity_no_prefix(value: float, unit: str, text: str) -> None:
    assert value_text(value, unit) == text
