"""The whole opening, as job and window do it: first time, again from the cache, and what one does next.

    python tests/bench/bench_opening.py [sizes…]        (default 10000 50000)

Processor seconds of one process per graph, and its peak resident memory. `read` … `verdicts` are the job's
parts (two targets); `window` is loading what it left and painting the first picture; `cached` the job with
everything in the cache; `toggle` opens and closes a scope: layout, scene, overlay, picture; `target` colours
by the other target; `search` one query. The window's own process runs `window` and what follows: its
memory is measured in a process that does only that, after the job.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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

    spec = open_graph.OpenGraph(path=str(path), targets=TARGETS)
    report = Report()
    result = open_graph.run(spec, report)
    assert not [note for note in result.notes if note.startswith("No ")], result.notes
    times = [report.began[part] for part in PARTS]
    found = {name: b - a for name, a, b in zip(("read", "costs", "layout", "verdicts"), times, times[1:])}
    started = time.process_time()
    again = open_graph.run(spec, Report())
    assert again.was_cached, "not found in the cache: has a rule or table changed meanwhile?"
    return {**found, "cached": time.process_time() - started}


def window_part(path: Path) -> dict[str, float]:
    """Processor seconds of what the window does after the job; `mb` is the process's peak."""
    from PySide6.QtWidgets import QApplication

    application = QApplication([])
    import msgspec

    from studio.graph.layout import lay_out
    from studio.graph.scopes import scope_tree, toggle_scope
    from studio.graph.search import search
    from studio.jobs import open_graph
    from studio.jobs.job import Done
    from studio.ui.canvas import GraphCanvas
    from studio.ui.graph_overlays import overlay_of
    from studio.ui.opened import load_opened

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

    def toggle(scope: int) -> object:
        nonlocal view
        view = toggle_scope(view, scope)
        canvas.set_view(graph, lay_out(graph, view))
        canvas.grab()
        return None

    def recolour() -> None:
        canvas.set_overlay(overlay_of(opened, "verdict", TARGETS[1]))  # type: ignore[arg-type]
        canvas.grab()

    first, _ = timed(lambda: scope_tree(graph))
    closed = sorted(view.collapsed, key=lambda s: -int(scope_tree(graph).node_count[s]))
    toggles = [timed(toggle, scope)[0] for scope in closed[:2] for _ in range(2)] or [0.0]
    target, _ = timed(recolour)
    search(graph, "warm")
    found, _ = timed(search, graph, "MatMul")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    del application
    return {
        "window": window, "tree": first, "toggle1": toggles[0], "toggle": sorted(toggles)[len(toggles) // 2],
        "target": target, "search": found, "mb": peak,
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

    names = (
        "read",
        "costs",
        "layout",
        "verdicts",
        "cached",
        "window",
        "toggle1",
        "toggle",
        "target",
        "search",
    )
    print(f"{'graph':<14}{'nodes':>7}" + "".join(f"{name:>9}" for name in names) + f"{'window MB':>11}")
    for family in FAMILIES:
        for scoped in (True, False):
            for size in sizes:
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / "model.onnx"
                    count = write_family(family, size, path, scoped=scoped)
                    found = measured("job", path, Path(folder) / "cache")
                    found |= measured("window", path, Path(folder) / "cache")
                row = "".join(f"{found[name]:>8.2f}s" for name in names)
                title = family + ("" if scoped else " flat")
                print(f"{title:<14}{count:>7}{row}{found['mb']:>11.0f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--part"]:
        parts = {"job": job_part, "window": window_part}
        print(json.dumps(parts[sys.argv[2]](Path(sys.argv[3]))))
    else:
        main([int(a) for a in sys.argv[1:]] or [10_000, 50_000])
