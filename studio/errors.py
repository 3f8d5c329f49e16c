"""The errors a person can act on.

StudioError
├── InputError        fix the file, the project or the recipe
├── UnsupportedError  choose another target or setting; carries node names
├── DeviceError       plug in, unlock, authorise
└── ToolError         an external tool failed; carries argv, exit code, last lines

Anything else that is raised is a bug and is caught only at the edge of a worker, the
command line or the window. "Not supported" in an analysis is a Verdict, not an error.

Exit codes of the command line follow the class (`exit_code`); 1 is kept for
"it ran, and the answer is no".
"""

from __future__ import annotations


class StudioError(Exception):
    """A message in one sentence (what, where) and a hint (the next step)."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InputError(StudioError):
    """A file, a project or a setting is wrong and can be mended by its owner."""

    exit_code = 2


class UnsupportedError(StudioError):
    """This target or tool cannot take this graph; `nodes` names the culprits."""

    exit_code = 3

    def __init__(self, message: str, *, hint: str = "", nodes: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.nodes = nodes


class DeviceError(StudioError):
    """A phone is absent, locked, unauthorised, full or gone."""

    exit_code = 4


class ToolError(StudioError):
    """An external tool or library failed: what was run, how it ended, its last lines."""

    exit_code = 5

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        argv: tuple[str, ...] = (),
        returncode: int | None = None,
        last_lines: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, hint=hint)
        self.argv = argv
        self.returncode = returncode
        self.last_lines = last_lines
