"""Options that say on which inputs a file is profiled or compared: real data, or sizes for made-up ones."""

from __future__ import annotations

import contextlib
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from studio.cli.data_options import add_preprocessing, preprocessing_of
from studio.cli.options import Parser, add_dims, dims_of
from studio.cli.output import TerminalReport
from studio.errors import StudioError
from studio.jobs.model_inputs import InputData
from studio.project import DataSet


def add_inputs(parser: Parser) -> None:
    """`--data`, the way from an image to the input, and `--dim`."""
    parser.add_argument(
        "--data", default="", metavar="DATA", help="real inputs: .npz, .npy or a folder of images (made up)"
    )
    add_preprocessing(parser)
    add_dims(parser)


def inputs_of(options: Namespace) -> InputData:
    """The inputs of those options. Raises InputError."""
    data = DataSet(path=str(Path(options.data).absolute())) if options.data else None
    return InputData(
        data=data, preprocessing=preprocessing_of(options), folder=str(Path.cwd()), dims=dims_of(options.dim)
    )


@contextlib.contextmanager
def interrupting(report: TerminalReport) -> Iterator[None]:
    """A block whose failure is Ctrl+C when it was Ctrl+C that ended it."""
    try:
        yield
    except StudioError:
        if report.stopped:
            raise KeyboardInterrupt from None
        raise
