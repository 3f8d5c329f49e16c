"""Asks tools in a process of their own, since a compiler that crashes must cost one answer, not the audit."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures import TimeoutError as TooLong
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import TracebackType

from studio.backends.ask import ToolAnswer
from studio.errors import StudioError, ToolError, UnsupportedError
from studio.jobs.ask_tool import ask
from studio.records import from_json, to_json

PATIENCE_S = 600.0


class ToolGone(ToolError):
    """The process that asked died or was killed: not the tool's answer, and worth asking again."""


class AskApart:
    """A helper process that answers one question after another and is started anew when it dies."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> AskApart:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._drop()

    def ask(
        self, path: Path, format_: str, target_id: str, *, soc: str, input_shapes: tuple[tuple[int, ...], ...]
    ) -> ToolAnswer | None:
        """The tool's answer.

        Raises ToolGone when it crashed or took too long, UnsupportedError when it is not here or cannot be
        asked about this chip, ToolError for whatever else it raised.
        """
        if self._pool is None:
            spawn = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=spawn, initializer=_leave_with_the_parent)
        future = self._pool.submit(_ask, str(path), format_, target_id, soc, input_shapes)
        try:
            state, text, hint = future.result(PATIENCE_S)
        except BrokenProcessPool:
            self._drop()
            raise ToolGone(
                f"The tool for {target_id} crashed on {path.name}.", hint="Ask it alone."
            ) from None
        except TooLong:
            self._drop(kill=True)
            raise ToolGone(
                f"The tool for {target_id} took over {PATIENCE_S:.0f} s on {path.name}.", hint="Ask it alone."
            ) from None
        if state == "absent":
            raise UnsupportedError(text, hint=hint)
        if state == "error":
            raise ToolError(text, hint=hint)
        return from_json(text, ToolAnswer, where="the tool's answer") if text else None

    def _drop(self, *, kill: bool = False) -> None:
        if self._pool is None:
            return
        if kill:
            for process in list((self._pool._processes or {}).values()):
                process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = None


def _leave_with_the_parent() -> None:
    """Ends the helper when the process that asked is gone, even killed: a compiler may run for minutes."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def _ask(
    path: str, format_: str, target_id: str, soc: str, shapes: tuple[tuple[int, ...], ...]
) -> tuple[str, str, str]:
    """("answer", JSON, "") or ("absent" or "error", message, hint), in the helper process."""
    try:
        answer = ask(Path(path), format_, target_id, soc=soc, input_shapes=shapes)
    except UnsupportedError as error:
        return "absent", error.message, error.hint
    except StudioError as error:
        return "error", error.message, error.hint
    except Exception as error:  # foreign code: whatever it raises is one answer less, not the end of an audit
        return "error", f"{target_id}: {type(error).__name__}: {error}", "Ask about this file alone."
    return "answer", to_json(answer) if answer is not None else "", ""
