"""Nodes timed on a phone: ONNX Runtime's trace on the virtual phone; a stand-in plays `benchmark_model`."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.cli.profile import text_of
from studio.devices.adb.cache import ROOT
from studio.devices.adb.kit import host_abi
from studio.devices.adb.server import AdbServer
from studio.devices.adb.shell import run_shell
from studio.devices.virtual_phone import VirtualPhone
from studio.errors import DeviceError, InputError, ToolError, UnsupportedError
from studio.jobs.model_inputs import InputData
from studio.jobs.profile_nodes import ProfileNodes, run
from studio.measure.fact_file import load_fact
from studio.measure.node_profile import NodeProfile, Statistic
from tests.unit.backends.tflite_files import Op, tflite_file
from tests.worker.phones import needs_phone
from tests.worker.quiet_report import Quiet

pytestmark = needs_phone

BENCHMARK = r"""
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  int profiled = 0, runs = 0, silent = SILENT;
  for (int i = 1; i < argc; i++) {
    profiled |= !strcmp(argv[i], "--enable_op_profiling=true");
    sscanf(argv[i], "--num_runs=%d", &runs);
  }
  fprintf(stderr, "INFO: Replacing 2 out of 4 node(s) with delegate (TfLiteGpuDelegateV2) node.\n");
  fprintf(stderr, "INFO: Initialized session in 31.5ms.\n");
  fprintf(stderr, "INFO: count=%d first=900 curr=800 min=700 max=900 avg=%d std=20\n", runs,
          profiled ? 1000 : 800);
  if (profiled && !silent) {
    printf("Operator-wise Profiling Info for Regular Benchmark Runs:\n");
    printf("============================== Run Order ==============================\n");
    printf("\t [node type]\t  [first]\t [avg ms]\t     [%%]\t[times called]\t[Name]\n");
    printf("\t TfLiteGpuDelegateV2\t 0.6\t 0.600\t 60.0%%\t 1\t[b]:4\n");
    printf("\t TOPK_V2\t 0.3\t 0.300\t 30.0%%\t 1\t[c]:2\n");
    printf("\t CUMSUM\t 0.1\t 0.100\t 10.0%%\t 1\t[y]:3\n\n");
  }
  return 0;
}
"""
OPS: list[Op] = [
    ("ABS", ["x"], ["a"]), ("NEG", ["a"], ["b"]), ("TOPK_V2", ["b"], ["c"]), ("CUMSUM", ["c"], ["y"]),
]  # fmt: skip


def net(path: Path, *, named: bool = True) -> Path:
    """Conv + Relu, which become one kernel, and a MatMul; weights beside the file."""
    weights = np.full((8, 3, 3, 3), 0.1, np.float32), np.full((8, 4), 0.1, np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv" if named else ""),
        helper.make_node("Relu", ["a"], ["b"], name="relu" if named else ""),
        helper.make_node("ReduceMean", ["b"], ["c"], name="mean" if named else "", axes=[2, 3], keepdims=0),
        helper.make_node("MatMul", ["c", "m"], ["y"], name="product" if named else ""),
    ]
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])],
        [numpy_helper.from_array(w, n) for w, n in zip(weights, ("w", "m"))],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(path), save_as_external_data=True, location=f"{path.stem}.weights", size_threshold=0)
    return path


def profiled(path: Path, phone: VirtualPhone, tmp_path: Path, **more: Any) -> NodeProfile:
    spec = ProfileNodes(
        path=str(path), device_id=phone.serial, runs=20, runs_dir=str(tmp_path / "runs"), **more
    )
    return load_fact(Path(run(spec, Quiet()).fact_path), NodeProfile)


@pytest.mark.parametrize("named", [True, False])
def test_onnx_runtime_on_a_phone_tells_percentiles_per_node(
    server: AdbServer,
    phone: VirtualPhone,
    tmp_path: Path,
    named: bool,
) -> None:
    found = profiled(net(tmp_path / "net.onnx", named=named), phone, tmp_path)
    assert found.statistic is Statistic.P50 and found.is_simulated and found.device_id == phone.serial
    assert found.target_ran == "ort/cpu" and found.runtime.startswith("ONNX Runtime 1.")
    assert found.latency_ms.n == found.profiled_ms.n == 20
    by_op = {time.op: time for time in found.nodes}
    assert set(by_op) == {"Conv", "ReduceMean", "MatMul"}
    conv = by_op["Conv"]
    assert len(conv.nodes) == 2, "the activation runs in the convolution"
    assert conv.latency_ms.n == 20 and conv.latency_ms.p90 is not None
    assert conv.latency_ms.p90 >= (conv.latency_ms.p50 or 0.0) > 0
    shares = found.attributed + sum(row.share for row in found.runtime_work)
    assert found.attributed > 0.5 and shares == pytest.approx(1.0)
    assert run_shell(server, phone.serial, f"ls {ROOT}/runs").stdout.strip() == "", (
        "nothing stays on the phone"
    )


def test_real_inputs_are_brought_to_the_phone(
    server: AdbServer,
    phone: VirtualPhone,
    tmp_path: Path,
) -> None:
    from studio.project import DataSet

    data = tmp_path / "data.npz"
    np.savez(data, x=np.ones((2, 3, 16, 16), np.float32))
    inputs = InputData(data=DataSet(path=str(data)), folder=str(tmp_path))
    found = profiled(net(tmp_path / "net.onnx"), phone, tmp_path, inputs=inputs)
    assert "data.npz" in found.inputs


def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_silent: bool = False) -> None:
    folder = tmp_path / "runtimes" / host_abi()
    folder.mkdir(parents=True)
    (tmp_path / "b.c").write_text(BENCHMARK)
    silent = f"-DSILENT={int(is_silent)}"
    subprocess.run(["cc", silent, "-o", folder / "benchmark_model", tmp_path / "b.c"], check=True)
    monkeypatch.setenv("DEPLOYMENT_STUDIO_RUNTIMES", str(tmp_path / "runtimes"))


def test_litert_on_a_phone_tells_means_and_says_so(
    server: AdbServer,
    phone: VirtualPhone,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_in(tmp_path, monkeypatch)
    found = profiled(tflite_file(tmp_path / "m.tflite", OPS), phone, tmp_path, target="litert/gpu")
    assert found.statistic is Statistic.MEAN and found.target_ran == "litert/gpu"
    assert (found.latency_ms.mean, found.latency_ms.n, found.latency_ms.p50) == (0.8, 20, None)
    assert found.overhead == pytest.approx(0.25)
    told = [(t.op, t.nodes, t.latency_ms.mean, t.latency_ms.p50, t.share) for t in found.nodes]
    assert told == [
        ("ABS", (0, 1), pytest.approx(0.6), None, pytest.approx(0.6)),
        ("TOPK_V2", (2,), pytest.approx(0.3), None, pytest.approx(0.3)),
        ("CUMSUM", (3,), pytest.approx(0.1), None, pytest.approx(0.1)),
    ]
    assert any("Only means" in note for note in found.notes)
    said = text_of(found)
    assert "mean ms" in said and "p50" not in said and "p90" not in said and "(simulated)" in said


def test_a_tool_that_prints_no_operators_leaves_no_profile(
    server: AdbServer,
    phone: VirtualPhone,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_in(tmp_path, monkeypatch, is_silent=True)
    with pytest.raises(ToolError, match="No times of operators"):
        profiled(tflite_file(tmp_path / "m.tflite", OPS), phone, tmp_path, target="litert/gpu")
    assert not list((tmp_path / "runs").glob("*")) if (tmp_path / "runs").exists() else True


def test_what_no_runner_on_phones_serves_is_refused(
    server: AdbServer,
    phone: VirtualPhone,
    tmp_path: Path,
) -> None:
    path = net(tmp_path / "net.onnx")
    with pytest.raises(UnsupportedError, match="no runner for ort/nnapi"):
        profiled(path, phone, tmp_path, target="ort/nnapi")
    with pytest.raises(DeviceError, match="no device"):
        run(ProfileNodes(path=str(path), device_id="absent"), Quiet())


def test_a_stopped_profile_leaves_nothing(
    server: AdbServer,
    phone: VirtualPhone,
    tmp_path: Path,
) -> None:
    spec = ProfileNodes(
        path=str(net(tmp_path / "net.onnx")), device_id=phone.serial, runs=20, runs_dir=str(tmp_path / "runs")
    )
    with pytest.raises(InputError, match="stopped"):
        run(spec, Quiet(stop_at="Profiling"))
    assert not (tmp_path / "runs").exists()
