"""Kinds of false claims that a fuzz of 1,280 aten operators found, each with what the partitioner said."""

from __future__ import annotations

from typing import Any

import pytest

from studio.support import Verdict, judge
from studio.support.op_node import OpNode, OpTensor
from studio.support.predict import lowering_for
from studio.support.rules import rule_for
from studio.support.ruling import Setting


def tensor(*shape: int, dtype: str = "float32", constant: bool = False) -> OpTensor:
    return OpTensor(dtype=dtype, shape=shape, is_constant=constant)


X = tensor(2, 3, 4)


def edge(op: str, *inputs: OpTensor, output: OpTensor = X, **attributes: Any) -> list[str]:
    lower = lowering_for("pt2", "edge")
    assert lower is not None
    made = lower(OpNode(op=op, inputs=inputs or (X,), outputs=(output,), attributes=attributes))
    return [part.op.removeprefix("aten.") for part in made.parts]


def taken(target: str, op: str, *inputs: OpTensor, output: OpTensor = X, **more: Any) -> Verdict:
    node = OpNode(op=op, inputs=inputs, outputs=(output,), **more)
    return rule_for(target).rule(node, Setting(target_id=target)).verdict


def test_a_product_of_batches_is_expanded_first() -> None:
    assert edge("aten.matmul.default", X, tensor(2, 4, 5))[0] == "expand_copy.default"


@pytest.mark.parametrize(
    ("op", "attributes", "left"),
    [
        ("aten.clamp.Tensor", {}, "clamp.Tensor"),
        ("aten.clamp.default", {"max": 1}, "clamp.default"),
        ("aten.div.Tensor_mode", {"rounding_mode": "trunc"}, "div.Tensor_mode"),
        ("aten.pow.Scalar", {"self": 2.0}, "pow.Scalar"),
        ("aten.pow.Tensor_Scalar", {"exponent": 2}, "pow.Tensor_Scalar"),
        ("aten.transpose.int", {"dim0": 0, "dim1": 1}, "permute_copy.default"),
        ("aten.transpose.int", {"dim0": 0, "dim1": -3}, "alias_copy.default"),
        ("aten.lift_fresh_copy.default", {}, "dim_order_ops._clone_dim_order.default"),
    ],
)
def test_an_overload_keeps_its_own_operator(op: str, attributes: dict[str, Any], left: str) -> None:
    inputs = (X, X, X) if op == "aten.clamp.Tensor" else (X, X) if op.endswith("_mode") else (X,)
    assert edge(op, *inputs, **attributes) == [left]


def test_one_tensor_given_twice_is_one_input_of_a_concatenation(sketch: Any) -> None:
    assert taken("executorch/xnnpack", "aten.cat.default", X, X) == Verdict.RUNS
    assert taken("executorch/xnnpack", "aten.cat.default", X, X, distinct_inputs=1) == Verdict.FALLS_BACK
    for is_same in (True, False):
        s = sketch("pt2")
        a = s.node("aten.relu.default", [s.input(1, 4)], (1, 4))
        b = a if is_same else s.node("aten.relu.default", [s.input(1, 4)], (1, 4))
        graph = s.graph(s.node("aten.cat.default", [a, b], (1, 8), attributes={"dim": 1}))
        found = judge(graph, ["executorch/xnnpack"])["executorch/xnnpack"]
        assert found.verdict(graph.node_count - 1) == (Verdict.FALLS_BACK if is_same else Verdict.RUNS)


def test_vulkan_looks_at_both_types_of_a_cast_and_of_a_logical_operator() -> None:
    vulkan, cast = "executorch/vulkan", "dim_order_ops._to_dim_order_copy.default"
    assert taken(vulkan, cast, X, output=tensor(2, 3, 4, dtype="float64")) == Verdict.FALLS_BACK
    flag, number = tensor(3, dtype="bool"), tensor(1, dtype="int64")
    assert taken(vulkan, "aten.logical_or.default", flag, flag, output=flag) == Verdict.RUNS
    assert taken(vulkan, "aten.logical_or.default", flag, number, output=flag) == Verdict.FALLS_BACK


def test_mixed_types_are_promoted_by_casts_so_nothing_is_claimed(sketch: Any) -> None:
    s = sketch("pt2")
    mask, x = s.input(2, 3, dtype="bool"), s.input(2, 3)
    graph = s.graph(s.node("aten.mul.Tensor", [mask, x], (2, 3)))
    found = judge(graph, ["executorch/vulkan"])["executorch/vulkan"]
    assert found.verdict(0) in (Verdict.UNKNOWN, Verdict.CONDITIONAL)
