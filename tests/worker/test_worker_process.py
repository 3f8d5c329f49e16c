"""The worker process itself: its contract on stdin, its private pipe, its way to leave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from studio.jobs.job import Done, Failed, decode_event, encode_event
from studio.jobs.worker import failure_of

COMMAND = [sys.executable, "-m", "studio.jobs.worker"]


def run(line: bytes, *arguments: str) -> tuple[int, list[bytes], bytes]:
    """Exit code, events, stderr. Stdin stays open until the worker ends: its end would mean cancel."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complained:
        process = subprocess.Popen(
            [*COMMAND, *arguments], stdin=subprocess.PIPE, stdout=said, stderr=complained
        )
        assert process.stdin is not None
        try:
            process.stdin.write(line)
            process.stdin.flush()
            if not line:
                process.stdin.close()
            code = process.wait(timeout=60)
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
        said.seek(0)
        complained.seek(0)
        return code, said.read().splitlines(), complained.read()


def job(kind: str, **spec: object) -> bytes:
    return json.dumps({"kind": kind, "spec": spec}).encode() + b"\n"


def test_no_job_is_no_error() -> None:
    assert run(b"")[:2] == (0, [])


def test_a_line_that_is_no_job_is_refused() -> None:
    code, lines, _ = run(b"hello\n")
    last = decode_event(lines[-1])
    assert isinstance(last, Failed)
    assert (code, last.error) == (2, "input")


def test_wrong_settings_name_the_field() -> None:
    _, lines, _ = run(job("read_docs", format=3, ops=[]))
    last = decode_event(lines[-1])
    assert isinstance(last, Failed)
    assert "$.format" in last.message


def test_a_job_ends_with_done_and_nothing_but_events_on_the_pipe() -> None:
    code, lines, _ = run(job("read_docs", format="onnx", ops=[["", "Conv"]], opsets={"": 18}))
    events = [decode_event(line) for line in lines]
    assert code == 0
    assert isinstance(events[-1], Done)
    assert json.loads(bytes(events[-1].result))["docs"][0]["op"] == "Conv"


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    _, lines, _ = run(job("open_graph", path=str(tmp_path / "no.onnx")))
    last = decode_event(lines[-1])
    assert isinstance(last, Failed)
    assert last.error == "input"
    assert "no.onnx" in last.message
    assert last.detail == ""


@pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX")
def test_the_worker_leads_its_own_group_and_ends_with_stdin() -> None:
    process = subprocess.Popen([*COMMAND, "--warm=json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    try:
        process.stdin.close()
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_bugs_carry_their_traceback_and_full_disks_a_next_step() -> None:
    try:
        raise ZeroDivisionError("oops")
    except ZeroDivisionError as error:
        bug = failure_of(error)
    assert (bug.error, bug.exit_code) == ("bug", 70)
    assert "ZeroDivisionError" in bug.detail
    full = failure_of(OSError(28, "No space left on device", "/cache/x"))
    assert "no space" in full.message
    assert full.hint
    assert failure_of(KeyboardInterrupt()).error == "cancelled"
    assert encode_event(full).endswith(b"\n")
