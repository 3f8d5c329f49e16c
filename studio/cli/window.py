"""`deployment-studio [FILE]`: opens the window, on a model or a project.

Example: `deployment-studio mobilenet.onnx`. Returns when the window is closed. A single word
that is neither a file nor a command is taken for a mistyped command.
"""

from __future__ import annotations

import difflib
import os
import sys
from argparse import Namespace
from pathlib import Path

from studio.cli.options import Parser
from studio.cli.output import Output
from studio.errors import InputError


def parser() -> Parser:
    """The options of opening the window."""
    result = Parser(
        "", summary="Open the window on a model or a project.", example="deployment-studio mobilenet.onnx"
    )
    result.add_argument("file", nargs="?", help="a model or a .studio project")
    return result


def run(options: Namespace, output: Output) -> int:
    """Opens the window and returns its exit code. Raises InputError without file or display."""
    if options.file:
        _check_file(options.file)
    check_display()
    return output.open_window([Path(options.file).absolute()] if options.file else [])


def check_display() -> None:
    """Raises InputError when no window can be shown here."""
    if not has_display():
        raise InputError(
            "There is no display here, so the window cannot open.",
            hint="Use the commands (deployment-studio --help), or set DISPLAY, or use ssh -X.",
        )


def has_display() -> bool:
    """Whether Qt will find a screen: always on Windows and macOS, by the environment elsewhere."""
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _check_file(name: str) -> None:
    from studio.cli.main import COMMANDS

    if Path(name).exists():
        return
    close = difflib.get_close_matches(name, COMMANDS, n=1)
    hint = f"Did you mean: deployment-studio {close[0]}" if close else "See: deployment-studio --help"
    raise InputError(f"There is no file or command “{name}”.", hint=hint)
