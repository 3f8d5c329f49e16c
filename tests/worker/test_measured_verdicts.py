"""What a run on a device did stands over what rules say: real runs of real runtimes, then `support`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.artifact import hash_file
from studio.cli.main import main
from studio.devices.device import RunSettings
from studio.errors import UnsupportedError
from studio.graph import open_graph
from studio.jobs import deploy
from studio.jobs.measured import with_measured
from studio.measure.evidence import Share, evidence_in
from studio.support import Tier, Verdict, judge
from studio.support.verdict import TargetVerdicts


def save_model(path: Path) -> Path:
    """Conv → Relu → GlobalAveragePool, saved at `path`."""
    weights = numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float32), "w")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv"),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
        helper.make_node("GlobalAveragePool", ["b"], ["y"], name="pool"),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 1, 1])],
        [weights],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    return path


class Quiet:
    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None: ...
    def log(self, text: str) -> None: ...
    def emit(self, event: object) -> None: ...
    def should_stop(self) -> bool:
        return False


def bench(path: Path, target: str) -> Path:
    """Runs the file on this computer; the folder of the run files."""
    runs = path.parent / "x.runs"
    settings = RunSettings(target=target, runs=3, seconds=0.0, warmup_runs=1)
    deploy.run(deploy.Deploy(artifact_path=str(path), settings=settings, runs_dir=str(runs)), Quiet())
    return runs


def judged(path: Path, target: str, runs: Path, *, soc: str = "") -> TargetVerdicts:
    graph = open_graph(path)
    found = judge(graph, [target], soc=soc)
    return with_measured(graph, hash_file(path), found, evidence_in(runs), soc=soc)[target]


@pytest.fixture(scope="module")
def mixed_program(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A program of which XNNPACK takes the convolution and the sum, and leaves the sort."""
    torch = pytest.importorskip("torch")

    class Mixed(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 4, 3)

        def forward(self, x: Any) -> Any:
            y = torch.relu(self.conv(x))
            return torch.cumsum(y, 1) + 1.0

    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("mixed") / "mixed.pt2"
    torch.export.save(torch.export.export(Mixed().eval(), (torch.randn(1, 3, 8, 8),)), path)
    return path


def test_onnx_runtime_on_its_cpu_is_measured_for_every_node(tmp_path: Path) -> None:
    path = save_model(tmp_path / "m.onnx")
    runs = bench(path, "ort/cpu")
    (word,) = evidence_in(runs)
    assert word.share is Share.ALL and word.hello.artifact_sha256 == hash_file(path)
    found = judged(path, "ort/cpu", runs)
    assert {found.reason(n).tier for n in range(3)} == {Tier.MEASURED}
    assert found.counts()["runs"] == 3
    source = found.reason(0).source
    assert source.startswith("measured on This computer") and "ONNX Runtime" in source
    assert source.endswith(word.hello.wall_time[:10])


def test_a_runtime_that_was_asked_for_an_absent_provider_leaves_evidence_against(tmp_path: Path) -> None:
    path = save_model(tmp_path / "m.onnx")
    before = judge(open_graph(path), ["ort/nnapi"])["ort/nnapi"]
    with pytest.raises(UnsupportedError, match="without NnapiExecutionProvider"):
        bench(path, "ort/nnapi")
    found = judged(path, "ort/nnapi", path.parent / "x.runs")
    (piece,) = found.evidence
    assert "without NnapiExecutionProvider" in piece.refused and not piece.applies
    assert found.counts() == before.counts()  # a build says nothing of the graph


def test_litert_tells_node_by_node_what_its_delegate_took(mixed_program: Path, tmp_path: Path) -> None:
    pytest.importorskip("litert_torch")
    from studio.backends.litert import LitertBackend

    made = Path(LitertBackend().convert(mixed_program, {}, tmp_path, Quiet()).path)
    runs = bench(made, "litert/cpu")
    (word,) = evidence_in(runs)
    assert word.share is Share.NODES and word.delegated is not None and word.total is not None
    assert 0 < word.delegated < word.total
    found = judged(made, "litert/cpu", runs)
    taken = [n for n in range(len(found.codes)) if found.partition_of[n] >= 0]
    assert len(found.evidence[0].taken) == word.delegated
    graph = open_graph(made)
    left = {graph.node_op[n] for n in found.evidence[0].left}
    assert "CUMSUM" in left and "CONV_2D" not in left
    assert all(found.reason(n).tier is Tier.MEASURED for n in taken)


def test_a_torch_program_is_measured_node_by_node_through_its_tflite_file(
    mixed_program: Path, tmp_path: Path
) -> None:
    pytest.importorskip("litert_torch")
    from studio.backends.litert import LitertBackend

    made = Path(LitertBackend().convert(mixed_program, {}, tmp_path, Quiet()).path)
    runs = bench(made, "litert/cpu")
    graph = open_graph(mixed_program)
    rules = judge(graph, ["litert/cpu"])
    derived = {hash_file(made): made}
    found = with_measured(graph, hash_file(mixed_program), rules, evidence_in(runs), derived=derived)
    (piece,) = found["litert/cpu"].evidence
    ops = {graph.node_op[n]: n in piece.taken for n in (*piece.taken, *piece.left)}
    assert ops == {
        "aten.conv2d.default": True,
        "aten.relu.default": True,
        "aten.cumsum.default": False,
        "aten.add.Tensor": True,
    }
    assert {found["litert/cpu"].reason(n).tier for n in range(graph.node_count)} == {Tier.MEASURED}


def test_executorch_says_by_its_file_and_by_running(mixed_program: Path, tmp_path: Path) -> None:
    pytest.importorskip("executorch")
    from studio.backends.executorch import ExecutorchBackend

    target = "executorch/xnnpack"
    made = Path(ExecutorchBackend().convert(mixed_program, {"target": target}, tmp_path, Quiet()).path)
    runs = bench(made, target)
    (word,) = evidence_in(runs)
    assert word.share is Share.FILE
    found = judged(made, target, runs)
    graph = open_graph(made)
    by_op = {graph.node_op[n]: found.verdict(n) for n in graph.nodes_in(0)}
    assert by_op["XnnpackBackend"] is Verdict.RUNS
    kernel = next(op for op in by_op if "cumsum" in op)
    assert by_op[kernel] is Verdict.FALLS_BACK
    node = graph.node_op.index(kernel)
    assert found.reason(node).tier is Tier.MEASURED and "It did not run" in found.reason(node).text


def test_a_file_for_a_delegate_that_is_not_here_is_evidence_against(
    mixed_program: Path, tmp_path: Path
) -> None:
    pytest.importorskip("executorch")
    from studio.backends.executorch import ExecutorchBackend

    target = "executorch/vulkan"
    made = Path(ExecutorchBackend().convert(mixed_program, {"target": target}, tmp_path, Quiet()).path)
    with pytest.raises(UnsupportedError, match="VulkanBackend"):
        bench(made, target)
    (piece,) = judged(made, target, tmp_path / "x.runs").evidence
    assert "VulkanBackend" in piece.refused and piece.taken == ()


def test_the_command_line_shows_who_measured_and_for_another_soc_only_beside(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = save_model(tmp_path / "m.onnx")
    assert main(["bench", str(path), "--runs", "2", "--seconds", "0"]) == 0
    capfd.readouterr()
    assert main(["support", str(path), "--target", "ort/cpu", "--json"]) == 0
    said = json.loads(capfd.readouterr().out)["targets"]["ort/cpu"]
    assert {v["tier"] for v in said["verdicts"]} == {"measured"}
    (piece,) = said["evidence"]
    assert piece["applies"] and piece["taken"] == ["conv", "relu", "pool"] and piece["left"] == []
    assert main(["support", str(path), "--target", "ort/cpu", "--soc", "SM8650", "--json"]) == 0
    other = json.loads(capfd.readouterr().out)["targets"]["ort/cpu"]
    assert {v["tier"] for v in other["verdicts"]} == {"rule"}
    assert not other["evidence"][0]["applies"] and other["evidence"][0]["taken"]
    assert main(["support", str(path), "--target", "ort/cpu"]) == 0
    text = capfd.readouterr().out
    assert "ort/cpu measured on This computer" in text and "3 nodes ran on it, 0 did not" in text


def test_a_source_is_measured_through_the_file_that_was_made_from_it(tmp_path: Path) -> None:
    from studio.backends.ort import OrtBackend

    source = save_model(tmp_path / "m.onnx")
    made = Path(OrtBackend().convert(source, {}, tmp_path, Quiet()).path)
    runs = bench(made, "ort/cpu")
    graph = open_graph(source)
    rules = judge(graph, ["ort/cpu"])
    evidence = evidence_in(runs)
    own = with_measured(graph, hash_file(source), rules, evidence)["ort/cpu"]
    assert own.evidence == ()  # the run was of another file
    traced = with_measured(graph, hash_file(source), rules, evidence, derived={hash_file(made): made})[
        "ort/cpu"
    ]
    assert traced.reason(0).tier is Tier.MEASURED and "m.ort" in traced.reason(0).text
    assert traced.evidence[0].file == "m.ort" and traced.evidence[0].taken == (0, 1, 2)
