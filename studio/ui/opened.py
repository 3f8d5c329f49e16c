"""Reads what a worker left of an opened model file: graph, layout, costs, verdicts, problems."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from studio.errors import InputError, StudioError
from studio.graph.cost import Costs
from studio.graph.layout import Layout, carry_places, lay_out, places_of
from studio.graph.scopes import translate_view
from studio.graph.store import load_columns, load_graph
from studio.graph.view import GraphView
from studio.graph.walked import load_walk
from studio.jobs.job import Done
from studio.records import from_json
from studio.support import TargetVerdicts
from studio.ui.stages import OpenedGraph

if TYPE_CHECKING:
    from studio.support import Problem


def load_opened(outcome: Done) -> OpenedGraph:
    """The opened graph of an `open_graph` job. Raises InputError when its files are gone or damaged."""
    from studio.jobs.open_graph import GraphOpened

    result = from_json(bytes(outcome.result), GraphOpened, where="open_graph")
    graph = load_graph(Path(result.graph_path))
    view = result.view or GraphView()
    layout = load_columns(Layout, Path(result.layout_path)) if result.layout_path else lay_out(graph, view)
    notes = list(result.notes)
    if result.walk_path:
        with contextlib.suppress(InputError):  # a cache: without it the next layout takes longer
            load_walk(graph, Path(result.walk_path))
    verdicts = {}
    for target_id, path in result.verdict_paths.items():
        try:
            verdicts[target_id] = TargetVerdicts.load(Path(path))
        except (OSError, StudioError) as error:
            notes.append(f"{target_id}: {error}")
    return OpenedGraph(
        graph=graph,
        layout=layout,
        view=view,
        verdicts=verdicts,
        problems=_problems(result.problems_path),
        costs=load_columns(Costs, Path(result.costs_path)) if result.costs_path else None,
        notes=tuple(notes),
        graph_path=result.graph_path,
        verdict_paths={t: p for t, p in result.verdict_paths.items() if t in verdicts},
    )


def look_alike(opened: OpenedGraph, model: OpenedGraph | None) -> None:
    """Shows a graph as another one is shown: the same scopes open, and what stayed in the same order.

    Nothing is done where less than half of the nodes are in both, such as after a conversion.
    """
    if model is None or model.graph is opened.graph:
        return
    graph = opened.graph
    known = {name for name in model.graph.node_name if name}
    if 2 * sum(name in known for name in graph.node_name) <= graph.node_count:
        return
    view = translate_view(model.view, model.graph, graph)
    places = carry_places(places_of(model.layout), model.graph, graph)
    opened.view, opened.layout = view, lay_out(graph, view, places)


def _problems(path: str) -> tuple[Problem, ...]:
    from studio.support import Problem

    if not path:
        return ()
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Open the model again.") from None
    return from_json(data, tuple[Problem, ...], where=path)
