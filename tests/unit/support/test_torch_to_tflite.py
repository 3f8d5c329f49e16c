"""What litert-torch 0.10.0 wrote for each torch operator alone is what the prediction says it writes."""

from __future__ import annotations

from typing import Any

import pytest

from studio.support import Verdict, judge
from studio.support.op_node import OpNode, OpTensor
from studio.support.predict import lowering_for
from studio.support.predict.lowering import Lowering


def tensor(*shape: int | str, dtype: str = "float32", constant: bool = False) -> OpTensor:
    return OpTensor(dtype=dtype, shape=shape, is_constant=constant)


def lowered(op: str, inputs: tuple[OpTensor, ...], output: OpTensor, **attributes: Any) -> Lowering:
    lower = lowering_for("pt2", "tflite")
    assert lower is not None
    return lower(OpNode(op=op, inputs=inputs, outputs=(output,), attributes=attributes))


IMAGE = tensor(1, 4, 16, 16)
SOUND = tensor(1, 4, 16)
ROW = tensor(1, 8)


def weight(*shape: int) -> OpTensor:
    return tensor(*shape, constant=True)


@pytest.mark.parametrize(
    ("op", "inputs", "output", "attributes", "written"),
    [
        ("aten.conv1d.default", (SOUND, weight(6, 4, 3)), tensor(1, 6, 16), {"padding": [1]},
         "RESHAPE CONV_2D RESHAPE"),
        ("aten.conv1d.default", (SOUND, weight(6, 4, 3)), tensor(1, 6, 7), {"stride": [2]},
         "RESHAPE CONV_2D RESHAPE"),
        ("aten.conv1d.default", (SOUND, weight(4, 1, 3)), SOUND, {"padding": [1], "groups": 4},
         "RESHAPE DEPTHWISE_CONV_2D RESHAPE"),
        ("aten.conv2d.default", (IMAGE, weight(6, 4, 3, 3)), tensor(1, 6, 8, 8),
         {"padding": [1, 1], "stride": [2, 2]}, "PAD CONV_2D"),
        ("aten.conv2d.default", (IMAGE, weight(6, 4, 3, 3)), tensor(1, 6, 16, 16), {"padding": [1, 1]},
         "CONV_2D"),
        ("aten.avg_pool2d.default", (IMAGE,), tensor(1, 4, 8, 8),
         {"kernel_size": [3], "stride": [2], "padding": [1], "count_include_pad": False},
         "STABLEHLO_REDUCE_WINDOW DIV"),
        ("aten.max_pool2d.default", (IMAGE,), IMAGE,
         {"kernel_size": [3, 3], "stride": [1, 1], "padding": [1, 1]}, "MAX_POOL_2D"),
        ("aten.max_pool2d.default", (IMAGE,), tensor(1, 4, 8, 8),
         {"kernel_size": [3, 3], "stride": [2, 2], "padding": [1, 1]}, "PADV2 MAX_POOL_2D"),
        ("aten.hardsigmoid.default", (ROW,), ROW, {}, "ADD MUL"),
        ("aten.softmax.int", (SOUND,), SOUND, {"dim": 1}, "REDUCE_MAX MAXIMUM SUB EXP SUM DIV"),
        ("aten.softmax.int", (SOUND,), SOUND, {"dim": -1}, "SOFTMAX"),
        ("aten.log_softmax.int", (ROW,), ROW, {"dim": 1}, "LOG_SOFTMAX"),
        ("aten.log_softmax.int", (SOUND,), SOUND, {"dim": -1}, "REDUCE_MAX MAXIMUM SUB EXP SUM LOG"),
        ("aten.pow.Tensor_Scalar", (ROW,), ROW, {"exponent": 2}, "MUL"),
        ("aten.div.Tensor", (ROW,), ROW, {"other": 2}, "MUL"),
        ("aten.prelu.default", (IMAGE, weight(4)), IMAGE, {}, "RELU MUL SUB"),
        ("aten.pixel_shuffle.default", (IMAGE,), tensor(1, 1, 32, 32), {"upscale_factor": 2},
         "RESHAPE TRANSPOSE RESHAPE"),
        ("aten.pad.default", (IMAGE,), IMAGE, {"pad": [1, -1]}, "SLICE PAD"),
        ("aten.adaptive_avg_pool2d.default", (IMAGE,), tensor(1, 4, 1, 1), {"output_size": [1, 1]}, "MEAN"),
    ],
)  # fmt: skip
def test_an_operator_alone(
    op: str, inputs: tuple[OpTensor, ...], output: OpTensor, attributes: dict[str, Any], written: str
) -> None:
    made = lowered(op, inputs, output, **attributes)
    assert [part.op for part in made.parts] == written.split() and made.is_sure


def test_a_recurrent_layer_is_unrolled_into_one_concatenation_of_its_steps() -> None:
    made = lowered("aten.lstm.input", (tensor(1, 7, 4),), tensor(1, 7, 5), batch_first=True)
    joined = next(part for part in made.parts if part.op == "CONCATENATION")
    assert len(joined.inputs) == 7
    assert {"FULLY_CONNECTED", "LOGISTIC", "TANH", "MUL", "ADD", "SLICE"} <= {p.op for p in made.parts}


@pytest.mark.parametrize(
    ("inputs", "output"),
    [
        ((tensor(1, 4, 16, 16, dtype="float16"),), tensor(1, 4, 16, 16, dtype="float16")),
        ((tensor("N", 4, 16, 16),), tensor("N", 4, 16, 16)),
    ],
)
def test_what_was_not_asked_is_not_sure(inputs: tuple[OpTensor, ...], output: OpTensor) -> None:
    assert not lowered("aten.relu.default", inputs, output).is_sure
    assert lowered("aten.relu.default", (IMAGE,), IMAGE).is_sure


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("aten.grid_sampler.default", (IMAGE, tensor(1, 3, 3, 2)), {}),
        ("aten.conv3d.default", (tensor(1, 4, 8, 8, 8), weight(4, 4, 3, 3, 3)), {}),
        ("aten.avg_pool2d.default", (IMAGE,), {"kernel_size": [3], "divisor_override": 2}),
        ("aten.pad.default", (IMAGE,), {"pad": [1, 1], "mode": "circular"}),
        ("quantized_decomposed.quantize_per_tensor.default", (IMAGE,), {}),
    ],
)
def test_what_was_not_matched_stays_unknown(
    op: str, inputs: tuple[OpTensor, ...], attributes: dict[str, Any]
) -> None:
    assert lowered(op, inputs, IMAGE, **attributes).verdict == Verdict.UNKNOWN


def test_one_part_beside_xnnpack_keeps_the_node_out_of_its_partition(sketch: Any) -> None:
    """GroupNorm of wider groups has a BROADCAST_TO, which only LiteRT's own kernel runs."""
    for groups, inside in ((2, False), (1, False), (4, True)):
        s = sketch("pt2")
        x = s.node("aten.relu.default", [s.input(1, 4, 8, 8)], (1, 4, 8, 8))
        graph = s.graph(
            s.node("aten.group_norm.default", [x], (1, 4, 8, 8), attributes={"num_groups": groups})
        )
        found = judge(graph, ["litert/cpu"])["litert/cpu"]
        assert found.verdict(1) == Verdict.RUNS
        assert bool(found.partition_of[1] >= 0) is inside and found.partition_of[0] >= 0
