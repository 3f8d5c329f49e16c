"""Overlays: what they say of nodes, and how they gather on boxes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from studio.graph import Quantization
from studio.graph.quantization_roles import (
    BORDER,
    FLOAT,
    INTEGER,
    ISLAND,
    OTHER,
    REQUANTIZE,
    quantization_codes,
)
from studio.report.paint import verdict_paint
from studio.report.palette import LIGHT as LIGHT_PICTURE
from studio.report.svg_legend import entries
from studio.support import Partition, Reason, TargetVerdicts
from studio.support.verdict import VERDICTS
from studio.ui.canvas import (
    Gather,
    partition_overlay,
    quantization_overlay,
    value_overlay,
    value_text,
    verdict_overlay,
)
from studio.ui.canvas.overlay import gather_on_items
from studio.ui.canvas.overlays import verdict_categories
from tests.ui.canvas_graphs import chain, graph_of, laid_out, verdicts_of


def test_every_verdict_has_its_own_icon_pattern_and_colour() -> None:
    looks = verdict_categories()
    assert len(looks) == len(VERDICTS)
    for what in ("icon", "hatch", "color", "title"):
        assert len({getattr(c, what) for c in looks}) == len(looks), what


def test_the_worst_verdict_of_a_scope_wins_and_all_are_counted() -> None:
    graph = chain(6, scopes=["block"], node_scope=[0, 1, 1, 1, 1, 0])
    layout = laid_out(graph, collapsed=frozenset({1}))
    gathered = gather_on_items(
        verdict_overlay(verdicts_of([0, 0, 1, 4, 2, 0])), layout.node_item, len(layout.item_kind)
    )
    item = layout.node_item[1]
    assert VERDICTS[gathered.code[item]] == "falls_back"
    assert gathered.counts[item].tolist() == [1, 1, 1, 0, 1]


def test_unknown_is_worse_than_conditional_but_no_failure() -> None:
    looks = dict(zip(VERDICTS, verdict_categories()))
    order = sorted(looks, key=lambda v: looks[v].severity)
    assert [str(v) for v in order] == ["runs", "conditional", "unknown", "falls_back", "fails"]


def test_values_of_a_scope_are_added_and_errors_are_not() -> None:
    graph = chain(4, scopes=["block"], node_scope=[0, 1, 1, 0])
    layout = laid_out(graph, collapsed=frozenset({1}))
    item = layout.node_item[1]
    count = len(layout.item_kind)
    values = np.array([1.0, 2.0, 3.0, -1.0])
    total = gather_on_items(value_overlay("MACs", values, "MACs"), layout.node_item, count)
    most = gather_on_items(value_overlay("error", values, "", gather=Gather.MAX), layout.node_item, count)
    assert total.value[item] == 5.0 and most.value[item] == 3.0
    assert np.isnan(total.value[layout.node_item[3]])


def test_unknown_figures_are_said_to_be_unknown() -> None:
    overlay = value_overlay("MACs", np.array([10, -1, 0]), "MACs")
    assert "unknown" in overlay.sentence(1)
    assert "10 MACs (100.0 %)" in overlay.sentence(0)
    assert overlay.unknown == 1
    assert overlay.above(0.5).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "B", "0 B"),
        (999, "B", "999 B"),
        (12_345, "B", "12.3 kB"),
        (1.5e6, "MACs", "1.5 M MACs"),
        (0.25, "ms", "0.25 ms"),
    ],
)
def test_values_carry_unit_and_three_figures(value: float, unit: str, text: str) -> None:
    assert value_text(value, unit) == text


def test_partitions_have_outlines_and_their_borders_weights() -> None:
    graph = chain(6)
    overlay = partition_overlay(graph, verdicts_of([0, 0, 2, 0, 0, 2]))
    assert [o.nodes.tolist() for o in overlay.outlines] == [[0, 1], [3, 4]]
    assert set(overlay.tensor_weight) == {1, 2, 4}
    assert "falls back" in overlay.sentence(2)
    assert "partition 2 of 2" in overlay.sentence(3)


def test_constants_cross_no_border_of_a_partition() -> None:
    ops = ["Conv", "Constant", "Reshape", "Add", "Relu"]
    graph = graph_of([(0, 3), (1, 2), (2, 3), (3, 4)], ops=ops)
    verdicts = TargetVerdicts(
        "ort/nnapi", np.zeros(5, np.uint8), np.zeros(5, np.int32), (Reason(text="", source=""),),
        (Partition(nodes=(0, 3)),), np.array([0, -1, -1, 0, -1], np.int32),
    )  # fmt: skip
    overlay = partition_overlay(graph, verdicts)
    makers = {graph.node_op[graph.producer_of[tensor]] for tensor in overlay.tensor_weight}
    assert overlay.counts == [2, 1]  # Relu alone is off the accelerator
    assert "not on the accelerator" in overlay.sentence(4) and "not on" not in overlay.sentence(2)
    assert makers == {"Add"}  # what Reshape makes of a constant is in the partition from the beginning


def test_hundreds_of_partitions_keep_to_one_byte() -> None:
    count = 700
    graph = chain(count)
    verdicts = TargetVerdicts(
        "ort/nnapi", np.zeros(count, np.uint8), np.zeros(count, np.int32), (Reason(text="", source=""),),
        tuple(Partition(nodes=(i,)) for i in range(count)), np.arange(count, dtype=np.int32),
    )  # fmt: skip
    overlay = partition_overlay(graph, verdicts)
    assert overlay.codes is not None and overlay.codes.max() < len(overlay.categories) <= 255


def qdq() -> tuple[list[tuple[int, int]], list[str], list[str]]:
    """Q → DQ → Conv → Q → DQ → Q → DQ → Softmax: a float island at the end, one requantize pair."""
    ops = [
        "QuantizeLinear", "DequantizeLinear", "Conv", "QuantizeLinear",
        "DequantizeLinear", "QuantizeLinear", "DequantizeLinear", "Softmax",
    ]  # fmt: skip
    dtypes = ["int8", "float32", "float32", "int8", "float32", "int8", "float32", "float32"]
    return [(i, i + 1) for i in range(len(ops) - 1)], ops, dtypes


def test_qdq_models_show_integer_nodes_borders_pairs_and_islands() -> None:
    edges, ops, dtypes = qdq()
    codes = quantization_codes(graph_of(edges, ops=ops, dtypes=dtypes))
    assert codes.tolist() == [BORDER, BORDER, INTEGER, BORDER, REQUANTIZE, REQUANTIZE, BORDER, ISLAND]


def test_a_float_model_has_no_islands() -> None:
    assert set(quantization_codes(chain(4)).tolist()) == {FLOAT}


def test_shape_arithmetic_is_neither_float_nor_integer() -> None:
    graph = graph_of([(0, 1)], ops=["Shape", "Gather"], dtypes=["int64", "int64"])
    assert set(quantization_codes(graph).tolist()) == {OTHER}


def test_integer_tflite_nodes_and_their_requantize_step() -> None:
    graph = graph_of([(0, 1), (1, 2)], ops=["CONV_2D", "QUANTIZE", "ADD"], dtypes=["int8", "int8", "int8"])
    assert quantization_codes(graph).tolist() == [INTEGER, REQUANTIZE, INTEGER]


def test_the_quantization_sentence_names_scale_and_zero_point() -> None:
    graph = chain(2, dtypes=["int8", "int8"], quantization={0: Quantization(scale=(0.25,), zero_point=(7,))})
    assert "s 0.25 z 7" in quantization_overlay(graph).sentence(0)


def test_the_legend_counts_a_compiled_call_once() -> None:
    """As the target's chip does: the nodes inside the call are shown, and not counted."""
    verdicts = replace(verdicts_of([0, 0, 0, 4]), is_inside=np.array([False, True, True, False]))
    for overlay in (verdict_overlay(verdicts), partition_overlay(chain(4), verdicts)):
        assert sum(overlay.counts) == sum(verdicts.counts().values()) == 2
    assert sum(count for _, _, count in entries(verdict_paint(verdicts, LIGHT_PICTURE))) == 2
