"""`export MODEL --out FILE`: PyTorch → ONNX. JSON and project form: see `studio.cli.single_step`."""

from __future__ import annotations

from argparse import Namespace

from studio.cli.options import Parser, positive
from studio.cli.output import Output
from studio.cli.single_step import add_file, add_source, run_step
from studio.recipes.recipe import Exporter, ExportStep


def parser() -> Parser:
    """The options of `export`."""
    result = Parser(
        "export",
        summary="Export a PyTorch model to ONNX, with the module path and source line of every node.",
        example="deployment-studio export net.pt2 --out net.onnx --opset 18\n"
        "deployment-studio export net.py:build --weights net.safetensors --trust \\\n"
        "    --input image:float32:1,3,224,224 --out net.onnx",
    )
    add_file(result, text="a .pt2, a TorchScript .pt, or FILE.py:FUNCTION")
    add_source(result)
    result.add_argument("--opset", type=positive, default=ExportStep(id="export").opset, metavar="N")
    result.add_argument(
        "--exporter", choices=[str(e) for e in Exporter], default="auto", help="auto tries dynamo first"
    )
    result.add_argument("--dynamic-batch", action="store_true", help="leave the first dim open")
    return result


def run(options: Namespace, output: Output) -> int:
    """Exports; 0."""
    step = ExportStep(
        id="export",
        opset=options.opset,
        exporter=Exporter(options.exporter),
        dynamic_batch=options.dynamic_batch,
    )
    return run_step(options, output, "export", step)
