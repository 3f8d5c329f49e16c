"""What a file has handed to an accelerator: facts of the file, one partition per call, counted once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from studio.graph.builder import GraphBuilder
from studio.graph.cost import node_costs
from studio.graph.graph import AttributeValue, Graph, SubgraphRef, TensorKind
from studio.graph.restated import BEFORE_DELEGATION
from studio.support import TargetVerdicts, Tier, Verdict, find_problems, judge
from studio.support.merge import with_answers


def program(engine: str, *, opened: bool = True) -> Graph:
    """x → call → Sigmoid kernel → call → y; a call is a 4×4 linear, with its kernels and origins inside."""
    b = GraphBuilder("pte")
    main = b.subgraph("forward")

    def linear(subgraph: int, op: str, domain: str) -> None:
        x = b.tensor("x", "float32", (2, 4), TensorKind.INPUT)
        weight = b.tensor("w", "float32", (4, 4))
        b.constant(weight)
        y = b.tensor("y", "float32", (2, 4))
        b.node(op, [x, weight, -1], [y], domain=domain, subgraph=subgraph)
        b.close_subgraph(subgraph, [x], [y])

    def call(x: int) -> int:
        y = b.tensor("y", "float32", (2, 4))
        attributes: dict[str, AttributeValue] = {}
        node = b.node(engine, [x], [y], domain="delegate", attributes=attributes, subgraph=main)
        if opened:
            for name, op, domain in (
                ("graph", "XNNFullyConnected", "xnnpack"),
                (BEFORE_DELEGATION, "aten.linear.default", ""),
            ):
                body = b.subgraph(name, parent_node=node, attribute=name)
                attributes[name] = SubgraphRef(subgraph=body)
                linear(body, op, domain)
        return y

    x = b.tensor("x", "float32", (2, 4), TensorKind.INPUT)
    middle = call(x)
    after = b.tensor("after", "float32", (2, 4))
    b.node("aten.sigmoid.out", [middle], [after], subgraph=main)
    last = call(after)
    b.close_subgraph(main, [x], [last])
    return b.finish()


def verdicts_of(graph: Graph, target_id: str, soc: str = "") -> TargetVerdicts:
    return judge(graph, [target_id], soc=soc)[target_id]


def by_op(graph: Graph, found: TargetVerdicts) -> dict[str, Verdict]:
    return {op: found.verdict(n) for n, op in enumerate(graph.node_op)}


def test_delegate_and_what_is_inside_run_on_the_backend_they_were_lowered_to() -> None:
    graph = program("XnnpackBackend")
    found = verdicts_of(graph, "executorch/xnnpack")
    assert by_op(graph, found) == {
        "XnnpackBackend": Verdict.RUNS,
        "XNNFullyConnected": Verdict.RUNS,
        "aten.linear.default": Verdict.RUNS,
        "aten.sigmoid.out": Verdict.FALLS_BACK,  # the partitioner would take it, but the file is made
    }
    assert {found.reason(n).source for n in range(graph.node_count) if found.verdict(n) == Verdict.RUNS} == {
        "the file: lowered to XnnpackBackend"
    }


def test_one_partition_per_call_and_nothing_counted_twice() -> None:
    graph = program("XnnpackBackend")
    found = verdicts_of(graph, "executorch/xnnpack")
    calls = [n for n, op in enumerate(graph.node_op) if op == "XnnpackBackend"]
    assert [p.nodes for p in found.partitions] == [(calls[0],), (calls[1],)]
    assert [
        (p.macs, p.weight_bytes, p.boundary_in_bytes, p.boundary_out_bytes) for p in found.partitions
    ] == [(32, 64, 32, 32)] * 2
    assert found.partition_of.tolist() == [0, 0, 0, -1, 1, 1, 1]
    assert found.counts() == {"runs": 2, "conditional": 0, "falls_back": 1, "fails": 0, "unknown": 0}
    assert found.macs_share == 1.0
    (problem,) = find_problems(graph, {found.target_id: found})
    assert (problem.op, problem.nodes, problem.macs) == ("aten.sigmoid.out", (3,), 0)
    assert problem.partitions_if_fixed is None and not found.cuts


@pytest.mark.parametrize("target_id", ["executorch/vulkan", "executorch/qnn", "executorch/samsung"])
def test_other_backends_do_not_take_what_was_lowered_elsewhere(target_id: str) -> None:
    graph = program("XnnpackBackend")
    found = verdicts_of(graph, target_id)
    assert set(by_op(graph, found).values()) == {Verdict.FALLS_BACK}
    assert not found.partitions and found.macs_share == 0.0
    problems = find_problems(graph, {target_id: found})
    assert [(p.op, len(p.nodes)) for p in problems] == [("XnnpackBackend", 2), ("aten.sigmoid.out", 1)]
    assert problems[0].sentence == "Lowered to XnnpackBackend: it runs there and nowhere else."
    assert problems[0].macs == 64 and problems[0].macs_share == 1.0


def test_kernels_alone_cannot_run_a_delegate() -> None:
    graph = program("XnnpackBackend")
    found = by_op(graph, verdicts_of(graph, "executorch/portable"))
    assert found["XnnpackBackend"] == found["XNNFullyConnected"] == Verdict.FAILS
    assert found["aten.sigmoid.out"] == Verdict.RUNS


@pytest.mark.parametrize(
    ("engine", "target_id"),
    [
        ("VulkanBackend", "executorch/vulkan"),
        ("QnnBackend", "executorch/qnn"),
        ("NeuropilotBackend", "executorch/mediatek"),
        ("EnnBackend", "executorch/samsung"),
    ],
)
def test_closed_delegates_run_on_their_own_backend(engine: str, target_id: str) -> None:
    graph = program(engine, opened=False)
    assert verdicts_of(graph, target_id).counts()["runs"] == 2
    assert len(verdicts_of(graph, target_id).partitions) == 2
    assert verdicts_of(graph, "executorch/xnnpack").counts()["falls_back"] == 3


def test_delegates_of_no_target_run_on_none() -> None:
    graph = program("CoreMLBackend", opened=False)
    for target_id in ("executorch/xnnpack", "executorch/vulkan", "executorch/qnn"):
        assert verdicts_of(graph, target_id).counts()["falls_back"] == 3, target_id


def test_other_runtimes_say_unknown_once_per_call() -> None:
    graph = program("XnnpackBackend")
    found = verdicts_of(graph, "litert/gpu")
    assert found.counts()["unknown"] == 3
    assert sum(len(p.nodes) for p in find_problems(graph, {"litert/gpu": found})) == 3


def test_answers_of_tools_and_phones_keep_the_calls_apart() -> None:
    graph = program("XnnpackBackend")
    found = verdicts_of(graph, "executorch/xnnpack")
    merged = with_answers(
        graph, found, {0: (True, ""), 4: (False, "x")}, source="a phone", tier=Tier.MEASURED,
        costs=node_costs(graph),
    )  # fmt: skip
    assert [(p.nodes, p.macs) for p in merged.partitions] == [((0,), 32)]
    assert merged.counts()["runs"] == 1


def test_verdicts_of_a_file_with_delegates_are_read_back(tmp_path: Path) -> None:
    found = verdicts_of(program("XnnpackBackend"), "executorch/xnnpack")
    found.save(tmp_path / "verdicts")
    assert TargetVerdicts.load(tmp_path / "verdicts").counts() == found.counts()


def test_ep_context_runs_only_on_the_provider_it_was_compiled_for(sketch: Callable[..., Any]) -> None:
    s = sketch()
    x = s.input(1, 8)
    first = s.node(
        "EPContext", [x], (1, 8), domain="com.microsoft", attributes={"source": "QNNExecutionProvider"}
    )
    relu = s.node("Relu", [first], (1, 8))
    graph = s.graph(s.node("EPContext", [relu], (1, 8), domain="com.microsoft", attributes={"source": "QNN"}))
    found = verdicts_of(graph, "ort/qnn")
    assert [found.verdict(n) for n in range(3)] == [Verdict.RUNS, Verdict.FALLS_BACK, Verdict.RUNS]
    assert [p.nodes for p in found.partitions] == [(0,), (2,)]
    for target_id in (
        "ort/cpu",
        "ort/nnapi",
        "ort/xnnpack",
        "litert/cpu",
        "executorch/xnnpack",
        "qualcomm/htp",
    ):
        other = verdicts_of(graph, target_id)
        assert {other.verdict(0), other.verdict(2)} == {Verdict.FAILS}, target_id
    assert verdicts_of(graph, "ort/cpu").verdict(1) == Verdict.RUNS


def test_ep_context_of_an_unknown_provider_runs_nowhere_here(sketch: Callable[..., Any]) -> None:
    s = sketch()
    odd = {"source": 7}  # a stranger's file
    graph = s.graph(s.node("EPContext", [s.input(1, 8)], (1, 8), domain="com.microsoft", attributes=odd))
    assert verdicts_of(graph, "ort/qnn").verdict(0) == Verdict.FAILS


def dispatch(sketch: Callable[..., Any], stamp: str) -> Graph:
    s = sketch("tflite")
    made = s.node("DISPATCH_OP", [s.input(1, 8)], domain="custom", shape=(1, 8))
    graph: Graph = s.graph(s.node("LOGISTIC", [made], shape=(1, 8)))
    if stamp:
        graph.metadata["LiteRtStamp"] = stamp
    return graph


def test_dispatches_run_on_the_npu_of_their_stamp(sketch: Callable[..., Any]) -> None:
    graph = dispatch(sketch, "Qualcomm SM8650")
    assert verdicts_of(graph, "litert/npu-qualcomm").verdict(0) == Verdict.RUNS
    assert verdicts_of(graph, "litert/npu-qualcomm", "SM8650").verdict(0) == Verdict.RUNS
    assert verdicts_of(graph, "litert/npu-qualcomm", "SM8550").verdict(0) == Verdict.CONDITIONAL
    assert verdicts_of(graph, "litert/npu-qualcomm").verdict(1) == Verdict.FALLS_BACK
    for target_id in ("litert/cpu", "litert/gpu", "litert/npu-mediatek", "mediatek/neuropilot"):
        assert verdicts_of(graph, target_id).verdict(0) == Verdict.FAILS, target_id
    assert verdicts_of(graph, "litert/cpu").verdict(1) == Verdict.RUNS


def test_a_dispatch_without_a_stamp_is_not_known_on_npus(sketch: Callable[..., Any]) -> None:
    graph = dispatch(sketch, "")
    assert verdicts_of(graph, "litert/npu-qualcomm").verdict(0) == Verdict.UNKNOWN
    assert verdicts_of(graph, "litert/gpu").verdict(0) == Verdict.FAILS


def test_bodies_that_hang_in_a_circle_end() -> None:
    graph = program("XnnpackBackend")
    first, inner, *others = graph.subgraphs
    graph.subgraphs = [first, structs.replace(inner, parent_node=1), *others]  # it hangs on its own node
    assert np.bincount(verdicts_of(graph, "executorch/xnnpack").codes).sum() == graph.node_count


def lowered_script(sketch: Callable[..., Any], class_name: str, method: str = "execute") -> Graph:
    s = sketch("pt")
    called: dict[str, AttributeValue] = {"method": method, "class": class_name}
    made = s.node("prim::CallMethod", [s.input(1, 8)], (1, 8), attributes=called)
    graph: Graph = s.graph(s.node("aten::relu", [made], (1, 8)))
    return graph


@pytest.mark.parametrize(
    ("class_name", "method"),
    [
        ("__torch__.torch.classes.__backends__.nnapi", "execute"),
        ("__torch__.torch.classes._nnapi.Compilation", "run"),
    ],
)
def test_a_lowered_module_of_torchscript_runs_on_its_backend(
    sketch: Callable[..., Any], class_name: str, method: str
) -> None:
    graph = lowered_script(sketch, class_name, method)
    found = verdicts_of(graph, "pytorch-mobile/nnapi")
    assert [found.verdict(n) for n in range(2)] == [Verdict.RUNS, Verdict.FALLS_BACK]
    for target_id in ("pytorch-mobile/cpu", "litert/cpu", "ort/nnapi", "executorch/xnnpack"):
        assert verdicts_of(graph, target_id).verdict(0) == Verdict.FAILS, target_id


def test_a_module_lowered_to_a_backend_of_no_target_runs_nowhere_here(sketch: Callable[..., Any]) -> None:
    graph = lowered_script(sketch, "__torch__.torch.classes.__backends__.coreml")
    assert verdicts_of(graph, "pytorch-mobile/nnapi").verdict(0) == Verdict.FAILS


@pytest.mark.parametrize("class_name", ["__torch__.My.Compilation", "__torch__.torch.classes.rnn.Cell"])
def test_other_objects_called_are_not_taken_for_compiled_code(
    sketch: Callable[..., Any], class_name: str
) -> None:
    graph = lowered_script(sketch, class_name, "run")
    assert "ower" not in verdicts_of(graph, "pytorch-mobile/nnapi").reason(0).text


def test_what_torch_lowers_to_nnapi_is_recognised(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from torch.backends._nnapi.prepare import convert_model_to_nnapi

    from studio.graph import open_graph

    x = torch.rand(1, 3, 8, 8).contiguous(memory_format=torch.channels_last)
    x.nnapi_nhwc = True
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU()).eval()
    made = convert_model_to_nnapi(torch.jit.trace(net, x), x)
    made.save(tmp_path / "net.pt")
    made._save_for_lite_interpreter(str(tmp_path / "net.ptl"))
    for name in ("net.pt", "net.ptl"):
        graph = open_graph(tmp_path / name)
        found = verdicts_of(graph, "pytorch-mobile/nnapi")
        taken = [n for n in range(graph.node_count) if found.verdict(n) == Verdict.RUNS]
        assert [graph.node_attributes[n]["method"] for n in taken] == ["run"]
        assert [p.nodes for p in found.partitions] == [tuple(taken)]
        assert verdicts_of(graph, "pytorch-mobile/cpu").verdict(taken[0]) == Verdict.FAILS
