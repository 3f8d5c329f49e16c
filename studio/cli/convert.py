"""`convert MODEL --out FILE`: → the file that a runtime loads. JSON: see `studio.cli.single_step`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from studio.cli.opening import is_project
from studio.cli.options import Parser
from studio.cli.output import Output
from studio.cli.single_step import add_file, add_source, record_of, refuse_taken, run_step
from studio.errors import InputError
from studio.recipes.recipe import SOURCE, ConvertStep
from studio.recipes.steps.convert import BACKEND_OF
from studio.targets import find_target

_FORMATS = tuple(BACKEND_OF)


def parser() -> Parser:
    """The options of `convert`."""
    result = Parser(
        "convert",
        summary="Convert to .ort (from ONNX), .tflite or .pte (from PyTorch).",
        example="deployment-studio convert net-int8.onnx --out net-int8.ort\n"
        "deployment-studio convert net.pt2 --out net.pte --target executorch/xnnpack",
    )
    add_file(result, text="an ONNX model, a .pt2, a TorchScript .pt, or FILE.py:FUNCTION")
    add_source(result)
    result.add_argument("--to", choices=_FORMATS, help="default: by the ending of --out")
    result.add_argument("--target", default="", metavar="T", help="whose lowering, e.g. executorch/xnnpack")
    result.add_argument(
        "--optimization", choices=("auto", "disabled", "basic", "extended", "all"), default="auto",
        help="of .ort files; all ties the file to this kind of processor",
    )  # fmt: skip
    result.add_argument(
        "--etrecord", action="store_true", help="of .pte files: keep the graph before delegation beside it"
    )
    return result


def run(options: Namespace, output: Output) -> int:
    """Converts; 0. Raises InputError when the format is not said."""
    to = options.to or Path(options.out).suffix.lstrip(".")
    if to not in _FORMATS and not is_project(Path(options.file)):
        raise InputError(
            f"To which format? {options.out or 'Nothing'} does not say.",
            hint=f"Name the file NAME.{' or NAME.'.join(_FORMATS)}, or add --to.",
        )
    if options.etrecord and to != "pte" and not is_project(Path(options.file)):
        raise InputError("Only .pte files have an ETRecord.", hint="Leave --etrecord out.")
    if options.etrecord and options.out and not is_project(Path(options.file)):
        refuse_taken(record_of(Path(options.out).absolute()))
    target = find_target(options.target).id if options.target else ""
    step = ConvertStep(
        id="convert",
        after=SOURCE,
        format=to,
        target=target,
        optimization=options.optimization,
        etrecord=options.etrecord,
    )
    return run_step(options, output, "convert", step)
