"""NNAPI through ONNX Runtime: every condition of the op builders that people meet."""

from __future__ import annotations

from typing import Any

import pytest

from studio.support import Verdict, judge


def verdict(graph: Any, node: int = -1, **settings: Any) -> tuple[Verdict, Any]:
    found = judge(graph, ["ort/nnapi"], **settings)["ort/nnapi"]
    node = node % graph.node_count
    return found.verdict(node), found.reason(node)


def conv(
    sketch: Any, *, weight: tuple[int, ...] = (8, 3, 3, 3), constant: bool = True, **attributes: Any
) -> Any:
    s = sketch()
    x = s.input(1, 3, 8, 8)
    w = s.constant(None, *weight) if constant else s.input(*weight)
    return s.graph(s.node("Conv", [x, w], (1, 8, 8, 8), attributes=attributes))


def test_a_plain_convolution_runs(sketch: Any) -> None:
    found, reason = verdict(conv(sketch, pads=[1, 1, 1, 1]))
    assert found == Verdict.RUNS
    assert "table ort_nnapi" in reason.source


def test_a_computed_weight_falls_back(sketch: Any) -> None:
    found, reason = verdict(conv(sketch, constant=False))
    assert found == Verdict.FALLS_BACK
    assert "constant" in reason.text and "CPU" in reason.text


def test_a_1d_convolution_names_its_fix(sketch: Any) -> None:
    s = sketch()
    graph = s.graph(s.node("Conv", [s.input(1, 3, 8), s.constant(None, 4, 3, 3)], (1, 4, 6)))
    found, reason = verdict(graph)
    assert found == Verdict.FALLS_BACK and reason.fixes == ("conv1d-to-conv2d",)


def test_dilation_needs_android_10_and_no_groups(sketch: Any) -> None:
    graph = conv(sketch, dilations=[2, 2])
    assert verdict(graph, android_level=29)[0] == Verdict.RUNS
    assert verdict(graph, android_level=28)[0] == Verdict.FALLS_BACK
    grouped = conv(sketch, weight=(8, 2, 3, 3), dilations=[2, 2], group=4)
    assert verdict(grouped)[0] == Verdict.FALLS_BACK


def test_a_symbolic_dim_is_refused_and_can_be_frozen(sketch: Any) -> None:
    s = sketch()
    graph = s.graph(s.node("Relu", [s.input("N", 3, 8, 8)], ("N", 3, 8, 8)))
    found, reason = verdict(graph)
    assert found == Verdict.FALLS_BACK
    assert "“N”" in reason.text and reason.fixes == ("freeze-dims",)


def test_a_missing_shape_is_unknown_not_refused(sketch: Any) -> None:
    s = sketch()
    mystery = s.node("Relu", [s.input(1, 3)], None)
    assert verdict(s.graph(s.node("Relu", [mystery], None)))[0] == Verdict.UNKNOWN


def test_rank_5_is_refused(sketch: Any) -> None:
    s = sketch()
    graph = s.graph(s.node("Sigmoid", [s.input(1, 3, 20, 20, 85)], (1, 3, 20, 20, 85)))
    found, reason = verdict(graph)
    assert found == Verdict.FALLS_BACK and "rank5-to-4" in reason.fixes


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.0, 6.0, Verdict.RUNS), (-1.0, 1.0, Verdict.RUNS), (0.0, 5.0, Verdict.FALLS_BACK)],
)
def test_clip_only_as_relu6_or_relu1(sketch: Any, low: float, high: float, expected: Verdict) -> None:
    s = sketch()
    bounds = [s.constant([low]), s.constant([high])]
    assert verdict(s.graph(s.node("Clip", [s.input(1, 4), *bounds], (1, 4))))[0] == expected


@pytest.mark.parametrize(
    ("attributes", "level", "expected"),
    [
        ({"mode": "linear", "coordinate_transformation_mode": "half_pixel"}, 30, Verdict.RUNS),
        ({"mode": "linear", "coordinate_transformation_mode": "half_pixel"}, 29, Verdict.FALLS_BACK),
        ({"mode": "linear", "coordinate_transformation_mode": "asymmetric"}, 29, Verdict.RUNS),
        ({"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}, 30, Verdict.FALLS_BACK),
        ({"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}, 29,
         Verdict.RUNS),
        ({"mode": "nearest"}, 30, Verdict.FALLS_BACK),
        ({"mode": "cubic"}, 30, Verdict.FALLS_BACK),
    ],
)  # fmt: skip
def test_resize_modes(sketch: Any, attributes: dict[str, Any], level: int, expected: Verdict) -> None:
    s = sketch()
    scales = s.constant([1.0, 1.0, 2.0, 2.0], 4)
    graph = s.graph(
        s.node("Resize", [s.input(1, 3, 8, 8), -1, scales], (1, 3, 16, 16), attributes=attributes)
    )
    assert verdict(graph, android_level=level)[0] == expected


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"kernel_shape": [2, 2]}, Verdict.RUNS),
        ({"kernel_shape": [2, 2], "ceil_mode": 1}, Verdict.FALLS_BACK),
        ({"kernel_shape": [2, 2], "dilations": [2, 2]}, Verdict.FALLS_BACK),
        ({"kernel_shape": [2, 2], "count_include_pad": 1}, Verdict.FALLS_BACK),
    ],
)
def test_average_pool_attributes(sketch: Any, attributes: dict[str, Any], expected: Verdict) -> None:
    s = sketch()
    graph = s.graph(s.node("AveragePool", [s.input(1, 3, 8, 8)], (1, 3, 4, 4), attributes=attributes))
    assert verdict(graph)[0] == expected


def test_unequal_split_falls_back(sketch: Any) -> None:
    s = sketch()
    sizes = s.constant([1, 3], 2, dtype="int64")
    graph = s.graph(s.node("Split", [s.input(4, 2), sizes], (1, 2), outputs=2))
    assert verdict(graph)[0] == Verdict.FALLS_BACK


def test_a_batched_matmul_needs_equal_batches(sketch: Any) -> None:
    s = sketch()
    same = s.graph(s.node("MatMul", [s.input(2, 3, 4), s.input(2, 4, 5)], (2, 3, 5)))
    assert verdict(same)[0] == Verdict.RUNS
    s = sketch()
    broadcast = s.graph(s.node("MatMul", [s.input(2, 3, 4), s.input(1, 4, 5)], (2, 3, 5)))
    assert verdict(broadcast)[0] == Verdict.FALLS_BACK


def test_int8_activations_are_not_taken_but_uint8_are(sketch: Any) -> None:
    for dtype, expected in (("uint8", Verdict.RUNS), ("int8", Verdict.FALLS_BACK)):
        graph = quantized_conv(sketch, dtype)
        found = judge(graph, ["ort/nnapi"])["ort/nnapi"]
        conv_node = graph.node_op.index("Conv")
        assert found.verdict(conv_node) == expected, found.reason(conv_node).text


def quantized_conv(sketch: Any, dtype: str) -> Any:
    """x → Q → DQ → Conv(DQ weight) → Q → DQ."""
    s = sketch()
    scale, zero = s.constant([0.1]), s.constant([0], dtype=dtype)
    w_zero = s.constant([0], dtype="int8")

    def q(tensor: int, shape: tuple[int, ...]) -> int:
        return s.node("QuantizeLinear", [tensor, scale, zero], shape, dtype=dtype)

    def dq(tensor: int, shape: tuple[int, ...]) -> int:
        return s.node("DequantizeLinear", [tensor, scale, zero], shape)

    x = dq(q(s.input(1, 3, 8, 8), (1, 3, 8, 8)), (1, 3, 8, 8))
    weight = s.node(
        "DequantizeLinear", [s.constant(None, 4, 3, 3, 3, dtype="int8"), scale, w_zero], (4, 3, 3, 3)
    )
    y = s.node("Conv", [x, weight], (1, 4, 6, 6))
    return s.graph(dq(q(y, (1, 4, 6, 6)), (1, 4, 6, 6)))


def test_the_members_of_a_qdq_group_share_its_verdict(sketch: Any) -> None:
    graph = quantized_conv(sketch, "int8")
    found = judge(graph, ["ort/nnapi"])["ort/nnapi"]
    conv_node = graph.node_op.index("Conv")
    assert found.verdict(conv_node - 1) == found.verdict(conv_node + 1) == Verdict.FALLS_BACK
    assert found.reason(conv_node + 1).text == found.reason(conv_node).text


def test_android_8_refuses_what_came_later(sketch: Any) -> None:
    s = sketch()
    graph = s.graph(s.node("Sqrt", [s.input(1, 4)], (1, 4)))
    assert verdict(graph, android_level=27)[0] == Verdict.FALLS_BACK
    assert verdict(graph)[0] == Verdict.RUNS


def test_batch_normalization_after_its_convolution_does_not_cut(sketch: Any) -> None:
    s = sketch(opset=18)
    x = s.node("Conv", [s.input(1, 3, 8, 8), s.constant(None, 4, 3, 3, 3)], (1, 4, 6, 6))
    parameters = [s.constant([1.0] * 4, 4) for _ in range(4)]
    graph = s.graph(s.node("BatchNormalization", [x, *parameters], (1, 4, 6, 6)))
    found, reason = verdict(graph)
    assert found == Verdict.RUNS and "Folded" in reason.text


def test_a_lone_reshape_is_not_worth_a_partition(sketch: Any) -> None:
    s = sketch()
    graph = s.graph(s.node("Reshape", [s.input(2, 4), s.constant([8], 1, dtype="int64")], (8,)))
    found = judge(graph, ["ort/nnapi"])["ort/nnapi"]
    assert found.verdict(0) == Verdict.FALLS_BACK and not found.partitions
