"""Arguments that several commands share, and the parser that refuses in one sentence."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NoReturn

from studio.errors import InputError
from studio.records import check_writable
from studio.targets import TARGETS, find_target

EXIT_CODES = """\
exit codes:
  0 done   1 it ran, and the answer is no   2 wrong input   3 not supported   4 device
  5 a tool failed   70 a bug in the studio   130 stopped by Ctrl+C"""


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are InputErrors, so that they look like all others."""

    def __init__(self, command: str, *, summary: str, example: str) -> None:
        super().__init__(
            prog=f"deployment-studio {command}",
            description=summary,
            epilog=f"example:\n{_indented(example)}\n\n{EXIT_CODES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.add_argument("--json", action="store_true", help="answer with one JSON object on stdout")

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message[:1].upper()}{message[1:]}.", hint=f"See: {self.prog} --help")


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.strip().splitlines())


def add_out(
    parser: Parser, option: str = "--out", *, text: str, metavar: str = "FILE", required: bool = False
) -> None:
    """An option that names a file to write; that it can be written is checked before any work."""
    parser.add_argument(
        option, type=_file_to_write, default="", metavar=metavar, required=required, help=text
    )


def _file_to_write(text: str) -> str:
    if text:
        check_writable(Path(text).absolute())
    return text


def add_targets(parser: Parser, *, text: str) -> None:
    """`--target T`, repeatable; T is an id, a family (`ort`) or `all`."""
    parser.add_argument("--target", action="append", default=[], metavar="T", help=text)


def add_phone(parser: Parser) -> None:
    """`--soc` and `--android-level`, which some verdicts depend on."""
    parser.add_argument("--soc", default="", metavar="SOC", help="the phone's SoC, e.g. SM8650")
    parser.add_argument("--android-level", type=int, metavar="N", help="the phone's API level, e.g. 34")


BATCH_IS_1 = "without it a batch is counted as 1, and what hangs on other open dims is not known"
"""What commands that look at a graph do with dims that nobody gave; see `graph.cost.node_costs`."""
ALL_ARE_1 = "without it every open dim of a made-up input is 1"
"""What commands that run a file do with them; see `devices.run_inputs.make_inputs`."""


def add_dims(parser: Parser, *, otherwise: str) -> None:
    """`--dim NAME=N`, repeatable: fills symbolic dims; `otherwise` says what happens to those not given."""
    parser.add_argument(
        "--dim", action="append", default=[], metavar="NAME=N", help=f"size of an open dim; {otherwise}"
    )


def targets_of(names: list[str], *, default: tuple[str, ...]) -> tuple[str, ...]:
    """The target ids of `--target` options. Raises InputError with the known ids."""
    found: list[str] = []
    for name in names:
        if name == "all":
            found += TARGETS
        elif any(t.runtime == name for t in TARGETS.values()):
            found += [t.id for t in TARGETS.values() if t.runtime == name]
        else:
            found.append(find_target(name).id)
    return tuple(dict.fromkeys(found)) or default


def dims_of(pairs: list[str]) -> dict[str, int]:
    """`["N=1", …]` as a dict. Raises InputError for anything else."""
    dims: dict[str, int] = {}
    for pair in pairs:
        name, _, size = pair.partition("=")
        if not name or not size_of(size):
            raise InputError(f"--dim {pair} has no size after a name.", hint="For example: --dim batch=1")
        dims[name] = size_of(size)
    return dims


def size_of(text: str) -> int:
    """The size that a plain number below 10⁹ names; 0 for any other text, “²” and “٣” included."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def positive(text: str) -> int:
    """A whole number of at least 1, for argparse's `type`."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def not_negative(text: str) -> float:
    """A finite number of at least 0, for argparse's `type`."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number of at least 0")
    return value
