"""How long a frame of the graph canvas takes, by software: p95 while panning and zooming, everything open.

    python tests/bench/bench_canvas.py [--sizes 10000,50000] [--families xfm] [--overlay KIND] [--details]

About 3 minutes. Every frame is painted with all its panels into an image as large as the widget, one after
the other, as fast as it goes; nothing is skipped or merged. Times are the thread's processor time, so that
other programs on the machine do not count (`--wall` for the clock on the wall). Also: how long it takes to
show a layout, to change the overlay, and to mark search results, each with its picture. The table has a row
per zoom and the worse p95 of panning and zooming per graph; budget: 16 ms at 50,000 nodes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from families import FAMILIES, write_family
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from studio.graph import Graph
from studio.graph.formats import open_graph
from studio.graph.layout import Layout, lay_out
from studio.graph.view import GraphView
from studio.support import Partition, Reason, TargetVerdicts
from studio.ui.canvas import GraphCanvas, Overlay, partition_overlay, value_overlay, verdict_overlay
from studio.ui.canvas.canvas import SLICE_MS

BUDGET_MS = 16.0
SCALES = (0.01, 0.02, 0.05, 0.08, 0.12, 0.2, 0.26, 0.35, 0.5, 0.7, 1.0, 1.5)
WIDTH, HEIGHT = 1440, 900
clock = time.thread_time
OVERLAYS = ("verdict", "partition", "value", "none")


def made_up_overlay(kind: str, graph: Graph) -> Overlay | None:
    """An overlay with figures of every kind, some of each."""
    random = np.random.default_rng(1)
    codes = random.choice(5, graph.node_count, p=[0.8, 0.08, 0.06, 0.02, 0.04]).astype(np.uint8)
    if kind == "value":
        return value_overlay("MACs", random.pareto(1.0, graph.node_count) * 1e6, "MACs")
    if kind == "none":
        return None
    place = np.where(codes == 0, np.cumsum(codes >= 2), -1).astype(np.int32)
    present = np.unique(place[place >= 0])
    place[place >= 0] = np.searchsorted(present, place[place >= 0])
    parts = tuple(Partition(nodes=tuple(np.flatnonzero(place == k).tolist())) for k in range(len(present)))
    reasons = (Reason(text="made up for the bench", source="bench"),)
    verdicts = TargetVerdicts("ort/nnapi", codes, np.zeros(graph.node_count, np.int32), reasons, parts, place)
    return partition_overlay(graph, verdicts) if kind == "partition" else verdict_overlay(verdicts)


class Bench:
    """A canvas and an image to paint it into."""

    def __init__(self, graph: Graph, layout: Layout, overlay: Overlay | None) -> None:
        self.canvas = GraphCanvas()
        self.canvas.camera.motion_is_on = False
        self.canvas.resize(WIDTH, HEIGHT)
        self.image = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)
        start = clock()
        self.canvas.set_view(graph, layout)
        self.canvas.fit()
        self.frame()
        self.show_ms = (clock() - start) * 1000
        start = clock()
        self.canvas.set_overlay(overlay)
        self.frame()
        self.overlay_ms = (clock() - start) * 1000
        start = clock()
        self.canvas.set_matches(np.arange(0, graph.node_count, 7))
        self.frame()
        self.match_ms = (clock() - start) * 1000
        self.canvas.set_matches([])
        self.fit_scale = self.canvas.viewport.scale
        slices = []
        is_sharp = False
        while not is_sharp:  # what the canvas does 60 ms after a coarse frame, whatever else waits in between
            start = clock()
            is_sharp = self.canvas._painter.refine(SLICE_MS)
            slices.append((clock() - start) * 1000)
        self.sharp_ms, self.slice_ms = sum(slices), max(slices)

    def frame(self) -> float:
        """One frame; milliseconds."""
        start = clock()
        painter = QPainter(self.image)
        self.canvas.paint_into(painter)
        painter.end()
        return (clock() - start) * 1000

    def fill(self) -> float:
        """What filling the widget with one colour takes: a measure of the machine as it is just now."""
        start = clock()
        for _ in range(20):
            painter = QPainter(self.image)
            painter.fillRect(self.image.rect(), QColor("#123456"))
            painter.end()
        return (clock() - start) * 1000 / 20

    def go_to(self, scale: float) -> None:
        """The densest place at a scale: round the box in the middle of the order."""
        scene = self.canvas.scene
        x, y = scene.center(scene.count // 2)
        self.canvas.camera.show(self.canvas.viewport.centred(x, y, scale))

    def panning(self, scale: float, frames: int) -> list[float]:
        self.go_to(scale)
        self.frame()
        times = []
        for k in range(frames):
            self.canvas.camera.pan(-3 if k % 20 < 10 else 3, -11)
            times.append(self.frame())
        return times

    def zooming(self, scale: float, frames: int) -> list[float]:
        """A new scale every frame, round `scale`: nothing made for one scale can be used again."""
        self.go_to(scale)
        self.frame()
        times = []
        for k in range(frames):
            self.canvas.zoom(1.02 if k < frames // 2 else 1 / 1.021, QPointF(700, 450))
            times.append(self.frame())
        return times


def measure(bench: Bench, frames: int, details: bool) -> dict[float, float]:
    """The worse p95 of panning and zooming by zoom; 0 = all of the graph."""
    result = {}
    for scale in (0.0, *(s for s in SCALES if s > bench.fit_scale)):
        pan = bench.panning(scale or bench.fit_scale, frames)
        boxes = len(bench.canvas.scene.items_in(*bench.canvas.viewport.visible(8)))
        detail = bench.canvas.detail
        zoom = bench.zooming(scale or bench.fit_scale, frames)
        (p50, p95), (z50, z95) = np.percentile(pan, [50, 95]), np.percentile(zoom, [50, 95])
        result[scale] = max(p95, z95)
        if details:
            print(
                f"{scale:6.3f} {detail:>9} {boxes:6}  pan {p50:5.1f} {p95:5.1f}  zoom {z50:5.1f} {z95:5.1f}"
            )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="10000,50000")
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--overlay", default="verdict", choices=OVERLAYS)
    parser.add_argument("--frames", type=int, default=30)
    parser.add_argument("--details", action="store_true", help="p50 and p95 of every zoom")
    parser.add_argument("--wall", action="store_true", help="measure by the clock on the wall")
    arguments = parser.parse_args()
    if arguments.wall:
        global clock
        clock = time.perf_counter
    application = QApplication([])
    table: dict[str, dict[float, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for family in arguments.families.split(","):
            for size in map(int, arguments.sizes.split(",")):
                path = Path(folder) / f"{family}{size}.onnx"
                write_family(family, size, path)
                graph = open_graph(path)
                bench = Bench(graph, lay_out(graph, GraphView()), made_up_overlay(arguments.overlay, graph))
                print(
                    f"{family} {graph.node_count} nodes: shown in {bench.show_ms:.0f} ms,"
                    f" overlay in {bench.overlay_ms:.0f} ms, matches in {bench.match_ms:.0f} ms,"
                    f" far picture sharp in {bench.sharp_ms:.0f} ms,"
                    f" by at most {bench.slice_ms:.1f} ms at a time;"
                    f" filling the widget takes {bench.fill():.2f} ms",
                    flush=True,
                )
                table[f"{family} {size // 1000}k"] = measure(bench, arguments.frames, arguments.details)
    print(f"\n{'zoom':>6}" + "".join(f"{name:>12}" for name in table) + "   p95 in ms")
    for scale in (0.0, *SCALES):
        cells = [f"{column[scale]:12.1f}" if scale in column else f"{'–':>12}" for column in table.values()]
        print((f"{scale:6.2f}" if scale else f"{'fit':>6}") + "".join(cells))
    worst = max(value for column in table.values() for value in column.values())
    print(f"worst p95: {worst:.1f} ms, {worst / BUDGET_MS:.0%} of the budget")
    del application


if __name__ == "__main__":
    main()
