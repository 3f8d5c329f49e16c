"""Which edges are drawn as portals: stubs with the tensor's name in place of a line.

Long shared edges (a mask that every layer reads) are what makes layered layouts slow, wide and
tangled. An edge longer than a span is cut; the span is the longest whose dummies stay few.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

STUB = 16.0
_SPANS = (512, 256, 128, 64, 32, 16, 8, 4, 2)
_LONG = 64  # beyond it only tensors with few readers keep their lines
_FEW_READERS = 4


def portal_edges(size: int, source: npt.NDArray[np.int32], target: npt.NDArray[np.int32]) -> list[bool]:
    """True for the edges to cut, of `size` boxes in topological order. Edges that run back are cut."""
    forward = source < target
    rank = [0] * size
    order = np.argsort(source, kind="stable")
    for a, b, real in zip(source[order].tolist(), target[order].tolist(), forward[order].tolist()):
        if real and rank[a] >= rank[b]:
            rank[b] = rank[a] + 1
    lowest = [len(rank)] * size  # boxes without inputs stand just above their first reader
    has_input = [False] * size
    for a, b, real in zip(source.tolist(), target.tolist(), forward.tolist()):
        if real:
            lowest[a] = min(lowest[a], rank[b])
            has_input[b] = True
    rank = [r if fed or low == size else max(low - 1, r) for r, low, fed in zip(rank, lowest, has_input)]
    ranks = np.array(rank, np.int32)
    length = np.where(forward, ranks[target] - ranks[source], 0) if len(source) else np.zeros(0, np.int32)
    readers = np.bincount(source, minlength=size)[source] if len(source) else length
    length = np.where((length > _LONG) & (readers > _FEW_READERS), max(_SPANS) + 1, length)
    budget = 4 * size + 1000
    span = next((s for s in _SPANS if int((length[length <= s] - 1).clip(0).sum()) <= budget), 1)
    return ((length > span) | ~forward).tolist()  # type: ignore[no-any-return]
