from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from studio.report import charts
from studio.report.charts import Panel, Series, nice_ticks

latencies = arrays.arrays(
    np.float64, st.integers(1, 600), elements=st.floats(1e-6, 1e6, allow_nan=False, allow_subnormal=False)
)


def numbers(svg: str) -> list[float]:
    """Every coordinate of a drawing; parsing it proves that it is well-formed."""
    found = []
    for element in ElementTree.fromstring(svg).iter():
        for name, value in element.attrib.items():
            if name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height"):
                found.append(float(value))
            elif name == "points":
                found += [float(n) for pair in value.split() for n in pair.split(",")]
    return found


@given(latencies)
def test_a_distribution_stays_on_its_paper(latency_ms: np.ndarray) -> None:
    assert all(-1 <= n <= 721 for n in numbers(charts.distribution(latency_ms, title="x")))


@given(latencies)
def test_a_timeline_stays_on_its_paper(latency_ms: np.ndarray) -> None:
    series = Series("latency", np.cumsum(latency_ms) / 1000, latency_ms)
    panels = [Panel("latency", "ms", (series,), is_dense=True), Panel("temperature", "°C", (series,))]
    assert all(np.isfinite(n) and -1 <= n <= 721 for n in numbers(charts.timeline(panels, [], title="x")))


def test_the_median_is_where_the_axis_says() -> None:
    svg = charts.comparison([("a", np.full(9, 1.0)), ("b", np.full(9, 2.0))])
    places = [float(e.attrib["cx"]) for e in ElementTree.fromstring(svg).iter() if e.tag == "circle"]
    axis = next(e for e in ElementTree.fromstring(svg).iter() if e.attrib.get("class") == "axis")
    left = float(axis.attrib["x1"])
    assert abs((places[1] - left) - 2 * (places[0] - left)) < 0.3


def test_nothing_to_draw_is_nothing() -> None:
    assert charts.distribution(np.zeros(0), title="x") == ""
    assert charts.timeline([], [], title="x") == ""
    assert charts.comparison([("a", np.ones(3))]) == ""


@given(st.floats(-1e9, 1e9), st.floats(1e-9, 1e9))
def test_ticks_are_round_few_and_inside(low: float, span: float) -> None:
    high = low + span
    if not high > low:
        return
    ticks = nice_ticks(low, high)
    slack = 1e-6 * max(abs(low), abs(high), span)
    assert len(ticks) <= 9
    assert all(low - slack <= t <= high + slack for t in ticks)


def test_names_are_escaped() -> None:
    svg = charts.comparison([("<script>&", np.ones(3)), ('"b', np.ones(3))])
    assert "<script>" not in svg
    ElementTree.fromstring(svg)


def test_a_long_name_keeps_the_end_that_says_simulated() -> None:
    name = "export · ort/cpu · Google Virtual Pixel 8 Pro of the lab (simulated)"
    drawn = charts.comparison([(name, np.array([0.53, 0.53])), ("other", np.array([0.514, 0.514]))])
    assert "(simulated)" in drawn
    assert "p50 0.530 ms" in drawn and "p50 0.514 ms" in drawn
