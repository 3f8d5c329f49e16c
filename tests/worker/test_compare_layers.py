"""Comparing two files layer by layer: real ONNX Runtime and LiteRT on tiny models."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio import paths
from studio.cli.main import main
from studio.errors import InputError, UnsupportedError
from studio.jobs.compare_layers import CompareLayers, _Comparison, alike, run
from studio.jobs.model_inputs import InputData
from studio.measure.fact_file import find_facts, load_fact
from studio.measure.layer_errors import LAYERS, LayerErrors
from studio.recipes.source import DataSet
from tests.worker.quiet_report import Quiet


def save_net(path: Path, *, error: float = 0.0, size: int | str = 16) -> Path:
    """Conv → Relu → Conv → GlobalAveragePool; `error` is added to a weight of the second Conv."""
    rng = np.random.default_rng(0)
    first = rng.normal(0, 0.3, (8, 3, 3, 3)).astype(np.float32)
    second = rng.normal(0, 0.3, (4, 8, 3, 3)).astype(np.float32)
    second[0] += error
    node = helper.make_node
    graph = helper.make_graph(
        [
            node("Conv", ["image", "w1"], ["a"], name="conv1", pads=[1, 1, 1, 1]),
            node("Relu", ["a"], ["b"], name="relu"),
            node("Conv", ["b", "w2"], ["c"], name="conv2", pads=[1, 1, 1, 1]),
            node("GlobalAveragePool", ["c"], ["y"], name="pool"),
        ],
        "net",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, size, size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 1, 1])],
        [numpy_helper.from_array(first, "w1"), numpy_helper.from_array(second, "w2")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(path))
    return path


def compare(a: Path, b: Path, tmp_path: Path, **more: Any) -> LayerErrors:
    spec = CompareLayers(a=str(a), b=str(b), samples=2, runs_dir=str(tmp_path / "p.runs"), **more)
    return load_fact(Path(run(spec, Quiet()).fact_path), LayerErrors)


def test_the_error_begins_where_the_file_was_changed(tmp_path: Path) -> None:
    found = compare(save_net(tmp_path / "a.onnx"), save_net(tmp_path / "b.onnx", error=0.5), tmp_path)
    by_name = {layer.name_a: layer for layer in found.layers}
    assert list(by_name) == ["conv1", "relu", "conv2", "pool"] and found.unmatched == 0
    assert by_name["conv1"].sqnr_db is None and by_name["relu"].sqnr_db is None
    assert by_name["conv2"].sqnr_db is not None and by_name["conv2"].sqnr_db < 30
    assert not found.is_real and found.samples == 2 and "made from the declared shapes" in found.inputs
    kept = find_facts(tmp_path / "p.runs", LAYERS, found.b.sha256)
    assert kept == find_facts(tmp_path / "p.runs", LAYERS, found.a.sha256) and len(kept) == 1


def test_the_figures_are_those_of_the_tensors_themselves(tmp_path: Path) -> None:
    import onnxruntime

    image = np.random.default_rng(3).random((3, 1, 3, 16, 16), np.float32)
    np.savez(tmp_path / "data.npz", image=image[:, 0])
    files = [save_net(tmp_path / "a.onnx"), save_net(tmp_path / "b.onnx", error=0.1)]
    data = InputData(data=DataSet(path="data.npz"), folder=str(tmp_path))
    found = {layer.name_a: layer for layer in compare(*files, tmp_path, inputs=data).layers}["pool"]
    sessions = [onnxruntime.InferenceSession(str(f), providers=["CPUExecutionProvider"]) for f in files]
    outputs = [np.stack([s.run(None, {"image": i})[0] for i in image[:2]]) for s in sessions]
    noise = ((outputs[0] - outputs[1]).astype(np.float64) ** 2).sum()
    wanted = 10 * np.log10((outputs[0].astype(np.float64) ** 2).sum() / noise)
    assert found.sqnr_db == pytest.approx(wanted, abs=0.01)
    assert found.max_abs == pytest.approx(np.abs(outputs[0] - outputs[1]).max(), rel=1e-4)


def test_a_quantised_file_is_compared_by_its_dequantised_integers(tmp_path: Path) -> None:
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            rng = np.random.default_rng(0)
            self._left = iter([{"image": rng.random((1, 3, 16, 16), np.float32)} for _ in range(4)])

        def get_next(self) -> Any:
            return next(self._left, None)

    a = save_net(tmp_path / "a.onnx")
    for format_ in (QuantFormat.QDQ, QuantFormat.QOperator):
        b = tmp_path / f"{format_.name}.onnx"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            quantize_static(str(a), str(b), Reader(), quant_format=format_)
        found = compare(a, b, tmp_path)
        errors = [layer.sqnr_db for layer in found.layers]
        assert errors and all(e is not None and 10 < e < 70 for e in errors), (format_, errors)


def test_broken_values_are_counted_and_fail_the_command(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    a, b = save_net(tmp_path / "a.onnx"), save_net(tmp_path / "b.onnx", error=float("nan"))
    assert main(["compare-layers", str(a), str(b), "--samples", "1", "--json"]) == 1
    answer = json.loads(capfd.readouterr().out)
    broken = {layer["name_a"]: layer["nonfinite"] for layer in answer["layers"]}
    assert broken["conv1"] == 0 and broken["conv2"] == 256
    assert main(["compare-layers", str(a), str(a), "--samples", "1"]) == 0
    said = capfd.readouterr().out
    assert "equal" in said and "made up" in said
    assert len(list((paths.data_dir() / "runs").glob("*.layers.json"))) == 2


def test_layers_are_read_in_groups_that_fit_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from studio.jobs import compare_layers

    a, b = save_net(tmp_path / "a.onnx"), save_net(tmp_path / "b.onnx", error=0.5)
    whole = compare(a, b, tmp_path)
    sizes: list[int] = []
    groups = _Comparison._groups

    def counted(self: Any) -> Any:
        for group in groups(self):
            sizes.append(len(group))
            yield group

    monkeypatch.setattr(compare_layers, "_GROUP_BYTES", 10_000)
    monkeypatch.setattr(_Comparison, "_groups", counted)
    assert compare(a, b, tmp_path).layers == whole.layers
    assert max(sizes) < 4, "not all layers at once"


def test_files_that_cannot_be_looked_into_or_have_nothing_in_common_are_refused(tmp_path: Path) -> None:
    from studio.backends.ort import OrtBackend

    a = save_net(tmp_path / "a.onnx")
    OrtBackend().convert(a, {}, tmp_path, Quiet())
    with pytest.raises(UnsupportedError, match="inner results"):
        compare(a, tmp_path / "a.ort", tmp_path)
    graph = helper.make_graph(
        [helper.make_node("Shape", ["x"], ["y"], name="odd")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, [1])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "o.onnx")
    with pytest.raises(InputError, match="no layer in common"):
        compare(a, tmp_path / "o.onnx", tmp_path)
    assert not (tmp_path / "p.runs").exists()


def test_results_that_are_no_numbers_are_left_out(tmp_path: Path) -> None:
    node = helper.make_node
    graph = helper.make_graph(
        [
            node("Exp", ["x"], ["e"], name="exp"),
            node("SequenceConstruct", ["e", "x"], ["s"], name="pack"),
            node("SequenceAt", ["s", "i"], ["y"], name="unpack"),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
        [numpy_helper.from_array(np.array(0, np.int64), "i")],
    )
    path = tmp_path / "s.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    found = compare(path, path, tmp_path)
    assert [layer.name_a for layer in found.layers] == ["exp", "unpack"]


def test_a_stopped_comparison_leaves_no_file(tmp_path: Path) -> None:
    a = save_net(tmp_path / "a.onnx")
    with pytest.raises(InputError, match="stopped"):
        run(CompareLayers(a=str(a), b=str(a), runs_dir=str(tmp_path / "p.runs")), Quiet("Comparing"))
    assert not (tmp_path / "p.runs").exists()


def test_open_sizes_that_were_assumed_are_said(tmp_path: Path) -> None:
    a = save_net(tmp_path / "a.onnx", size="N")
    assert "taken as 1: N" in compare(a, a, tmp_path).notes[0]
    assert compare(a, a, tmp_path, inputs=InputData(dims={"N": 9})).notes == ()


def test_channels_last_results_are_turned_and_other_sizes_are_not_compared() -> None:
    a = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    [turned] = alike(a, np.moveaxis(a, 1, -1))
    assert np.array_equal(turned, a)
    assert any(np.array_equal(way, a) for way in alike(a, a))
    assert alike(a, np.zeros((1, 2, 3, 5), np.float32)) == []
    square = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
    ways = alike(square, np.moveaxis(square, 1, -1))
    assert any(np.array_equal(way, square) for way in ways), "where both fit, both are tried"


def test_an_onnx_file_and_a_litert_file_of_one_model_agree(tmp_path: Path) -> None:
    litert_torch = pytest.importorskip("litert_torch")
    import torch

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one = torch.nn.Conv2d(3, 8, 3, padding=1)
            self.norm = torch.nn.BatchNorm2d(8)
            self.two = torch.nn.Conv2d(8, 4, 3)

        def forward(self, x: Any) -> Any:
            return self.two(torch.relu(self.norm(self.one(x)))).mean((2, 3))

    net, x = Net().eval(), torch.zeros(1, 3, 16, 16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(net, (x,), tmp_path / "net.onnx", dynamo=True, verbose=False)
        litert_torch.convert(net, (x,)).export(str(tmp_path / "net.tflite"))
    found = compare(tmp_path / "net.onnx", tmp_path / "net.tflite", tmp_path)
    convolutions = [layer for layer in found.layers if layer.op == "Conv"]
    assert len(convolutions) == 2
    for layer in found.layers:
        assert layer.sqnr_db is None or layer.sqnr_db > 90, layer
    assert found.b.target_ran == "litert/cpu"


def test_products_of_a_dynamically_quantised_file_are_compared_scaled(tmp_path: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    a, b = save_net(tmp_path / "a.onnx"), tmp_path / "dynamic.onnx"
    quantize_dynamic(str(a), str(b), weight_type=QuantType.QUInt8)
    found = compare(a, b, tmp_path)
    by_name = {layer.name_a: layer for layer in found.layers}
    assert list(by_name) == ["conv1", "relu", "conv2", "pool"]
    assert all(layer.sqnr_db is not None and layer.sqnr_db > 15 for layer in found.layers), by_name
