"""judge(): what holds for every target and every graph, hostile ones included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.errors import InputError
from studio.graph.builder import GraphBuilder
from studio.graph.graph import Graph, SubgraphRef, TensorKind
from studio.support import VERDICTS, TargetVerdicts, Verdict, find_problems, judge
from studio.support.tables import Status, load_table, table_names
from studio.targets import TARGETS


def test_every_target_answers_every_format(sketch: Any) -> None:
    ops = {
        "onnx": "Relu",
        "tflite": "RELU",
        "torchscript": "aten::relu",
        "pt2": "aten.relu.default",
        "pte": "aten.relu.default",
    }
    for format_, op in ops.items():
        s = sketch(format_)
        graph = s.graph(s.node(op, [s.input(1, 4)], (1, 4), version=1))
        for target_id, found in judge(graph, TARGETS).items():
            assert found.reason(0).text and found.reason(0).source, (format_, target_id)


def test_an_unknown_target_is_an_error(sketch: Any) -> None:
    with pytest.raises(InputError):
        judge(sketch().graph(), ["ort/abacus"])


def test_an_unknown_operator_is_unknown_where_nothing_lists_it(sketch: Any) -> None:
    s = sketch()
    graph = s.graph(s.node("Frobnicate", [s.input(1, 4)], (1, 4), domain="com.example"))
    for target_id, found in judge(graph, TARGETS).items():
        assert found.verdict(0) in (Verdict.UNKNOWN, Verdict.FAILS), (target_id, found.reason(0).text)
        assert found.verdict(0) == Verdict.UNKNOWN or target_id.startswith("mindspore"), target_id


def test_partial_in_a_table_is_never_a_plain_yes(sketch: Any) -> None:
    """Only code may say yes where the table says partial; targets judged by table alone never do."""
    by_table = {
        "litert/npu-qualcomm": "litert_npu_qualcomm",
        "litert/npu-mediatek": "litert_npu_mediatek",
        "litert/npu-samsung": "litert_npu_samsung",
        "litert/nnapi": "tflite_nnapi_delegate",
    }
    for target_id, table in by_table.items():
        for row in load_table(table).table.rows:
            if row.status != Status.PARTIAL:
                continue
            s = sketch("tflite")
            graph = s.graph(s.node(row.op, [s.input(1, 4)], (1, 4), version=1))
            assert judge(graph, [target_id])[target_id].verdict(0) != Verdict.RUNS, (target_id, row.op)


def test_ort_cpu_knows_dtypes_and_opsets(sketch: Any) -> None:
    def ruling(op: str, dtype: str, opset: int) -> Verdict:
        s = sketch(opset=opset)
        graph = s.graph(s.node(op, [s.input(2, 2, dtype=dtype)], (2, 2), dtype=dtype))
        return judge(graph, ["ort/cpu"])["ort/cpu"].verdict(0)

    assert ruling("Relu", "float32", 18) == Verdict.RUNS
    assert ruling("Acos", "float64", 18) == Verdict.FAILS
    assert ruling("Relu", "float32", 999) == Verdict.UNKNOWN
    assert ruling("Relu", "", 18) == Verdict.UNKNOWN


def test_computed_shapes_are_folded_before_anyone_is_asked(sketch: Any) -> None:
    s = sketch()
    x = s.input(2, 8)
    shape = s.node("Shape", [x], (2,), dtype="int64")
    first = s.node("Gather", [shape, s.constant([0], 1, dtype="int64")], (1,), dtype="int64")
    target = s.node(
        "Concat", [first, s.constant([4, 2], 2, dtype="int64")], (3,), dtype="int64", attributes={"axis": 0}
    )
    graph = s.graph(s.node("Reshape", [x, target], (2, 4, 2)), s.node("Relu", [x], (2, 8)))
    found = judge(graph, ["ort/nnapi"])["ort/nnapi"]
    assert "constants" in found.reason(1).text
    assert (found.verdict(3) == Verdict.FALLS_BACK and "alone" in found.reason(3).text) or found.verdict(
        3
    ) == Verdict.RUNS
    assert not set(found.partitions[0].nodes) & {0, 1, 2}, "folded nodes are in no partition"


def test_a_shape_of_a_dynamic_input_is_not_folded(sketch: Any) -> None:
    s = sketch()
    x = s.input("N", 8)
    shape = s.node("Shape", [x], (2,), dtype="int64")
    found = judge(s.graph(s.node("Reshape", [x, shape], ("N", 8))), ["ort/nnapi"])["ort/nnapi"]
    assert "constants" not in found.reason(0).text


def test_partitions_carry_macs_and_border_bytes(sketch: Any) -> None:
    s = sketch()
    y = s.node("Conv", [s.input(1, 3, 8, 8), s.constant(None, 4, 3, 3, 3)], (1, 4, 6, 6))
    cut = s.node("HardSigmoid", [y], (1, 4, 6, 6))
    graph = s.graph(s.node("Relu", [cut], (1, 4, 6, 6)))
    found = judge(graph, ["ort/nnapi"])["ort/nnapi"]
    assert [p.nodes for p in found.partitions] == [(0,), (2,)]
    first = found.partitions[0]
    assert first.macs == 4 * 6 * 6 * 3 * 9 and found.macs_share == 1.0
    assert (first.boundary_in_bytes, first.boundary_out_bytes) == (3 * 64 * 4, 4 * 36 * 4)
    assert found.cuts == {"n1": "2 → 1 partitions if fixed"}


def test_quantised_onnx_is_unknown_where_no_converter_takes_it(sketch: Any) -> None:
    """Its weights are computed from constants: judged as a float twin it would be a false no."""
    s = sketch()
    x = s.node("DequantizeLinear", [s.input(1, 3, 8, 8, dtype="int8"), s.constant([0.1])], (1, 3, 8, 8))
    w = s.node(
        "DequantizeLinear", [s.constant(None, 4, 3, 3, 3, dtype="int8"), s.constant([0.1])], (4, 3, 3, 3)
    )
    graph = s.graph(s.node("Conv", [x, w], (1, 4, 6, 6)))
    for target, found in judge(graph, ["executorch/xnnpack", "litert/gpu"]).items():
        assert found.verdict(2) is Verdict.UNKNOWN, target
        assert found.macs_share is None, target


def test_verdicts_survive_saving(sketch: Any, tmp_path: Any) -> None:
    s = sketch()
    graph = s.graph(s.node("Relu", [s.node("Erf", [s.input(1, 4)], (1, 4))], (1, 4)))
    found = judge(graph, ["ort/nnapi"])["ort/nnapi"]
    found.save(tmp_path / "v")
    again = TargetVerdicts.load(tmp_path / "v")
    assert again.counts() == found.counts() and again.reason(0) == found.reason(0)


def test_problems_come_costliest_first_and_name_the_fix(sketch: Any) -> None:
    s = sketch()
    x = s.input("N", 3, 8, 8)
    y = s.node("Conv", [x, s.constant(None, 4, 3, 3, 3)], ("N", 4, 6, 6))
    graph = s.graph(s.node("Erf", [y], ("N", 4, 6, 6)))
    problems = find_problems(graph, judge(graph, ["ort/nnapi"]))
    assert problems[0].op == "Conv" and problems[0].fixes == ("freeze-dims",)
    assert problems[0].macs_share == 1.0 and problems[0].nodes == (0,)


def test_problems_that_differ_only_in_a_shape_are_one(sketch: Any) -> None:
    s = sketch()
    x = s.input("N", 8)
    for _ in range(3):
        x = s.node("Relu", [x], ("N", 8))
    problems = find_problems(s.graph(x), judge(s.graph(x), ["ort/nnapi"]))
    assert len(problems) == 1 and problems[0].nodes == (0, 1, 2)


def test_a_node_inside_a_body_stays_on_the_cpu(sketch: Any) -> None:
    s = sketch()
    condition = s.input(dtype="bool")
    attributes: dict[str, Any] = {}
    y = s.node("If", [condition], (1, 4), attributes=attributes)
    body = s.builder.subgraph("then", parent_node=0, attribute="then_branch")
    attributes["then_branch"] = SubgraphRef(subgraph=body)
    x = s.builder.tensor("inner", "float32", (1, 4))
    s.builder.node("Relu", [x], [s.builder.tensor("out", "float32", (1, 4))], subgraph=body)
    found = judge(s.graph(y), ["ort/nnapi", "ort/cpu"])
    assert found["ort/nnapi"].verdict(1) == Verdict.FALLS_BACK
    assert found["ort/cpu"].verdict(1) == Verdict.RUNS


def hostile(ops: list[tuple[str, str, list[int], int, Any]], format_: str) -> Graph:
    """Any tangle: cycles, self loops, tensors made twice, wild attributes and shapes."""
    b = GraphBuilder(format_)
    body = b.subgraph("main")
    shapes: list[Any] = [(1, 3, 8, 8), ("N", None), None, (), (2,) * 40, (0,), (10**9, 10**9)]
    tensors = [b.tensor(f"t{i}", ["float32", "int64", "", "string"][i % 4], shapes[i % 7]) for i in range(14)]
    b.constant(tensors[3], value=[float("nan"), -1, 0])
    b.set_kind(tensors[0], TensorKind.INPUT)
    for op, domain, inputs, output, attribute in ops:
        attributes = {
            "axis": attribute,
            "kernel_shape": attribute,
            "pads": attribute,
            "mode": attribute,
            "perm": attribute,
        }
        b.node(
            op,
            [tensors[i] if i >= 0 else -1 for i in inputs],
            [tensors[output]],
            domain=domain,
            attributes=attributes,
        )
    b.close_subgraph(body, tensors[:2], tensors[-2:])
    b.graph.opsets[""] = 18
    return b.finish()


OPS = [
    "Conv", "Reshape", "QuantizeLinear", "DequantizeLinear", "Resize", "Split", "Concat", "Slice", "Pad",
    "Gemm", "MatMul", "If", "Shape", "Gather", "CONV_2D", "SOFTMAX", "SLICE", "aten::add", "aten.mean.dim",
    "Clip", "Squeeze", "BatchNormalization", "ReduceMean", "DepthToSpace", "Softmax", "", "💥",
    "aten.convolution.default",
]  # fmt: skip
LISTED = sorted({row.op for name in table_names() for row in load_table(name).table.rows})
ATTRIBUTES = st.one_of(
    st.none(), st.integers(-(2**40), 2**40), st.floats(), st.text(max_size=4), st.booleans(),
    st.lists(st.integers(-3, 9), max_size=5), st.lists(st.text(max_size=2), max_size=2),
)  # fmt: skip


@given(
    ops=st.lists(
        st.tuples(
            st.sampled_from(OPS) | st.sampled_from(LISTED), st.sampled_from(["", "com.microsoft", "x.y"]),
            st.lists(st.integers(-1, 13), max_size=6), st.integers(0, 13), ATTRIBUTES,
        ),
        max_size=8,
    ),
    format_=st.sampled_from(["onnx", "tflite", "torchscript", "pt2", "pte"]),
)  # fmt: skip
def test_hostile_graphs_get_verdicts(ops: Any, format_: str) -> None:
    graph = hostile(ops, format_)
    found = judge(graph, TARGETS)
    for columns in found.values():
        assert all(r.text and r.source for r in map(columns.reason, range(graph.node_count)))
        assert len(columns.codes) == len(columns.reason_of) == len(columns.partition_of) == graph.node_count
        assert int(columns.codes.max(initial=0)) < len(VERDICTS)
        members = [n for p in columns.partitions for n in p.nodes]
        assert sorted(members) == np.flatnonzero(columns.partition_of >= 0).tolist()
    find_problems(graph, found)


def test_a_call_of_a_local_function_is_left_to_its_nodes(sketch: Any) -> None:
    s = sketch()
    attributes: dict[str, Any] = {}
    y = s.node("f", [s.input(1, 4)], (1, 4), domain="my", attributes=attributes)
    body = s.builder.subgraph("my::f", parent_node=0, attribute="function")
    attributes["function"] = SubgraphRef(subgraph=body)
    x = s.builder.tensor("inner", "float32", (1, 4))
    s.builder.node("Relu", [x], [s.builder.tensor("out", "float32", (1, 4))], subgraph=body)
    found = judge(s.graph(y), ["ort/nnapi", "ort/cpu", "litert/gpu"])
    assert found["ort/nnapi"].verdict(0) == found["ort/cpu"].verdict(0) == Verdict.CONDITIONAL
    assert found["litert/gpu"].verdict(0) == Verdict.UNKNOWN
    assert found["ort/nnapi"].verdict(1) == Verdict.RUNS


def test_an_operator_that_is_expanded_runs_and_an_unproven_one_is_conditional(sketch: Any) -> None:
    for op, expected in (("HardSwish", Verdict.RUNS), ("Swish", Verdict.CONDITIONAL)):
        s = sketch(opset=24)
        graph = s.graph(s.node(op, [s.input(1, 4)], (1, 4)))
        assert judge(graph, ["ort/cpu"])["ort/cpu"].verdict(0) == expected
