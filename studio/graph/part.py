"""A part of a graph as a graph of its own: some of its nodes over the same tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studio.graph.diff import GraphDiff, diff_graphs
from studio.graph.graph import Graph, Ints, Subgraph, TensorKind
from studio.graph.scopes import scope_tree


def part_of(graph: Graph, nodes: Sequence[int]) -> Graph:
    """The nodes as a Graph, in the given order; tensor ids stay, and names lose their common scope path.

    What the part reads and does not make are its inputs, what others read of it its outputs.
    """
    chosen = np.array(nodes, np.int32)
    inputs = [graph.inputs_of(n) for n in chosen.tolist()]
    outputs = [graph.outputs_of(n) for n in chosen.tolist()]
    read, made = _joined(inputs), _joined(outputs)
    kept = np.zeros(graph.node_count, np.bool_)
    kept[chosen] = True
    given = np.setdiff1d(read[read >= 0], made)
    given = given[graph.tensor_kind[given] != TensorKind.CONSTANT]
    finals = set(graph.main_outputs())
    results = [
        t for t in made.tolist() if t >= 0 and (t in finals or not bool(kept[graph.consumers_of(t)].all()))
    ]
    names = [graph.node_name[n] for n in chosen.tolist()]
    prefix = len(_common_prefix(names))
    return Graph(
        format=graph.format,
        name=graph.name,
        file_path=graph.file_path,
        opsets=graph.opsets,
        node_op=[graph.node_op[n] for n in chosen.tolist()],
        node_domain=[graph.node_domain[n] for n in chosen.tolist()],
        node_name=[name[prefix:] for name in names],
        node_attributes=[graph.node_attributes[n] for n in chosen.tolist()],
        node_version=graph.node_version[chosen] if len(graph.node_version) else graph.node_version,
        node_scope=np.zeros(len(chosen), np.int32),
        node_subgraph=np.zeros(len(chosen), np.int32),
        input_offsets=_offsets(inputs),
        input_tensors=read,
        output_offsets=_offsets(outputs),
        output_tensors=made,
        tensor_name=graph.tensor_name,
        tensor_dtype=graph.tensor_dtype,
        tensor_shape=graph.tensor_shape,
        tensor_kind=graph.tensor_kind,
        tensor_bytes=graph.tensor_bytes,
        tensor_quantization=graph.tensor_quantization,
        tensor_data=graph.tensor_data,
        tensor_value=graph.tensor_value,
        subgraphs=[Subgraph(name=graph.name, inputs=tuple(given.tolist()), outputs=tuple(results))],
    )


def nodes_of_scope(graph: Graph, scope: int) -> list[int]:
    """The nodes of a scope and of all scopes in it, in file order."""
    tree = scope_tree(graph)
    inside = np.zeros(tree.size, np.bool_)
    inside[scope] = True
    for other in range(scope + 1, tree.size):
        inside[other] |= inside[tree.parent[other]]
    return np.flatnonzero(inside[tree.node_scope]).tolist()


def diff_scopes(
    graph: Graph, scope: int, other: Graph, other_scope: int, *, compare_weights: bool = False
) -> tuple[list[int], list[int], GraphDiff]:
    """(nodes of one scope, nodes of the other, their diff): how two blocks that look alike differ.

    The diff's node numbers are places in the two lists. Both scopes may be of one graph.
    """
    ours, theirs = nodes_of_scope(graph, scope), nodes_of_scope(other, other_scope)
    diff = diff_graphs(part_of(graph, ours), part_of(other, theirs), compare_weights=compare_weights)
    return ours, theirs, diff


def _joined(rows: list[Ints]) -> Ints:
    return np.concatenate(rows) if rows else np.zeros(0, np.int32)


def _offsets(rows: list[Ints]) -> Ints:
    return np.cumsum([0, *map(len, rows)]).astype(np.int32)


def _common_prefix(names: list[str]) -> str:
    """What all names begin with, up to and including the last “/” or “.”."""
    if not names or not all(names):
        return ""
    low, high = min(names), max(names)
    same = 0
    while same < min(len(low), len(high)) and low[same] == high[same]:
        same += 1
    return low[: max(low.rfind("/", 0, same), low.rfind(".", 0, same)) + 1]
