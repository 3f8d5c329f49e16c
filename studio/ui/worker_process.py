"""WorkerProcess: one worker as the window sees it: a job in, events out, one outcome at the end.

Bytes are buffered to newlines; a worker that ends without `Done` or `Failed` gets a `Failed` that
says in words how it ended, with its last lines.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import deque
from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

from studio.errors import StudioError
from studio.jobs.job import Done, Failed, Job, decode_event

_LINES_A_TURN = 500  # then the window gets its turn, however fast a worker talks
_LONGEST_LINE = 64 << 20
_LINES_KEPT = 400  # of what a worker prints at once
_LAST_WORD_MS = 2000  # for a worker that has said its last word and hangs in its own shutdown


class WorkerProcess(QObject):
    """One worker process: bytes in, events out, and one outcome at the end."""

    event_read = Signal(object)
    said = Signal(str)
    ended = Signal(object)

    def __init__(self, parent: QObject, command: Sequence[str], environment: QProcessEnvironment) -> None:
        super().__init__(parent)
        self._pending = b""
        self._errors = b""
        self._last_lines: deque[str] = deque(maxlen=40)
        self._outcome: Done | Failed | None = None
        self._is_over = False
        self._process = QProcess(self)
        self._process.setProcessEnvironment(environment)
        self._process.readyReadStandardOutput.connect(self._read_events)
        self._process.readyReadStandardError.connect(self._read_errors)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)
        self._process.start(command[0], list(command[1:]))

    def send(self, job: Job) -> None:
        """Hands over the job; the worker begins."""
        if self._is_over:  # an idle worker that died before it had work
            QTimer.singleShot(0, self, lambda: self.ended.emit(self._silence()))
            return
        self._process.write(msgspec.json.encode(job) + b"\n")

    def close_stdin(self) -> None:
        """Tells the worker to leave."""
        self._process.closeWriteChannel()

    def leave(self, grace_ms: int) -> None:
        """Tells the worker to leave and kills its group when the grace is over."""
        self.close_stdin()
        QTimer.singleShot(grace_ms, self, self._kill)

    def end_by(self, deadline: float) -> None:
        """Waits until `deadline` (monotonic seconds) for the process to end, then kills it."""
        with contextlib.suppress(RuntimeError):
            self._process.blockSignals(True)
            if self._process.state() is QProcess.ProcessState.NotRunning:
                return
            if not self._process.waitForFinished(max(0, int((deadline - time.monotonic()) * 1000))):
                self._kill()
                self._process.waitForFinished(1000)

    def _kill(self) -> None:
        pid = self._process.processId()
        if self._is_over or not pid:
            return
        if hasattr(os, "killpg"):
            # The worker leads its group; its children (a compiler, a runner) must go with it.
            with contextlib.suppress(OSError):
                if os.getpgid(pid) == pid:
                    os.killpg(pid, signal.SIGKILL)
        self._process.kill()

    def _read_events(self) -> None:
        self._pending += self._process.readAllStandardOutput().data()
        if len(self._pending) > _LONGEST_LINE and b"\n" not in self._pending:
            self._pending = b""
            self._kill()
            return
        self._tell_lines()

    def _tell_lines(self) -> None:
        *lines, self._pending = self._pending.split(b"\n")
        for line in lines[:_LINES_A_TURN]:
            self._tell(line)
        if len(lines) > _LINES_A_TURN:
            self._pending = b"\n".join([*lines[_LINES_A_TURN:], self._pending])
            QTimer.singleShot(0, self, self._tell_lines)
        elif self._is_over:
            self.ended.emit(self._outcome or self._silence())
        elif self._outcome is not None:
            # Said its last word; libraries that hang in their own shutdown are not waited for.
            QTimer.singleShot(_LAST_WORD_MS, self, self._kill)

    def _tell(self, line: bytes) -> None:
        if not line.strip() or self._outcome is not None:
            return
        try:
            event = decode_event(line)
        except StudioError as error:
            self._last_lines.append(error.message)
            self.said.emit(error.message)
            return
        if isinstance(event, Done | Failed):
            self._outcome = event
        else:
            self.event_read.emit(event)

    def _read_errors(self) -> None:
        self._errors += self._process.readAllStandardError().data()
        *lines, self._errors = self._errors.split(b"\n")
        for raw in lines[-_LINES_KEPT:]:
            line = raw.decode(errors="replace").rstrip()
            if line:
                self._last_lines.append(line)
                self.said.emit(line)
        self._errors = self._errors[-4096:]

    def _on_finished(self, *_: object) -> None:
        if self._is_over:
            return
        self._read_errors()
        self._pending += self._process.readAllStandardOutput().data()
        self._is_over = True
        self._tell_lines()

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._last_lines.append(self._process.errorString())
            self._is_over = True
            QTimer.singleShot(0, self, lambda: self.ended.emit(self._silence()))

    def _silence(self) -> Failed:
        """What to say for a worker that ended without a last word."""
        how = self._how_it_ended()
        return Failed(
            error="crashed",
            message=f"The worker process {how} before it was done.",
            hint="Nothing was changed. Try again; when it happens twice, report it with the details.",
            detail="\n".join(self._last_lines),
            exit_code=5,
        )

    def _how_it_ended(self) -> str:
        process = self._process
        if process.error() is QProcess.ProcessError.FailedToStart:
            return "could not be started"
        if process.exitStatus() is QProcess.ExitStatus.CrashExit:
            code = process.exitCode()
            name = ""
            with contextlib.suppress(ValueError):
                name = signal.Signals(code).name
            if name == "SIGKILL":
                return "was killed (perhaps this computer ran out of memory)"
            return f"crashed ({name or code})"
        return f"ended with exit code {process.exitCode()}"
