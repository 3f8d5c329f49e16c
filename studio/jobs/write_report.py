"""Job: gathers what is known of a project, without running anything, and writes its report."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

from studio import __version__
from studio.errors import InputError, StudioError
from studio.graph import Graph, open_graph
from studio.graph.layout import lay_out
from studio.graph.scopes import initial_view
from studio.graph.summary import GraphSummary, summarize
from studio.jobs.job import Report
from studio.jobs.measured import derived_of, runs_dirs_of, with_measured
from studio.jobs.run_recipe import RunRecipe, project_of
from studio.measure.evidence import evidence_in
from studio.measure.run_file import Run, list_runs, read_run
from studio.project import Project
from studio.project.graph_file import graph_file
from studio.project.places import runs_dir
from studio.recipes.run import StepResult, cached_results
from studio.records import Record, write_atomically
from studio.report.content import Picture, ReportContent
from studio.report.graph_svg import graph_svg
from studio.report.html import report_html
from studio.report.paint import verdict_paint
from studio.report.palette import DARK, LIGHT
from studio.support import TargetVerdicts, find_problems, judge
from studio.targets import TARGETS, find_target

_RUNS_SHOWN = 12
_LARGEST_PICTURE = 3_000  # boxes; more would make a file that no mail takes


class WriteReport(Record):
    """A project (saved, or not yet and with its folder), and where the page goes."""

    out: str
    project_path: str = ""
    project: Project | None = None
    folder: str = ""


class ReportWritten(Record):
    """The page and what it tells of."""

    out: str
    size_bytes: int
    steps: int
    runs: int
    targets: int
    notes: tuple[str, ...]


def run(spec: WriteReport, report: Report) -> ReportWritten:
    """Writes the page. A part that cannot be had is named in the page. Raises InputError."""
    project, folder = project_of(
        RunRecipe(project_path=spec.project_path, project=spec.project, folder=spec.folder)
    )
    path = Path(spec.project_path) if spec.project_path else folder / f"{project.name}.studio"
    content = gather(project, path, report)
    report.progress("writing the report", 3, 4)
    page = report_html(content).encode()
    write_atomically(Path(spec.out).absolute(), page)
    return ReportWritten(
        out=str(Path(spec.out).absolute()),
        size_bytes=len(page),
        steps=len(content.steps),
        runs=len(content.runs),
        targets=len(content.verdicts),
        notes=content.notes,
    )


def gather(project: Project, path: Path, report: Report) -> ReportContent:
    """The content of a project's report; nothing is run."""
    notes: list[str] = []
    report.progress("reading artifacts", 0, 4)
    steps: tuple[StepResult, ...] = ()
    try:
        steps = cached_results(project, path.parent)
    except StudioError as error:
        notes.append(f"The recipe's results are not known: {error}")
    made = {step.step_id for step in steps}
    missing = tuple(s.id for s in project.recipe.steps if s.id not in made)
    if missing:
        notes.append(f"Not made yet: {', '.join(missing)}.")
    report.progress("judging targets", 1, 4)
    graph, summary, graph_path = _graph(project, path.parent, notes)
    verdicts: dict[str, TargetVerdicts] = {}
    if graph is not None and project.targets:
        try:
            verdicts = judge(graph, project.targets, soc=project.soc)
            verdicts = with_measured(
                graph,
                summary.sha256 if summary is not None else "",
                verdicts,
                evidence_in(*runs_dirs_of(path)),
                soc=project.soc,
                derived=derived_of(project, path.parent),
            )
        except StudioError as error:
            notes.append(f"The targets could not be judged: {error}")
    report.progress("reading runs", 2, 4)
    runs, older = _runs(runs_dir(path), notes)
    return ReportContent(
        project=project,
        project_file=path.name,
        made_at=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        studio_version=__version__,
        summary=summary,
        graph=graph,
        steps=steps,
        missing_steps=missing,
        verdicts=verdicts,
        problems=find_problems(graph, verdicts) if graph is not None else (),
        picture=_picture(graph, graph_path, verdicts, notes),
        runs=runs,
        older_runs=older,
        notes=tuple(notes),
    )


def _graph(project: Project, folder: Path, notes: list[str]) -> tuple[Graph | None, GraphSummary | None, str]:
    """The graph to judge, what it holds, and the name of its file."""
    try:
        path = graph_file(project, folder)
        graph = open_graph(path)
        return graph, summarize(graph), path.name
    except StudioError as error:
        notes.append(f"The graph could not be read: {error}")
        return None, None, ""


def _picture(
    graph: Graph | None, name: str, verdicts: dict[str, TargetVerdicts], notes: list[str]
) -> Picture | None:
    """The graph coloured by the target with the most trouble."""
    if graph is None:
        return None
    target_id = _worst(verdicts)
    layout = lay_out(graph, initial_view(graph))
    if len(layout.item_x) > _LARGEST_PICTURE:
        notes.append(f"The graph has {graph.node_count:,} nodes: draw it with `deployment-studio render`.")
        return None
    drawn = []
    for palette in (LIGHT, DARK):
        paint = verdict_paint(verdicts[target_id], palette) if target_id else None
        subtitle = find_target(target_id).title if target_id else ""
        drawn.append(graph_svg(graph, layout, paint, title=name, subtitle=subtitle, palette=palette))
    caption = f"{name}, coloured by what {target_id} does with each node" if target_id else name
    return Picture(light=drawn[0], dark=drawn[1], caption=caption)


def _worst(verdicts: dict[str, TargetVerdicts]) -> str:
    """The accelerator that leaves most nodes; else any target; else none."""
    ranked = sorted(
        verdicts.items(),
        key=lambda item: (not TARGETS[item[0]].is_accelerator, item[1].counts()["runs"]),
    )
    return ranked[0][0] if ranked else ""


def _runs(folder: Path, notes: list[str]) -> tuple[tuple[Run, ...], int]:
    """(the newest run per artifact, device and target, in time order; how many others there are)."""
    newest: dict[tuple[str, str, str], Run] = {}
    paths = list_runs(folder)
    for path in reversed(paths):
        try:
            found = read_run(path)
        except InputError as error:
            notes.append(f"A run was left out: {error}")
            continue
        if found.placement is not None and found.placement.refused:
            continue  # no figures: it is told beside the verdicts
        key = (found.hello.artifact_sha256, found.hello.device_id, found.hello.target)
        if key not in newest and len(newest) < _RUNS_SHOWN:
            newest[key] = found
    return tuple(reversed(newest.values())), max(len(paths) - len(newest), 0)
