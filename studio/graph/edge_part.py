"""Some nodes of one graph added to another as a subgraph: what a delegate was made from."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from studio.graph.builder import GraphBuilder
from studio.graph.graph import Graph, SubgraphRef, TensorKind


def add_part(
    graph: Graph, nodes: Sequence[int], builder: GraphBuilder, subgraph: int, folder_path: str
) -> None:
    """Adds the nodes, in order, with copies of their tensors; what they read and do not make goes in.

    `folder_path` is where the graph's file is from the model's folder, for its constants' values; "" leaves
    them without. Bodies of the nodes are not added.
    """
    ids: dict[int, int] = {}
    inside = set(nodes)
    inputs: list[int] = []
    outputs: list[int] = []
    finals = {t for s in graph.subgraphs for t in s.outputs}
    made = {t for n in nodes for t in graph.outputs_of(n).tolist()}

    def copied(tensor: int) -> int:
        if tensor < 0:
            return -1
        if tensor in ids:
            return ids[tensor]
        kind = TensorKind(int(graph.tensor_kind[tensor]))
        goes_in = tensor not in made and kind is not TensorKind.CONSTANT
        ids[tensor] = new = builder.tensor(
            graph.tensor_name[tensor],
            graph.tensor_dtype[tensor],
            graph.tensor_shape[tensor],
            TensorKind.INPUT if goes_in else kind,
        )
        if kind is TensorKind.CONSTANT:
            data = graph.tensor_data.get(tensor)
            located = msgspec.structs.replace(data, path=folder_path) if data and folder_path else None
            builder.constant(new, value=graph.tensor_value.get(tensor), data=located)
        elif goes_in:
            inputs.append(new)
        return new

    for node in nodes:
        sources = [copied(t) for t in graph.inputs_of(node).tolist()]
        results = [copied(t) for t in graph.outputs_of(node).tolist()]
        provenance = graph.node_provenance.get(node)
        path, types = scope_parts(graph, int(graph.node_scope[node]))
        attributes = graph.node_attributes[node]
        builder.node(
            graph.node_op[node], sources, results,
            domain=graph.node_domain[node], name=graph.node_name[node],
            attributes={k: v for k, v in attributes.items() if not isinstance(v, SubgraphRef)},
            scope=builder.scope(path, types) if path else 0, subgraph=subgraph, provenance=provenance,
        )  # fmt: skip
        for tensor in graph.outputs_of(node).tolist():
            if tensor >= 0 and (tensor in finals or set(graph.consumers_of(tensor).tolist()) - inside):
                outputs.append(ids[tensor])
    builder.close_subgraph(subgraph, inputs, list(dict.fromkeys(outputs)))


def scope_parts(graph: Graph, scope: int) -> tuple[list[str], list[str]]:
    """(path, classes) of a scope."""
    path: list[str] = []
    types: list[str] = []
    while scope > 0:
        path.append(graph.scope_name[scope])
        types.append(graph.scope_type[scope])
        scope = int(graph.scope_parent[scope])
    return path[::-1], types[::-1]
