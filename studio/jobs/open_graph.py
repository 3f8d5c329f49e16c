"""Opens a model file for looking at: graph, costs, layout, verdicts, problems, as packed files in the cache.

Only the graph is a must. Each later part that fails is a note on the result, not a failure of the
job: a graph without verdicts is still worth seeing. The cache key holds file content, file path (external
weights lie beside it) and what the studio's own code and tables say, so a change of a rule is seen.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from studio import paths
from studio.artifact import hash_file
from studio.errors import InputError, StudioError
from studio.graph.cost import node_costs
from studio.graph.formats import detect_format, open_graph
from studio.graph.graph import Graph
from studio.graph.layout import lay_out
from studio.graph.scopes import initial_view
from studio.graph.store import load_graph, save_columns, save_graph
from studio.graph.view import GraphView
from studio.graph.walked import save_walk
from studio.jobs.job import Report
from studio.records import Record, from_json, to_json, write_atomically

_PARTS = 5


class OpenGraph(Record):
    """What to open and for whom. `view` None = the view that suits the graph's size.

    `input_shapes`: shapes of inputs by name, for TorchScript files that keep none.
    `etrecord`: the ETRecord of a `.pte` file that does not lie beside it.
    """

    path: str
    targets: tuple[str, ...] = ()
    soc: str = ""
    android_level: int | None = None
    view: GraphView | None = None
    check_external: bool = True
    input_shapes: dict[str, tuple[int | str | None, ...]] = {}
    etrecord: str = ""


class GraphOpened(Record):
    """Where the parts are; an empty path means the part failed, and a note says why.

    Load with `graph.store.load_graph`, `load_columns(Layout | Costs, …)`, `TargetVerdicts.load`, and
    `graph.walked.load_walk`, which makes the first opening of a scope as quick as the next ones; the
    problems are a JSON list of `support.Problem`.
    """

    sha256: str
    format: str
    node_count: int
    graph_path: str
    costs_path: str = ""
    layout_path: str = ""
    walk_path: str = ""
    view: GraphView | None = None
    verdict_paths: dict[str, str] = {}
    problems_path: str = ""
    notes: tuple[str, ...] = ()
    external_files: tuple[str, ...] = ()
    was_cached: bool = False


def run(spec: OpenGraph, report: Report) -> GraphOpened:
    """The packed files of a model. Raises InputError when the file is not a readable model."""
    path = Path(spec.path).absolute()
    report.progress("reading", 0, _PARTS)
    format_ = detect_format(path)
    sha256 = hash_file(path)
    source = (
        sha256,
        str(path.resolve()),
        str(spec.check_external),
        to_json(spec.input_shapes),
        _record_key(path, format_, spec),
    )
    folder = paths.graphs_dir() / _key(*source, _code_stamp())
    wanted = _key(to_json(spec.targets), spec.soc, str(spec.android_level), to_json(spec.view))
    manifest = folder / f"opened-{wanted}.json"
    known = _known(manifest)
    if known is not None:
        return known
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"Cannot write to {folder}: {error.strerror}.", hint="Free some space.") from None
    graph_path = folder / "graph"
    graph = _graph(path, graph_path, spec)
    made = _Parts(graph, folder, report)
    made.add("costs", lambda: made.costs())
    made.add("layout", lambda: made.layout(spec.view))
    made.add("verdicts", lambda: made.verdicts(spec))
    result = GraphOpened(
        sha256=sha256,
        format=format_,
        node_count=graph.node_count,
        graph_path=str(graph_path),
        costs_path=made.costs_path,
        layout_path=made.layout_path,
        walk_path=made.walk_path,
        view=made.view,
        verdict_paths=made.verdict_paths,
        problems_path=made.problems_path,
        notes=tuple(graph.notes + made.notes),
        external_files=_external_files(graph),
    )
    if not made.notes:  # a part that failed is tried again next time
        write_atomically(manifest, to_json(result).encode())
    report.progress("done", _PARTS, _PARTS)
    return result


def _record_key(path: Path, format_: str, spec: OpenGraph) -> str:
    """What changes when another ETRecord is used, or the same one was written anew."""
    from studio.graph.read_etrecord import record_beside

    if format_ != "pte":
        return ""
    record = Path(spec.etrecord) if spec.etrecord else record_beside(path)
    return f"{record} {hash_file(record)}" if record is not None and record.is_file() else str(record)


def _known(manifest: Path) -> GraphOpened | None:
    """What an earlier run left, when all of it is still there."""
    try:
        found = from_json(manifest.read_bytes(), GraphOpened, where=str(manifest))
    except (OSError, InputError):
        return None
    files = [found.graph_path, found.costs_path, found.layout_path, *found.verdict_paths.values()]
    if not all(Path(file).is_file() for file in files):
        return None
    if found.external_files and not _has_external_files(load_graph(Path(found.graph_path))):
        return None
    return msgspec.structs.replace(found, was_cached=True)


def _external_files(graph: Graph) -> tuple[str, ...]:
    return tuple(sorted({data.path for data in graph.tensor_data.values() if data.path}))


def _has_external_files(graph: Graph) -> bool:
    folder = Path(graph.file_path).parent
    return all((folder / file).is_file() for file in _external_files(graph))


def _graph(path: Path, stored: Path, spec: OpenGraph) -> Graph:
    """The graph, from the cache when it is there, whole, and its weights' files still are as well."""
    if stored.is_file():
        try:
            graph = load_graph(stored)
            if not spec.check_external or _has_external_files(graph):
                return graph
        except InputError:
            pass  # written by another version or damaged: read the model again
    graph = open_graph(
        path,
        check_external=spec.check_external,
        input_shapes=spec.input_shapes or None,
        etrecord=Path(spec.etrecord) if spec.etrecord else None,
    )
    save_graph(graph, stored)
    return graph


class _Parts:
    """The parts after the graph, each allowed to fail."""

    def __init__(self, graph: Graph, folder: Path, report: Report) -> None:
        self.graph, self.folder, self.report = graph, folder, report
        self.notes: list[str] = []
        self.costs_path = self.layout_path = self.walk_path = self.problems_path = ""
        self.view: GraphView | None = None
        self.verdict_paths: dict[str, str] = {}
        self._done = 1

    def add(self, name: str, make: Callable[[], None]) -> None:
        """Makes one part; a failure becomes a note."""
        if self.report.should_stop():
            raise InputError("Opening was cancelled.")
        self._done += 1
        self.report.progress(name, self._done, _PARTS)
        started = time.monotonic()
        try:
            make()
        except StudioError as error:
            self.notes.append(f"No {name}: {error}")
        except Exception as error:  # the graph must be seen even when a later part has a bug
            self.notes.append(f"No {name}: the studio made a mistake ({type(error).__name__}: {error}).")
        seconds = time.monotonic() - started
        if seconds > 1:
            self.report.log(f"{name}: {seconds:.1f} s for {self.graph.node_count} nodes")

    def costs(self) -> None:
        path = self.folder / "costs"
        save_columns(node_costs(self.graph), path)
        self.costs_path = str(path)

    def layout(self, view: GraphView | None) -> None:
        self.view = view or initial_view(self.graph)
        path = self.folder / f"layout-{_key(to_json(self.view))}"
        save_columns(lay_out(self.graph, self.view), path)
        self.layout_path = str(path)
        walk_path = path.with_name(path.name.replace("layout-", "walk-"))
        save_walk(self.graph, self.view, walk_path)
        self.walk_path = str(walk_path)

    def verdicts(self, spec: OpenGraph) -> None:
        from studio.support import find_problems, judge

        if not spec.targets:
            return
        found = judge(self.graph, spec.targets, soc=spec.soc, android_level=spec.android_level)
        suffix = _key(spec.soc, str(spec.android_level))
        for target_id, verdicts in found.items():
            path = self.folder / f"verdicts-{target_id.replace('/', '-')}-{suffix}"
            verdicts.save(path)
            self.verdict_paths[target_id] = str(path)
        path = self.folder / f"problems-{_key(to_json(spec.targets), suffix)}.json"
        write_atomically(path, msgspec.json.encode(find_problems(self.graph, found)))
        self.problems_path = str(path)


def _key(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


def _code_stamp() -> str:
    """Changes whenever a reader, a rule or a table does: names, sizes and times of those files."""
    here = Path(__file__).resolve().parent.parent
    folders = (here / "graph", here / "support", paths.resources() / "opsupport")
    files = sorted(
        f for folder in folders for f in folder.rglob("*") if f.suffix in (".py", ".json", ".toml")
    )
    return ";".join(f"{f.name} {s.st_size} {s.st_mtime_ns}" for f in files for s in (f.stat(),))
