"""QNN: a plain yes or no only as Qualcomm's compiler gave it, per Hexagon, dtype, rank and attribute."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from studio.backends.ask_ort import SOC_MODELS
from studio.support import Verdict
from studio.support.op_node import OpNode, OpTensor, QdqGroup
from studio.support.rules.ort_qnn import judge_node
from studio.support.ruling import Setting
from studio.support.soc import htp_arch_of


def tensor(*shape: int | str, dtype: str = "float32", constant: bool = False) -> OpTensor:
    return OpTensor(dtype=dtype, shape=shape, is_constant=constant)


X = tensor(1, 4, 8, 8)


def verdict(node: OpNode, arch: int = 75) -> Verdict:
    return judge_node(replace(node, opset=18), Setting(target_id="ort/qnn", htp_arch=arch)).verdict


def node(op: str, *inputs: OpTensor, domain: str = "", **attributes: Any) -> OpNode:
    given = inputs or (X,)
    return OpNode(op=op, domain=domain, inputs=given, outputs=(given[0],), attributes=attributes)


def quantized(op: str, dtype: str, *weights: str) -> OpNode:
    """The operator between DequantizeLinear and QuantizeLinear of a dtype."""
    inside = tuple(OpTensor(dtype=d, shape=(4,), scale=(0.1,)) for d in (dtype, *weights))
    made = node(op, X, *(tensor(8, 8) for _ in weights))
    return replace(made, qdq=QdqGroup(inputs=inside, outputs=(replace(inside[0], shape=X.shape),)))


def test_a_gelu_that_was_written_out_is_taken_whole() -> None:
    """The provider fuses Div → Erf → Add → Mul: 13 times in PP-OCRv6's recogniser, which stays one piece."""
    inside = replace(node("Erf"), producers=("Div",), consumers=("Add",))
    assert verdict(inside) is Verdict.CONDITIONAL
    assert verdict(inside, arch=68) is Verdict.FALLS_BACK, "float needs v69"
    assert verdict(replace(inside, inputs=(tensor("N", 8),))) is Verdict.FALLS_BACK
    assert verdict(node("Erf")) is Verdict.FALLS_BACK
    assert verdict(replace(inside, consumers=("Add", "Mul"))) is Verdict.FALLS_BACK


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (node("Relu"), Verdict.RUNS),
        (node("Relu", tensor(1, 4, 8, 8, dtype="float16")), Verdict.RUNS),
        (node("Relu", tensor(1, 4, 8, 8, dtype="float64")), Verdict.FALLS_BACK),
        (node("Relu", tensor(1, 4, 8, 8, dtype="int8")), Verdict.FALLS_BACK),
        (node("Relu", tensor("N", 4, 8, 8)), Verdict.FALLS_BACK),
        (node("Floor", tensor(1, 2, 3, 4, 5)), Verdict.CONDITIONAL),
        (node("Mul", tensor(1, 2, 3, 4, 5)), Verdict.RUNS),
        (node("Celu"), Verdict.FALLS_BACK),
        (node("CumSum", X, tensor(dtype="int64", constant=True), reverse=1), Verdict.FALLS_BACK),
        (node("CumSum", X, tensor(dtype="int64", constant=True)), Verdict.RUNS),
        (node("ArgMax", select_last_index=1), Verdict.FALLS_BACK),
        (node("Resize", mode="linear", antialias=1), Verdict.FALLS_BACK),
        (node("Resize", mode="nearest", coordinate_transformation_mode="asymmetric"), Verdict.FALLS_BACK),
        (node("Resize", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
         Verdict.RUNS),
        (node("Resize", tensor(1, 4, 8), mode="linear"), Verdict.CONDITIONAL),
        (node("Slice", X, tensor(1, dtype="int64")), Verdict.CONDITIONAL),
        (node("Pad", X, tensor(8, dtype="int64", constant=True), mode="reflect"), Verdict.CONDITIONAL),
        (quantized("Relu", "uint8"), Verdict.RUNS),
        (quantized("Relu", "uint16"), Verdict.CONDITIONAL),
        (quantized("MatMul", "uint16", "int8"), Verdict.RUNS),
        (quantized("LeakyRelu", "int8"), Verdict.CONDITIONAL),
        (quantized("LayerNormalization", "int8", "int8"), Verdict.RUNS),
        (quantized("LayerNormalization", "uint8", "int8"), Verdict.FALLS_BACK),
        (quantized("LayerNormalization", "uint8", "uint8"), Verdict.CONDITIONAL),
    ],
)  # fmt: skip
def test_a_claim_is_what_was_answered(asked: OpNode, expected: Verdict) -> None:
    assert verdict(asked) == expected


@pytest.mark.parametrize(
    ("arch", "floats", "quantised"),
    [
        (0, Verdict.CONDITIONAL, Verdict.CONDITIONAL),  # no SoC was named
        (66, Verdict.FALLS_BACK, Verdict.CONDITIONAL),  # older than any that was asked
        (68, Verdict.FALLS_BACK, Verdict.RUNS),
        (69, Verdict.RUNS, Verdict.RUNS),
        (79, Verdict.RUNS, Verdict.RUNS),
        (99, Verdict.CONDITIONAL, Verdict.CONDITIONAL),  # the tool would accept this one without a word
    ],
)
def test_a_claim_is_made_only_for_a_hexagon_that_was_asked(
    arch: int, floats: Verdict, quantised: Verdict
) -> None:
    assert verdict(node("Sigmoid"), arch) == floats
    assert verdict(quantized("Sigmoid", "uint8"), arch) == quantised


def test_sixteen_bit_quantize_is_microsofts_and_known() -> None:
    """com.microsoft's QuantizeLinear was taken where the rule said that QNN has none."""
    assert verdict(node("QuantizeLinear", X, tensor(), domain="com.microsoft")) == Verdict.CONDITIONAL


@pytest.mark.parametrize("soc", SOC_MODELS)
def test_the_rule_and_the_tool_mean_the_same_hexagon(soc: str) -> None:
    assert htp_arch_of(soc) == SOC_MODELS[soc][1]
