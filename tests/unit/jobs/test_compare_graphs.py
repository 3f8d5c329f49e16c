"""Comparing as a job: the diff in the cache, found again, made anew when a file changes, and stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.errors import InputError
from studio.graph.diff import ChangeKind, diff_graphs
from studio.graph.diff_store import load_diff
from studio.graph.store import load_graph
from studio.jobs import compare_graphs as job
from studio.jobs.compare_graphs import CompareGraphs
from studio.jobs.open_graph import OpenGraph
from studio.jobs.open_graph import run as open_graph


class Listening:
    """Keeps what is told; stops once it has heard the stage named `stop_at`."""

    def __init__(self, stop_at: str = "") -> None:
        self.heard: list[tuple[str, int, int | None]] = []
        self.stop_at = stop_at

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None:
        self.heard.append((stage, done, total))

    def log(self, text: str) -> None: ...
    def emit(self, event: object) -> None: ...
    def should_stop(self) -> bool:
        return bool(self.stop_at) and any(stage == self.stop_at for stage, _, _ in self.heard)


def packed(
    path: Path, *, ops: tuple[str, ...] = ("Relu",), weight: float = 1.0, external: bool = False
) -> str:
    """The packed graph of MatMul and `ops`, with a weight of 50 × 50."""
    array = np.full((50, 50), weight, np.float32)
    names = [f"t{k}" for k in range(len(ops) + 2)]
    nodes = [helper.make_node("MatMul", ["t0", "w"], ["t1"], name="multiply")]
    nodes += [
        helper.make_node(op, [names[k + 1]], [names[k + 2]], name=op.lower()) for k, op in enumerate(ops)
    ]
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("t0", TensorProto.FLOAT, [1, 50])],
        [helper.make_tensor_value_info(names[-1], TensorProto.FLOAT, [1, 50])],
        [numpy_helper.from_array(array, "w")],
    )  # fmt: skip
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9),
        str(path),
        save_as_external_data=external,
        location=f"{path.name}.data",
        size_threshold=0,
    )
    return open_graph(OpenGraph(path=str(path)), Listening()).graph_path


def test_a_diff_is_made_once_and_found_again(tmp_path: Path) -> None:
    spec = CompareGraphs(
        first=packed(tmp_path / "a.onnx"), second=packed(tmp_path / "b.onnx", ops=("Relu", "Exp"), weight=2.0)
    )
    first = job.run(spec, Listening())
    assert not first.was_cached
    found = load_diff(Path(first.diff_path))
    assert [(c.kind, c.what) for c in found.changes] == [
        (ChangeKind.WEIGHTS, "constant w"),
        (ChangeKind.ADDED, "Exp"),
    ]
    assert found.changes[0].after == "differs by up to 1"
    direct = diff_graphs(load_graph(Path(spec.first)), load_graph(Path(spec.second)), compare_weights=True)
    assert found.changes == direct.changes and found.match_a.tolist() == direct.match_a.tolist()
    assert found.status_b.tolist() == direct.status_b.tolist() and found.counts() == direct.counts()
    again = job.run(spec, Listening())
    assert again.was_cached and again.diff_path == first.diff_path and again.changes == 2


def test_weights_are_another_question(tmp_path: Path) -> None:
    a, b = packed(tmp_path / "a.onnx"), packed(tmp_path / "b.onnx", weight=2.0)
    assert job.run(CompareGraphs(first=a, second=b), Listening()).changes == 1
    without = job.run(CompareGraphs(first=a, second=b, compare_weights=False), Listening())
    assert not without.was_cached and without.changes == 0


def test_a_changed_weights_file_is_read_again(tmp_path: Path) -> None:
    spec = CompareGraphs(
        first=packed(tmp_path / "a.onnx", external=True), second=packed(tmp_path / "b.onnx", external=True)
    )
    assert job.run(spec, Listening()).changes == 0
    (tmp_path / "b.onnx.data").write_bytes(np.full((50, 50), 3, np.float32).tobytes() + b"\0")
    assert job.run(spec, Listening()).changes == 1


def test_a_damaged_diff_is_made_anew(tmp_path: Path) -> None:
    spec = CompareGraphs(first=packed(tmp_path / "a.onnx"), second=packed(tmp_path / "b.onnx", ops=("Exp",)))
    first = job.run(spec, Listening())
    Path(first.diff_path).write_bytes(b"x")
    assert job.run(spec, Listening()) == first


def test_it_tells_how_far_it_is_and_stops_when_asked(tmp_path: Path) -> None:
    many = ("Relu", "Exp", "Neg") * 200
    spec = CompareGraphs(
        first=packed(tmp_path / "a.onnx", ops=many), second=packed(tmp_path / "b.onnx", ops=many[1:])
    )
    report = Listening(stop_at="matching")
    with pytest.raises(InputError, match="cancelled"):
        job.run(spec, report)
    report = Listening()
    job.run(spec, report)
    assert [h for h in report.heard if h[0] == "comparing"] == [
        ("comparing", 0, 601), ("comparing", 256, 601), ("comparing", 512, 601),
    ]  # fmt: skip


def test_a_graph_that_is_gone_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no-such"):
        job.run(
            CompareGraphs(first=str(tmp_path / "no-such"), second=packed(tmp_path / "b.onnx")), Listening()
        )
