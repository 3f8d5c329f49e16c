"""Open to painted, side by side: this studio, Netron and Model Explorer in headless Chromium.

    python tests/bench/bench_viewers.py [--limit SECONDS] [--sizes 100,1000,…] [--families xfm,…]
        [--model-explorer PYTHON]

Ours: reads the file, lays it out and paints it into an image, in a running process, from opening the file:
once with everything open, as Netron shows it, and once as a user sees it first, as Model Explorer does.
Netron: the installed page served from this computer, in a running browser, from navigation until its
last node is in the document and two frames have passed. Model Explorer: its own server and page, from
navigation until its renderer is there, nothing is "processed" any more and two frames have passed; the
graph is given as its own JSON with our scopes, so that reading ONNX costs it nothing. It is not among our
packages: PYTHON is the interpreter of an environment that has `ai-edge-model-explorer`.
Memory is the peak resident size of our process, and of all of Chromium's processes.
Needs chromium (or $CHROMIUM).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path

from browser import Browser
from families import FAMILIES, write_family

from studio.graph import Graph, open_graph
from studio.jobs.serve_netron import netron_folder, open_server

Figure = tuple[float, int] | None  # seconds, peak MB; None when it took longer than the limit

OURS = """
import resource, sys, time
from pathlib import Path
from PySide6.QtWidgets import QApplication
app = QApplication([])
from studio.graph import open_graph
from studio.graph.layout import lay_out
from studio.graph.scopes import initial_view
from studio.graph.view import GraphView
from studio.ui.canvas import GraphCanvas
import onnx
started = time.perf_counter()
graph = open_graph(Path(sys.argv[1]))
canvas = GraphCanvas()
canvas.resize(1280, 860)
canvas.set_view(graph, lay_out(graph, GraphView() if sys.argv[2] == "all" else initial_view(graph)))
canvas.show()
canvas.fit()
app.processEvents()
image = canvas.grab()
assert not image.isNull()
print(time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
TWO_FRAMES = "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))"
NETRON_NODES = "document.body.classList.contains('default') ? document.querySelectorAll('g.node').length : 0"
EXPLORER_DONE = (
    "document.querySelector('webgl-renderer')"
    " && !document.body.innerText.includes('Processing graph') ? 1 : 0"
)


def ours(path: Path, shown: str, limit: float) -> Figure:
    """What a process of its own needs for `shown`: "all" open, or the "first" view."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", OURS, str(path), shown],
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            text=True,
            timeout=limit,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return None
    spent, peak = done.stdout.split()[-2:]
    return float(spent), int(peak)


def until(url: str, is_done: Callable[[Browser], bool], limit: float) -> Figure:
    """What a fresh browser needs from navigating to `url` until `is_done`, and two frames."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(Path(folder))
        timer = threading.Timer(limit, browser.process.kill)
        timer.start()
        try:
            started = time.perf_counter()
            browser.call("Page.navigate", url=url)
            peak = 0
            while not is_done(browser):
                peak = max(peak, browser.memory_mb())
                time.sleep(0.05)
            browser.value(TWO_FRAMES)
            return time.perf_counter() - started, max(peak, browser.memory_mb())
        except RuntimeError:  # killed: it took longer
            return None
        finally:
            timer.cancel()
            browser.close()


def netron(path: Path, nodes: int, limit: float) -> Figure:
    server = open_server(path, netron_folder())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        return until(server.url, lambda browser: browser.number(NETRON_NODES) >= nodes, limit)
    finally:
        server.shutdown()
        server.server_close()


def write_explorer_graph(graph: Graph, path: Path) -> None:
    """Model Explorer's JSON: a node each, its scope as the namespace, an edge from each producer."""
    made_by = {
        int(tensor): (str(node), str(slot))
        for node in range(graph.node_count)
        for slot, tensor in enumerate(graph.outputs_of(node))
    }
    nodes = []
    for node in range(graph.node_count):
        edges = [
            {
                "sourceNodeId": made_by[int(tensor)][0],
                "sourceNodeOutputId": made_by[int(tensor)][1],
                "targetNodeInputId": str(slot),
            }
            for slot, tensor in enumerate(graph.inputs_of(node))
            if int(tensor) in made_by
        ]
        scope = graph.node_name[node].strip("/").rpartition("/")[0]
        nodes.append(
            {"id": str(node), "label": graph.node_op[node], "namespace": scope, "incomingEdges": edges}
        )
    path.write_text(json.dumps({"label": path.stem, "graphs": [{"id": path.stem, "nodes": nodes}]}))


@contextlib.contextmanager
def explorer_server(python: str) -> Iterator[str]:
    """The address of a Model Explorer that listens, until the block is left."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        python,
        "-m",
        "model_explorer",
        "--no_open_in_browser",
        "--skip_health_check",
        "--port",
        str(port),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 60
            while True:
                with contextlib.suppress(OSError), socket.create_connection(("localhost", port), 1):
                    break
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"{python} -m model_explorer does not start.")
                time.sleep(0.2)
            yield f"http://localhost:{port}/"
        finally:
            process.kill()


def explorer(server: str, path: Path, limit: float) -> Figure:
    query = urllib.parse.quote(json.dumps({"models": [{"url": str(path)}]}))
    return until(f"{server}?data={query}", lambda browser: browser.number(EXPLORER_DONE) == 1, limit)


def cell(figure: Figure, limit: float) -> str:
    return f"{figure[0]:>9.2f}s{figure[1]:>6}" if figure else f"{'> ' + str(int(limit)):>9}s{'':>6}"


def ratio(theirs: Figure, mine: Figure, limit: float) -> str:
    if mine is None:
        return "–".rjust(8)
    return f"{'' if theirs else '> '}{(theirs[0] if theirs else limit) / mine[0]:.1f}".rjust(8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=120, help="seconds after which a viewer is given up")
    parser.add_argument("--sizes", default="100,1000,5000,10000")
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--model-explorer", metavar="PYTHON", help="a Python that has ai-edge-model-explorer")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = (
            stack.enter_context(explorer_server(options.model_explorer)) if options.model_explorer else None
        )
        head = f"{'graph':<8}{'nodes':>6}{'all open':>10}{'MB':>6}{'Netron':>10}{'MB':>6}{'ratio':>8}"
        if server:
            head += f"{'first view':>12}{'MB':>6}{'Model Expl.':>12}{'MB':>6}{'ratio':>8}"
        print(head)
        for family in options.families.split(","):
            for size in map(int, options.sizes.split(",")):
                path = folder / f"{family}-{size}.onnx"
                count = write_family(family, size, path)
                row = f"{family:<8}{count:>6}"
                mine, theirs = ours(path, "all", options.limit), netron(path, count, options.limit)
                row += f"{cell(mine, options.limit)}{cell(theirs, options.limit)}"
                row += ratio(theirs, mine, options.limit)
                if server:
                    drawing = folder / f"{family}-{size}.json"
                    write_explorer_graph(open_graph(path), drawing)
                    mine, theirs = (
                        ours(path, "first", options.limit),
                        explorer(server, drawing, options.limit),
                    )
                    row += f"  {cell(mine, options.limit)}  {cell(theirs, options.limit)}"
                    row += ratio(theirs, mine, options.limit)
                print(row, flush=True)


if __name__ == "__main__":
    main()
