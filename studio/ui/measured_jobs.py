"""Starts the job that puts what runs have measured over the verdicts of opened graphs."""

from __future__ import annotations

from pathlib import Path

from studio.jobs.job import Done, Failed
from studio.measure.run_file import list_runs
from studio.paths import data_dir
from studio.project.places import runs_dir
from studio.records import from_json
from studio.support import TargetVerdicts, find_problems
from studio.ui.job_runner import LIGHT
from studio.ui.session import Session
from studio.ui.stages import Stage
from studio.ui.texts import fill


def apply_measured_everywhere(session: Session) -> None:
    """Looks at the runs again for every graph that is open."""
    for stage in session.stages:
        apply_measured(session, stage.id)


def apply_measured(session: Session, stage_id: str) -> None:
    """Puts what the runs of this stage's file, and of those made from it, say over its verdicts.

    Nothing is started when neither runs nor verdicts are other ones than last time.
    """
    from studio.jobs.measured import ApplyMeasured, MeasuredApplied

    stage = session.stage(stage_id)
    opened = stage.opened if stage else None
    if stage is None or opened is None or not opened.verdict_paths:
        return
    folders = [data_dir() / "runs"]
    if session.project_path is not None:
        folders.insert(0, runs_dir(session.project_path))
    runs = tuple(path.name for folder in folders for path in list_runs(folder))
    if not runs or opened.measured_from == (runs, opened.verdict_paths):
        return
    opened.measured_from = (runs, dict(opened.verdict_paths))
    project = session.project
    spec = ApplyMeasured(
        graph_path=opened.graph_path,
        sha256=opened.graph.file_sha256,
        verdict_paths=opened.verdict_paths,
        runs_dirs=tuple(map(str, folders)),
        derived=_derived(session, stage),
        soc=project.soc if project else "",
    )

    def take(outcome: Done | Failed) -> None:
        if not isinstance(outcome, Done) or stage.opened is not opened:
            return
        made = from_json(bytes(outcome.result), MeasuredApplied, where="apply_measured").verdict_paths
        if not made:
            return
        opened.verdict_paths = opened.verdict_paths | made
        opened.measured_from = (runs, dict(opened.verdict_paths))
        for target_id, path in made.items():
            with session.telling_failures():
                opened.verdicts[target_id] = TargetVerdicts.load(Path(path))
        opened.problems = find_problems(opened.graph, opened.verdicts)
        session.stage_opened.emit(stage.id)

    title = fill(session.tr("Read what runs measured of {file}"), file=Path(stage.path or "").name)
    session.start(spec, title=title, lane=LIGHT, then=take, quiet=True)


def _derived(session: Session, stage: Stage) -> dict[str, str]:
    """SHA-256 → path of what the recipe has made from the stage."""
    project = session.project
    if project is None:
        return {}
    before = {step.id: step.after for step in project.recipe.steps}
    found = {}
    for other in session.stages:
        place = other.id
        while place in before:
            place = before[place]
            if place == stage.id and other.artifact is not None and other.kind != "verify":
                found[other.artifact.sha256] = other.artifact.path
    return found
