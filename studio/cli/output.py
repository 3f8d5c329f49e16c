"""What a command says: results on stdout, progress on stderr, everything else into a log.

Libraries print to both descriptors (converters by the page), so while a command runs both lead to
the log file and the command keeps private copies. `DEPLOYMENT_STUDIO_DEBUG=1` leaves them alone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import IO

from studio.cli.tables import visible
from studio.errors import InputError, StudioError
from studio.jobs.job import ArtifactMade, Event, Failed, Log, Progress
from studio.records import Record, to_json

_LARGEST_LOG_BYTES = 1 << 20
_REDRAW_S = 0.1


def is_debugging() -> bool:
    """Whether the user asked for tracebacks and for what libraries print."""
    return os.environ.get("DEPLOYMENT_STUDIO_DEBUG", "") not in ("", "0")


class Problem(Record):
    """Why a command failed. `kind`: "input", "unsupported", "device", "tool", "cancelled" or "bug"."""

    kind: str
    message: str
    hint: str
    exit_code: int
    nodes: tuple[str, ...] = ()  # the nodes to blame, where some are
    detail: str = ""  # last lines of a tool


class ErrorAnswer(Record):
    """What `--json` prints instead of the answer when a command fails."""

    error: Problem

    @staticmethod
    def of(failed: Failed, *, hint: str) -> ErrorAnswer:
        detail = "" if failed.error == "bug" else failed.detail
        return ErrorAnswer(
            error=Problem(
                kind=failed.error,
                message=failed.message,
                hint=hint,
                exit_code=failed.exit_code,
                nodes=failed.nodes,
                detail=detail,
            )
        )


OpenWindow = Callable[[list[Path]], int]


class Output:
    """Where one command talks: `result` once at the end, `report` while it works."""

    def __init__(self, out: IO[str], err: IO[str], *, as_json: bool, show: OpenWindow | None = None) -> None:
        self._out = out
        self._show = show
        self.as_json = as_json
        self.report = TerminalReport(err)

    def result(self, record: Record, text: str = "") -> None:
        """The command's answer: the record as JSON with `--json`, else the text for people."""
        self.report.clear()
        self.line(to_json(record, indent=2) if self.as_json else text)

    def line(self, text: str) -> None:
        """A line on stdout. `BrokenPipeError` passes: main ends quietly."""
        self._out.write(visible(text) + "\n")
        self._out.flush()

    def open_window(self, paths: list[Path]) -> int:
        """Shows the window on these files; its exit code. Raises InputError when there is none."""
        if self._show is None:
            raise InputError("This command line has no window.", hint="Start it with: deployment-studio")
        return self._show(paths)

    def note(self, text: str) -> None:
        """A line for people on stderr: what was done or assumed."""
        self.report.log(text)


class TerminalReport:
    """The `Report` of a job that runs in this process: one line on stderr that renews itself.

    Where stderr is no terminal each stage gets one line, so that a CI log stays short.
    """

    def __init__(self, err: IO[str]) -> None:
        self._err = err
        self._is_terminal = err.isatty()
        self._stage = ""
        self._width = 0
        self._drawn = 0.0
        self.stopped = False
        self.on_event: Callable[[Event], None] | None = None

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None:
        if not self._is_terminal:
            if stage != self._stage:
                self._say(f"{stage} …")
            self._stage = stage
            return
        now = time.monotonic()
        if stage == self._stage and now - self._drawn < _REDRAW_S and done != total:
            return
        self._stage, self._drawn = stage, now
        self._draw(visible(f"{stage} {_amount(done, total, unit)}".rstrip()))

    def log(self, text: str) -> None:
        self.clear()
        self._say(text)

    def emit(self, event: Event) -> None:
        if self.on_event is not None:
            self.on_event(event)
        if isinstance(event, Progress):
            self.progress(event.stage, event.done, event.total, event.unit)
        elif isinstance(event, Log):
            self.log(event.text)
        elif isinstance(event, ArtifactMade):
            state = "unchanged" if event.was_cached else f"made in {event.artifact.seconds:.1f} s"
            self.log(f"{event.step_id}: {state}")

    def should_stop(self) -> bool:
        return self.stopped

    def clear(self) -> None:
        """Takes the progress line away."""
        if self._width:
            self._write("\r" + " " * self._width + "\r")
            self._width = 0

    def _draw(self, text: str) -> None:
        self._write("\r" + text.ljust(self._width))
        self._width = len(text)

    def _say(self, text: str) -> None:
        self._write(visible(text) + "\n")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # a closed stderr is no reason to fail
            self._err.write(text)
            self._err.flush()


@contextlib.contextmanager
def stopping(report: TerminalReport) -> Iterator[None]:
    """While a run is measured the first Ctrl+C asks it to end well; the second interrupts."""

    def ask(_number: int, _frame: FrameType | None) -> None:
        if report.stopped:
            raise KeyboardInterrupt
        report.stopped = True
        report.log("stopping; press Ctrl+C again to leave at once")

    previous = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _amount(done: int, total: int | None, unit: str) -> str:
    if unit == "bytes" and total:
        return f"{done / 1e6:.1f} of {total / 1e6:.1f} MB"
    if total and unit == "%":
        return f"{100 * done // total} %"
    if total:
        return f"{done} of {total} {unit}".rstrip()
    return f"{done} {unit}".rstrip() if done else "…"


def log_path() -> Path:
    """The log of the command line; the older half is dropped at 1 MB."""
    from studio.paths import data_dir

    return data_dir() / "command-line.log"


@contextlib.contextmanager
def private_streams() -> Iterator[tuple[IO[str], IO[str]]]:
    """(stdout, stderr) that are ours alone, while descriptors 1 and 2 lead to the log."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        kept = os.dup(1), os.dup(2)
    except OSError:  # started without descriptors: nothing to protect
        yield sys.stdout, sys.stderr
        return
    out = os.fdopen(kept[0], "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    err = os.fdopen(kept[1], "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    log = _open_log()
    try:
        if log is not None and not is_debugging():
            os.dup2(log, 1)
            os.dup2(log, 2)
        yield out, err
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for handle in (*kept, log):
            if handle is not None:
                os.close(handle)


def _open_log() -> int | None:
    try:
        path = log_path()
        if path.exists() and path.stat().st_size > _LARGEST_LOG_BYTES:
            os.replace(path, path.with_suffix(".log.1"))
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except (OSError, StudioError):
        return None  # a log that cannot be written must not stop the work
    started = time.strftime("%Y-%m-%d %H:%M:%S")
    with contextlib.suppress(OSError):
        os.write(handle, f"\n--- {started} {' '.join(sys.argv[1:])}\n".encode(errors="backslashreplace"))
    return handle


def open_missing_streams() -> None:
    """Puts the null device where the program was started with a closed descriptor.

    Otherwise the next file that is opened would get its number, and what is printed.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
