"""One suite for every kind of device: this computer, and a phone over ADB (a virtual one)."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from studio.artifact import hash_file
from studio.devices.adb.binary import find_adb
from studio.devices.device import Device, DeviceState, RunMode, RunRequest, RunSettings
from studio.devices.registry import open_device
from studio.devices.stream import (
    End,
    Hello,
    Inference,
    Loaded,
    Output,
    Sample,
    StreamRecord,
    Warm,
    decode_record,
    encode_record,
)
from studio.devices.virtual_phone import VirtualPhone, load_profile
from studio.errors import StudioError
from studio.jobs import runner

HAS_PHONE = all(map(shutil.which, ("proot", "mksh", "toybox", "cc")))
NEEDS_PHONE = pytest.mark.skipif(not HAS_PHONE, reason="needs proot, mksh, toybox and cc")


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualPhone]:
    """One phone and one adb server for the whole module."""
    folder = tmp_path_factory.mktemp("adb")
    with socket.socket() as probe, pytest.MonkeyPatch.context() as patch:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        patch.setenv("ANDROID_ADB_SERVER_PORT", str(port))
        patch.setenv("HOME", str(folder))
        with VirtualPhone(load_profile("snapdragon-8gen3")) as made:
            made.connect()
            yield made
        subprocess.run([find_adb().path, "-P", str(port), "kill-server"], capture_output=True, timeout=20)


@pytest.fixture(params=["this-computer", pytest.param("phone", marks=NEEDS_PHONE)])
def device(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Device:
    if request.param == "this-computer":
        return open_device("this-computer", runner_command=runner.command())
    monkeypatch.setenv("DEPLOYMENT_STUDIO_CACHE", str(tmp_path_factory.getbasetemp() / "contract-cache"))
    made: VirtualPhone = request.getfixturevalue("phone")
    return open_device(made.serial)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """y = x·w and i = x + 1 with an open batch: two outputs, two types, a name with a blank."""
    weights = np.arange(6, dtype=np.float32).reshape(3, 2)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y out"]), helper.make_node("Add", ["n", "one"], ["i"])],
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3]),
            helper.make_tensor_value_info("n", TensorProto.INT64, ["N", 1]),
        ],
        [
            helper.make_tensor_value_info("y out", TensorProto.FLOAT, ["N", 2]),
            helper.make_tensor_value_info("i", TensorProto.INT64, ["N", 1]),
        ],
        [
            helper.make_tensor("w", TensorProto.FLOAT, [3, 2], weights.tobytes(), raw=True),
            helper.make_tensor("one", TensorProto.INT64, [1], [1]),
        ],
    )
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def request_of(model: Path, **fields: object) -> RunRequest:
    settings = fields.pop("settings", RunSettings(target="ort/cpu", runs=10, seconds=0, warmup_runs=3))
    return RunRequest(
        artifact_path=str(model), artifact_format="onnx", artifact_sha256=hash_file(model), settings=settings,
        **fields,
    )  # fmt: skip


def run(device: Device, request: RunRequest) -> list[StreamRecord]:
    return list(device.run(request, on_push=lambda *_: None, should_stop=lambda: False))


def test_it_says_who_it_is(device: Device) -> None:
    info = device.identify()
    assert info.id == device.device_id and info.state is DeviceState.READY and info.state_hint == ""
    assert info.name and info.abi and info.os_version and info.cpu_count and info.ram_bytes


def test_a_stream_is_in_order_and_complete(device: Device, model: Path) -> None:
    records = run(device, request_of(model))
    hello, end = records[0], records[-1]
    assert isinstance(hello, Hello) and isinstance(end, End)
    assert hello.device_id == device.device_id and hello.target == "ort/cpu"
    assert hello.is_simulated == device.identify().is_simulated
    assert hello.artifact_sha256 == hash_file(model) and hello.settings["runs"] == 10
    assert "/" not in hello.artifact_path
    kinds = [type(r) for r in records if isinstance(r, Loaded | Warm | Inference)]
    assert kinds == [Loaded, Warm] + [Inference] * 10
    assert [r.i for r in records if isinstance(r, Inference)] == list(range(10))
    assert (end.reason, end.runs) == ("done", 10) and end.peak_rss_bytes and end.peak_rss_bytes > 10**6
    times = [r.t_ns for r in records if not isinstance(r, Hello | Sample | End)]
    assert times == sorted(times)
    assert all(decode_record(encode_record(r)) == r for r in records)


def test_outputs_are_the_models(device: Device, model: Path, tmp_path: Path) -> None:
    x = np.random.default_rng(5).normal(size=(4, 3)).astype(np.float32)
    n = np.array([[7], [-1], [2**40], [0]])
    np.savez(tmp_path / "in.npz", x=x, n=n)
    folder = tmp_path / "out"
    records = run(
        device,
        request_of(model, inputs_path=str(tmp_path / "in.npz"), input_samples=4, outputs_dir=str(folder)),
    )
    outputs = [r for r in records if isinstance(r, Output)]
    assert [(o.index, o.name) for o in outputs] == [(i, name) for i in range(4) for name in ("y out", "i")]
    for output in outputs:
        value = np.fromfile(folder / Path(output.path).name, output.dtype).reshape(output.shape)
        wanted = x[output.index : output.index + 1] @ np.arange(6, dtype=np.float32).reshape(3, 2)
        if output.name == "i":
            np.testing.assert_array_equal(value, n[output.index : output.index + 1] + 1)
        else:
            np.testing.assert_allclose(value, wanted, rtol=1e-6)


def test_both_count_and_time_must_be_reached(device: Device, model: Path) -> None:
    settings = RunSettings(target="ort/cpu", runs=3, seconds=0.3, warmup_runs=0)
    times = [r.t_ns for r in run(device, request_of(model, settings=settings)) if isinstance(r, Inference)]
    assert len(times) > 3 and times[-1] - times[0] >= 0.25e9


def test_cadence_is_kept(device: Device, model: Path) -> None:
    settings = RunSettings(target="ort/cpu", mode=RunMode.CADENCE, interval_ms=25, runs=12, seconds=0)
    times = [r.t_ns for r in run(device, request_of(model, settings=settings)) if isinstance(r, Inference)]
    assert np.median(np.diff(times)) == pytest.approx(25e6, rel=0.2)


def test_stop_is_soon_and_leaves_a_whole_stream(device: Device, model: Path) -> None:
    settings = RunSettings(target="ort/cpu", mode=RunMode.CADENCE, interval_ms=10, runs=1, seconds=600)
    seen: list[StreamRecord] = []

    def enough() -> bool:
        return sum(isinstance(r, Inference) for r in seen) >= 20

    for record in device.run(
        request_of(model, settings=settings), on_push=lambda *_: None, should_stop=enough
    ):
        seen.append(record)
    end = seen[-1]
    assert isinstance(end, End) and end.reason == "stopped"
    assert end.runs == sum(isinstance(r, Inference) for r in seen)


def test_external_data_comes_along(device: Device, model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "external"
    folder.mkdir()
    whole = onnx.load(model)
    onnx.save_model(
        whole, folder / "e.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0
    )
    assert (folder / "weights.bin").is_file()
    records = run(device, request_of(folder / "e.onnx"))
    assert isinstance(records[-1], End) and records[-1].reason == "done"


def test_a_model_that_cannot_run_is_an_error_after_what_was_received(device: Device, tmp_path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("Reshape", ["x", "s"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [helper.make_tensor("s", TensorProto.INT64, [1], [5])],
    )
    path = tmp_path / "bad.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    seen: list[StreamRecord] = []
    with pytest.raises(StudioError) as raised:
        for record in device.run(request_of(path), on_push=lambda *_: None, should_stop=lambda: False):
            seen.append(record)
    assert raised.value.message and "Traceback" not in str(raised.value)
    assert isinstance(seen[0], Hello) and isinstance(seen[-1], End) and seen[-1].reason == "failed"
