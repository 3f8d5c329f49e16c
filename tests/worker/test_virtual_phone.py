"""Phones over ADB, end to end: the real adb server, a virtual phone, our runner, ONNX Runtime.

Each test has an adb server of its own port and home. Faults are ordered over the phone's control port.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from studio.devices.adb import sync
from studio.devices.adb.binary import find_adb
from studio.devices.adb.cache import ROOT
from studio.devices.adb.kit import host_abi
from studio.devices.adb.server import AdbServer, LinkLost
from studio.devices.adb.shell import run_shell
from studio.devices.device import DeviceInfo, DeviceKind, DeviceState, RunMode, RunSettings
from studio.devices.registry import see_devices
from studio.devices.stream import Inference, Phase, Sample
from studio.devices.virtual_phone import VirtualPhone, load_profile, profile_ids
from studio.devices.virtual_phone.faults import FaultKind
from studio.devices.virtual_phone.packets import CNXN, VERSION, Packet
from studio.errors import DeviceError, StudioError, ToolError, UnsupportedError
from studio.graph import open_graph
from studio.jobs.deploy import Deploy, DeployResult, run
from studio.jobs.job import DevicesChanged, Event, Measured
from studio.jobs.measured import with_measured
from studio.jobs.virtual_phone import ServePhone
from studio.jobs.virtual_phone import run as serve_phone
from studio.jobs.watch_devices import WatchDevices
from studio.jobs.watch_devices import run as watch
from studio.measure import read_run
from studio.measure.evidence import Share, evidence_in
from studio.support import judge
from tests.worker.phones import kill, needs_phone

pytestmark = needs_phone


class Listener:
    """A Report that remembers, can stop after so many inferences, and can act on one."""

    def __init__(self, stop_after: int = 10**9) -> None:
        self.events: list[Event] = []
        self.pushes: list[tuple[int, int | None]] = []
        self.stop_after = stop_after
        self.on_inference = lambda _: None
        self.seen = 0

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None:
        if stage == "pushing":
            self.pushes.append((done, total))

    def log(self, text: str) -> None: ...
    def emit(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, Measured) and isinstance(event.record, Inference):
            self.seen += 1
            self.on_inference(self.seen)

    def should_stop(self) -> bool:
        return self.seen >= self.stop_after


def save_model(path: Path) -> Path:
    weights = (np.arange(12, dtype=np.float32).reshape(4, 3) - 5) / 4
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Softmax", ["m"], ["p y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info("p y", TensorProto.FLOAT, ["N", 3])],
        [helper.make_tensor("w", TensorProto.FLOAT, [4, 3], weights.tobytes(), raw=True)],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def deploy(phone: VirtualPhone, model: Path, listener: Listener, **fields: object) -> DeployResult:
    settings = fields.pop("settings", RunSettings(target="ort/cpu", runs=20, seconds=0.0, sample_hz=5))
    spec = Deploy(
        device_id=phone.serial, artifact_path=str(model), settings=settings,
        runs_dir=str(model.parent / "p.runs"), **fields,
    )  # fmt: skip
    return run(spec, listener)


def slow_run(seconds: float) -> RunSettings:
    """Some 100 inferences a second, so that faults fall in the middle."""
    return RunSettings(
        target="ort/cpu", mode=RunMode.CADENCE, interval_ms=10, runs=1, seconds=seconds, sample_hz=5
    )


def state_of(serial: str, wanted: DeviceState) -> DeviceInfo:
    """The device once it is in that state; fails after 15 s."""
    until = time.monotonic() + 15
    while time.monotonic() < until:
        info = next((d for d in see_devices()[0] if d.id == serial), None)
        if info is not None and info.state is wanted:
            return info
        time.sleep(0.1)
    raise AssertionError(f"{serial} did not become {wanted}")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")
def test_another_user_of_this_computer_gets_no_shell(phone: VirtualPhone) -> None:
    hello = Packet(CNXN, VERSION, 4096, b"host::").encode()

    def answer_to(user: int) -> bytes:
        argv = ["toybox", "nc", "-q", "1", "127.0.0.1", str(phone.port)]
        return subprocess.run(argv, input=hello, capture_output=True, timeout=20, user=user).stdout

    assert answer_to(0).startswith(b"CNXN")
    assert answer_to(65534) == b""


def test_every_profile_says_who_it_is_and_that_it_is_simulated(server: AdbServer) -> None:
    for profile in profile_ids():
        with VirtualPhone(load_profile(profile)) as phone:
            phone.connect(server)
            devices, problem = see_devices()
            server.disconnect(phone.serial)
        info = next(d for d in devices if d.id == phone.serial)
        assert problem == ""
        assert (info.kind, info.state, info.is_simulated) == (
            DeviceKind.VIRTUAL_PHONE, DeviceState.READY, True,
        )  # fmt: skip
        assert info.soc and info.android_level and info.abi
        assert info.cpu_count == sum(c.cores for c in phone.profile.clusters)
        assert info.ram_bytes and abs(info.ram_bytes - phone.profile.ram_bytes) < 4096


@pytest.mark.parametrize("profile", ["tensor-g3", "android-6"])
def test_a_run_is_equal_to_this_computers(server: AdbServer, tmp_path: Path, profile: str) -> None:
    """android-6 has no shell v2: other codec, other sizes, no exit codes."""
    model = save_model(tmp_path / "m.onnx")
    x = np.random.default_rng(3).normal(size=(7, 4)).astype(np.float32)
    np.savez(tmp_path / "x.npz", inputs=x)
    listener = Listener()
    with VirtualPhone(load_profile(profile)) as phone:
        phone.connect(server)
        result = deploy(
            phone, model, listener, inputs_path=str(tmp_path / "x.npz"), reference_artifact=str(model)
        )
        left = run_shell(server, phone.serial, f"ls {ROOT}/runs").stdout.split()
    assert result.error is not None and result.error.is_equal and result.error.samples == 7
    assert result.latency_ms is not None and result.latency_ms.n == 20
    assert result.is_simulated and result.is_complete and result.target_ran == "ort/cpu"
    assert left == []
    kept = read_run(Path(result.run_file))
    assert kept.hello.is_simulated and kept.hello.device["is_simulated"] is True
    assert kept.compared is not None
    assert str(tmp_path) not in Path(result.run_file).read_text()
    (word,) = evidence_in(tmp_path / "p.runs")
    assert word.share is Share.ALL and word.is_of_simulated
    assert "(simulated)" in word.source and "vendor build VP1A/1, ONNX Runtime" in word.source
    graph = open_graph(model)
    rules = judge(graph, ["ort/cpu"])
    found = with_measured(graph, graph.file_sha256, rules, [word])["ort/cpu"]
    assert found.counts() == rules["ort/cpu"].counts()  # what is simulated stands over nothing
    assert len(found.evidence[0].taken) == graph.node_count and not found.evidence[0].applies


def test_samples_share_the_clock_of_the_inferences(
    server: AdbServer, phone: VirtualPhone, tmp_path: Path
) -> None:
    result = deploy(phone, save_model(tmp_path / "m.onnx"), Listener(), settings=slow_run(3))
    kept = read_run(Path(result.run_file))
    inside = [s for s in kept.samples if kept.t_ns[0] <= s.t_ns <= kept.t_ns[-1]]
    assert len(inside) >= 2
    for sample in inside:
        assert "VIRTUAL-SKIN" in sample.temperature_celsius and len(sample.frequency_hz) == 9
        assert sample.rss_bytes and sample.rss_bytes > 10**6
        assert sample.power_watts and sample.battery_percent == 80
        assert sample.thermal_status == 0
        assert "usb_pwr_therm" not in sample.temperature_celsius  # a sensor that reads exactly 0


def test_a_second_deploy_pushes_nothing(server: AdbServer, phone: VirtualPhone, tmp_path: Path) -> None:
    model = save_model(tmp_path / "m.onnx")
    first, second = Listener(), Listener()
    deploy(phone, model, first)
    deploy(phone, model, second)
    assert first.pushes[-1][0] == first.pushes[-1][1] != 0
    assert second.pushes == [(0, 0)]


def test_a_cut_cable_loses_no_inference(server: AdbServer, phone: VirtualPhone, tmp_path: Path) -> None:
    listener = Listener()

    def pull_the_cable(count: int) -> None:
        if count in (60, 200):
            phone.fault(FaultKind.CUT, seconds=0.7)

    listener.on_inference = pull_the_cable
    result = deploy(phone, save_model(tmp_path / "m.onnx"), listener, settings=slow_run(6))
    numbers = [
        e.record.i for e in listener.events if isinstance(e, Measured) and isinstance(e.record, Inference)
    ]
    assert numbers == list(range(len(numbers))) and len(numbers) > 300
    kept = read_run(Path(result.run_file))
    assert len(kept.latency_ns) == len(numbers) and result.is_complete
    phases = [p.name for p in kept.phases if p.name.startswith("link")]
    assert phases == ["link lost", "link back", "link lost", "link back"]
    assert (np.diff(kept.t_ns) > 0).all()


def test_a_cable_cut_inside_a_line_gives_every_line_once(
    server: AdbServer, phone: VirtualPhone, tmp_path: Path
) -> None:
    listener = Listener()

    def cut_soon(count: int) -> None:
        if count in (30, 90, 150):
            phone.fault(FaultKind.CUT_AFTER, size=1000 + count, seconds=0.3)

    listener.on_inference = cut_soon
    result = deploy(phone, save_model(tmp_path / "m.onnx"), listener, settings=slow_run(5))
    text = Path(result.run_file).read_text()
    assert result.is_complete
    for i in range(int(result.latency_ms.n if result.latency_ms else 0)):
        assert text.count(f'"type":"run","i":{i},') == 1


def test_a_restart_of_the_adb_server_is_survived(
    server: AdbServer, phone: VirtualPhone, tmp_path: Path
) -> None:
    listener = Listener()
    listener.on_inference = lambda count: kill(server) if count == 60 else None
    result = deploy(phone, save_model(tmp_path / "m.onnx"), listener, settings=slow_run(5))
    kept = read_run(Path(result.run_file))
    assert result.is_complete and len(kept.latency_ns) > 200
    assert "link lost" in [p.name for p in kept.phases]


def test_stop_asks_the_runner_and_keeps_a_whole_stream(
    server: AdbServer, phone: VirtualPhone, tmp_path: Path
) -> None:
    listener = Listener(stop_after=50)
    result = deploy(phone, save_model(tmp_path / "m.onnx"), listener, settings=slow_run(600))
    kept = read_run(Path(result.run_file))
    assert kept.end is not None and kept.end.reason == "stopped"
    assert kept.end.runs == len(kept.latency_ns) >= 50
    assert run_shell(server, phone.serial, "pgrep ort_runner").stdout == ""


def test_a_killed_runner_is_a_failure_in_words(
    server: AdbServer, phone: VirtualPhone, tmp_path: Path
) -> None:
    listener = Listener()

    def kill_it(count: int) -> None:
        if count == 30:
            run_shell(server, phone.serial, f"kill -KILL $(cat {ROOT}/runs/*/pid)")

    listener.on_inference = kill_it
    with pytest.raises(ToolError, match="signal 9"):
        deploy(phone, save_model(tmp_path / "m.onnx"), listener, settings=slow_run(60))
    kept = read_run(next((tmp_path / "p.runs").iterdir()))
    assert len(kept.latency_ns) >= 30 and not kept.is_complete


def test_a_reboot_ends_the_run_and_is_told(server: AdbServer, phone: VirtualPhone, tmp_path: Path) -> None:
    listener = Listener()

    def reboot(count: int) -> None:
        if count == 30:
            subprocess.run(
                [find_adb().path, "-P", str(server.port), "-s", phone.serial, "reboot"],
                capture_output=True, timeout=20,
            )  # fmt: skip

    listener.on_inference = reboot
    with pytest.raises(ToolError):
        deploy(phone, save_model(tmp_path / "m.onnx"), listener, settings=slow_run(60))
    assert "link lost" in [
        e.record.name for e in listener.events if isinstance(e, Measured) and isinstance(e.record, Phase)
    ]


@pytest.mark.parametrize("kind", [FaultKind.NO_SPACE, FaultKind.LYING_SPACE])
def test_a_full_phone_is_told_and_nothing_partial_counts(
    server: AdbServer, phone: VirtualPhone, tmp_path: Path, kind: FaultKind
) -> None:
    model = save_model(tmp_path / "m.onnx")
    phone.fault(kind, size=3_000_000)
    with pytest.raises(DeviceError, match=r"[Nn]o space left on the phone"):
        deploy(phone, model, Listener())
    assert not (tmp_path / "p.runs").exists()
    phone.fault(FaultKind.NONE)
    assert deploy(phone, model, Listener()).is_complete


def test_a_push_can_be_cut_and_goes_on_from_the_cache(
    server: AdbServer, phone: VirtualPhone, tmp_path: Path
) -> None:
    model = save_model(tmp_path / "m.onnx")
    source = tmp_path / "big.bin"
    source.write_bytes(os.urandom(4_000_000))

    def cut(sent: int) -> None:
        if sent == 25 * sync.CHUNK:
            phone.fault(FaultKind.CUT, seconds=0.3)

    with pytest.raises(LinkLost):
        sync.push(server, phone.serial, source, f"{ROOT}/big.partial", on_sent=cut)
    assert state_of(phone.serial, DeviceState.READY)
    assert deploy(phone, model, Listener()).is_complete


def test_pushed_and_pulled_files_are_equal(server: AdbServer, phone: VirtualPhone, tmp_path: Path) -> None:
    source, back = tmp_path / "ünï 'x'.bin", tmp_path / "back.bin"
    source.write_bytes(os.urandom(300_001))
    remote = "/data/local/tmp/a b/ünï 'x'.bin"
    sync.push(server, phone.serial, source, remote)
    assert sync.stat(server, phone.serial, remote).has_size(300_001)
    assert sync.pull(server, phone.serial, remote, back) == 300_001
    assert back.read_bytes() == source.read_bytes()
    with pytest.raises(DeviceError, match="No such file"):
        sync.pull(server, phone.serial, "/data/nothing", back)


def test_an_unauthorised_phone_says_what_to_do(
    server: AdbServer, phone: VirtualPhone, tmp_path: Path
) -> None:
    phone.fault(FaultKind.UNAUTHORIZED)
    with pytest.raises(DeviceError):
        time.sleep(0.3)
        server.connect(phone.serial)
        server.transport(phone.serial, "shell:true")
    info = state_of(phone.serial, DeviceState.UNAUTHORIZED)
    assert "Allow USB debugging" in info.state_hint
    with pytest.raises(DeviceError, match="unauthorized") as raised:
        deploy(phone, save_model(tmp_path / "m.onnx"), Listener())
    assert "Allow USB debugging" in raised.value.hint


def test_an_offline_phone_says_what_to_do(server: AdbServer, phone: VirtualPhone, tmp_path: Path) -> None:
    phone.fault(FaultKind.OFFLINE)
    info = state_of(phone.serial, DeviceState.OFFLINE)
    assert info.state_hint
    with pytest.raises(DeviceError, match="offline"):
        deploy(phone, save_model(tmp_path / "m.onnx"), Listener())


def test_a_phone_that_is_not_there(server: AdbServer, tmp_path: Path) -> None:
    spec = Deploy(
        device_id="NOSUCH", artifact_path=str(save_model(tmp_path / "m.onnx")),
        settings=RunSettings(target="ort/cpu"),
    )  # fmt: skip
    with pytest.raises(DeviceError, match="NOSUCH") as raised:
        run(spec, Listener())
    assert "this-computer" in raised.value.hint


def test_a_target_without_a_runner_is_refused_before_anything_is_pushed(
    server: AdbServer, phone: VirtualPhone, tmp_path: Path
) -> None:
    listener = Listener()
    with pytest.raises(UnsupportedError, match="ort/nnapi"):
        deploy(phone, save_model(tmp_path / "m.onnx"), listener, settings=RunSettings(target="ort/nnapi"))
    assert listener.pushes == []


def test_a_broken_model_on_the_phone_is_one_sentence(
    server: AdbServer, phone: VirtualPhone, tmp_path: Path
) -> None:
    model = onnx.load(save_model(tmp_path / "m.onnx"))
    model.graph.node[0].op_type = "NoSuchOperator"
    onnx.save(model, tmp_path / "bad.onnx")
    with pytest.raises(StudioError, match="NoSuchOperator"):
        deploy(phone, tmp_path / "bad.onnx", Listener())
    assert not (tmp_path / "p.runs").exists()
    assert run_shell(server, phone.serial, f"ls {ROOT}/runs").stdout == ""


def test_heat_throttles_and_is_marked(server: AdbServer, phone: VirtualPhone, tmp_path: Path) -> None:
    listener = Listener()
    listener.on_inference = lambda n: phone.fault(FaultKind.HEAT, celsius=42) if n == 100 else None
    settings = RunSettings(target="ort/cpu", mode=RunMode.CADENCE, interval_ms=10, runs=1, seconds=9)
    result = deploy(phone, save_model(tmp_path / "m.onnx"), listener, settings=settings)
    said = " ".join(mark.what for mark in result.throttled)
    assert "capped at" in said and "thermal status moderate" in said


def test_watching_sees_a_phone_come_and_go_and_survives_the_server(server: AdbServer) -> None:
    stop = threading.Event()
    lists: list[DevicesChanged] = []
    arrived = threading.Condition()

    class Watcher(Listener):
        def emit(self, event: Event) -> None:
            with arrived:
                assert isinstance(event, DevicesChanged)
                lists.append(event)
                arrived.notify_all()

        def should_stop(self) -> bool:
            return stop.is_set()

    def wait_for(serial: str, is_there: bool) -> None:
        def holds() -> bool:
            return bool(lists) and is_there == any(
                d.id == serial and d.state is DeviceState.READY for d in lists[-1].devices
            )

        with arrived:
            assert arrived.wait_for(holds, timeout=15), lists[-1:]

    thread = threading.Thread(target=watch, args=(WatchDevices(), Watcher()))
    thread.start()
    try:
        with VirtualPhone(load_profile("android-7")) as phone:
            wait_for("this-computer", True)
            phone.connect(server)
            wait_for(phone.serial, True)
            kill(server)
            wait_for(phone.serial, False)
            phone.connect(server)
            wait_for(phone.serial, True)
        wait_for(phone.serial, False)
    finally:
        stop.set()
        thread.join(timeout=10)
    assert not thread.is_alive()
    assert all(event.devices[0].id == "this-computer" for event in lists)


def test_the_adb_that_adbutils_carries_works_too(
    server: AdbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", "")
    bundled = find_adb()
    assert bundled.source == "adbutils"
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("DEPLOYMENT_STUDIO_ADB", bundled.path)
    assert find_adb().source == "configured"
    with VirtualPhone(load_profile("snapdragon-8gen3")) as phone:
        phone.connect(server)
        result = deploy(phone, save_model(tmp_path / "m.onnx"), Listener())
    assert result.is_complete and result.latency_ms is not None


def test_samples_are_told_even_when_nothing_else_is(
    server: AdbServer, phone: VirtualPhone, tmp_path: Path
) -> None:
    listener = Listener()
    settings = RunSettings(
        target="ort/cpu", mode=RunMode.CADENCE, interval_ms=1500, runs=3, seconds=0, sample_hz=4
    )
    deploy(phone, save_model(tmp_path / "m.onnx"), listener, settings=settings)
    samples = [e for e in listener.events if isinstance(e, Measured) and isinstance(e.record, Sample)]
    assert len(samples) >= 3


FAKE_BENCHMARK = r"""
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  int gpu = 0, profiled = 0;
  for (int i = 1; i < argc; i++) {
    gpu |= !strcmp(argv[i], "--use_gpu=true");
    profiled |= !strcmp(argv[i], "--enable_op_profiling=true");
  }
  if (gpu) fprintf(stderr, "INFO: Replacing 7 out of 9 node(s) with delegate (TfLiteGpuDelegateV2) node.\n");
  if (profiled) {
    fprintf(stderr, "INFO: Initialized session in 99ms.\n");
    fprintf(stderr, "INFO: count=50 first=9000 curr=9000 min=9000 max=9000 avg=9000 std=10\n");
    printf("Operator-wise Profiling Info for Regular Benchmark Runs:\n");
    printf("============================== Run Order ==============================\n");
    printf("\t     [node type]\t  [start]\t  [first]\t [avg ms]\t [times called]\t[Name]\n");
    if (gpu) printf("\t     TfLiteGpuDelegateV2\t    0.000\t    8.3\t    8.6\t        1\t[Identity]:9\n");
    printf("\t                TOPK_V2\t    8.000\t    0.3\t    0.3\t        1\t[a, b[0]]:4\n");
    printf("\t                 CUMSUM\t    8.300\t    0.1\t    0.1\t        1\t[c]:8\n\n");
    printf("============================== Top by Computation Time ====================\n");
    printf("\t                 CUMSUM\t    8.300\t    0.1\t    0.1\t        1\t[c]:1\n");
    return 0;
  }
  fprintf(stderr, "INFO: Initialized session in 31.5ms.\n");
  fprintf(stderr, "INFO: count=5 first=900 curr=800 min=700 max=900 avg=790 std=20\n");
  fprintf(stderr, "INFO: count=50 first=800 curr=800 min=700 max=2000 avg=810.5 std=20 median=805\n");
  return 0;
}
"""


@pytest.mark.parametrize(("target", "nodes"), [("litert/gpu", 7), ("litert/cpu", None)])
def test_a_runner_that_tells_only_a_summary_gets_no_curve(
    server: AdbServer, phone: VirtualPhone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    target: str, nodes: int | None,
) -> None:  # fmt: skip
    """A stand-in for benchmark_model: the adapter is proven, not Google's program."""
    folder = tmp_path / "runtimes" / host_abi()
    folder.mkdir(parents=True)
    (tmp_path / "b.c").write_text(FAKE_BENCHMARK)
    subprocess.run(["cc", "-o", folder / "benchmark_model", tmp_path / "b.c"], check=True)
    monkeypatch.setenv("DEPLOYMENT_STUDIO_RUNTIMES", str(tmp_path / "runtimes"))
    model = tmp_path / "m.tflite"
    model.write_bytes(b"\x00\x00\x00\x00TFL3" + bytes(64))
    result = deploy(phone, model, Listener(), settings=RunSettings(target=target, runs=50))
    assert result.target_ran == target and result.delegated_nodes == nodes
    assert result.load_ms == 31.5
    assert result.latency_ms is None
    assert any("mean 0.810 ms over 50" in note for note in result.notes)
    kept = read_run(Path(result.run_file))
    assert [s.name for s in kept.summaries] == ["warm-up", "measure"] and len(kept.latency_ns) == 0
    placed = kept.placement.nodes if kept.placement else ()
    left = [(n.index, n.op) for n in placed if not n.is_taken]
    assert (len(placed), left) == ((9, [(4, "TOPK_V2"), (8, "CUMSUM")]) if nodes else (0, []))
    assert kept.is_complete


def test_the_job_serves_a_phone_until_it_is_stopped(server: AdbServer) -> None:
    seen = threading.Event()

    class Server(Listener):
        def log(self, text: str) -> None:
            assert "simulated" in text
            seen.set()

        def should_stop(self) -> bool:
            return seen.is_set()

    serve_phone(ServePhone(profile="android-7"), Server())
    assert seen.is_set()
    assert [d.id for d in see_devices()[0]] == ["this-computer"]
