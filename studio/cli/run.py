"""`run PROJECT`: the recipe, then every made model on the project's devices.

JSON: see `studio.cli.journey`. Exit code 1: a budget is broken, or another target ran than asked.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from studio.cli import journey, journey_table
from studio.cli.bench import add_run_settings, run_settings_of
from studio.cli.opening import open_project
from studio.cli.options import Parser
from studio.cli.output import Output, stopping
from studio.cli.single_step import add_force, trust


def parser() -> Parser:
    """The options of `run`."""
    result = Parser(
        "run",
        summary="Run a project's recipe (what has not changed is not made again), then deploy what it made.",
        example="deployment-studio run digits.studio --device this-computer",
    )
    result.add_argument("project", help="a .studio project")
    result.add_argument(
        "--device", action="append", metavar="ID", help="run on this device, repeatable (the project's)"
    )
    result.add_argument("--no-deploy", action="store_true", help="only the recipe")
    add_force(result)
    add_run_settings(result)
    return result


def run(options: Namespace, output: Output) -> int:
    """Runs all; 0, or 1 when the answer is no."""
    opened = open_project(Path(options.project))
    trust(opened, options.trust, output)
    asked = tuple(options.device) if options.device else None
    with stopping(output.report):
        answer = journey.travel(
            opened,
            output,
            device_ids=() if options.no_deploy else asked,
            settings=run_settings_of(options, opened.project.run_settings),
            force=options.force,
        )
    output.result(answer, journey_table.text_of(answer))
    if output.report.stopped:
        return 130
    return 0 if answer.passed else 1
