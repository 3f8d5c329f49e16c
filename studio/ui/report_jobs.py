"""Starts the job that writes the report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from studio.jobs.job import Done, Failed
from studio.ui.job_runner import LIGHT
from studio.ui.session import Session


def write_report(session: Session, path: Path, show: Callable[[Path], object]) -> None:
    """Writes the project's report to `path` and shows it."""
    from studio.jobs.write_report import WriteReport

    if session.project is None or session.folder is None:
        return

    def take(outcome: Done | Failed) -> None:
        if isinstance(outcome, Done):
            show(path)

    # A saved project is named by its file: its runs lie beside it. Unsaved edits are not reported.
    if session.project_path is not None and not session.is_modified:
        spec = WriteReport(out=str(path), project_path=str(session.project_path))
    else:
        spec = WriteReport(out=str(path), project=session.project, folder=str(session.folder))
    session.start(spec, title=session.tr("Write report"), lane=LIGHT, then=take)
