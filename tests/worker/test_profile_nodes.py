"""Timing single nodes with the runtimes' own profilers: real ONNX Runtime, LiteRT and ExecuTorch."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio import paths
from studio.cli.main import main
from studio.errors import InputError, UnsupportedError
from studio.graph import open_graph
from studio.jobs.model_inputs import InputData
from studio.jobs.profile_nodes import ProfileNodes, run
from studio.measure.fact_file import find_facts, load_fact
from studio.measure.node_profile import PROFILE, NodeProfile
from studio.recipes.source import DataSet
from tests.worker.quiet_report import Quiet


def profile(path: Path, tmp_path: Path, **more: Any) -> NodeProfile:
    spec = ProfileNodes(path=str(path), runs=5, warmup_runs=1, runs_dir=str(tmp_path / "p.runs"), **more)
    return load_fact(Path(run(spec, Quiet()).fact_path), NodeProfile)


def save(path: Path, nodes: list[Any], *, size: list[Any], weights: tuple[Any, ...] = ()) -> Path:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, size)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        list(weights),
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(path))
    return path


def conv_net(path: Path, *, size: list[Any] | None = None, named: bool = True) -> Path:
    """Conv → BatchNormalization → Relu → Shape arithmetic → Reshape: fused, folded and plain nodes."""
    rng = np.random.default_rng(0)
    weight = numpy_helper.from_array(rng.normal(size=(16, 3, 3, 3)).astype(np.float32), "w")
    ones = [numpy_helper.from_array(np.ones(16, np.float32), n) for n in ("s", "b", "m", "v")]
    minus = numpy_helper.from_array(np.array([-1], np.int64), "minus")
    zero = numpy_helper.from_array(np.array([0], np.int64), "zero")
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w"], ["a"], name="conv", pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["a", "s", "b", "m", "v"], ["c"], name="bn"),
        node("Relu", ["c"], ["d"], name="relu"),
        node("Shape", ["d"], ["shape"], name="shape"),
        node("Gather", ["shape", "zero"], ["first"], name="gather"),
        node("Concat", ["first", "minus"], ["flat"], name="concat", axis=0),
        node("Reshape", ["d", "flat"], ["e"], name="reshape"),
        node("Exp", ["e"], ["y"], name="exp"),
    ]
    if not named:
        for one in nodes:
            one.name = ""
    return save(path, nodes, size=size or [1, 3, 32, 32], weights=(weight, *ones, minus, zero))


def test_every_kernel_is_attributed_and_the_shares_are_of_the_sum(tmp_path: Path) -> None:
    path = conv_net(tmp_path / "net.onnx")
    found = profile(path, tmp_path)
    assert found.sha256 == open_graph(path).file_sha256
    assert (found.target_ran, found.threads, found.latency_ms.n) == ("ort/cpu", 1, 5)
    assert found.runtime.startswith("ONNX Runtime 1.") and found.device_name
    led = {time.names[0]: set(time.names[1:]) for time in found.nodes}
    assert led["conv"] == {"bn", "relu"}, "a fused kernel is told with its nodes, the convolution first"
    assert "exp" in led
    total = sum(t.share for t in found.nodes) + sum(t.share for t in found.runtime_work)
    assert total == pytest.approx(1.0) or found.sum_ms == 0
    graph = open_graph(path)
    assert {graph.node_name[n] for n in found.folded} == {"shape", "gather", "concat"}


def test_nodes_without_a_name_are_attributed_as_well(tmp_path: Path) -> None:
    with_names = profile(conv_net(tmp_path / "a.onnx"), tmp_path)
    without = profile(conv_net(tmp_path / "b.onnx", named=False), tmp_path)
    assert {t.nodes for t in without.nodes} == {t.nodes for t in with_names.nodes}


def test_weights_beside_the_file_are_found_when_names_had_to_be_given(tmp_path: Path) -> None:
    path = conv_net(tmp_path / "net.onnx", named=False)
    beside = tmp_path / "elsewhere"
    beside.mkdir()
    onnx.save(
        onnx.load(path), str(beside / "net.onnx"), save_as_external_data=True, size_threshold=16,
        location="net.weights",
    )  # fmt: skip
    assert any(t.op == "Conv" for t in profile(beside / "net.onnx", tmp_path).nodes)


def test_a_branchs_nodes_are_inside_its_if_and_not_counted_twice(tmp_path: Path) -> None:
    info = helper.make_tensor_value_info
    branches = {
        f"{word}_branch": helper.make_graph(
            [helper.make_node(op, ["x"], [word], name=f"inner_{op}")],
            word, [], [info(word, TensorProto.FLOAT, None)],
        )
        for word, op in (("then", "Sigmoid"), ("else", "Tanh"))
    }  # fmt: skip
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["m"], name="max", keepdims=0),
        helper.make_node("Greater", ["m", "limit"], ["c"], name="greater"),
        helper.make_node("If", ["c"], ["y"], name="if", **branches),
    ]
    limit = numpy_helper.from_array(np.array(-1.0, np.float32), "limit")
    found = profile(save(tmp_path / "if.onnx", nodes, size=[1, 4096], weights=(limit,)), tmp_path)
    inside = {t.names[0]: t for t in found.nodes if t.is_inside}
    assert set(inside) == {"inner_Sigmoid"}, "the branch that was not taken is not timed"
    outside = {t.names[0]: t for t in found.nodes if not t.is_inside}
    assert set(outside) == {"max", "greater", "if"}
    assert outside["if"].latency_ms.p50 >= inside["inner_Sigmoid"].latency_ms.p50
    assert found.attributed == pytest.approx(1.0)


def test_open_sizes_that_were_assumed_are_said_and_can_be_given(tmp_path: Path) -> None:
    path = conv_net(tmp_path / "net.onnx", size=["N", 3, "H", "W"])
    assumed = profile(path, tmp_path, inputs=InputData(dims={"H": 8}))
    assert "taken as 1: N, W" in assumed.notes[0]
    assert "[1,3,8,1]" in assumed.inputs
    np.savez(tmp_path / "data.npz", x=np.zeros((2, 3, 8, 8), np.float32))
    real = profile(path, tmp_path, inputs=InputData(data=DataSet(path="data.npz"), folder=str(tmp_path)))
    assert real.notes == () and real.inputs == "data.npz"


def test_an_ort_file_is_profiled_node_by_node(tmp_path: Path) -> None:
    from studio.backends.ort import OrtBackend

    OrtBackend().convert(conv_net(tmp_path / "net.onnx"), {"optimization": "extended"}, tmp_path, Quiet())
    found = profile(tmp_path / "net.ort", tmp_path)
    graph = open_graph(tmp_path / "net.ort")
    assert {t.nodes for t in found.nodes} == {(n,) for n in range(graph.node_count)}
    assert found.attributed == pytest.approx(1.0)


def test_a_model_that_cannot_run_leaves_nothing_and_says_what_to_give(tmp_path: Path) -> None:
    path = save(
        tmp_path / "bad.onnx",
        [helper.make_node("Reshape", ["x", "to"], ["y"])],
        size=["N", 4],
        weights=(numpy_helper.from_array(np.array([3, 5], np.int64), "to"),),
    )
    with pytest.raises(InputError, match="does not run on inputs made from the declared shapes") as caught:
        profile(path, tmp_path)
    assert "--dim" in caught.value.hint
    assert not (tmp_path / "p.runs").exists()
    assert list(paths.cache_dir().glob("profile-*")) == []


@pytest.mark.parametrize("stage", ["Timing without", "Profiling the nodes"])
def test_a_stopped_profile_leaves_no_file(stage: str, tmp_path: Path) -> None:
    path = conv_net(tmp_path / "net.onnx")
    with pytest.raises(InputError, match="stopped"):
        run(ProfileNodes(path=str(path), runs=5, runs_dir=str(tmp_path / "p.runs")), Quiet(stage))
    assert not (tmp_path / "p.runs").exists()
    assert list(paths.cache_dir().glob("profile-*")) == []


def test_targets_that_cannot_be_profiled_here_are_refused_in_words(tmp_path: Path) -> None:
    path = conv_net(tmp_path / "net.onnx")
    with pytest.raises(InputError, match=r"does not run \.onnx"):
        profile(path, tmp_path, target="litert/cpu")
    with pytest.raises(UnsupportedError, match="built without"):
        profile(path, tmp_path, target="ort/nnapi")
    with pytest.raises(InputError, match="runs"):
        run(ProfileNodes(path=str(path), runs=10**9), Quiet())


def test_the_command_answers_with_the_profile_and_keeps_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = conv_net(tmp_path / "net.onnx")
    assert main(["profile", str(path), "--runs", "3", "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert answer["profiled_ms"]["n"] == 3 and answer["nodes"][0]["latency_ms"]["n"] == 3
    kept = find_facts(paths.data_dir() / "runs", PROFILE, answer["sha256"])
    assert len(kept) == 1
    assert main(["profile", str(path), "--runs", "3", "--top", "1"]) == 0
    text = capfd.readouterr().out
    assert "share" in text and "more; --top N" in text
    assert main(["profile", str(tmp_path / "none.onnx")]) == 2


@pytest.fixture(scope="module")
def torch_net() -> Iterator[Any]:
    import torch

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 16, 3, padding=1)
            self.head = torch.nn.Linear(16, 10)

        def forward(self, x: Any) -> Any:
            return self.head(torch.relu(self.conv(x)).mean((2, 3))).cumsum(1)

    yield Net().eval()


def test_a_litert_of_another_version_is_not_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from studio.backends import litert_profiler

    monkeypatch.setattr(litert_profiler, "KNOWN_VERSIONS", ("0.0.1",))
    with pytest.raises(UnsupportedError, match="not known to the studio"):
        litert_profiler.ProfiledModel(tmp_path / "any.tflite", 1)


def test_litert_tells_its_operators_and_those_inside_xnnpack(torch_net: Any, tmp_path: Path) -> None:
    litert_torch = pytest.importorskip("litert_torch")
    import torch

    path = tmp_path / "net.tflite"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        litert_torch.convert(torch_net, (torch.zeros(1, 3, 32, 32),)).export(str(path))
    found = profile(path, tmp_path)
    assert found.target_ran == "litert/cpu" and "XNNPACK took" in found.evidence
    by_op = {t.op: t for t in found.nodes}
    assert {"CONV_2D", "FULLY_CONNECTED", "CUMSUM"} <= set(by_op)
    graph = open_graph(path)
    assert all(graph.node_op[t.nodes[0]] == t.op for t in found.nodes)
    assert by_op["CONV_2D"].latency_ms.p50 > 0
    assert all("delegate" in row.why for row in found.runtime_work), "what is not certain is not attributed"


def test_executorch_tells_its_instructions_and_those_inside_xnnpack(torch_net: Any, tmp_path: Path) -> None:
    pytest.importorskip("executorch")
    import torch
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    path = tmp_path / "net.pte"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(torch_net, (torch.zeros(1, 3, 32, 32),))
        path.write_bytes(
            to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()]).to_executorch().buffer
        )
    found = profile(path, tmp_path)
    graph = open_graph(path)
    assert {t.nodes[0] for t in found.nodes if not t.is_inside} == set(graph.nodes_in(0))
    assert "XNNConv2d" in {t.op for t in found.nodes if t.is_inside}
    assert found.attributed == pytest.approx(1.0) and found.profiled_ms.n == 5
