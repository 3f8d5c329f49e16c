"""What a graph tells twice: operators that a delegate was made from stand beside the delegate's own.

They are there to be looked at; counts, weights and verdicts are of what the file runs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph

BEFORE_DELEGATION = "edge"
"""The attribute of a delegate call under which its operators before delegation hang."""

Mask = npt.NDArray[np.bool_]


def restated_nodes(graph: Graph) -> Mask:
    """[node_count]: whether a node only tells what a delegate was made from."""
    told = np.array([s.attribute == BEFORE_DELEGATION for s in graph.subgraphs], np.bool_)
    if graph.format != "pte" or not told.any():
        return np.zeros(graph.node_count, np.bool_)
    return told[graph.node_subgraph]


def restated_tensors(graph: Graph) -> Mask:
    """[tensor_count]: whether a tensor is read or made by such nodes alone."""
    nodes = restated_nodes(graph)
    told = np.zeros(graph.tensor_count, np.bool_)
    if not nodes.any():
        return told
    real = told.copy()
    for offsets, tensors in (
        (graph.input_offsets, graph.input_tensors),
        (graph.output_offsets, graph.output_tensors),
    ):
        owner = np.repeat(np.arange(graph.node_count), np.diff(offsets))
        used = tensors >= 0
        told[tensors[used & nodes[owner]]] = True
        real[tensors[used & ~nodes[owner]]] = True
    return told & ~real
