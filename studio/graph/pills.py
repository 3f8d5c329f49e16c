"""Pills: what a view shows of the inputs and outputs of a body, and the edges to outputs."""

from __future__ import annotations

import numpy as np

from studio.graph.bodies import Shown
from studio.graph.graph import Graph, Ints, TensorKind
from studio.graph.view import GraphView


def declared_inputs(graph: Graph, view: GraphView, subgraph: int) -> list[int]:
    """The declared inputs of a body that are to be shown."""
    given = graph.subgraphs[subgraph].inputs if subgraph < len(graph.subgraphs) else ()
    return [t for t in given if not view.hide_constants or graph.tensor_kind[t] != TensorKind.CONSTANT]


def shown_inputs(graph: Graph, view: GraphView, part: Shown) -> list[int]:
    """What the body reads and does not make, the declared inputs first."""
    declared = declared_inputs(graph, view, view.subgraph)
    is_read = np.zeros(graph.tensor_count, np.bool_)
    is_read[part.read_tensor] = True
    read = np.flatnonzero(is_read)
    producer = graph.producer_of[read]
    outside = producer < 0
    if view.subgraph:  # a body also reads what the graph around it made
        outside |= part.stands_for[np.maximum(producer, 0)] < 0
    if view.hide_constants:
        outside &= graph.tensor_kind[read] != TensorKind.CONSTANT
    known = {*declared, *_given_inside(graph, part)}
    return [*declared, *(t for t in read[outside].tolist() if t not in known)]


def _given_inside(graph: Graph, part: Shown) -> list[int]:
    """The declared inputs of the bodies inside of the shown part, open or closed: their node feeds them."""
    count = graph.node_count
    inside = [
        s for s in graph.subgraphs if 0 <= s.parent_node < count and part.stands_for[s.parent_node] >= 0
    ]
    return [t for s in inside for t in s.inputs]


def shown_outputs(graph: Graph, view: GraphView) -> tuple[int, ...]:
    """What the shown body hands on."""
    return tuple(graph.subgraphs[view.subgraph].outputs) if view.subgraph < len(graph.subgraphs) else ()


def output_edges(
    graph: Graph, view: GraphView, part: Shown, input_leaf: dict[int, int], node_leaf: Ints, boxes: int
) -> list[tuple[int, int, int]]:
    """(source, target, tensor) of the edges to outputs, the last of so many boxes, and of those that a body
    hands on without touching them. `input_leaf`: the boxes of inputs."""
    extra: list[tuple[int, int, int]] = []
    for subgraph in part.bodies:
        target = int(node_leaf[graph.subgraphs[subgraph].parent_node])
        for tensor in graph.subgraphs[subgraph].outputs:
            source = input_leaf.get(tensor, -1)
            if source >= 0 and target >= 0:
                extra.append((source, target, tensor))
    outputs = shown_outputs(graph, view)
    for leaf, tensor in enumerate(outputs, boxes - len(outputs)):
        producer = int(graph.producer_of[tensor])
        source = int(node_leaf[producer]) if producer >= 0 else input_leaf.get(tensor, -1)
        if source >= 0:
            extra.append((source, leaf, tensor))
    return extra
