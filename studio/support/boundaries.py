"""Boundaries: in which partition every node is, and the tensors that cross from one into another."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph, Ints
from studio.support.folding import fold
from studio.support.verdict import TargetVerdicts

Mask = npt.NDArray[np.bool_]


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


def partition_codes(graph: Graph, place: Ints, looks: int, none: int) -> Ints:
    """[nodes] which of `looks` looks shows a node's partition, `looks` = it is in none; `none` for what is
    computed once when the model is loaded, which the accelerator is handed ready-made.
    """
    codes = np.where(place < 0, looks, place % max(looks, 1)).astype(np.int32)
    constant = _constant(graph)
    maker = graph.producer_of
    made = np.bincount(maker[maker >= 0], minlength=graph.node_count)
    made_at_load = np.bincount(maker[(maker >= 0) & constant], minlength=graph.node_count)
    codes[(place < 0) & (made > 0) & (made == made_at_load)] = none
    return codes


def crossing_bytes(graph: Graph, place: Ints) -> dict[int, float]:
    """tensor → bytes, of every tensor that goes from one partition into another or out; 0 = not known.

    What is computed once when the model is loaded goes nowhere while it runs: it is part of the partition.
    """
    source, target, tensor = graph.edges
    crossing = place[source] != place[target]
    tensors = np.unique(tensor[crossing]).tolist()
    if (place[source[crossing]] < 0).any():
        constant = _constant(graph)
        tensors = [t for t in tensors if not constant[t]]
    return {t: float(max(int(graph.tensor_bytes[t]), 0)) for t in tensors}


_constants: WeakKeyDictionary[Graph, Mask] = WeakKeyDictionary()


def _constant(graph: Graph) -> Mask:
    """[tensors] which are constant after folding; kept, as another target asks for the same."""
    found = _constants.get(graph)
    if found is None:
        found = _constants[graph] = np.zeros(len(graph.tensor_name), np.bool_)
        found[list(fold(graph)[0])] = True
    return found
