"""The worker process: takes one job on stdin, tells events on a private descriptor, leaves.

`python -m studio.jobs.worker` (frozen: the application with `--worker`). Contract, both sides:

- the job (`studio.jobs.job.Job` as JSON) is the first line on stdin; a worker that has been
  started early waits for it and, with `--warm a,b`, imports those modules meanwhile;
- events are JSON lines on a private copy of descriptor 1, because libraries print: whatever they
  write to 1 or 2 ends on stderr;
- end of stdin means leave: `should_stop()` turns true, and after `LEAVE_S` the process group is
  killed from inside, so that nothing outlives a window that died;
- the last event is `Done` or `Failed`. A worker that ends without one has crashed.

The worker leads a process group of its own, so that one signal reaches its children as well.
"""

from __future__ import annotations

import contextlib
import errno
import faulthandler
import importlib
import os
import select
import signal
import sys
import threading
import time
import traceback
from typing import BinaryIO

import msgspec

from studio.errors import InputError, StudioError
from studio.jobs.job import Done, Event, Failed, Job, Log, Progress, encode_event, failed_from, run_job

LEAVE_S = 15.0
"""Seconds after the end of stdin until the worker kills itself. The window is stricter (one second
for a job that must end, longer for a run that must say goodbye to a phone)."""

_PROGRESS_S = 0.05  # at most 20 progress events a second and stage: a pipe is not a firehose


class PipeReport:
    """The `Report` of a worker: events go down the pipe, the stop flag comes from stdin's end."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._last_stage = ""
        self._last_time = 0.0

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None:
        now = time.monotonic()
        is_last = total is not None and done >= total
        if stage == self._last_stage and not is_last and now - self._last_time < _PROGRESS_S:
            return
        self._last_stage, self._last_time = stage, now
        self.emit(Progress(stage=stage, done=done, total=total, unit=unit))

    def log(self, text: str) -> None:
        self.emit(Log(text=text))

    def emit(self, event: Event) -> None:
        line = encode_event(event)
        with self._lock:
            try:
                self._pipe.write(line)
                self._pipe.flush()
            except (BrokenPipeError, ValueError):
                # Nobody listens any more: the window is gone, and so is the reason to work.
                _leave_now()

    def should_stop(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        """Asks the job to end; called when stdin ends."""
        self._stop.set()


def run_and_report(job: Job, report: PipeReport) -> int:
    """Runs the job and tells its last event; returns the exit code for the process."""
    last: Done | Failed
    try:
        result = run_job(job, report)
        last = Done(result=msgspec.Raw(msgspec.json.encode(result)))
    except BaseException as error:
        last = failure_of(error, was_stopped=report.should_stop())
    report.emit(last)
    return 0 if isinstance(last, Done) else last.exit_code


def failure_of(error: BaseException, *, was_stopped: bool = False) -> Failed:
    """The `Failed` event of whatever a job raised; a bug carries its traceback as detail."""
    if isinstance(error, KeyboardInterrupt):
        return Failed(error="cancelled", message="The job was cancelled.", exit_code=130)
    if isinstance(error, StudioError):
        failed = failed_from(error)
        return msgspec.structs.replace(failed, error="cancelled") if was_stopped else failed
    if isinstance(error, msgspec.ValidationError):
        return Failed(error="input", message=f"The job's settings are wrong: {error}.", exit_code=2)
    if isinstance(error, MemoryError):
        return Failed(
            error="input",
            message="This computer has not enough memory for this step.",
            hint="Close other programs or use a smaller model or fewer samples.",
        )
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Failed(
            error="input",
            message=f"There is no space left on the disk ({error.filename or 'cache folder'}).",
            hint="Free some space and run the step again; nothing was changed.",
        )
    if isinstance(error, PermissionError):
        return Failed(
            error="input",
            message=f"Permission denied: {error.filename}.",
            hint="Check who may read and write there.",
        )
    return Failed(
        error="bug",
        message=f"The studio made a mistake: {type(error).__name__}: {error}",
        hint="Please report it with the details below.",
        detail="".join(traceback.format_exception(error))[-20_000:],
        exit_code=70,
    )


def main(argv: list[str] | None = None) -> int:
    """Serves one job from stdin; returns 0 after Done, the error's exit code after Failed."""
    argv = sys.argv[1:] if argv is None else argv
    with contextlib.suppress(OSError, AttributeError):
        os.setpgid(0, 0)
    pipe = _private_pipe()
    faulthandler.enable()
    warm = [a.split("=", 1)[1] for a in argv if a.startswith("--warm=")]
    _import_while_idle(warm[0].split(",") if warm else [])
    # Unbuffered on purpose: a buffered reader would hold its lock in the thread that waits for the
    # end of stdin, and the interpreter dies when it meets that lock on its way out.
    line = _read_line()
    if not line.strip():
        return 0  # never given a job: the window closed first
    report = PipeReport(pipe)
    _watch_stdin(report)
    try:
        job = msgspec.json.decode(line, type=Job)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        refused = failed_from(InputError(f"The job is not readable: {error}.", hint="Report this."))
        report.emit(refused)
        return refused.exit_code
    code = run_and_report(job, report)
    sys.stderr.flush()
    return code


def _private_pipe() -> BinaryIO:
    """Descriptor 1 for us alone; what libraries print goes to stderr from now on."""
    private = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(private, "wb")


def _read_line() -> bytes:
    chunks: list[bytes] = []
    while True:
        chunk = os.read(0, 1 << 16)
        chunks.append(chunk)
        if not chunk or chunk.endswith(b"\n"):
            return b"".join(chunks)


def _import_while_idle(modules: list[str]) -> None:
    """Imports one module after the other until the job's line arrives."""
    for module in modules:
        if os.name == "posix" and select.select([0], [], [], 0)[0]:
            return
        with contextlib.suppress(Exception):
            importlib.import_module(module)


def _watch_stdin(report: PipeReport) -> None:
    def wait() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        report.stop()
        time.sleep(LEAVE_S)
        _leave_now()

    threading.Thread(target=wait, name="stdin", daemon=True).start()


def _leave_now() -> None:
    """Ends this process and its children at once; work in progress is in `.partial` folders."""
    with contextlib.suppress(OSError, AttributeError):
        if os.getpgid(0) == os.getpid():
            os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    raise SystemExit(main())
