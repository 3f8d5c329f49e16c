"""XNNPACK, QNN, LiteRT, ExecuTorch and PyTorch: the conditions that their own code states."""

from __future__ import annotations

from typing import Any

import pytest

from studio.support import Verdict, judge
from studio.support.op_node import OpNode, OpTensor
from studio.support.rules import rule_for
from studio.support.ruling import Setting


def tensor(*shape: int | str, dtype: str = "float32", constant: bool = False, **more: Any) -> OpTensor:
    return OpTensor(dtype=dtype, shape=shape, is_constant=constant, **more)


def rule(target: str, node: OpNode, **setting: Any) -> Any:
    return rule_for(target).rule(node, Setting(target_id=target, **setting))


X = tensor(1, 8, 8, 3)
ACTIVATION = {"fused_activation_function": "NONE"}
CONV = {"stride_h": 1, "stride_w": 1, **ACTIVATION}


def tflite_conv(bias: bool = True, **changes: Any) -> OpNode:
    inputs = [changes.pop("x", X), changes.pop("w", tensor(4, 3, 3, 3, constant=True))]
    if bias:
        inputs.append(changes.pop("b", tensor(4, constant=True)))
    return OpNode(
        op="CONV_2D",
        version=1,
        inputs=tuple(inputs),
        outputs=(tensor(1, 6, 6, 4),),
        attributes={**CONV, **changes},
    )


def test_xnnpack_delegate_wants_a_bias_and_constants() -> None:
    assert rule("litert/cpu", tflite_conv()).engine
    assert not rule("litert/cpu", tflite_conv(bias=False)).engine
    computed = tflite_conv(w=tensor(4, 3, 3, 3))
    assert rule("litert/cpu", computed).verdict == Verdict.RUNS
    assert not rule("litert/cpu", computed).engine, "LiteRT's own kernel runs it, not XNNPACK"


def test_xnnpack_delegate_refuses_a_tanh_activation() -> None:
    assert not rule("litert/cpu", tflite_conv(fused_activation_function="TANH")).engine


@pytest.mark.parametrize(("count", "taken"), [(2, True), (5, True), (6, False)])
def test_xnnpack_delegate_concatenates_two_to_five(count: int, taken: bool) -> None:
    node = OpNode(op="CONCATENATION", version=1, inputs=(X,) * count, outputs=(X,), attributes=ACTIVATION)
    assert rule("litert/cpu", node).engine is taken


def test_xnnpack_makes_no_claim_on_a_product_by_int8_with_many_scales() -> None:
    """Refused for the attention of a quantised DETR (audit of 2026-11-30), where the rule had said yes."""
    a = tensor(2, 6, 6, dtype="int8", scale=(0.004,), zero_point=(-128,))
    b = tensor(2, 6, 8, dtype="int8", constant=True, scale=(0.01,) * 8, zero_point=(0,) * 8, axis=2)
    y = tensor(2, 6, 8, dtype="int8", scale=(0.006,), zero_point=(33,))
    product = OpNode(op="BATCH_MATMUL", version=1, inputs=(a, b), outputs=(y,))
    assert not rule("litert/cpu", product).engine
    float_by_float = OpNode(op="BATCH_MATMUL", version=1, inputs=(X, X), outputs=(X,))
    assert rule("litert/cpu", float_by_float).engine


def test_stablehlo_sort_fails_to_load() -> None:
    node = OpNode(op="STABLEHLO_SORT", version=1, inputs=(X,), outputs=(X,))
    assert rule("litert/cpu", node).verdict == Verdict.FAILS


def test_an_op_version_newer_than_the_resolver_is_unknown() -> None:
    node = OpNode(op="ARG_MAX", version=99, inputs=(X,), outputs=(tensor(1, dtype="int64"),))
    assert rule("litert/cpu", node).verdict == Verdict.UNKNOWN


def test_gpu_refuses_rank_5_dynamic_shapes_and_integers() -> None:
    for x in (tensor(1, 2, 2, 2, 2), tensor("N", 8, 8, 3), tensor(1, 8, 8, 3, dtype="int32")):
        node = OpNode(op="RELU", version=1, inputs=(x,), outputs=(x,))
        assert rule("litert/gpu", node).verdict == Verdict.FALLS_BACK


def test_gpu_refuses_half_pixel_with_align_corners() -> None:
    attributes = {"align_corners": True, "half_pixel_centers": True}
    size = tensor(2, dtype="int32", constant=True)
    node = OpNode(op="RESIZE_BILINEAR", version=3, inputs=(X, size), outputs=(X,), attributes=attributes)
    found = rule("litert/gpu", node)
    assert found.verdict == Verdict.FALLS_BACK and found.fixes == ("resize-half-pixel",)


def test_gpu_batch_above_one_is_never_a_plain_yes() -> None:
    x = tensor(4, 8, 8, 3)
    assert (
        rule("litert/gpu", OpNode(op="RELU", version=1, inputs=(x,), outputs=(x,))).verdict
        == Verdict.CONDITIONAL
    )


def test_gpu_takes_one_partition_by_default(sketch: Any) -> None:
    s = sketch("tflite")
    x = s.input(1, 8, 8, 3)
    first = s.node("RELU", [s.node("ABS", [x], (1, 8, 8, 3), version=1)], (1, 8, 8, 3), version=1)
    cut = s.node("BROADCAST_TO", [first, s.constant([1, 8, 8, 3], 4, dtype="int32")], (1, 8, 8, 3), version=1)
    graph = s.graph(s.node("RELU", [cut], (1, 8, 8, 3), version=1))
    found = judge(graph, ["litert/gpu"])["litert/gpu"]
    assert len(found.partitions) == 1 and found.partitions[0].nodes == (0, 1)
    assert found.verdict(3) == Verdict.FALLS_BACK and "largest of 2" in found.reason(3).text


def edge(op: str, *inputs: OpTensor, out: OpTensor | None = None, **attributes: Any) -> OpNode:
    return OpNode(op=f"aten.{op}", inputs=inputs, outputs=(out or inputs[0],), attributes=attributes)


def test_executorch_xnnpack_multiplies_only_by_constants() -> None:
    a = tensor(4, 8)
    assert (
        rule("executorch/xnnpack", edge("mm.default", a, tensor(8, 4, constant=True))).verdict == Verdict.RUNS
    )
    assert rule("executorch/xnnpack", edge("mm.default", a, tensor(8, 4))).verdict == Verdict.FALLS_BACK


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (edge("mean.dim", tensor(1, 3, 4, 4), dim=[-1, -2], keepdim=True), Verdict.RUNS),
        (edge("mean.dim", tensor(1, 3, 4, 4), dim=[2, 3], keepdim=False), Verdict.FALLS_BACK),
        (edge("mean.dim", tensor(1, 3, 4), dim=[2], keepdim=True), Verdict.FALLS_BACK),
        (edge("avg_pool2d.default", X, kernel_size=[3, 3], stride=[2], padding=[1, 1]), Verdict.FALLS_BACK),
        (edge("avg_pool2d.default", X, kernel_size=[3, 3], stride=[2], padding=[0, 0]), Verdict.RUNS),
        (edge("avg_pool2d.default", X, kernel_size=[3], padding=[0], ceil_mode=True), Verdict.FALLS_BACK),
        (edge("_softmax.default", X, dim=-1), Verdict.RUNS),
        (edge("_softmax.default", X, dim=1), Verdict.FALLS_BACK),
        (edge("pow.Tensor_Scalar", X, exponent=2), Verdict.RUNS),
        (edge("pow.Tensor_Scalar", X, exponent=3), Verdict.FALLS_BACK),
        (edge("slice_copy.Tensor", X, step=2), Verdict.FALLS_BACK),
        (edge("relu.default", tensor(2, dtype="int64")), Verdict.FALLS_BACK),
        (edge("elu.default", X), Verdict.FALLS_BACK),
        (edge("add.Tensor", X, X, alpha=2), Verdict.FALLS_BACK),
        (edge("max_pool2d.default", X, kernel_size=[2, 2], stride=[3, 3]), Verdict.FALLS_BACK),
    ],
)  # fmt: skip
def test_executorch_xnnpack_conditions(node: OpNode, expected: Verdict) -> None:
    assert rule("executorch/xnnpack", node).verdict == expected


def test_vulkan_convolves_batch_one_only() -> None:
    weight, out = tensor(4, 3, 3, 3, constant=True), tensor(1, 4, 6, 6)
    one = edge("convolution.default", tensor(1, 3, 8, 8), weight, out=out)
    two = edge("convolution.default", tensor(2, 3, 8, 8), weight, out=out)
    assert rule("executorch/vulkan", one).verdict == Verdict.RUNS
    assert rule("executorch/vulkan", two).verdict == Verdict.FALLS_BACK


@pytest.mark.parametrize("op", ["aten::hardswish", "aten::silu", "aten::upsample_bilinear2d", "aten::bmm"])
def test_the_nnapi_serializer_fails_on_what_it_does_not_know(op: str, sketch: Any) -> None:
    s = sketch("torchscript")
    graph = s.graph(s.node(op, [s.input(1, 3, 8, 8)], (1, 3, 8, 8)))
    found = judge(graph, ["pytorch-mobile/nnapi"])["pytorch-mobile/nnapi"]
    assert found.verdict(0) == Verdict.FAILS and "Unsupported node kind" in found.reason(0).text


def test_one_failing_node_leaves_the_nnapi_serializer_no_partition(sketch: Any) -> None:
    s = sketch("torchscript")
    x = s.node("aten::relu", [s.input(1, 3)], (1, 3))
    graph = s.graph(s.node("aten::erf", [x], (1, 3)))
    found = judge(graph, ["pytorch-mobile/nnapi"])["pytorch-mobile/nnapi"]
    assert found.verdict(0) == Verdict.RUNS and not found.partitions


def onnx(op: str, *inputs: OpTensor, version: int = 13, **attributes: Any) -> OpNode:
    return OpNode(
        op=op, version=version, opset=18, inputs=inputs, outputs=(tensor(1, 4),), attributes=attributes
    )


def test_qnn_refuses_dynamic_quantisation_and_new_attention() -> None:
    dynamic = rule("ort/qnn", onnx("DynamicQuantizeLinear", tensor(1, 4)))
    assert dynamic.verdict == Verdict.FALLS_BACK and "dynamic-quantize-to-static" in dynamic.fixes
    q = tensor(1, 8, 64)
    attention = rule("ort/qnn", onnx("Attention", q, q, q, version=23, q_num_heads=4, kv_num_heads=4))
    assert attention.verdict == Verdict.FALLS_BACK and "decompose-attention" in attention.fixes


def test_qnn_warns_of_infinite_masks() -> None:
    mask = tensor(1, 4, constant=True, values=(0.0, float("-inf")))
    found = rule("ort/qnn", onnx("Add", tensor(1, 4), mask))
    assert found.verdict == Verdict.CONDITIONAL and found.fixes == ("clamp-inf-masks",)


@pytest.mark.parametrize("op", ["AveragePool", "MaxPool"])
def test_qnn_warns_of_ceil_mode(op: str) -> None:
    found = rule("ort/qnn", onnx(op, tensor(1, 8, 15, 15), ceil_mode=1))
    assert found.verdict == Verdict.CONDITIONAL and "ceil_mode" in found.text


def test_qnn_on_an_old_hexagon_refuses_float() -> None:
    assert rule("ort/qnn", onnx("Relu", tensor(1, 4)), htp_arch=68).verdict == Verdict.FALLS_BACK


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (onnx("Conv", tensor(1, 3, 8, 8), tensor(4, 3, 3, 3, constant=True), version=11), Verdict.RUNS),
        (onnx("Conv", tensor(1, 3, 8, 8), tensor(4, 3, 3, 3, constant=True), version=22), Verdict.UNKNOWN),
        (
            onnx("Conv", tensor(1, 3, "H", 8), tensor(4, 3, 3, 3, constant=True), version=11),
            Verdict.FALLS_BACK,
        ),
        (onnx("Conv", tensor(1, 3, 8, 8), tensor(4, 3, 3, 3), version=11), Verdict.FALLS_BACK),
        (onnx("Softmax", tensor(1, 4, 4), axis=1), Verdict.FALLS_BACK),
        (onnx("MatMul", tensor(1, 4), tensor(4, 4)), Verdict.FALLS_BACK),
        (onnx("Transpose", tensor(1, 4)), Verdict.FALLS_BACK),
    ],
)
def test_ort_xnnpack_conditions(node: OpNode, expected: Verdict) -> None:
    assert rule("ort/xnnpack", node).verdict == expected
