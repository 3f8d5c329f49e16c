"""One kind of step by itself: on a bare model file, or those of a project's recipe.

On a file the made file is copied to `--out`; on a project the steps of that kind (and what they
work on) are run, and `--out` takes the file when there is just one.

JSON: `{"out" | null, "passed", "steps": [step], "beside": [path]}`, a step as in `studio.cli.steps`;
`beside` are the files that were written together with `out`: external data, an ETRecord.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from argparse import Namespace
from pathlib import Path

from studio.cli.data_options import parse_input, preprocessing_of, split_factory
from studio.cli.opening import OpenedProject, is_project, open_project, refuse_itself
from studio.cli.options import Parser, add_out
from studio.cli.output import Output
from studio.cli.steps import StepAnswer, answers_of, text_of
from studio.errors import InputError
from studio.jobs.run_recipe import RunRecipe
from studio.jobs.run_recipe import run as run_recipe
from studio.project import DataSet, Project, SourceModel
from studio.project.trust import is_trusted, python_files, trust_folder
from studio.recipes.plan import kind_of
from studio.recipes.recipe import Preprocessing, Recipe, Step
from studio.records import Record, check_replaceable

_CODE = (".py", ".pt2")  # a .pt2 of an older kind may hold code as well


class StepsAnswer(Record):
    """What `export`, `quantize`, `convert` and `verify` print with `--json`."""

    out: str | None
    passed: bool
    steps: tuple[StepAnswer, ...]
    beside: tuple[str, ...] = ()


def add_file(parser: Parser, *, text: str) -> None:
    """The FILE argument and what every single step has: `--out`, `--step`, `--force`, `--trust`."""
    parser.add_argument("file", help=f"{text}, or a .studio project (then the steps of its recipe)")
    add_out(parser, text="where the made file goes")
    parser.add_argument("--step", default="", metavar="ID", help="of a project: only this step")
    add_force(parser)


def add_force(parser: Parser) -> None:
    """`--force` and `--trust`."""
    parser.add_argument("--force", action="store_true", help="make it anew, whatever the cache holds")
    parser.add_argument(
        "--trust", action="store_true", help="let the Python code in the model's folder run, as it is now"
    )


def add_source(parser: Parser) -> None:
    """Options that a torch source needs."""
    parser.add_argument("--weights", default="", metavar="FILE", help="state dict for a Python model")
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME:DTYPE:SHAPE",
        help="an input of a torch model, e.g. image:float32:1,3,224,224",
    )  # fmt: skip


def run_step(options: Namespace, output: Output, kind: str, step: Step) -> int:
    """Runs `step` on a bare file, or a project's own steps of that kind; 0, or 1 for a broken budget."""
    out = vars(options).get("out", "")
    path = Path(options.file)
    if is_project(path):
        opened = open_project(path)
        only = _steps_of_kind(opened, kind, options.step)
        if out and len(only) != 1:
            raise InputError(
                f"--out takes one file, and {len(only)} are made.", hint=f"Add --step: {', '.join(only)}."
            )
    else:
        if not out:
            raise InputError("Where should the made file go?", hint="Name it with --out FILE.")
        refuse_itself(out, path)
        opened, only = bare_project(options.file, options, step), (step.id,)
    trust(opened, options.trust, output)
    return say(run_only(opened, only, options.force, output), only, out, output)


def run_only(opened: OpenedProject, only: tuple[str, ...], force: bool, output: Output) -> StepsAnswer:
    """Runs these steps and what they work on."""
    spec = RunRecipe(project=opened.project, folder=str(opened.folder), only=only, force=force)
    result = run_recipe(spec, output.report)
    return StepsAnswer(out=None, passed=result.passed, steps=answers_of(result, opened.project.recipe))


def say(answer: StepsAnswer, only: tuple[str, ...], out: str, output: Output) -> int:
    """Copies the made file to `out`, prints the answer, returns the exit code."""
    from msgspec.structs import replace

    text = text_of(answer.steps)
    if out:
        made = next(s for s in answer.steps if s.id in only)
        target = Path(out).absolute()
        beside = copy_out(Path(made.path), target)
        answer = replace(answer, out=str(target), beside=tuple(map(str, beside)))
        text += "".join(f"\nWrote {path}" for path in (target, *beside))
    output.result(answer, text)
    return 0 if answer.passed else 1


def refuse_taken(place: Path) -> None:
    """Raises InputError where a file that goes beside `--out` would lie on another."""
    if place.exists():
        raise InputError(f"{place} is there already.", hint="Choose another folder for --out.")


def record_of(target: Path) -> Path:
    """Where the ETRecord of a `.pte` file goes: called as the file, to be found by it."""
    return target.with_name(f"{target.stem}.etrecord")


def copy_out(made: Path, target: Path) -> list[Path]:
    """Copies a made file and what lies beside it, and renames once; where the latter went.

    External data keeps its name, which the model says.
    """
    check_replaceable(target)
    beside = [p for p in made.parent.iterdir() if p != made and p.is_file() and p.name != "artifact.json"]
    places = {
        file: record_of(target) if file.suffix == ".etrecord" else target.parent / file.name
        for file in sorted(beside)
    }
    for place in places.values():
        refuse_taken(place)
    places[made] = target  # last: the model never stands without its data
    partials = {file: place.with_name(f".{place.name}.partial") for file, place in places.items()}
    try:
        for file, partial in partials.items():
            shutil.copyfile(file, partial)
        for file, place in places.items():
            os.replace(partials[file], place)
    except BaseException as error:  # Ctrl+C too: nothing half-written stays
        for partial in partials.values():
            with contextlib.suppress(OSError):
                partial.unlink()
        if not isinstance(error, OSError):
            raise
        raise InputError(f"Cannot write {target}: {error.strerror}.", hint="Choose another folder.") from None
    return [places[file] for file in sorted(beside)]


def trust(opened: OpenedProject, asked: bool, output: Output) -> None:
    """Trusts the source's folder when the user asked for it; says what that lets run."""
    if not asked or not opened.project.source.path.endswith(_CODE) or is_trusted(opened.folder):
        return
    files = python_files(opened.folder)
    output.note(f"trusting {opened.folder}: {len(files)} files with code may run")
    trust_folder(opened.folder)


def _steps_of_kind(opened: OpenedProject, kind: str, step_id: str) -> tuple[str, ...]:
    found = tuple(s.id for s in opened.project.recipe.steps if kind_of(s) == kind)
    if step_id and step_id not in found:
        known = ", ".join(found) or "none"
        raise InputError(f"The recipe has no {kind} step “{step_id}”.", hint=f"Its {kind} steps: {known}.")
    if not found:
        raise InputError(
            f"The recipe of {opened.path.name} has no {kind} step.", hint="Add one in the window or the file."
        )
    return (step_id,) if step_id else found


def bare_project(file: str, options: Namespace, *steps: Step) -> OpenedProject:
    """A project of a model file and these steps, in the model's folder; it is never saved."""
    model, factory = split_factory(file)
    if not model.is_file():
        raise InputError(f"There is no file {model}.", hint="Check the path.")
    said = vars(options)
    project = Project(
        name=model.stem,
        source=SourceModel(
            path=model.name,
            factory=factory,
            weights=_absolute(said.get("weights", "")),
            inputs=tuple(map(parse_input, said.get("input", ()))),
        ),
        recipe=Recipe(steps=steps),
        calibration=_data(said.get("calibration", "")),
        evaluation=_data(said.get("evaluation", ""), said.get("labels", "")),
        preprocessing=preprocessing_of(options) if "size" in said else Preprocessing(),
    )
    return OpenedProject(project=project, path=model.absolute().parent / f"{model.stem}.studio")


def _data(path: str, labels: str = "") -> DataSet | None:
    return DataSet(path=_absolute(path), labels=_absolute(labels)) if path else None


def _absolute(path: str) -> str:
    return str(Path(path).absolute()) if path else ""
