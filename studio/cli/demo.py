"""`demo [DIR]`: the whole journey on the sample project, on this computer, with a report.

Copies the sample to DIR (default: a new folder `digits-demo` here; nothing is overwritten), runs
its recipe, deploys to this computer, writes `report.html`, prints one table.

JSON: as `run`, with `"report"`. Exit code 1: a budget is broken.
"""

from __future__ import annotations

import shutil
from argparse import Namespace
from pathlib import Path

from studio.cli import journey, journey_table
from studio.cli.opening import OpenedProject, open_project
from studio.cli.options import Parser
from studio.cli.output import Output, stopping
from studio.cli.window import has_display
from studio.errors import InputError
from studio.paths import resources
from studio.project.trust import trust_folder

_FOLDER = "digits-demo"
_PROJECT = "digits.studio"


class DemoAnswer(journey.JourneyAnswer):
    """What `demo --json` prints: a journey and its report."""

    report: str


def parser() -> Parser:
    """The options of `demo`."""
    result = Parser(
        "demo",
        summary="Run the whole journey on the sample project: a small MobileNetV2 that reads digits.",
        example="deployment-studio demo my-demo",
    )
    result.add_argument("dir", nargs="?", default="", help=f"a new folder; default ./{_FOLDER}")
    result.add_argument("--open", action="store_true", help="open the window on it when there is a display")
    return result


def run(options: Namespace, output: Output) -> int:
    """Runs the sample; 0, or 1 when a budget is broken."""
    folder = _copy_sample(Path(options.dir).absolute() if options.dir else _free_folder())
    opened = open_project(folder / _PROJECT)
    trust_folder(folder)  # the studio's own files, copied a moment ago
    output.note(f"copied the sample project to {folder}")
    with stopping(output.report):
        answer = journey.travel(opened, output, device_ids=("this-computer",))
    if output.report.stopped:
        return 130
    report = _write_report(opened, output)
    fields = {name: getattr(answer, name) for name in answer.__struct_fields__}
    output.result(DemoAnswer(**fields, report=str(report)), _text(answer, report))
    if options.open and not output.as_json and has_display():
        output.note("opening the window; close it to end")
        output.open_window([opened.path])
    return 0 if answer.passed else 1


def _copy_sample(folder: Path) -> Path:
    """Copies the sample into a folder that is new or empty. Raises InputError."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is there already and not empty.", hint="Name a new folder.")
    was_there = folder.exists()
    try:
        ignored = shutil.ignore_patterns("__pycache__", "*.runs")
        shutil.copytree(resources() / "sample", folder, dirs_exist_ok=True, ignore=ignored)
    except OSError as error:
        for made in folder.iterdir() if was_there else ():  # it was empty: all in it is ours
            shutil.rmtree(made, ignore_errors=True) if made.is_dir() else made.unlink(missing_ok=True)
        if not was_there:
            shutil.rmtree(folder, ignore_errors=True)
        reason = error.strerror or "not all files could be written"
        raise InputError(
            f"Cannot copy the sample to {folder}: {reason}.", hint="Free some space or name another folder."
        ) from None
    return folder


def _free_folder() -> Path:
    here = Path.cwd()
    names = [_FOLDER, *(f"{_FOLDER}-{i}" for i in range(2, 1000))]
    return next(here / name for name in names if not (here / name).exists())


def _write_report(opened: OpenedProject, output: Output) -> Path:
    from studio.jobs.write_report import WriteReport
    from studio.jobs.write_report import run as write_report

    out = opened.folder / "report.html"
    write_report(WriteReport(project_path=str(opened.path), out=str(out)), output.report)
    return out


def _text(answer: journey.JourneyAnswer, report: Path) -> str:
    lines = [journey_table.text_of(answer), f"report: {report}"]
    sizes = {s.id: s.size_bytes for s in answer.steps}
    if sizes.get("export") and sizes.get("quantize"):
        lines.insert(1, f"int8 is {sizes['quantize'] / sizes['export']:.2f} of the float model's size")
    lines.append(f"See it in the window: deployment-studio {answer.project}")
    return "\n".join(lines)
