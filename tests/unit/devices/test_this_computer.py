"""This computer as a device, against runners that behave and runners that do not.

The runners are real processes: a few lines of Python that speak the protocol.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from studio.devices.device import DeviceState, RunMode, RunRequest, RunSettings
from studio.devices.stream import End, Fault, Hello, Inference, Sample, StreamRecord
from studio.devices.this_computer import ThisComputer
from studio.errors import InputError, StudioError, ToolError, UnsupportedError

SPEAK = """
import json, os, sys, threading, time, signal
spec = json.loads(sys.stdin.readline())
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
def say(**record): sys.stdout.write(json.dumps(record) + "\\n"); sys.stdout.flush()
def now(): return time.monotonic_ns()
say(type="hello", runner="fake", runtime="none", target=spec["request"]["settings"]["target"],
    device_id=spec["device_id"], wall_time="2026-11-30T12:00:00Z")
"""
GOOD = "for i in range(5): say(type='run', i=i, t_ns=now(), latency_ns=7)\n"
END = "say(type='end', t_ns=now(), reason='stopped' if stop.is_set() else 'done', runs=5)\n"


def device(tmp_path: Path, body: str) -> ThisComputer:
    script = tmp_path / "runner.py"
    script.write_text(SPEAK + body)
    return ThisComputer((sys.executable, str(script)))


def request(tmp_path: Path) -> RunRequest:
    model = tmp_path / "m.onnx"
    model.write_bytes(b"model")
    settings = RunSettings(target="ort/cpu", mode=RunMode.BURST, sample_hz=50)
    return RunRequest(
        artifact_path=str(model), artifact_format="onnx", artifact_sha256="0", settings=settings
    )


def collect(
    fake: ThisComputer, asked: RunRequest, *, stop_after: float = 1e9
) -> tuple[list[StreamRecord], StudioError | None]:
    records: list[StreamRecord] = []
    began = time.monotonic()
    try:
        for record in fake.run(
            asked, on_push=lambda *_: None, should_stop=lambda: time.monotonic() - began > stop_after
        ):
            records.append(record)
    except StudioError as error:
        return records, error
    return records, None


def test_identity_is_always_ready() -> None:
    info = ThisComputer().identify()
    assert (info.id, info.state, info.is_simulated) == ("this-computer", DeviceState.READY, False)
    assert info.abi and info.os_version


def test_hello_comes_first_end_last_and_samples_between(tmp_path: Path) -> None:
    body = GOOD + "time.sleep(0.2)\n" + END
    records, error = collect(device(tmp_path, body), request(tmp_path))
    assert error is None
    assert isinstance(records[0], Hello) and isinstance(records[-1], End)
    assert [r.i for r in records if isinstance(r, Inference)] == [0, 1, 2, 3, 4]
    samples = [r for r in records if isinstance(r, Sample)]
    assert len(samples) >= 4
    assert all(s.rss_bytes is None or s.rss_bytes > 0 for s in samples)
    assert all(reason for s in samples for reason in s.unavailable.values())


def test_noise_on_stderr_does_not_block(tmp_path: Path) -> None:
    records, error = collect(
        device(tmp_path, "sys.stderr.write('x' * 300000)\n" + GOOD + END), request(tmp_path)
    )
    assert error is None and isinstance(records[-1], End)


def test_a_crash_keeps_what_came_and_says_the_signal_and_the_last_words(tmp_path: Path) -> None:
    body = GOOD + "print('boom in op 7', file=sys.stderr, flush=True)\nos.kill(os.getpid(), signal.SIGSEGV)\n"
    records, error = collect(device(tmp_path, body), request(tmp_path))
    assert len([r for r in records if isinstance(r, Inference)]) == 5
    assert isinstance(records[-2], Fault) and isinstance(records[-1], End)
    assert records[-1].reason == "failed"
    assert isinstance(error, ToolError) and "SIGSEGV" in error.message
    assert any("boom in op 7" in line for line in error.last_lines)


def test_death_inside_a_line_loses_only_that_line(tmp_path: Path) -> None:
    body = GOOD + 'sys.stdout.write(\'{"type":"run","i"\'); sys.stdout.flush(); os._exit(9)\n'
    records, error = collect(device(tmp_path, body), request(tmp_path))
    assert len([r for r in records if isinstance(r, Inference)]) == 5
    assert isinstance(error, ToolError) and "9" in error.message


def test_a_fault_becomes_the_error_it_stands_for(tmp_path: Path) -> None:
    body = (
        "say(type='error', t_ns=now(), message='No kernel.', hint='Use opset 17.',"
        " error='unsupported', nodes=['/a'])\nsay(type='end', t_ns=now(), reason='failed', runs=0)\n"
    )
    _, error = collect(device(tmp_path, body), request(tmp_path))
    assert isinstance(error, UnsupportedError)
    assert (error.message, error.hint, error.nodes) == ("No kernel.", "Use opset 17.", ("/a",))


def test_stop_lets_the_runner_finish_its_stream(tmp_path: Path) -> None:
    body = GOOD + "stop.wait(20)\n" + END
    began = time.monotonic()
    records, error = collect(device(tmp_path, body), request(tmp_path), stop_after=0.3)
    assert error is None
    assert isinstance(records[-1], End) and records[-1].reason == "stopped"
    assert time.monotonic() - began < 5


def test_a_runner_that_does_not_listen_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.devices.this_computer._GRACE_SECONDS", 0.3)
    records, error = collect(device(tmp_path, GOOD + "time.sleep(60)\n"), request(tmp_path), stop_after=0.3)
    assert error is None
    assert isinstance(records[-1], End) and records[-1].reason == "stopped"


def test_leaving_early_kills_the_runner(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    body = f"open({str(pid_file)!r}, 'w').write(str(os.getpid()))\n" + GOOD + "time.sleep(60)\n"
    stream = device(tmp_path, body).run(request(tmp_path), on_push=lambda *_: None, should_stop=lambda: False)
    for record in stream:
        if isinstance(record, Inference):
            break
    stream.close()
    assert not Path(f"/proc/{pid_file.read_text()}").exists()


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    asked = request(tmp_path)
    Path(asked.artifact_path).unlink()
    _, error = collect(device(tmp_path, GOOD), asked)
    assert isinstance(error, InputError)


def test_a_runner_that_is_not_there_is_a_tool_error(tmp_path: Path) -> None:
    _, error = collect(ThisComputer((str(tmp_path / "nothing"),)), request(tmp_path))
    assert isinstance(error, ToolError)
