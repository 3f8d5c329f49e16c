"""Boundaries: in which partition every node is, and the tensors that cross from one into another."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from studio.graph.graph import Graph, Ints
from studio.support.folding import fold
from studio.support.verdict import TargetVerdicts


def partition_places(graph: Graph, verdicts: TargetVerdicts) -> Ints:
    """[nodes] the partition of every node, −1 = it is in none."""
    place = verdicts.partition_of
    if len(place) != graph.node_count:
        place = np.full(graph.node_count, -1, np.int32)
        for k, partition in enumerate(verdicts.partitions):
            place[list(partition.nodes)] = k
    return place


def partition_members(place: Ints, count: int) -> list[Ints]:
    """The nodes of every partition, in file order."""
    order = np.argsort(place, kind="stable").astype(np.int32)
    bounds = np.searchsorted(place[order], np.arange(count + 1))
    return [order[a:b] for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist())]


def crossing_bytes(graph: Graph, place: Ints) -> dict[int, float]:
    """tensor → bytes, of every tensor that goes from one partition into another or out; 0 = not known.

    What is computed once when the model is loaded goes nowhere while it runs: it is part of the partition.
    """
    source, target, tensor = graph.edges
    crossing = place[source] != place[target]
    tensors = np.unique(tensor[crossing]).tolist()
    if (place[source[crossing]] < 0).any():
        constant = _constant(graph)
        tensors = [t for t in tensors if t not in constant]
    return {t: float(max(int(graph.tensor_bytes[t]), 0)) for t in tensors}


_constants: WeakKeyDictionary[Graph, set[int]] = WeakKeyDictionary()


def _constant(graph: Graph) -> set[int]:
    """The tensors that are constant after folding; kept, as another target asks for the same."""
    found = _constants.get(graph)
    if found is None:
        found = _constants[graph] = fold(graph)[0]
    return found
