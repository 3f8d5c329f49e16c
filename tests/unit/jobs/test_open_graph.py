"""Opening as a job: parts in the cache, reuse, and failures that stay notes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.errors import InputError
from studio.graph.cost import Costs
from studio.graph.layout import Layout
from studio.graph.store import load_columns, load_graph
from studio.jobs import open_graph as job
from studio.jobs.open_graph import OpenGraph
from studio.jobs.read_tensor import ReadTensor
from studio.jobs.read_tensor import run as read_tensor
from studio.support import TargetVerdicts


class Silent:
    """A report that nobody reads."""

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None: ...
    def log(self, text: str) -> None: ...
    def emit(self, event: object) -> None: ...
    def should_stop(self) -> bool:
        return False


@pytest.fixture
def model(tmp_path: Path) -> Path:
    weight = numpy_helper.from_array(np.arange(2500, dtype=np.float32).reshape(50, 50), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Relu", ["y"], ["z"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 50])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 50])], [weight],
    )  # fmt: skip
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), str(path))
    return path


def test_all_parts_are_made_and_found_again(model: Path) -> None:
    spec = OpenGraph(path=str(model), targets=("ort/cpu",))
    first = job.run(spec, Silent())
    assert not first.notes and not first.was_cached
    assert load_graph(Path(first.graph_path)).node_op == ["MatMul", "Relu"]
    assert load_columns(Costs, Path(first.costs_path)).total_macs == 2500
    assert load_columns(Layout, Path(first.layout_path)).width > 0
    assert TargetVerdicts.load(Path(first.verdict_paths["ort/cpu"])).counts()["runs"] == 2
    assert Path(first.problems_path).is_file()
    assert job.run(spec, Silent()).was_cached


def test_a_changed_file_is_read_again(model: Path) -> None:
    spec = OpenGraph(path=str(model))
    job.run(spec, Silent())
    changed = onnx.load(str(model))
    changed.graph.node[1].op_type = "Neg"
    onnx.save(changed, str(model))
    result = job.run(spec, Silent())
    assert not result.was_cached
    assert load_graph(Path(result.graph_path)).node_op == ["MatMul", "Neg"]


def test_a_part_that_fails_is_a_note(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("layout")

    monkeypatch.setattr(job, "lay_out", broken)
    result = job.run(OpenGraph(path=str(model)), Silent())
    assert result.layout_path == "" and result.costs_path
    assert any(note.startswith("No layout") for note in result.notes)
    monkeypatch.undo()
    assert job.run(OpenGraph(path=str(model)), Silent()).layout_path  # tried again, not cached as failed


def test_a_bad_file_fails_the_job(tmp_path: Path) -> None:
    path = tmp_path / "no.onnx"
    path.write_bytes(b"no")
    with pytest.raises(InputError):
        job.run(OpenGraph(path=str(path)), Silent())


def test_tensor_statistics_and_export(model: Path, tmp_path: Path) -> None:
    opened = job.run(OpenGraph(path=str(model)), Silent())
    graph = load_graph(Path(opened.graph_path))
    spec = ReadTensor(
        graph_path=opened.graph_path, tensor=graph.tensor_name.index("w"), export_path=str(tmp_path / "w.npy")
    )
    result = read_tensor(spec, Silent())
    figures = result.statistics
    assert (figures.min, figures.max, figures.mean, figures.zeros) == (0.0, 2499.0, 1249.5, 1)
    assert figures.std == pytest.approx(np.arange(2500).std())
    assert sum(figures.histogram) == 2500 and len(figures.histogram) == 64
    assert np.load(tmp_path / "w.npy").shape == (50, 50)
    with pytest.raises(InputError, match="not a constant"):
        read_tensor(ReadTensor(graph_path=opened.graph_path, tensor=graph.main_inputs()[0]), Silent())


def test_external_weights_that_went_away_are_missed_even_when_cached(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.zeros((64, 64), np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 64])], [weight],
    )  # fmt: skip
    onnx.save(
        helper.make_model(graph), str(tmp_path / "e.onnx"), save_as_external_data=True, location="e.bin"
    )
    spec = OpenGraph(path=str(tmp_path / "e.onnx"))
    assert job.run(spec, Silent()).external_files == ("e.bin",)
    assert job.run(spec, Silent()).was_cached
    (tmp_path / "e.bin").unlink()
    with pytest.raises(InputError, match="missing"):
        job.run(spec, Silent())
