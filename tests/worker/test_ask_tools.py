"""The real partitioners and compilers, asked about tiny graphs; their known traps are tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio.backends.ask import ToolAnswer, ToolNode
from studio.errors import InputError, ToolError, UnsupportedError
from studio.jobs.ask_tool import AskTool, match_nodes
from studio.jobs.ask_tool import run as ask_tool
from studio.jobs.audit import Audit
from studio.jobs.audit import run as audit
from studio.jobs.audit_table import as_markdown
from studio.support import Tier, Verdict
from studio.support.verdict import TargetVerdicts


class Quiet:
    """A report that nobody reads."""

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None: ...
    def log(self, text: str) -> None: ...
    def emit(self, event: Any) -> None: ...
    def should_stop(self) -> bool:
        return False


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A convolution that XNNPACK takes, a mean without keepdim that it refuses, a product of two inputs."""
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 4, 3)

        def forward(self, x: Any) -> Any:
            y = torch.relu(self.conv(x)).mean((2, 3))
            return y @ y.T

    path = tmp_path_factory.mktemp("pt2") / "net.pt2"
    torch.export.save(torch.export.export(Net().eval(), (torch.zeros(1, 3, 8, 8),)), str(path))
    return path


def test_the_xnnpack_partitioner_tells_its_reasons(exported: Path) -> None:
    pytest.importorskip("executorch")
    from studio.backends.ask_executorch import ask

    answer = ask(exported, "executorch/xnnpack")
    taken = {n.op: n.taken for n in answer.nodes}
    assert taken["aten.convolution.default"] and taken["aten.relu.default"]
    mean = next(n for n in answer.nodes if n.op == "aten.mean.dim")
    assert not mean.taken and "keepdim" in mean.reason and mean.origin
    product = next(n for n in answer.nodes if n.op == "aten.mm.default")
    assert not product.taken, "mm of two computed operands is not delegated"
    assert "executorch 1." in answer.version


def test_asking_puts_the_tool_over_the_rules(exported: Path) -> None:
    pytest.importorskip("executorch")
    result = ask_tool(AskTool(path=str(exported), targets=("executorch/xnnpack", "litert/gpu")), Quiet())
    found = TargetVerdicts.load(Path(result.verdict_paths["executorch/xnnpack"]))
    tiers = {r.tier for r in found.reasons}
    assert Tier.TOOL in tiers and found.counts()["runs"] >= 2
    assert "litert/gpu" not in result.verdict_paths and any("litert/gpu" in n for n in result.notes)


def test_a_tool_is_asked_with_the_sizes_that_the_rules_were_told(tmp_path: Path) -> None:
    """NNAPI takes no open dim: without the sizes its checker refuses what the rules call taken."""
    pytest.importorskip("onnxruntime")
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weights = numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float32), "w")
    made = helper.make_model(
        helper.make_graph(
            [
                helper.make_node("Conv", ["x", "w"], ["a"], "conv"),
                helper.make_node("Relu", ["a"], ["y"], "relu"),
            ],
            "net",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, "H", "W"])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            [weights],
        ),
        opset_imports=[helper.make_opsetid("", 13)],
        ir_version=8,
    )
    path = tmp_path / "net.onnx"
    onnx.save(made, str(path))
    verdicts = {}
    for dims in ({}, {"N": 1, "H": 8, "W": 8}):
        asked = ask_tool(AskTool(path=str(path), targets=("ort/nnapi",), dims=dims), Quiet())
        found = TargetVerdicts.load(Path(asked.verdict_paths["ort/nnapi"]))
        verdicts[len(dims)] = [found.verdict(node) for node in range(2)]
    assert verdicts == {0: [Verdict.FALLS_BACK] * 2, 3: [Verdict.RUNS] * 2}


def test_a_torch_program_is_converted_before_litert_is_asked(tmp_path: Path) -> None:
    """The converter names an output's operator after the output: it still counts for its module."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("litert_torch")
    from studio.backends.ask_converted import ask

    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LogSoftmax(1)
    )
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(net.eval(), (torch.zeros(1, 3, 8, 8),)), str(path))
    answer = ask(path)
    taken = {node.name: node.taken for node in answer.nodes}
    assert taken["conv2d"] and taken["flatten"]
    assert taken["log_softmax"] is False, "LOG_SOFTMAX is LiteRT's own, not XNNPACK's"
    assert "litert-torch" in answer.version and answer.partitions >= 1
    with pytest.raises(InputError):
        (tmp_path / "x.pt2").write_bytes(b"not a program")
        ask(tmp_path / "x.pt2")


def test_a_file_that_is_no_program_is_an_input_error(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from studio.backends.ask_executorch import ask

    path = tmp_path / "x.pt2"
    path.write_bytes(b"not a program")
    with pytest.raises(InputError):
        ask(path, "executorch/xnnpack")


def test_the_nnapi_serializer_answers_with_its_exception(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from studio.backends.ask_torch_nnapi import ask

    net = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Hardswish())
    path = tmp_path / "net.pt"
    torch.jit.save(torch.jit.trace(net, torch.zeros(1, 4)), str(path))
    answer = ask(path, [(1, 4)])
    by_op = {n.op: n for n in answer.nodes}
    assert by_op["aten::relu"].taken and not by_op["aten::hardswish"].taken
    assert "Unsupported node kind" in by_op["aten::hardswish"].reason and answer.partitions == 0


def onnx_file(path: Path, nodes: list[tuple[str, list[str], list[str]]], *, batch: int | str = 1) -> Path:
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node(op, i, o, name=f"n{k}") for k, (op, i, o) in enumerate(nodes)],
        "g",
        [helper.make_tensor_value_info("x", 1, [batch, 4])],
        [helper.make_tensor_value_info("y", 1, [batch, 4])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.save(model, str(path))
    return path


def test_the_nnapi_checker_refuses_dynamic_shapes(tmp_path: Path) -> None:
    from studio.backends.ask_ort import ask_nnapi_checker

    nodes = [("Relu", ["x"], ["a"]), ("Sigmoid", ["a"], ["y"])]
    fixed = ask_nnapi_checker(onnx_file(tmp_path / "fixed.onnx", nodes))
    free = ask_nnapi_checker(onnx_file(tmp_path / "free.onnx", nodes, batch="N"))
    assert [n.taken for n in fixed.nodes] == [None, None], "a list cannot say yes to attributes"
    assert [n.taken for n in free.nodes] == [False, False]


def test_the_nnapi_checker_says_nothing_where_it_knows_no_shape(tmp_path: Path) -> None:
    """Behind an operator that it does not know it infers no shape and refuses whatever follows."""
    from studio.backends.ask_ort import ask_nnapi_checker

    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="first"),
        helper.make_node("Mystery", ["r", "b"], ["a"], name="n0", domain="com.example"),
        helper.make_node("Sigmoid", ["a"], ["s"], name="n1"),
        helper.make_node("Relu", ["s"], ["y"], name="n2"),
    ]
    values = [helper.make_tensor_value_info(name, 1, shape) for name, shape in (("x", [1, 4]), ("b", [4]))]
    graph = helper.make_graph(nodes, "g", values, [helper.make_tensor_value_info("y", 1, [1, 4])])
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("com.example", 1)]
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=10), str(path))
    assert [n.taken for n in ask_nnapi_checker(path).nodes] == [None] * 4


def test_qnn_is_asked_for_a_known_soc_only(tmp_path: Path) -> None:
    """The provider accepts htp_arch=99 without a word; the studio never passes one."""
    from studio.backends.ask_ort import SOC_MODELS, ask_qnn

    with pytest.raises(UnsupportedError):
        ask_qnn(tmp_path / "x.onnx", "SM9999")
    assert all(68 <= arch <= 81 for _, arch in SOC_MODELS.values())


def test_qnn_says_who_got_each_node(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime_qnn")
    from studio.backends.ask_ort import ask_qnn

    path = onnx_file(
        tmp_path / "m.onnx", [("Add", ["x", "x"], ["a"]), ("Erf", ["a"], ["b"]), ("Mul", ["b", "x"], ["y"])]
    )
    try:
        answer = ask_qnn(path, "SM8650")
    except ToolError as error:
        pytest.skip(f"HTP simulation does not run here: {error}")
    assert {n.op for n in answer.nodes} >= {"Add", "Mul"}
    assert any(n.taken for n in answer.nodes)
    assert "QNN HTP for SM8650" in answer.tool


def test_a_silent_fallback_of_qnn_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A back end that cannot start leaves everything to the CPU and reports success."""
    onnxruntime_qnn = pytest.importorskip("onnxruntime_qnn")
    from studio.backends.ask_ort import ask_qnn

    monkeypatch.setattr(onnxruntime_qnn, "get_qnn_htp_path", lambda: str(tmp_path / "absent.so"))
    with pytest.raises(ToolError):
        ask_qnn(onnx_file(tmp_path / "m.onnx", [("Add", ["x", "x"], ["y"])]), "SM8650")


def test_origins_need_every_part_of_a_decomposed_node(exported: Path) -> None:
    from studio.graph.formats import open_graph

    graph = open_graph(exported)
    name = graph.node_name[0]
    parts = (
        ToolNode(name="a", op="aten.sigmoid.default", taken=True, origin=name),
        ToolNode(name="b", op="aten.mul.Tensor", taken=False, reason="why", origin=name),
    )
    answer = ToolAnswer(tool="t", version="1", target_id="executorch/xnnpack", nodes=parts)
    assert match_nodes(graph, answer) == {0: (False, "aten.mul.Tensor: why")}


def test_the_audit_counts_what_rule_and_tool_say(exported: Path) -> None:
    pytest.importorskip("executorch")
    result = audit(Audit(corpus=str(exported.parent), targets=("executorch/xnnpack",)), Quiet())
    rows = {row.level: row for row in result.rows}
    assert rows["tool's graph"].agreement == 1.0 and rows["tool's graph"].nodes >= 4
    assert not any(d.kind == "false yes" for d in result.disagreements)
    assert "| executorch/xnnpack |" in as_markdown(result)


def test_an_empty_corpus_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        audit(Audit(corpus=str(tmp_path)), Quiet())


def test_verdict_words_are_the_contract() -> None:
    assert [str(v) for v in Verdict] == ["runs", "conditional", "falls_back", "fails", "unknown"]
