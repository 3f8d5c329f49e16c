"""Crossings and width of our layout beside fast-sugiyama's, on the same edges and by the same count.

    python tests/bench/bench_engines.py [--sizes 100,1000] PYTHON [FILE…]

PYTHON is the interpreter of an environment that has `fast-sugiyama` (MIT; not among our packages), the best
engine that we know on these families. It gets the edges that we draw (portals are left out for both), boxes
as wide as ours and our gap, and is asked four ways (barycentre or median, ranks minimised or original);
the one with the fewest crossings counts. FILE: further models, such as other people's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from families import FAMILIES, write_family
from layout_quality import count_crossings, quality

from studio.graph import open_graph
from studio.graph.layout import Layout, lay_out
from studio.graph.view import GraphView

BOX = 176.0  # and the gap to the next one is 24, as the 200 below says

THEIRS = """
import json, sys
import fast_sugiyama
edges = [tuple(e) for e in json.load(sys.stdin)]
answers = []
for how in ("barycenter", "median"):
    for ranks in ("minimize", "original"):
        parts = fast_sugiyama.from_edges(edges, crossing_minimization=how, ranking_type=ranks, transpose=True,
            vertex_spacing=200.0, dummy_vertices=True, dummy_size=12.0, check_layout=False)
        answers.append([[positions, lines] for positions, _, _, lines in parts])
json.dump(answers, sys.stdout)
"""


def drawn_edges(layout: Layout) -> list[tuple[int, int]]:
    """(item, item) of every line that is drawn, once each."""
    pairs = np.stack([layout.edge_source, layout.edge_target], axis=1)[~layout.edge_is_portal]
    return [(int(a), int(b)) for a, b in np.unique(pairs, axis=0) if a >= 0 and b >= 0]


def drawn_width(layout: Layout) -> float:
    """Width in boxes of what is drawn, without the margin."""
    left = min(layout.item_x.min(), layout.edge_points[:, 0].min())
    right = max((layout.item_x + layout.item_width).max(), layout.edge_points[:, 0].max())
    return float(right - left) / BOX


def ask(python: str, edges: list[tuple[int, int]]) -> tuple[float, float] | None:
    """(crossings per edge, width in boxes) of the best of its answers; None when it crashes or hangs."""
    try:
        done = subprocess.run(
            [python, "-c", THEIRS], input=json.dumps(edges), capture_output=True, text=True, timeout=120
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        return None
    real = {end for edge in edges for end in edge}
    best: tuple[float, float] | None = None
    for parts in json.loads(done.stdout):
        crossings, width = 0, 0.0
        for positions, lines in parts:
            at = {node: (x, -y) for node, (x, y) in positions}
            segments = np.array([(*at[a], *at[b]) for a, b in lines], float).reshape(-1, 4)
            flip = segments[:, 1] > segments[:, 3]
            segments[flip] = segments[flip][:, [2, 3, 0, 1]]
            # Lines of one source do not cross each other, as lines of one tensor do not in ours.
            crossings += count_crossings(segments, _sources(lines, real))
            left = min(x - (BOX / 2 if node in real else 0) for node, (x, _) in at.items())
            right = max(x + (BOX / 2 if node in real else 0) for node, (x, _) in at.items())
            width = max(width, (right - left) / BOX)
        figure = (crossings / max(len(edges), 1), width)
        best = min(best, figure) if best else figure
    return best


def _sources(lines: list[list[int]], real: set[int]) -> np.ndarray:
    """The real node each piece starts from, through the engine's dummies."""
    above = {b: a for a, b in lines}
    found = []
    for a, _ in lines:
        while a not in real and a in above:
            a = above[a]
        found.append(a)
    return np.array(found, np.int64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--sizes", default="100,1000")
    options = parser.parse_args()
    print(f"{'graph':<34}{'nodes':>7}{'crossings/edge':>16}{'theirs':>9}{'width':>8}{'theirs':>9}")
    with tempfile.TemporaryDirectory() as folder:
        jobs = [(path.name, path) for path in options.files]
        for family in FAMILIES:
            for size in map(int, options.sizes.split(",")):
                for scoped in (True, False):
                    path = Path(folder) / f"{family}-{size}-{scoped}.onnx"
                    write_family(family, size, path, scoped=scoped)
                    jobs.append((f"{family}{'' if scoped else ' flat'}", path))
        for name, path in jobs:
            graph = open_graph(path)
            layout = lay_out(graph, GraphView(wrap=False))
            mine, theirs = quality(layout), ask(options.python, drawn_edges(layout))
            row = f"{name[:33]:<34}{graph.node_count:>7}{mine.crossings_per_edge:>16.4f}"
            row += f"{theirs[0]:>9.4f}" if theirs else f"{'–':>9}"
            row += f"{drawn_width(layout):>8.1f}" + (f"{theirs[1]:>9.1f}" if theirs else f"{'–':>9}")
            print(row, flush=True)


if __name__ == "__main__":
    sys.exit(main())
