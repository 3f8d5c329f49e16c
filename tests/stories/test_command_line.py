"""The journeys by command line, each in real processes, as a user types them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from studio.measure.run_file import read_run
from tests.unit.cli.tiny_models import conv_net


def studio(*arguments: str, cwd: Path, code: int = 0) -> Any:
    """The JSON answer of a command; fails with what it said on stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "studio", *arguments, "--json"],
        cwd=cwd, capture_output=True, text=True, timeout=500,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_a_newcomer_runs_the_demo_and_gets_the_table_and_the_report(tmp_path: Path) -> None:
    answer = studio("demo", cwd=tmp_path)
    folder = tmp_path / "digits-demo"
    assert Path(answer["report"]) == folder / "report.html"
    assert (folder / "report.html").stat().st_size > 50_000
    steps = {s["id"]: s for s in answer["steps"]}
    runs = {r["step"]: r["result"] for r in answer["runs"]}
    assert answer["passed"] and not answer["skipped"]
    assert set(runs) == {"export", "quantize", "ort", "tflite", "pte"}
    for result in runs.values():  # no speed without its error
        assert result["latency_ms"]["n"] >= 100 and result["error"]["accuracy"] >= 0.97
        assert result["target_ran"] == result["target"]
        assert len(read_run(Path(result["run_file"])).latency_ns) == result["latency_ms"]["n"]
    assert steps["quantize"]["size_bytes"] <= 0.35 * steps["export"]["size_bytes"]
    assert runs["quantize"]["error"]["accuracy"] >= runs["export"]["error"]["accuracy"] - 0.01
    # a second one goes elsewhere and finds everything made: by content, not by path
    again = studio("demo", cwd=tmp_path)
    assert Path(again["project"]).parent == tmp_path / "digits-demo-2"
    assert all(s["was_cached"] for s in again["steps"])
    assert {s["sha256"] for s in again["steps"]} == {s["sha256"] for s in answer["steps"]}


def test_a_foreign_onnx_becomes_a_project_that_a_teammate_can_run(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    model = conv_net(mine / "net.onnx")
    random = np.random.default_rng(1)
    images = random.normal(0, 1, (32, 3, 16, 16)).astype("f")
    np.savez(mine / "data.npz", inputs=images)
    data = ["--calibration", str(mine / "data.npz"), "--evaluation", str(mine / "data.npz")]
    targets = ["--target", "ort/cpu", "--target", "ort/nnapi"]
    made = studio("new", "net.studio", "--model", str(model), *data, *targets, cwd=mine)
    assert [s["id"] for s in made["steps"]] == ["quantize", "ort", "verify-ort"]

    first = studio("run", "net.studio", "--runs", "20", "--seconds", "0", cwd=mine)
    assert not any(s["was_cached"] for s in first["steps"])
    assert [r["step"] for r in first["runs"]] == ["source", "quantize", "ort"]
    assert studio("report", "net.studio", "--out", "report.html", cwd=mine)["runs"] == 3

    theirs = tmp_path / "other" / "checkout"
    theirs.parent.mkdir()
    shutil.copytree(mine, theirs)
    second = studio("run", "net.studio", "--no-deploy", cwd=theirs)
    assert all(s["was_cached"] for s in second["steps"])

    text = (theirs / "net.studio").read_text()
    impossible = text.replace('id = "verify-ort"', 'id = "verify-ort"\nmin_snr_db = 300.0')
    (theirs / "net.studio").write_text(impossible)
    third = studio("run", "net.studio", "--no-deploy", cwd=theirs, code=1)  # it ran, and the answer is no
    assert not third["passed"] and "budget" in third["steps"][-1]["failures"][0]


def test_single_steps_on_bare_files(tmp_path: Path) -> None:
    model = conv_net(tmp_path / "net.onnx")
    random = np.random.default_rng(1)
    np.savez(tmp_path / "data.npz", inputs=random.normal(0, 1, (16, 3, 16, 16)).astype("f"))
    data = ["--calibration", "data.npz"]
    made = studio("quantize", str(model), *data, "--out", "int8.onnx", cwd=tmp_path)
    assert Path(made["out"]) == tmp_path / "int8.onnx"
    studio("convert", "int8.onnx", "--out", "int8.ort", cwd=tmp_path)
    compared = studio("verify", "int8.ort", "--against", "net.onnx", *data, cwd=tmp_path)
    assert compared["steps"][0]["error"]["snr_db"] > 15
    no = studio("verify", "int8.ort", "--against", "net.onnx", "--min-snr-db", "200", cwd=tmp_path, code=1)
    assert no["passed"] is False
    arguments = ("--reference", "net.onnx", "--inputs", "data.npz", "--runs", "20", "--seconds", "0")
    run = studio("bench", "int8.ort", *arguments, cwd=tmp_path)
    assert run["target_ran"] == "ort/cpu" and run["error"]["snr_db"] > 15
    refused = studio("convert", "net.onnx", "--out", "net.tflite", cwd=tmp_path, code=3)
    assert refused["error"]["kind"] == "unsupported"
    assert not (tmp_path / "net.tflite").exists()


def test_bench_streams_every_record_as_it_comes(tmp_path: Path) -> None:
    model = conv_net(tmp_path / "net.onnx")
    done = subprocess.run(
        [sys.executable, "-m", "studio", "bench", str(model), "--runs", "30", "--seconds", "0", "--jsonl"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [line.get("type") for line in lines[:-1]]
    assert kinds[0] == "hello" and kinds[-1] == "end"
    assert kinds.count("run") == 30
    assert lines[-1]["latency_ms"]["n"] == 30


def test_python_runs_only_after_trust(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\n\n\ndef build():\n"
        "    open('executed', 'w').close()\n    return torch.nn.Linear(4, 2)\n"
    )
    source = ["net.py:build", "--input", "x:float32:1,4", "--out", "net.onnx"]
    refused = studio("export", *source, cwd=tmp_path, code=2)["error"]
    assert "not trusted" in refused["message"] and "--trust" in refused["hint"]
    assert not (tmp_path / "executed").exists()
    studio("export", *source, "--trust", cwd=tmp_path)
    assert (tmp_path / "net.onnx").is_file() and (tmp_path / "executed").exists()


def test_ctrl_c_during_a_run_leaves_a_whole_file(tmp_path: Path) -> None:
    model = conv_net(tmp_path / "net.onnx")
    process = subprocess.Popen(
        [sys.executable, "-m", "studio", "bench", str(model), "--seconds", "300", "--jsonl"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert process.stdout
    for line in process.stdout:
        if json.loads(line).get("type") == "run":
            process.send_signal(signal.SIGINT)
            break
    rest, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    answer = json.loads(rest.splitlines()[-1])
    found = read_run(Path(answer["run_file"]))
    assert found.end is not None and found.end.reason == "stopped"
    assert len(found.latency_ns) == answer["latency_ms"]["n"]


_PHONE_PROGRAMS = ("adb", "mksh", "toybox", "proot")


@pytest.fixture
def adb_port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A private adb server, ended afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(port))
    yield port
    subprocess.run(["adb", "-P", str(port), "kill-server"], capture_output=True)


@pytest.mark.skipif(
    any(shutil.which(p) is None for p in _PHONE_PROGRAMS), reason="adb, mksh, toybox or proot is missing"
)
def test_a_virtual_phone_appears_runs_and_is_marked_simulated(tmp_path: Path, adb_port: int) -> None:
    model = conv_net(tmp_path / "net.onnx")
    process = subprocess.Popen(
        [sys.executable, "-m", "studio", "virtual-phone", "--json"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    try:
        assert process.stdout
        text = ""
        for line in process.stdout:
            text += line
            if line.startswith("}"):
                break
        serial = json.loads(text)["serial"]
        phone = next(d for d in studio("devices", cwd=tmp_path)["devices"] if d["id"] == serial)
        assert phone["state"] == "ready" and phone["is_simulated"]
        arguments = ("--device", serial, "--runs", "20", "--seconds", "0", "--reference", str(model))
        run = studio("bench", str(model), *arguments, cwd=tmp_path)
        assert run["is_simulated"] and run["target_ran"] == "ort/cpu"
        assert run["error"]["snr_db"] is None or run["error"]["snr_db"] > 60
        assert read_run(Path(run["run_file"])).hello.is_simulated
    finally:
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=20)
    assert process.returncode == 0
    gone = [d["id"] for d in studio("devices", cwd=tmp_path)["devices"]]
    assert gone == ["this-computer"]


def open_in_browser(page: Path) -> tuple[str, str, list[str]]:
    """(the page's DOM, what the browser logged, what the page asked the network for)."""
    log = page.with_suffix(".net.json")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        done = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             f"--user-data-dir={profile}", "--enable-logging=stderr", f"--log-net-log={log}",
             "--dump-dom", page.as_uri()],
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
    asked = []
    for event in json.loads(log.read_text())["events"]:
        params = event.get("params", {})
        if params.get("initiator", "not an origin") != "not an origin":  # the browser's own have none
            asked.append(params["url"])
    return done.stdout, done.stderr, asked


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_the_report_opens_in_a_browser_without_an_error_or_a_request(tmp_path: Path) -> None:
    model = conv_net(tmp_path / "net.onnx")
    studio("new", "net.studio", "--model", str(model), "--target", "ort/nnapi", cwd=tmp_path)
    studio("run", "net.studio", "--runs", "300", "--seconds", "0", cwd=tmp_path)
    studio("report", "net.studio", "--out", "report.html", cwd=tmp_path)
    dom, log, asked = open_in_browser(tmp_path / "report.html")
    assert "At a glance" in dom
    assert "CONSOLE" not in log
    assert not asked
    careless = tmp_path / "careless.html"  # proves that the check can fail
    careless.write_text('<img src="http://127.0.0.1:9/x.png">')
    assert open_in_browser(careless)[2] == ["http://127.0.0.1:9/x.png"]
