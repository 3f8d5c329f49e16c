"""Starts the small jobs of looking at a graph: documentation, a tensor's values, the Netron view."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from studio.graph.op_docs import OpDoc
from studio.jobs.job import Done, Failed, Serving
from studio.records import from_json
from studio.support import TargetVerdicts, find_problems
from studio.ui.job_runner import COMPUTE, LIGHT, WATCH
from studio.ui.session import Session
from studio.ui.session_state import NetronView
from studio.ui.texts import fill

if TYPE_CHECKING:
    from studio.jobs.serve_netron import ServeNetron


def read_docs(session: Session, stage_id: str) -> None:
    """Reads the documentation of a stage's operators, those that are not known yet."""
    from studio.jobs.read_docs import DocsRead, ReadDocs

    stage = session.stage(stage_id)
    if stage is None or stage.opened is None:
        return
    graph = stage.opened.graph
    pairs = set(zip(graph.node_domain, graph.node_op))
    wanted = tuple(sorted(p for p in pairs if (graph.format, *p) not in session.docs))
    if not wanted:
        return
    # Unknown ones are remembered as well: nobody asks for them twice.
    session.docs.update({(graph.format, *pair): None for pair in wanted})
    format_ = graph.format

    def take(outcome: Done | Failed) -> None:
        if isinstance(outcome, Done):
            for doc in from_json(bytes(outcome.result), DocsRead, where="read_docs").docs:
                session.docs[(format_, doc.domain, doc.op)] = doc
            session.docs_read.emit()

    session.start(
        ReadDocs(format=format_, ops=wanted, opsets=dict(graph.opsets)),
        title=session.tr("Read operator documentation"),
        lane=LIGHT,
        then=take,
        quiet=True,
    )


def doc_of(session: Session, node: int) -> OpDoc | None:
    """The documentation of a node's operator in the current graph, None when there is none (yet)."""
    opened = session.opened
    if opened is None:
        return None
    graph = opened.graph
    return session.docs.get((graph.format, graph.node_domain[node], graph.node_op[node]))


def read_tensor(
    session: Session, tensor: int, then: Callable[[Done | Failed], None], *, export_path: str = ""
) -> None:
    """Reads a constant of the current graph: statistics, and an `.npy` file when asked for."""
    from studio.jobs.read_tensor import ReadTensor

    opened = session.opened
    if opened is None or not opened.graph_path:
        return
    spec = ReadTensor(graph_path=opened.graph_path, tensor=tensor, export_path=export_path)
    title = fill(session.tr("Read {tensor}"), tensor=opened.graph.tensor_name[tensor])
    session.start(spec, title=title, lane=LIGHT, then=then, quiet=not export_path)


def open_in_netron(session: Session, open_url: Callable[[str], object]) -> None:
    """Serves the current stage's file to Netron, coloured with its verdicts, and opens the page."""
    from studio.jobs.serve_netron import ServeNetron

    stage = session.current_stage
    if stage is None or stage.path is None:
        return
    spec = ServeNetron(path=str(stage.path))
    if stage.opened is not None and stage.opened.graph_path:
        spec = ServeNetron(
            path=str(stage.path),
            graph_path=stage.opened.graph_path,
            verdict_paths=dict(stage.opened.verdict_paths),
            target=session.target_id,
        )
    show_in_netron(session, spec, open_url)


def show_in_netron(session: Session, spec: ServeNetron, open_url: Callable[[str], object]) -> None:
    """Serves a file to Netron and opens the page.

    The port closes with the project, or when the same file is served anew because its verdicts changed.
    """
    known = session.served.get(spec.path)
    if known is not None and known.spec == spec:
        open_url(known.url)
        return
    if known is not None:
        session.cancel(known.job_id)
    title = fill(session.tr("Netron shows {file}"), file=Path(spec.path).name)

    def take(outcome: Done | Failed) -> None:
        if spec.path in session.served and session.served[spec.path].job_id == wanted:
            del session.served[spec.path]
        session.job_event.disconnect(on_event)

    def on_event(job_id: str, event: object) -> None:
        if isinstance(event, Serving) and job_id == wanted:
            session.served[spec.path] = NetronView(job_id, event.url, spec)
            open_url(event.url)

    session.job_event.connect(on_event)
    wanted = session.start(spec, title=title, lane=WATCH, then=take)


def close_netron(session: Session) -> None:
    """Closes every port that was opened for Netron."""
    for view in list(session.served.values()):
        session.cancel(view.job_id)


def ask_tools(session: Session, targets: tuple[str, ...] = ()) -> None:
    """Asks the real partitioners about the current stage (all targets when none are named)."""
    from studio.jobs.ask_tool import AskTool, ToolAsked

    stage, project = session.current_stage, session.project
    if stage is None or stage.path is None or stage.opened is None or project is None:
        return
    opened = stage.opened

    def take(outcome: Done | Failed) -> None:
        if not isinstance(outcome, Done):
            return
        asked = from_json(bytes(outcome.result), ToolAsked, where="ask_tool")
        for target_id, path in asked.verdict_paths.items():
            opened.verdicts[target_id] = TargetVerdicts.load(Path(path))
            opened.verdict_paths = {**opened.verdict_paths, target_id: path}
            tool, n = asked.tools.get(target_id, ""), asked.answered.get(target_id, 0)
            said = fill(session.tr("{tool} answered for {n} nodes"), tool=tool, n=n)
            session.logged.emit(target_id, said)
        for note in asked.notes:
            session.logged.emit(session.tr("Ask the real tools"), note)
        if not asked.verdict_paths:
            message = session.tr("No tool on this computer answers for this file and these targets.")
            hint = " ".join(asked.notes[:3])
            session.failed.emit(Failed(error="tool", message=message, hint=hint))
            return
        opened.problems = find_problems(opened.graph, opened.verdicts)
        session.stage_opened.emit(stage.id)

    spec = AskTool(path=str(stage.path), targets=targets or project.targets, soc=project.soc)
    session.start(spec, title=session.tr("Ask the real tools"), lane=COMPUTE, then=take)
