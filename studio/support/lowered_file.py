"""What a file was lowered for, before it is opened: the first target to look at it on and to run it on.

The delegates of a `.pte` are named in its program. The other formats are read as graphs, and only when a
mark of compiled code is among their bytes.
"""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from studio.graph.formats import open_graph
from studio.graph.graph import Graph
from studio.graph.mapped import map_file
from studio.graph.pte_file import PteFile
from studio.support.lowered import lowered, target_of

_MARKS = {"onnx": b"EPContext", "ort": b"EPContext", "tflite": b"DISPATCH_OP"}


def lowered_targets(path: Path, file_format: str) -> tuple[str, ...]:
    """The targets that a file holds compiled code for, most calls first; () = for none, or for others.

    Raises InputError when the file is damaged.
    """
    if file_format == "pte":
        plans = PteFile(map_file(path)).program["execution_plan"]
        return _by_calls(delegate["id"] for plan in plans for delegate in plan["delegates"])
    mark = _MARKS.get(file_format)
    if mark is None or not _holds(path, mark):
        return ()
    return targets_of_graph(open_graph(path))


def targets_of_graph(graph: Graph) -> tuple[str, ...]:
    """The same of a graph."""
    return _by_calls(lowered(graph).engines.values())


def _holds(path: Path, mark: bytes) -> bool:
    """Whether the bytes are in the file."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(mark) >= 0


def _by_calls(engines: Iterable[str]) -> tuple[str, ...]:
    counts = Counter(target for engine in engines if (target := target_of(engine)))
    return tuple(target for target, _ in counts.most_common())
