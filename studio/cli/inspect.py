"""`inspect FILE`: format, opsets, inputs, outputs, parameters, MACs, operators of a model file.

JSON: `studio.graph.summary.GraphSummary`. Weights are not read and nothing is executed.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from studio.cli.opening import is_project, open_model, open_project
from studio.cli.options import Parser
from studio.cli.output import Output
from studio.graph.summary import summarize

_OPERATORS_SHOWN = 15


def parser() -> Parser:
    """The options of `inspect`."""
    result = Parser(
        "inspect",
        summary="Say what a model file holds; of a project, its source model.",
        example="deployment-studio inspect mobilenet.onnx",
    )
    result.add_argument("file", help="a model of any format the studio reads, or a .studio project")
    return result


def run(options: Namespace, output: Output) -> int:
    """Says what the file holds; 0."""
    path = Path(options.file)
    if is_project(path):
        path = open_project(path).source_path
    summary = summarize(open_model(path))
    output.result(summary, text_of(summary))
    return 0
