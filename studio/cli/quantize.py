"""`quantize MODEL --out FILE`: ONNX → ONNX with fewer bits. JSON: see `studio.cli.single_step`."""

from __future__ import annotations

from argparse import Namespace

from studio.cli.data_options import add_data
from studio.cli.opening import is_project
from studio.cli.options import Parser, positive
from studio.cli.output import Output
from studio.cli.single_step import add_file, run_step
from studio.errors import InputError
from studio.recipes.recipe import SOURCE, Calibration, QuantizeScheme, QuantizeStep


def parser() -> Parser:
    """The options of `quantize`."""
    result = Parser(
        "quantize",
        summary="Quantize an ONNX model: static int8 with calibration data, dynamic int8, or float16.",
        example="deployment-studio quantize net.onnx --calibration photos --size 224x224 --out int8.onnx\n"
        "deployment-studio quantize net.onnx --scheme float16 --out net-fp16.onnx",
    )
    add_file(result, text="an ONNX model")
    add_data(result)
    result.add_argument("--scheme", choices=[str(s) for s in QuantizeScheme], default="static")
    result.add_argument(
        "--ranges", choices=[str(c) for c in Calibration], default="minmax", help="how ranges are chosen"
    )
    result.add_argument("--samples", type=positive, default=200, metavar="N", help="of calibration (200)")
    result.add_argument("--per-tensor", action="store_true", help="one scale per weight, not per channel")
    result.add_argument(
        "--keep-float", action="append", default=[], metavar="NODE", help="leave this node in float"
    )
    return result


def run(options: Namespace, output: Output) -> int:
    """Quantizes; 0. Raises InputError for static quantization without calibration data."""
    from pathlib import Path

    scheme = QuantizeScheme(options.scheme)
    if scheme is QuantizeScheme.STATIC and not options.calibration and not is_project(Path(options.file)):
        raise InputError(
            "Static quantization needs real inputs to choose ranges from.",
            hint="Give --calibration DATA, or choose --scheme dynamic or float16.",
        )
    step = QuantizeStep(
        id="quantize",
        after=SOURCE,
        scheme=scheme,
        calibration=Calibration(options.ranges),
        samples=options.samples,
        per_channel=not options.per_tensor,
        keep_float=tuple(options.keep_float),
    )
    return run_step(options, output, "quantize", step)
