"""How long reading and laying out take, and how good the drawing is, by family and size.

    python tests/bench/bench_layout.py [sizes…]        (default 100 1000 10000 50000)

`all` is everything open in one column, `wrapped` the same in columns, `first` the view a user sees first:
each from nothing but the order of the nodes; `again` is `first` once more, with every block looked up.
Crossings are counted between lines of different tensors; `wide` is the width in boxes; `through` are
lines that run through a box (must be 0). Memory is the process's peak so far. Times are processor
time of this process, which works in one thread: on a busy machine the wall clock measures the others.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from families import FAMILIES, write_family
from layout_quality import quality

from studio.graph import open_graph
from studio.graph.layout import lay_out
from studio.graph.scopes import initial_view
from studio.graph.search import prepare_search, search
from studio.graph.solved import forget_solved
from studio.graph.view import GraphView

COUNTED = 12_000  # boxes up to which crossings are counted


def seconds(function: object, *arguments: object) -> tuple[float, object]:
    started = time.process_time()
    result = function(*arguments)  # type: ignore[operator]
    return time.process_time() - started, result


def main(sizes: list[int]) -> None:
    print(
        f"{'graph':<18}{'nodes':>7}{'read':>8}{'all':>8}{'wrapped':>9}{'first':>8}{'again':>8}{'boxes':>7}{'search':>9}"
        f"{'cross/edge':>12}{'through':>9}{'wide':>6}{'straight':>10}{'portals':>9}{'MB':>6}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for family in FAMILIES:
            for scoped in (True, False):
                for size in sizes:
                    path = Path(folder) / "model.onnx"
                    count = write_family(family, size, path, scoped=scoped)
                    read, graph = seconds(open_graph, path)
                    plain, layout = seconds(lay_out, graph, GraphView(wrap=False))
                    forget_solved()
                    wrapped, _ = seconds(lay_out, graph, GraphView())
                    forget_solved()
                    view = initial_view(graph)
                    first, shown = seconds(lay_out, graph, view)
                    again, _ = seconds(lay_out, graph, view)
                    prepare_search(graph)
                    found, _ = seconds(search, graph, "conv")
                    figures = f"{'–':>12}{'–':>9}{'–':>6}{'–':>10}{'–':>9}"
                    if len(layout.item_x) <= COUNTED:
                        q = quality(layout)
                        figures = (
                            f"{q.crossings_per_edge:>12.4f}{q.through_boxes:>9}{q.width_columns:>6.1f}"
                            f"{q.straight:>10.2f}{q.portals:>9}"
                        )
                    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
                    print(
                        f"{family + ('' if scoped else ' flat'):<18}{count:>7}{read:>7.2f}s{plain:>7.2f}s"
                        f"{wrapped:>8.2f}s{first:>7.2f}s{again:>7.3f}s"
                        f"{len(shown.item_x):>7}{found * 1000:>6.1f} ms"
                        f"{figures}{peak:>6}",
                        flush=True,
                    )


if __name__ == "__main__":
    main([int(a) for a in sys.argv[1:]] or [100, 1_000, 10_000, 50_000])
