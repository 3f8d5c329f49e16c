"""The part of a graph that a view shows: one body, the bodies opened inside of it, and their data flow.

A body that is not opened is represented by the node that it hangs on: what the body reads from outside is
drawn as read by that node. A body that is opened gets a scope of its own (id: number of scopes + its
subgraph), its results flow into its node, and its inputs are pills in its frame.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph, Ints
from studio.graph.hidden import visible_nodes
from studio.graph.scopes import ScopeTree
from studio.graph.view import GraphView

Bools = npt.NDArray[np.bool_]


@dataclass(slots=True, eq=False)
class Shown:
    """Visible nodes and the edges between them; `stands_for` is each node's visible representative."""

    tree: ScopeTree
    visible: Bools
    bodies: tuple[int, ...]
    stands_for: Ints
    source: Ints
    target: Ints
    tensor: Ints
    reader: Ints  # of every read of a tensor by a shown part: the visible node, …
    read_tensor: Ints  # … and the tensor


def shown_part(graph: Graph, tree: ScopeTree, view: GraphView) -> Shown:
    """What a view shows of a graph; opened bodies extend the tree of scopes."""
    bodies = _opened(graph, view)
    visible = visible_nodes(graph, view, bodies)
    if bodies:
        tree = _with_bodies(graph, tree, bodies)
    stands_for = _representatives(graph, view, visible, bodies)
    source, target, tensor = graph.edges
    source, target = stands_for[source], stands_for[target]
    keep = (source >= 0) & (target >= 0)
    inside = keep & (source == target)  # within a closed body; a real self loop stays
    keep &= ~inside | (graph.edges[0] == graph.edges[1])
    rows = [(source[keep], target[keep], tensor[keep])]
    for subgraph in bodies:
        parent = graph.subgraphs[subgraph].parent_node
        made = [t for t in graph.subgraphs[subgraph].outputs if graph.producer_of[t] >= 0]
        makers = stands_for[graph.producer_of[made]] if made else np.zeros(0, np.int32)
        real = makers >= 0
        results = np.array(made, np.int32)[real]
        rows.append((makers[real], np.full(len(results), parent, np.int32), results))
    owner = np.repeat(np.arange(graph.node_count, dtype=np.int32), np.diff(graph.input_offsets))
    reader = stands_for[owner] if graph.node_count else owner
    used = (graph.input_tensors >= 0) & (reader >= 0)
    return Shown(
        tree=tree,
        visible=visible,
        bodies=bodies,
        stands_for=stands_for,
        source=np.concatenate([r[0] for r in rows]),
        target=np.concatenate([r[1] for r in rows]),
        tensor=np.concatenate([r[2] for r in rows]),
        reader=reader[used],
        read_tensor=graph.input_tensors[used],
    )


def _opened(graph: Graph, view: GraphView) -> tuple[int, ...]:
    """The bodies that are really open: those whose node is in the view's body or in an open one."""
    shown = {view.subgraph}
    result = []
    for subgraph in sorted(view.opened):
        if not 0 < subgraph < len(graph.subgraphs) or subgraph in shown:
            continue
        parent = graph.subgraphs[subgraph].parent_node
        if 0 <= parent < graph.node_count and int(graph.node_subgraph[parent]) in shown:
            shown.add(subgraph)
            result.append(subgraph)
    return tuple(result)


def _with_bodies(graph: Graph, tree: ScopeTree, bodies: tuple[int, ...]) -> ScopeTree:
    """The tree with a scope for every body; those of opened bodies hold their nodes."""
    count = len(graph.subgraphs)
    node_scope = tree.node_scope.copy()
    parent = np.concatenate([tree.parent, np.zeros(count, np.int32)])
    for subgraph in bodies:
        scope = tree.size + subgraph
        parent[scope] = node_scope[graph.subgraphs[subgraph].parent_node]
        node_scope[graph.node_subgraph == subgraph] = scope
    depth = np.concatenate([tree.depth, np.ones(count, np.int32)])
    for subgraph in bodies:
        depth[tree.size + subgraph] = depth[parent[tree.size + subgraph]] + 1
    return replace(
        tree,
        name=[*tree.name, *(s.name for s in graph.subgraphs)],
        type=[*tree.type, *([""] * count)],
        parent=parent,
        depth=depth,
        node_scope=node_scope,
    )


def _representatives(graph: Graph, view: GraphView, visible: Bools, bodies: tuple[int, ...]) -> Ints:
    """For every node the visible node that stands for it: itself, or the one its closed body hangs on; −1."""
    result = np.where(visible, np.arange(graph.node_count, dtype=np.int32), -1).astype(np.int32)
    if len(graph.subgraphs) <= 1 or not len(graph.node_subgraph):
        return result
    shown = {view.subgraph, *bodies}
    top = np.full(len(graph.subgraphs), -1, np.int32)
    for subgraph in range(len(graph.subgraphs)):
        at, steps = subgraph, 0
        while at not in shown and steps <= len(graph.subgraphs):
            parent = graph.subgraphs[at].parent_node
            if not 0 <= parent < graph.node_count:
                break
            at, steps = int(graph.node_subgraph[parent]), steps + 1
            if at in shown and visible[parent]:
                top[subgraph] = parent
    hidden_bodies = ~np.isin(graph.node_subgraph, list(shown))
    result[hidden_bodies] = top[graph.node_subgraph[hidden_bodies]]
    return result
