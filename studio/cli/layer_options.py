"""Options of `profile` and `compare-layers`: threads, rows to show, and inputs, real or made up."""

from __future__ import annotations

import contextlib
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from studio.cli.data_options import add_preprocessing, preprocessing_of
from studio.cli.options import ALL_ARE_1, Parser, add_dims, dims_of, positive
from studio.cli.output import TerminalReport
from studio.errors import StudioError
from studio.jobs.model_inputs import InputData
from studio.project import DataSet

SHOWN = 20
_LONGEST_NAME = 48


def add_layer_options(parser: Parser) -> None:
    """`--threads`, `--top`, `--data`, the way from an image to the input, and `--dim`."""
    parser.add_argument("--threads", type=positive, default=1, metavar="N")
    parser.add_argument("--top", type=positive, default=SHOWN, metavar="N", help=f"rows to show ({SHOWN})")
    parser.add_argument(
        "--data", default="", metavar="DATA", help="real inputs: .npz, .npy or a folder of images (made up)"
    )
    add_preprocessing(parser)
    add_dims(parser, otherwise=ALL_ARE_1)


def inputs_of(options: Namespace) -> InputData:
    """The inputs of those options. Raises InputError."""
    data = DataSet(path=str(Path(options.data).absolute())) if options.data else None
    return InputData(
        data=data, preprocessing=preprocessing_of(options), folder=str(Path.cwd()), dims=dims_of(options.dim)
    )


def shown_name(name: str) -> str:
    """The end of a long name, which tells layers apart."""
    return name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}"


@contextlib.contextmanager
def interrupting(report: TerminalReport) -> Iterator[None]:
    """A block whose failure is Ctrl+C when it was Ctrl+C that ended it."""
    try:
        yield
    except StudioError:
        if report.stopped:
            raise KeyboardInterrupt from None
        raise
