"""Which DequantizeLinear belongs to a quantised group, and which stays on its own."""

from __future__ import annotations

from typing import Any

import pytest

from studio.support.qdq import find_groups


@pytest.mark.parametrize("is_returned", [False, True])
def test_a_dequantised_tensor_that_the_graph_returns_is_in_no_group(sketch: Any, is_returned: bool) -> None:
    """The group gets a copy; the node itself was left to the CPU (found on a quantised speech decoder)."""
    s = sketch()
    scale, zero = s.constant([0.1]), s.constant([0], dtype="uint8")
    x = s.input(1, 4, dtype="uint8")
    dequantized = s.node("DequantizeLinear", [x, scale, zero], (1, 4))
    relu = s.node("Relu", [dequantized], (1, 4))
    quantized = s.node("QuantizeLinear", [relu, scale, zero], (1, 4), dtype="uint8")
    graph = s.graph(quantized, *([dequantized] if is_returned else []))
    owner, groups = find_groups(graph)
    assert list(groups) == [1] and owner[1] == owner[2] == 1
    assert owner[0] == (-1 if is_returned else 1)
