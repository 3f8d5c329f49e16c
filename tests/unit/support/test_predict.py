"""Predictions through conversion: what becomes of a node, and what stays open."""

from __future__ import annotations

from typing import Any

import pytest

from studio.support import Verdict, judge
from studio.support.op_node import OpNode, OpTensor
from studio.support.predict import lowering_for


def lowered(node: OpNode, format_: str, ir: str) -> list[str]:
    lower = lowering_for(format_, ir)
    assert lower is not None
    return [part.op for part in lower(node).parts]


X = OpTensor(dtype="float32", shape=(1, 8, 16, 16))


def weight(*shape: int) -> OpTensor:
    return OpTensor(dtype="float32", shape=shape, is_constant=True)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (OpNode(op="Conv", inputs=(X, weight(4, 8, 1, 1)), outputs=(X,)), ["CONV_2D"]),
        (OpNode(op="Conv", inputs=(X, weight(8, 1, 3, 3)), outputs=(X,),
                attributes={"group": 8, "pads": [1, 1, 1, 1]}), ["DEPTHWISE_CONV_2D"]),
        (OpNode(op="Conv", inputs=(X, weight(4, 8, 3, 3)),
                outputs=(OpTensor(dtype="float32", shape=(1, 4, 8, 8)),),
                attributes={"pads": [1, 1, 1, 1], "strides": [2, 2]}), ["PAD", "CONV_2D"]),
        (OpNode(op="GlobalAveragePool", inputs=(X,), outputs=(X,)), ["MEAN"]),
        (OpNode(op="Flatten", inputs=(X,), outputs=(X,)), ["RESHAPE"]),
    ],
)  # fmt: skip
def test_onnx_becomes_tflite(node: OpNode, expected: list[str]) -> None:
    assert lowered(node, "onnx", "tflite") == expected


@pytest.mark.parametrize(
    ("op", "attributes", "expected"),
    [
        ("aten::silu", {}, ["aten.sigmoid.default", "aten.mul.Tensor"]),
        ("aten::adaptive_avg_pool2d", {"output_size": [1, 1]}, ["aten.mean.dim"]),
        ("aten::flatten", {}, ["aten.view_copy.default"]),
        ("aten::relu_", {}, ["aten.relu.default"]),
        ("aten.transpose.int", {}, ["aten.permute_copy.default"]),
    ],
)
def test_torch_becomes_edge(op: str, attributes: dict[str, Any], expected: list[str]) -> None:
    assert lowered(OpNode(op=op, inputs=(X,), outputs=(X,), attributes=attributes), "pt2", "edge") == expected


def test_a_folded_batch_normalization_is_shown_as_folded(sketch: Any) -> None:
    s = sketch()
    x = s.node("Conv", [s.input(1, 3, 8, 8), s.constant(None, 4, 3, 3, 3)], (1, 4, 6, 6))
    graph = s.graph(
        s.node("BatchNormalization", [x, *(s.constant([1.0] * 4, 4) for _ in range(4))], (1, 4, 6, 6))
    )
    found = judge(graph, ["litert/gpu"])["litert/gpu"]
    assert found.verdict(1) == Verdict.RUNS and "Folded" in found.reason(1).text


def test_a_prediction_says_that_it_is_one(sketch: Any) -> None:
    s = sketch()
    graph = s.graph(s.node("Relu", [s.input(1, 3, 8, 8)], (1, 3, 8, 8)))
    for target_id in ("litert/gpu", "executorch/xnnpack", "pytorch-mobile/nnapi"):
        reason = judge(graph, [target_id])[target_id].reason(0)
        assert "prediction" in reason.source and "ecomes" in reason.text


def test_an_unsure_mapping_is_never_a_plain_yes(sketch: Any) -> None:
    s = sketch()
    graph = s.graph(s.node("HardSwish", [s.input(1, 3, 8, 8)], (1, 3, 8, 8)))
    assert judge(graph, ["litert/gpu"])["litert/gpu"].verdict(0) == Verdict.CONDITIONAL


def test_an_unmapped_operator_is_unknown(sketch: Any) -> None:
    s = sketch()
    graph = s.graph(s.node("Det", [s.input(3, 3)], ()))
    for target_id in ("litert/gpu", "executorch/xnnpack"):
        assert judge(graph, [target_id])[target_id].verdict(0) == Verdict.UNKNOWN


def test_a_tflite_file_has_no_way_to_onnx_runtime(sketch: Any) -> None:
    s = sketch("tflite")
    graph = s.graph(s.node("RELU", [s.input(1, 4)], (1, 4), version=1))
    found = judge(graph, ["ort/nnapi"])["ort/nnapi"]
    assert found.verdict(0) == Verdict.UNKNOWN and "no way" in found.reason(0).text


def test_a_convolution_whose_weight_has_no_such_rank_is_unknown() -> None:
    lower = lowering_for("onnx", "tflite")
    assert lower is not None
    made = lower(OpNode(op="Conv", inputs=(X, weight(0, 3)), outputs=(X,)))
    assert made.verdict is Verdict.UNKNOWN
