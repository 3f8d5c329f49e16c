"""Compares two opened graphs: which node is which, and what changed, as one packed file in the cache.

Why a job: matching 50,000 nodes takes seconds, and weights may be gigabytes. The result is kept by the
hashes of both graphs and of the code that compares, so that looking again is at once.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from studio import paths
from studio.artifact import hash_file
from studio.errors import InputError
from studio.graph.diff import diff_graphs
from studio.graph.diff_store import load_diff, save_diff
from studio.graph.graph import Graph
from studio.graph.store import load_graph
from studio.jobs.job import Report
from studio.records import Record

_MOST_NOTES = 20


class CompareGraphs(Record):
    """Two packed graphs, as `open_graph` leaves them, and whether their weights are read as well."""

    first: str
    second: str
    compare_weights: bool = True


class GraphsCompared(Record):
    """Where the diff is; load it with `graph.diff_store.load_diff`."""

    diff_path: str
    changes: int
    was_cached: bool = False


def run(spec: CompareGraphs, report: Report) -> GraphsCompared:
    """The diff of both graphs. Raises InputError when a packed graph is gone, or when it was cancelled."""
    report.progress("reading", 0)
    graphs = [load_graph(Path(path)) for path in (spec.first, spec.second)]
    path = _place(spec, graphs)
    try:
        return GraphsCompared(diff_path=str(path), changes=len(load_diff(path).changes), was_cached=True)
    except InputError:
        pass  # not there yet, damaged, or of another version

    def tell(stage: str, done: int, total: int) -> None:
        if report.should_stop():
            raise InputError("Comparing was cancelled.")
        report.progress(stage, done, total, "nodes")

    diff = diff_graphs(graphs[0], graphs[1], compare_weights=spec.compare_weights, tell=tell)
    for note in diff.notes[:_MOST_NOTES]:
        report.log(note)
    save_diff(diff, path)
    return GraphsCompared(diff_path=str(path), changes=len(diff.changes))


def _place(spec: CompareGraphs, graphs: list[Graph]) -> Path:
    """The file of this comparison in the cache."""
    parts = [hash_file(Path(spec.first)), hash_file(Path(spec.second)), str(spec.compare_weights)]
    if spec.compare_weights:
        parts += [stamp for graph in graphs for stamp in _weight_files(graph)]
    here = Path(__file__).resolve().parent.parent / "graph"
    parts += [f"{f.name} {f.stat().st_size} {f.stat().st_mtime_ns}" for f in sorted(here.glob("*.py"))]
    folder = paths.graphs_dir() / "diffs"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"Cannot write to {folder}: {error.strerror}.", hint="Free some space.") from None
    return folder / hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _weight_files(graph: Graph) -> list[str]:
    """The files that the weights are read from, with size and time: they can change beside the graph."""
    own = Path(graph.file_path)
    found = []
    for name in sorted({str(own), *(str(own.parent / d.path) for d in graph.tensor_data.values() if d.path)}):
        try:
            stat = Path(name).stat()
        except OSError:
            found.append(f"{name} absent")
        else:
            found.append(f"{name} {stat.st_size} {stat.st_mtime_ns}")
    return found
