"""The whole opening, as job and window do it: first time, again from the cache, and what one does next.

    python tests/bench/bench_opening.py [sizes…]        (default 10000 50000; about 3 minutes)

Processor seconds of one process per graph, and its peak resident memory. `read` … `verdicts` are the job's
parts (two targets); `window` is loading what it left and painting the first picture; `cached` the job with
everything in the cache; `open` all of a first opening after the file is read, `again` all of the next one.
Then milliseconds: `toggle` opens and closes scopes all over the first view (layout, scene, colours, picture):
the first one, the median and the worst of 24; `target` colours by the other target, `heat` by figures;
`index` is entering the search field, `search` the worst of seven queries, typed letter by letter; `expand`
opens everything. With all open (`w.`): the median and the worst of toggling the first, the middle and the
last scope of every depth; `later` is the most that follows such a toggle in slices, after its first picture
(the minimap); `w.target` another target. The window does `window` and what follows: its memory is
measured in a process that does only that.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

TARGETS = ("ort/cpu", "ort/nnapi")
PARTS = ("reading", "costs", "layout", "verdicts", "done")


class Report:
    """Notes the processor time at which every part begins."""

    def __init__(self) -> None:
        self.began: dict[str, float] = {}

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None:
        self.began[stage] = time.process_time()

    def log(self, text: str) -> None: ...

    def emit(self, event: object) -> None: ...

    def should_stop(self) -> bool:
        return False


def job_part(path: Path) -> dict[str, float]:
    """Processor seconds of the job's parts, and of the job when all is in the cache."""
    import onnx  # noqa: F401  (a worker has it imported early)

    from studio.jobs import open_graph

    open_graph._code_stamp = lambda: "bench"  # whoever edits the studio meanwhile does not empty the cache
    spec = open_graph.OpenGraph(path=str(path), targets=TARGETS)
    report = Report()
    result = open_graph.run(spec, report)
    assert not [note for note in result.notes if note.startswith("No ")], result.notes
    times = [report.began[part] for part in PARTS]
    found = {name: b - a for name, a, b in zip(("read", "costs", "layout", "verdicts"), times, times[1:])}
    started = time.process_time()
    again = open_graph.run(spec, Report())
    assert again.was_cached
    return {**found, "cached": time.process_time() - started}


def window_part(path: Path) -> dict[str, float]:
    """Processor seconds of what the window does after the job; `mb` is the process's peak."""
    from PySide6.QtWidgets import QApplication

    application = QApplication([])
    import msgspec
    from msgspec.structs import replace

    from studio.errors import InputError
    from studio.graph.layout import ItemKind, lay_out, places_of
    from studio.graph.scopes import scope_tree, toggle_scope
    from studio.graph.search import prepare_search, search
    from studio.graph.view import GraphView
    from studio.jobs import open_graph
    from studio.jobs.job import Done
    from studio.ui.canvas import GraphCanvas
    from studio.ui.graph_overlays import overlay_of
    from studio.ui.opened import load_opened

    open_graph._code_stamp = lambda: "bench"
    outcome = open_graph.run(open_graph.OpenGraph(path=str(path), targets=TARGETS), Report())
    done = Done(result=msgspec.Raw(msgspec.json.encode(outcome)))
    canvas = GraphCanvas()
    canvas.resize(1280, 860)
    canvas.grab()  # fonts

    def timed(function: object, *arguments: object) -> tuple[float, object]:
        started = time.process_time()
        result = function(*arguments)  # type: ignore[operator]
        return time.process_time() - started, result

    def show() -> object:
        opened = load_opened(done)
        canvas.set_view(opened.graph, opened.layout)
        canvas.set_overlay(overlay_of(opened, "verdict", TARGETS[0]))
        canvas.grab()
        return opened

    window, opened = timed(show)
    graph, view = opened.graph, opened.view  # type: ignore[attr-defined]

    layout = opened.layout  # type: ignore[attr-defined]

    def show_view(wanted: GraphView) -> None:
        nonlocal layout, view
        layout, view = lay_out(graph, wanted, places_of(layout)), wanted
        canvas.set_view(graph, layout)
        canvas.grab()

    later: list[float] = []

    def toggles(scopes: list[int]) -> list[float]:
        times = []
        for scope in (scope for scope in scopes for _ in range(2)):
            times.append(timed(show_view, toggle_scope(view, scope))[0])
            later.append(timed(canvas._painter.refine)[0])
        return times

    def recolour(overlay: str) -> None:
        canvas.set_overlay(overlay_of(opened, overlay, TARGETS[1]))  # type: ignore[arg-type]
        canvas.grab()

    tree = scope_tree(graph)
    # boxes of the first view: the first, the last, and some between
    seen = np.unique(layout.item_ref[layout.item_kind == ItemKind.SCOPE])
    times = toggles(seen[np.linspace(0, len(seen) - 1, min(len(seen), 12)).astype(int)].tolist())
    target, _ = timed(recolour, "verdict")
    heat, _ = timed(recolour, "macs")
    index, _ = timed(prepare_search, graph)
    found = 0.0
    for query in ("Conv", "MatMul", "op:Add", "layer", "zzz", "MatMul → * → Softmax", "[N,4,8,8]"):
        for length in range(1, len(query) + 1):
            with contextlib.suppress(InputError):  # half a query is not always one
                found = max(found, timed(search, graph, query[:length])[0])
    recolour("verdict")
    expand, _ = timed(show_view, replace(view, collapsed=frozenset()))
    framed = np.flatnonzero(tree.node_count > 1)[1:]
    chosen: dict[int, None] = {}  # in order, each once
    for depth in np.unique(tree.depth[framed]):
        here = framed[tree.depth[framed] == depth]
        chosen |= dict.fromkeys(here[[0, len(here) // 2, -1]].tolist())
    canvas._painter.refine()
    later.clear()
    wide = toggles(list(chosen)) or [0.0]
    wide_target, _ = timed(recolour, "verdict")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    del application
    return {
        "window": window, "first": times[0], "median": float(np.median(times)), "worst": max(times),
        "target": target, "heat": heat, "index": index, "search": found, "expand": expand,
        "wide_median": float(np.median(wide)), "wide": max(wide), "later": max(later, default=0.0),
        "wide_target": wide_target, "mb": peak,
    }  # fmt: skip


def measured(part: str, path: Path, cache: Path) -> dict[str, float]:
    """The figures of one part, from a process of its own."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "DEPLOYMENT_STUDIO_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, __file__, "--part", part, str(path)],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(sizes: list[int]) -> None:
    from families import FAMILIES, write_family

    seconds = ("read", "costs", "layout", "verdicts", "window", "open", "again")
    milliseconds = (
        "first",
        "median",
        "worst",
        "target",
        "heat",
        "index",
        "search",
        "expand",
        "wide_median",
        "wide",
        "later",
        "wide_target",
    )
    print("seconds of processor time, then milliseconds: toggle first, median, worst; other target; figures;")
    print(
        "entering the search field; a query; expand all; with all open: toggle median, worst, what follows it"
    )
    print("in slices, other target. Last: MB")
    print(f"{'graph':<12}{'nodes':>6}" + "".join(f"{name:>9}" for name in seconds), end="")
    print("".join(f"{name.replace('wide_', 'w.'):>9}" for name in milliseconds) + f"{'MB':>5}")
    for family in FAMILIES:
        for scoped in (True, False):
            for size in sizes:
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / "model.onnx"
                    count = write_family(family, size, path, scoped=scoped)
                    found = measured("job", path, Path(folder) / "cache")
                    found |= measured("window", path, Path(folder) / "cache")
                found["open"] = sum(found[name] for name in ("costs", "layout", "verdicts", "window"))
                found["again"] = found["cached"] + found["window"]
                row = "".join(f"{found[name]:>9.2f}" for name in seconds)
                row += "".join(f"{found[name] * 1000:>9.0f}" for name in milliseconds)
                title = family + ("" if scoped else " flat")
                print(f"{title:<12}{count:>6}{row}{found['mb']:>5.0f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--part"]:
        parts = {"job": job_part, "window": window_part}
        print(json.dumps(parts[sys.argv[2]](Path(sys.argv[3]))))
    else:
        main([int(a) for a in sys.argv[1:]] or [10_000, 50_000])
