"""The tables of `benchmark_model --enable_op_profiling=true`, and which nodes their rows are."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.backends.op_profile import DELEGATE, kernels_of, parse_op_profile
from studio.errors import ToolError
from studio.graph import open_graph
from studio.graph.graph import Graph
from tests.unit.backends.tflite_files import Op, tflite_file

BEGIN = "INFO: Operator-wise Profiling Info for Regular Benchmark Runs:\n"
INIT = """Profiling Info for Benchmark Initialization:
============================== Run Order ==============================
\t             [node type]\t  [first]\t [avg ms]\t     [%]\t[times called]\t[Name]
\t         AllocateTensors\t    9.102\t    9.102\t100.000%\t        1\tAllocateTensors/0

"""
OLD = """============================== Run Order ==============================
\t             [node type]\t          [start]\t  [first]\t [avg ms]\t     [%]\t[times called]\t[Name]
\t                     ABS\t            0.000\t    4.269\t    4.000\t  0.107%\t        0\t[a]:0
\t                     EXP\t            4.270\t    2.150\t    1.500\t  0.054%\t        0\t[y]:2

============================== Top by Computation Time ==============================
\t             [node type]\t          [start]\t  [first]\t [avg ms]\t     [%]\t[times called]\t[Name]
\t                     ABS\t            0.000\t    4.269\t   99.000\t  0.107%\t        0\t[a]:0
"""
CHAIN: list[Op] = [("ABS", ["x"], ["a"]), ("NEG", ["a"], ["b"]), ("EXP", ["b"], ["y"])]


def table(*rows: tuple[str, float, int, str]) -> str:
    """A table in the new form, without [start]."""
    head = (
        "============================== Run Order ==============================\n"
        "\t             [node type]\t  [first]\t [avg ms]\t     [%]\t[times called]\t[Name]\n"
    )
    lines = [
        f"\t{op:>24}\t    1.000\t{mean:9.3f}\t 50.000%\t{calls:9d}\t{name}\n"
        for op, mean, calls, name in rows
    ]
    return (
        head + "".join(lines) + "\nTimings (microseconds): count=50 first=1 curr=1 min=1 max=1 avg=1 std=0\n"
    )


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    return open_graph(tflite_file(tmp_path / "m.tflite", CHAIN))


def test_the_old_form_with_start_and_without_counts(graph: Graph) -> None:
    rows = parse_op_profile(INIT + BEGIN + OLD)
    assert [(r.op, r.name, r.mean_ms) for r in rows] == [("ABS", "[a]:0", 4.0), ("EXP", "[y]:2", 1.5)]
    kernels = kernels_of(rows, graph, ())
    assert [(k.nodes, k.mean_ns) for k in kernels] == [((0,), 4e6), ((2,), 1.5e6)]
    assert all(not k.times_ns for k in kernels), "a mean is no list of times"


def test_the_new_form_counts_calls_per_inference(graph: Graph) -> None:
    rows = parse_op_profile(BEGIN + table(("NEG/a note", 0.5, 3, "[b]:1")))
    (kernel,) = kernels_of(rows, graph, ())
    assert (kernel.nodes, kernel.op, kernel.mean_ns) == ((1,), "NEG", 1.5e6)


def test_the_form_with_commas(graph: Graph) -> None:
    text = (
        "============================== Run Order ==============================\n"
        "node type, first, avg_ms, %, cdf%, mem KB, times called, name\n"
        "NEG, 0.4, 0.25, 50%, 50%, 0, 1, [b\t c]:1\n"
    )
    (row,) = parse_op_profile(BEGIN + text)
    assert (row.op, row.mean_ms, row.name) == ("NEG", 0.25, "[b\t c]:1")


def test_names_of_outputs_may_hold_anything(graph: Graph) -> None:
    (row,) = parse_op_profile(BEGIN + table(("NEG", 0.5, 1, "[a\tb, c[0]:7, d]:1")))
    assert row.name == "[a\tb, c[0]:7, d]:1"
    assert kernels_of([row], graph, ())[0].nodes == (1,)


def test_a_number_with_another_operator_is_not_believed(graph: Graph) -> None:
    (kernel,) = kernels_of(parse_op_profile(BEGIN + table(("CONV_2D", 0.5, 1, "[b]:1"))), graph, ())
    assert kernel.nodes == () and kernel.why and kernel.op == "CONV_2D"


def test_one_delegate_without_a_list_is_a_fused_kernel(graph: Graph) -> None:
    rows = parse_op_profile(BEGIN + table(("TfLiteGpuDelegateV2", 8.0, 1, "[b]:3"), ("EXP", 0.5, 1, "[y]:2")))
    gpu, exp = kernels_of(rows, graph, (0, 1))
    assert gpu.nodes == (0, 1) and gpu.mean_ns == 8e6 and exp.nodes == (2,)
    unknown, _ = kernels_of(rows, graph, ())
    assert unknown.nodes == () and "as a whole" in unknown.why


def test_two_delegates_are_not_told_apart(graph: Graph) -> None:
    rows = parse_op_profile(BEGIN + table(("Gpu", 8.0, 1, "[a]:3"), ("Gpu", 4.0, 1, "[y]:4")))
    assert [k.nodes for k in kernels_of(rows, graph, (0, 2))] == [(), ()]


def test_a_delegates_own_operators_stand_for_it(tmp_path: Path) -> None:
    """Their time is part of the delegate's: what is left over is the delegate's own."""
    ops: list[Op] = [("SOFTMAX", ["x"], ["a"]), ("ABS", ["a"], ["y"])]
    graph = open_graph(tflite_file(tmp_path / "s.tflite", ops))
    text = (
        BEGIN
        + table(("TfLiteXNNPackDelegate", 5.0, 1, "[y]:2"))
        + "Delegate internal: \n"
        + table(
            ("DelegateOpInvoke", 3.0, 1, "Delegate/Softmax (NC, F32):0"),
            ("DelegateOpInvoke", 1.0, 1, "Delegate/Abs (NC):1"),
        )
    )
    rows = parse_op_profile(text)
    assert [r.table for r in rows] == [0, DELEGATE, DELEGATE]
    softmax, other, rest = kernels_of(rows, graph, (0, 1))
    assert (softmax.nodes, softmax.mean_ns) == ((0,), 3e6)
    assert other.nodes == () and "certainty" in other.why
    assert (rest.nodes, rest.mean_ns) == ((), 1e6)


def test_bodies_of_control_flow_are_inside(graph: Graph) -> None:
    text = (
        BEGIN
        + "Primary graph (name: main) :\n"
        + table(("ABS", 4.0, 1, "[a]:0"))
        + "Subgraph (index: 1, name: body) :\n"
        + table(("NEG", 1.0, 5, "[b]:1"))
    )
    outside, inside = kernels_of(parse_op_profile(text), graph, ())
    assert outside.nodes == (0,) and not outside.is_inside
    assert inside.nodes == () and inside.is_inside and inside.mean_ns == 5e6


@pytest.mark.parametrize(
    "text", ["", "Segmentation fault\n", INIT, BEGIN, BEGIN + "=== Run Order ===\nhi\nx\ty\n"]
)
def test_no_table_is_said(text: str) -> None:
    with pytest.raises(ToolError, match="No times of operators"):
        parse_op_profile(text)
