"""`report PROJECT --out report.html`: what is known of a project, as one file for people.

Runs nothing: steps that were not made and runs that were not measured are named as such.
JSON: `{"out", "size_bytes", "steps", "runs", "targets", "notes": [text]}`.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from studio.cli import tables
from studio.cli.opening import open_project
from studio.cli.options import Parser, add_out
from studio.cli.output import Output
from studio.errors import InputError
from studio.jobs.write_report import WriteReport
from studio.jobs.write_report import run as write_report


def parser() -> Parser:
    """The options of `report`."""
    result = Parser(
        "report",
        summary="Write what is known of a project as one HTML file: no network, opens anywhere, prints well.",
        example="deployment-studio report digits.studio --out report.html",
    )
    result.add_argument("project", help="a .studio project")
    add_out(result, text="a file that ends in .html", required=True)
    return result


def run(options: Namespace, output: Output) -> int:
    """Writes the report; 0."""
    out = Path(options.out).absolute()
    if out.suffix not in (".html", ".htm"):
        raise InputError(f"{out.name} does not end in .html.", hint="Name the report NAME.html.")
    opened = open_project(Path(options.project))
    spec = WriteReport(project_path=str(opened.path), out=str(out))
    written = write_report(spec, output.report)
    lines = [
        f"Wrote {written.out} ({tables.size(written.size_bytes)}): {written.steps} steps, {written.runs} runs"
    ]
    output.result(written, "\n".join([*lines, *(f"note: {note}" for note in written.notes)]))
    return 0
