"""Open to painted, side by side: this studio, Netron in headless Chromium.

    python tests/bench/bench_viewers.py [--limit SECONDS] [--sizes 100,1000,…] [--families xfm,…]

Ours: reads the file, lays everything out (nothing collapsed) and paints the whole graph into an image, in
a running process, from opening the file. Netron: the installed page served from this computer, in a
running browser, from navigation until its last node is in the document and two frames have passed.
Memory is the peak resident size of our process, and of all of Chromium's processes.
Needs chromium (or $CHROMIUM).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from families import FAMILIES, write_family

from studio.jobs.serve_netron import _netron_folder, open_server

OURS = """
import resource, sys, time
from pathlib import Path
from PySide6.QtWidgets import QApplication
app = QApplication([])
from studio.graph import open_graph
from studio.graph.layout import lay_out
from studio.graph.view import GraphView
from studio.ui.canvas import GraphCanvas
import onnx
started = time.perf_counter()
graph = open_graph(Path(sys.argv[1]))
canvas = GraphCanvas()
canvas.resize(1280, 860)
canvas.set_view(graph, lay_out(graph, GraphView()))
canvas.show()
canvas.fit()
app.processEvents()
image = canvas.grab()
assert not image.isNull()
print(time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def ours(path: Path, limit: float) -> tuple[float, int] | None:
    """(seconds, peak MB) in a process of its own, None when it takes longer."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", OURS, str(path)],
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


class Browser:
    """Headless Chromium, spoken to over a pipe (`--remote-debugging-pipe`)."""

    def __init__(self, folder: Path) -> None:
        binary = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
        if not binary:
            raise SystemExit("chromium is not installed: set $CHROMIUM.")
        down_read, self._down = os.pipe()
        self._up, up_write = os.pipe()

        def wire() -> None:
            os.dup2(down_read, 100)
            os.dup2(up_write, 101)
            os.dup2(100, 3)
            os.dup2(101, 4)

        self.process = subprocess.Popen(
            [
                binary, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--window-size=1280,860", "--remote-debugging-pipe", f"--user-data-dir={folder}",
                "about:blank",
            ],
            preexec_fn=wire,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(down_read)
        os.close(up_write)
        self._buffer = b""
        self._number = 0
        self._session = ""
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]

    def call(self, method: str, **parameters: object) -> dict[str, object]:
        """The result of one command; events meanwhile are dropped."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._down, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._buffer:
                chunk = os.read(self._up, 1 << 16)
                if not chunk:
                    raise RuntimeError("chromium has gone")
                self._buffer += chunk
            line, _, self._buffer = self._buffer.partition(b"\0")
            answer = json.loads(line)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(str(answer["error"]))
                return answer["result"]

    def value(self, script: str) -> object:
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        return result["result"].get("value")  # type: ignore[attr-defined]

    def memory_mb(self) -> int:
        """Resident megabytes of the browser and all of its children."""
        parents: dict[int, int] = {}
        sizes: dict[int, int] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
                parents[int(stat.parent.name)] = int(fields[1])
                sizes[int(stat.parent.name)] = int(fields[21]) * 4096
            except (OSError, IndexError):
                continue
        total = 0
        for pid, size in sizes.items():
            at = pid
            while at and at != self.process.pid:
                at = parents.get(at, 0)
            total += size if at else 0
        return total >> 20

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for end in (self._down, self._up):
            with contextlib.suppress(OSError):
                os.close(end)


def netron(path: Path, nodes: int, limit: float) -> tuple[float, int] | None:
    """(seconds, peak MB) until Netron has drawn the file, None when it takes longer."""
    server = open_server(path, _netron_folder())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(Path(folder))
        try:
            started = time.perf_counter()
            browser.call("Page.navigate", url=server.url)
            peak = 0
            while time.perf_counter() - started < limit:
                timer = threading.Timer(max(limit - (time.perf_counter() - started), 1), browser.close)
                timer.start()
                try:
                    drawn = browser.value(
                        "document.body.classList.contains('default') ?"
                        " document.querySelectorAll('g.node').length : 0"
                    )
                    if isinstance(drawn, int) and drawn >= nodes:
                        browser.value(
                            "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))"
                        )
                        return time.perf_counter() - started, max(peak, browser.memory_mb())
                except RuntimeError:
                    return None
                finally:
                    timer.cancel()
                peak = max(peak, browser.memory_mb())
                time.sleep(0.05)
            return None
        finally:
            browser.close()
            server.shutdown()
            server.server_close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=120, help="seconds after which a viewer is given up")
    parser.add_argument("--sizes", default="100,1000,5000,10000")
    parser.add_argument("--families", default=",".join(FAMILIES))
    options = parser.parse_args()
    print(f"{'graph':<10}{'nodes':>7}{'ours':>9}{'MB':>6}{'Netron':>10}{'MB':>7}{'Netron ÷ ours':>16}")
    with tempfile.TemporaryDirectory() as folder:
        for family in options.families.split(","):
            for size in map(int, options.sizes.split(",")):
                path = Path(folder) / f"{family}-{size}.onnx"
                count = write_family(family, size, path)
                mine = ours(path, options.limit)
                theirs = netron(path, count, options.limit)
                row = f"{family:<10}{count:>7}"
                row += f"{mine[0]:>8.2f}s{mine[1]:>6}" if mine else f"{'> limit':>9}{'':>6}"
                row += (
                    f"{theirs[0]:>9.2f}s{theirs[1]:>7}"
                    if theirs
                    else f"{'> ' + str(int(options.limit)):>9}s{'':>7}"
                )
                if mine:
                    ratio = (theirs[0] if theirs else options.limit) / mine[0]
                    row += f"{'' if theirs else '> '}{ratio:.1f}".rjust(16)
                print(row, flush=True)


if __name__ == "__main__":
    main()
