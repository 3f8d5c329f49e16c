"""`verify MADE --against ORIGINAL`: loads what was made and compares it with its float original.

On a project: its verify steps. JSON: see `studio.cli.single_step`. Exit code 1: a budget is broken.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from pathlib import Path

import msgspec

from studio.artifact import Artifact, hash_file
from studio.cli.data_options import add_data
from studio.cli.opening import is_project
from studio.cli.options import Parser, not_negative, positive
from studio.cli.output import Output
from studio.cli.single_step import StepsAnswer, add_force, add_source, bare_project, run_step, trust
from studio.cli.steps import StepAnswer, text_of
from studio.errors import InputError
from studio.graph import detect_format
from studio.project.trust import is_trusted
from studio.recipes.recipe import VerifyStep
from studio.recipes.steps.context import StepContext
from studio.recipes.steps.verify import Verification, broken_budgets, verify


def parser() -> Parser:
    """The options of `verify`."""
    result = Parser(
        "verify",
        summary="Run what was made and its float original on the same inputs, and compare.",
        example="deployment-studio verify net-int8.ort --against net.onnx --evaluation test.npz "
        "--max-accuracy-loss 0.01",
    )
    result.add_argument("file", help="a made .onnx, .ort, .tflite or .pte, or a .studio project")
    result.add_argument("--against", default="", metavar="FILE", help="the float original, torch or ONNX")
    result.add_argument("--step", default="", metavar="ID", help="of a project: only this step")
    add_source(result)
    add_data(result)
    add_force(result)
    result.add_argument("--samples", type=positive, default=200, metavar="N")
    result.add_argument(
        "--max-accuracy-loss", type=not_negative, metavar="X", help="budget: 0.01 is one point; needs labels"
    )
    result.add_argument("--min-snr-db", type=float, metavar="DB", help="budget")
    return result


def run(options: Namespace, output: Output) -> int:
    """Compares; 0, or 1 when a budget is broken. Raises InputError when there is no original."""
    step = VerifyStep(
        id="verify",
        after="made",
        samples=options.samples,
        max_accuracy_loss=options.max_accuracy_loss,
        min_snr_db=options.min_snr_db,
    )
    made = Path(options.file).absolute()
    if is_project(made):
        return run_step(options, output, "verify", step)
    if not options.against:
        raise InputError("Compare it with what?", hint="Name the float original with --against FILE.")
    answer = _compare(made, options, step, output)
    output.result(answer, text_of(answer.steps))
    return 0 if answer.passed else 1


def _compare(made: Path, options: Namespace, step: VerifyStep, output: Output) -> StepsAnswer:
    """A verify step outside a recipe: the made file stands where a step's artifact would."""
    opened = bare_project(options.against, options)
    trust(opened, options.trust, output)
    with tempfile.TemporaryDirectory(prefix="deployment-studio-verify-") as out_dir:
        context = StepContext(
            step=step,
            project=opened.project,
            folder=opened.folder,
            out_dir=Path(out_dir),
            made={"made": _as_artifact(made)},
            trusted=opened.project.source.path.endswith(".py") and is_trusted(opened.folder),
            report=output.report,
        )
        done = verify(context)
        figures = msgspec.json.decode(Path(done.path).read_bytes(), type=Verification).figures
    failures = broken_budgets(step, figures)
    line = StepAnswer(
        id="verify",
        kind="verify",
        after="made",
        path=str(made),
        format=context.input_format,
        sha256=context.made["made"].sha256,
        size_bytes=made.stat().st_size,
        seconds=0.0,
        was_cached=False,
        notes=done.notes,
        error=figures,
        failures=failures,
    )
    return StepsAnswer(out=None, passed=not failures, steps=(line,))


def _as_artifact(made: Path) -> Artifact:
    return Artifact(
        key="",
        path=str(made),
        format=detect_format(made),
        sha256=hash_file(made),
        size_bytes=made.stat().st_size,
        made_by="given",
        settings={},
        inputs=(),
        tool_versions={},
        made_at="",
        seconds=0.0,
    )
