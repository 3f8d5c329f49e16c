"""Deploying to this computer: real runner process, real ONNX Runtime, tiny graphs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from studio.devices.device import RunMode, RunRequest, RunSettings
from studio.devices.stream import Inference
from studio.devices.this_computer import RunnerSpec
from studio.errors import InputError, StudioError
from studio.jobs.deploy import Deploy, DeployResult, run
from studio.jobs.job import Event, Measured
from studio.measure import read_run
from studio.records import from_json, to_json


class Listener:
    """A Report that remembers, and stops after so many inferences."""

    def __init__(self, stop_after: int = 10**9) -> None:
        self.events: list[Event] = []
        self.stop_after = stop_after

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None: ...
    def log(self, text: str) -> None: ...
    def emit(self, event: Event) -> None:
        self.events.append(event)

    def inferences(self) -> list[int]:
        records = [e.record for e in self.events if isinstance(e, Measured)]
        return [r.i for r in records if isinstance(r, Inference)]

    def should_stop(self) -> bool:
        return len(self.inferences()) >= self.stop_after


def save_gemm(path: Path, scale: float = 1.0) -> Path:
    weights = (np.arange(12, dtype=np.float32).reshape(4, 3) - 5) * scale
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])],
        [helper.make_tensor("w", TensorProto.FLOAT, [4, 3], weights.tobytes(), raw=True)],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def deploy(artifact: Path, listener: Listener | None = None, **fields: object) -> DeployResult:
    settings = fields.pop("settings", RunSettings(target="ort/cpu", runs=20, seconds=0.0, warmup_runs=2))
    spec = Deploy(
        artifact_path=str(artifact), settings=settings, runs_dir=str(artifact.parent / "p.runs"), **fields
    )
    return run(from_json(to_json(spec), Deploy, where="t"), listener or Listener())


def test_the_result_holds_the_contract_of_bench(tmp_path: Path) -> None:
    listener = Listener()
    result = deploy(save_gemm(tmp_path / "m.onnx"), listener)
    said = json.loads(to_json(result))
    assert list(said)[:7] == [
        "latency_ms", "load_ms", "peak_rss_bytes", "target", "target_ran", "error", "run_file",
    ]  # fmt: skip
    assert list(said["latency_ms"]) == ["p50", "p90", "p99", "mean", "std", "n"]
    assert said["latency_ms"]["n"] == 20 and said["target_ran"] == "ort/cpu"
    assert said["load_ms"] > 0 and said["peak_rss_bytes"] > 10**6
    assert said["error"] is None and any("not known" in note for note in said["notes"])
    assert any("N=1" in note for note in said["notes"])
    assert listener.inferences() == list(range(20))


def test_the_run_file_holds_every_inference_and_the_figures_follow_from_it(tmp_path: Path) -> None:
    listener = Listener()
    result = deploy(save_gemm(tmp_path / "m.onnx"), listener, live_interval_ms=1e6)
    assert len(listener.inferences()) == 1
    kept = read_run(Path(result.run_file))
    assert kept.is_complete and len(kept.latency_ns) == 20
    assert result.latency_ms is not None
    assert result.latency_ms.p50 == pytest.approx(float(np.median(kept.latency_ns)) / 1e6)
    assert str(tmp_path) not in Path(result.run_file).read_text()


def test_outputs_on_real_inputs_are_compared_with_the_float_original(tmp_path: Path) -> None:
    x = np.random.default_rng(1).normal(size=(9, 4)).astype(np.float32)
    original = save_gemm(tmp_path / "float.onnx")
    labels = (x @ (np.arange(12, dtype=np.float32).reshape(4, 3) - 5)).argmax(axis=1)
    np.savez(tmp_path / "x.npz", inputs=x, labels=labels)
    result = deploy(
        save_gemm(tmp_path / "half.onnx", scale=0.5),
        inputs_path=str(tmp_path / "x.npz"),
        reference_artifact=str(original),
    )
    assert result.error is not None
    assert result.error.samples == 9
    assert result.error.snr_db == pytest.approx(10 * np.log10(4), abs=1e-3)
    assert result.error.cosine == pytest.approx(1.0)
    assert result.error.accuracy == 1.0
    kept = read_run(Path(result.run_file)).compared
    assert kept is not None and kept.figures == result.error


def test_reference_outputs_may_come_from_a_file(tmp_path: Path) -> None:
    x = np.ones((3, 4), np.float32)
    np.savez(tmp_path / "x.npz", x=x)
    np.savez(tmp_path / "y.npz", y=x @ (np.arange(12, dtype=np.float32).reshape(4, 3) - 5))
    result = deploy(
        save_gemm(tmp_path / "m.onnx"),
        inputs_path=str(tmp_path / "x.npz"),
        reference_outputs=str(tmp_path / "y.npz"),
    )
    assert result.error is not None and result.error.is_equal


def test_stop_leaves_a_whole_run(tmp_path: Path) -> None:
    settings = RunSettings(target="ort/cpu", runs=1, seconds=600.0, mode=RunMode.SUSTAINED)
    result = deploy(save_gemm(tmp_path / "m.onnx"), Listener(stop_after=50), settings=settings)
    kept = read_run(Path(result.run_file))
    assert kept.end is not None and kept.end.reason == "stopped"
    assert not result.is_complete
    assert result.latency_ms is not None and result.latency_ms.n >= 50


def test_cadence_keeps_its_rhythm(tmp_path: Path) -> None:
    settings = RunSettings(target="ort/cpu", runs=10, seconds=0.0, mode=RunMode.CADENCE, interval_ms=20)
    result = deploy(save_gemm(tmp_path / "m.onnx"), settings=settings)
    gaps = np.diff(read_run(Path(result.run_file)).t_ns) / 1e6
    assert np.median(gaps) == pytest.approx(20, abs=4)


def test_sizes_for_open_dimensions_are_used_and_checked(tmp_path: Path) -> None:
    model = save_gemm(tmp_path / "m.onnx")
    kept = read_run(Path(deploy(model, dims={"N": 7}).run_file))
    assert any("x float32[7,4]" in p.detail for p in kept.phases)
    with pytest.raises(InputError, match="called M") as raised:
        deploy(model, dims={"M": 7})
    assert "N" in raised.value.hint


@pytest.mark.parametrize("broken", [b"", b"not a model", b"\x08\x07\x12\x00\x3a\xff\xff\xff\x7f"])
def test_a_broken_model_is_one_sentence_and_leaves_no_run(tmp_path: Path, broken: bytes) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(broken)
    with pytest.raises(StudioError) as raised:
        deploy(path, artifact_format="onnx")
    assert "Traceback" not in str(raised.value) and raised.value.message
    assert not (tmp_path / "p.runs").exists()


def test_inputs_that_do_not_fit_are_refused_before_anything_is_kept(tmp_path: Path) -> None:
    model = save_gemm(tmp_path / "m.onnx")
    np.savez(tmp_path / "wrong.npz", inputs=np.ones((2, 5), np.float32))
    with pytest.raises(StudioError):
        deploy(model, inputs_path=str(tmp_path / "wrong.npz"))
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match=r"bad\.npz"):
        deploy(model, inputs_path=str(tmp_path / "bad.npz"))
    assert not (tmp_path / "p.runs").exists()


def test_a_target_that_does_not_load_the_format_is_refused(tmp_path: Path) -> None:
    settings = RunSettings(target="litert/cpu")
    with pytest.raises(InputError, match="takes"):
        deploy(save_gemm(tmp_path / "m.onnx"), settings=settings)


def test_an_accelerator_that_is_not_here_is_refused_not_replaced(tmp_path: Path) -> None:
    settings = RunSettings(target="ort/nnapi")
    with pytest.raises(StudioError, match="Nnapi"):
        deploy(save_gemm(tmp_path / "m.onnx"), settings=settings)


def test_a_runner_whose_studio_is_gone_does_not_outlive_a_runtime_that_hangs(tmp_path: Path) -> None:
    """The runtime is a backend that never returns; the other end of stdin closes, as when it is killed."""
    program = (
        "import threading, time, studio.jobs.runner as r\n"
        "r._ORPHAN_SECONDS = 0.2\n"
        "r.run = lambda *a: threading.Event().wait()\n"
        "raise SystemExit(r.main())\n"
    )
    settings = RunSettings(target="ort/cpu")
    request = RunRequest(
        artifact_path="none.onnx", artifact_format="onnx", artifact_sha256="", settings=settings
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        input=to_json(RunnerSpec(request=request)).encode() + b"\n",
        capture_output=True,
        timeout=60,
    )
    assert ran.returncode == 1
