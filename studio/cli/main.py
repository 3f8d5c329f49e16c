"""Entry point of `deployment-studio`: finds the command, runs it, turns every end into an exit code.

Workers are recognised before anything heavy is imported; a command's module is imported only when
that command runs, so that `--help` and a typing error answer at once.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING

from studio.errors import InputError

if TYPE_CHECKING:
    from studio.cli.output import OpenWindow, Output

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("studio.cli.demo", "run the whole journey on the sample project"),
    "inspect": ("studio.cli.inspect", "say what a model file holds"),
    "support": ("studio.cli.support", "say what each target does with each node, and why"),
    "diff": ("studio.cli.diff", "say what changed from one graph to another"),
    "render": ("studio.cli.render", "draw the graph as SVG, PNG or PDF"),
    "new": ("studio.cli.new", "make a project from a model"),
    "run": ("studio.cli.run", "run a project's recipe, then its devices"),
    "export": ("studio.cli.export", "PyTorch → ONNX"),
    "edit": ("studio.cli.edit", "rename, remove, cut out: light edits of a graph"),
    "fix": ("studio.cli.fix", "rewrite a graph so that a target takes it, and prove it equal"),
    "quantize": ("studio.cli.quantize", "ONNX → ONNX with fewer bits"),
    "convert": ("studio.cli.convert", "→ .ort, .tflite or .pte"),
    "verify": ("studio.cli.verify", "compare a made file with its float original"),
    "devices": ("studio.cli.devices", "list this computer and the phones"),
    "bench": ("studio.cli.bench", "measure a file on a device"),
    "profile": ("studio.cli.profile", "time every node of a file, on this computer or a phone"),
    "compare-layers": ("studio.cli.compare_layers", "say in which layers two files differ, and by how much"),
    "report": ("studio.cli.report", "write the report of a project as one HTML file"),
    "doctor": ("studio.cli.doctor", "say which tool chains are here and how to get the others"),
    "virtual-phone": ("studio.cli.virtual_phone", "serve a simulated phone to adb"),
}

_LONGEST_MESSAGE = 1000

_USAGE = """\
usage: deployment-studio [FILE]             open the window, on a model or a project
       deployment-studio COMMAND --help     what a command does, with an example

Takes a trained PyTorch or ONNX model to an Android phone, and shows what will happen there.

commands:
{commands}

  --version   the version of the studio
"""


def main(argv: list[str] | None = None, *, open_window: OpenWindow | None = None) -> int:
    """Runs the command line and returns its exit code.

    `open_window` shows the window on these files until it is closed; `studio.__main__` passes it,
    since this room does not know the other.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["--worker"]:
        from studio.jobs.worker import main as worker

        return worker(arguments[1:])
    if arguments[:1] == ["--runner"]:
        from studio.jobs.runner import main as runner

        return runner()
    if arguments[:1] == ["--draw"]:
        from studio.jobs.draw_apart import main as draw

        return draw()
    if arguments[:1] in (["--help"], ["-h"]):
        return _print(_usage())
    if arguments[:1] == ["--version"]:
        from studio import __version__

        return _print(f"deployment-studio {__version__}\n")
    return _guarded(arguments, open_window)


def _print(text: str) -> int:
    """Writes to stdout; the exit code."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        return 141
    except OSError:  # a full disk; there is nobody to tell
        return 2
    return 0


def _usage() -> str:
    width = max(map(len, COMMANDS))
    lines = (f"  {name.ljust(width)}  {summary}" for name, (_, summary) in COMMANDS.items())
    return _USAGE.format(commands="\n".join(lines))


def _guarded(arguments: list[str], open_window: OpenWindow | None) -> int:
    """Runs a command or the window; no traceback leaves from here."""
    from studio.cli.output import Output, open_missing_streams, private_streams

    open_missing_streams()
    as_json = "--json" in arguments
    try:
        command, options = _parse(arguments)
    except SystemExit as end:  # argparse, after --help
        return end.code if isinstance(end.code, int) else 2
    except Exception as error:
        with private_streams() as (out, err):  # which take any text, whatever the terminal's encoding
            return _fail(error, Output(out, err, as_json=as_json))
    with private_streams() as (out, err):
        output = Output(out, err, as_json=as_json, show=open_window)
        try:
            return command(options, output)
        except BrokenPipeError:
            return 141  # as a shell reports a program whose reader left: 128 + SIGPIPE
        except (Exception, KeyboardInterrupt) as error:
            return _fail(error, output)
        finally:
            output.report.clear()


def _parse(arguments: list[str]) -> tuple[Callable[[Namespace, Output], int], Namespace]:
    """The function of the command (or of the window) and its options. Raises InputError."""
    for text in arguments:
        shown = os.fsencode(text).decode(errors="backslashreplace")
        if shown != text:  # JSON and project files could not hold it
            raise InputError(f"The name {shown} is not valid UTF-8.", hint="Rename the file or folder.")
    name = arguments[0] if arguments else ""
    if name in COMMANDS:
        address, rest = COMMANDS[name][0], arguments[1:]
    else:
        address, rest = "studio.cli.window", arguments
    module = importlib.import_module(address)
    return module.run, module.parser().parse_args(rest)


def _shortened(text: str) -> str:
    """What fits a screen: a file can name its nodes by the megabyte. `--json` has it all."""
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[: _LONGEST_MESSAGE - 100]} … {text[-80:]}"


def _fail(error: BaseException, output: Output) -> int:
    """Says the error in one line (and as a JSON object with --json); returns its exit code.

    The traceback of a bug goes to descriptor 2, which leads to the log while a command runs.
    """
    from studio.cli.output import ErrorAnswer, is_debugging, log_path
    from studio.jobs.worker import failure_of

    failed = failure_of(error)
    hint = failed.hint
    if failed.error == "bug" or is_debugging():
        os.write(2, "".join(traceback.format_exception(error)).encode(errors="backslashreplace"))
    if failed.error == "bug":
        hint = f"The traceback is in {log_path()}; please report it."
    if isinstance(error, KeyboardInterrupt):
        output.note("stopped")
    else:
        stop = "" if failed.message.endswith(("?", "!", ".")) else "."
        output.note(f"error: {_shortened(failed.message)}{stop} {hint}".rstrip())
        if failed.error == "tool":
            output.note("\n".join(f"  | {line}" for line in failed.detail.splitlines()[-8:]))
    if output.as_json:
        answer = ErrorAnswer.of(failed, hint=hint)
        with contextlib.suppress(OSError):  # the reader left, the disk is full
            output.result(answer)
    return failed.exit_code
