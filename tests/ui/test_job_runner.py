"""The job runner against real processes: good ones, and every kind of bad one."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from studio.jobs.job import Done, Failed, Job, Log
from studio.ui.job_runner import COMPUTE, LIGHT, JobRunner, JobStatus, device_lane

ODD = Path(__file__).parent.parent / "fakes" / "odd_worker.py"
JOB = Job(kind="any", spec=msgspec.Raw(b"{}"))


@pytest.fixture
def made() -> Iterator[list[JobRunner]]:
    runners: list[JobRunner] = []
    yield runners
    for runner in runners:
        runner.shut_down(grace_ms=100)


def odd(made: list[JobRunner], how: str) -> JobRunner:
    runner = JobRunner(command=[sys.executable, str(ODD), how], keep_one_ready=False)
    made.append(runner)
    return runner


def outcome_of(qtbot: QtBot, runner: JobRunner, job_id: str) -> Done | Failed:
    qtbot.waitUntil(lambda: runner.state(job_id).is_over, timeout=60_000)
    outcome = runner.state(job_id).outcome
    assert outcome is not None
    return outcome


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("segfaults", "crashed (SIGSEGV)"),
        ("is-killed", "was killed"),
        ("leaves-silently", "ended with exit code 3"),
        ("dies-mid-line", "ended with exit code 0"),
    ],
)
def test_silence_becomes_a_crash_that_says_how(
    qtbot: QtBot, made: list[JobRunner], how: str, words: str
) -> None:
    runner = odd(made, how)
    outcome = outcome_of(qtbot, runner, runner.start(JOB, title="x"))
    assert isinstance(outcome, Failed)
    assert outcome.error == "crashed"
    assert words in outcome.message


def test_a_crash_keeps_the_last_lines(qtbot: QtBot, made: list[JobRunner]) -> None:
    runner = odd(made, "segfaults")
    outcome = outcome_of(qtbot, runner, runner.start(JOB, title="x"))
    assert isinstance(outcome, Failed)
    assert "about to die" in outcome.detail


def test_a_worker_that_cannot_start_is_a_failure(qtbot: QtBot, made: list[JobRunner]) -> None:
    runner = JobRunner(command=["/nowhere/python"], keep_one_ready=False)
    made.append(runner)
    outcome = outcome_of(qtbot, runner, runner.start(JOB, title="x"))
    assert isinstance(outcome, Failed)
    assert "could not be started" in outcome.message


def test_cancel_kills_a_deaf_worker_after_the_grace(qtbot: QtBot, made: list[JobRunner]) -> None:
    runner = odd(made, "hangs")
    job_id = runner.start(JOB, title="x")
    qtbot.waitUntil(lambda: runner.state(job_id).progress is not None, timeout=60_000)
    started = time.monotonic()
    runner.cancel(job_id)
    outcome = outcome_of(qtbot, runner, job_id)
    assert isinstance(outcome, Failed)
    assert outcome.error == "cancelled"
    assert runner.state(job_id).status is JobStatus.CANCELLED
    assert time.monotonic() - started < 8


@pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX")
def test_cancel_takes_the_children_too(qtbot: QtBot, made: list[JobRunner]) -> None:
    runner = odd(made, "hangs-with-child")
    job_id = runner.start(JOB, title="x")
    qtbot.waitUntil(lambda: bool(runner.state(job_id).lines), timeout=60_000)
    child = int(runner.state(job_id).lines[0])
    runner.cancel(job_id, grace_ms=50)
    outcome_of(qtbot, runner, job_id)
    qtbot.waitUntil(lambda: not is_alive(child), timeout=60_000)


def test_a_polite_worker_may_finish_after_cancel(qtbot: QtBot, made: list[JobRunner]) -> None:
    runner = odd(made, "slow-goodbye")
    job_id = runner.start(JOB, title="x")
    qtbot.waitUntil(lambda: runner.state(job_id).progress is not None, timeout=60_000)
    runner.cancel(job_id, grace_ms=5_000)
    assert isinstance(outcome_of(qtbot, runner, job_id), Done)


def test_a_worker_that_never_exits_frees_its_lane(qtbot: QtBot, made: list[JobRunner]) -> None:
    runner = odd(made, "never-exits")
    first, second = runner.start(JOB, title="x"), runner.start(JOB, title="y")
    assert isinstance(outcome_of(qtbot, runner, first), Done)
    assert isinstance(outcome_of(qtbot, runner, second), Done)


def test_rubbish_between_events_is_logged_and_survived(qtbot: QtBot, made: list[JobRunner]) -> None:
    runner = odd(made, "talks-rubbish")
    assert isinstance(outcome_of(qtbot, runner, runner.start(JOB, title="x")), Done)


def test_a_flood_arrives_whole_and_in_order(qtbot: QtBot, made: list[JobRunner]) -> None:
    runner = odd(made, "floods")
    seen: list[str] = []
    runner.event_received.connect(lambda _id, e: seen.append(e.text) if isinstance(e, Log) else None)
    assert isinstance(outcome_of(qtbot, runner, runner.start(JOB, title="x")), Done)
    assert seen == [f"line {i}" for i in range(20_000)]


def test_lanes_hold_their_capacity(qtbot: QtBot, made: list[JobRunner]) -> None:
    runner = odd(made, "hangs")
    computes = [runner.start(JOB, title="c", lane=COMPUTE) for _ in range(2)]
    lights = [runner.start(JOB, title="l", lane=LIGHT) for _ in range(3)]
    phones = [runner.start(JOB, title="d", lane=device_lane(d)) for d in ("a", "a", "b")]
    status = [runner.state(i).status for i in (*computes, *lights, *phones)]
    running, queued = JobStatus.RUNNING, JobStatus.QUEUED
    assert status == [running, queued, running, running, queued, running, queued, running]
    runner.cancel(computes[1])
    assert runner.state(computes[1]).status is JobStatus.CANCELLED


def test_a_real_worker_names_an_unknown_job(qtbot: QtBot, made: list[JobRunner]) -> None:
    runner = JobRunner(keep_one_ready=False)
    made.append(runner)
    outcome = outcome_of(qtbot, runner, runner.start(JOB, title="x"))
    assert isinstance(outcome, Failed)
    assert outcome.error == "input"
    assert "any" in outcome.message


def test_the_idle_worker_takes_the_next_job(qtbot: QtBot, made: list[JobRunner]) -> None:
    runner = JobRunner()
    made.append(runner)
    runner.prewarm()
    qtbot.wait(50)
    assert isinstance(outcome_of(qtbot, runner, runner.start(JOB, title="x")), Failed)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")
