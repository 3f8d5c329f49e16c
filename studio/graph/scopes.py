"""ScopeTree: the tree of a graph's scopes, with counts, for collapsing and for frames."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph
from studio.graph.view import GraphView

Ints = npt.NDArray[np.int32]


@dataclass(slots=True, eq=False)
class ScopeTree:
    """Scopes as columns; scope 0 is the root, and every parent has a smaller id than its children."""

    name: list[str]
    type: list[str]
    parent: Ints
    depth: Ints
    node_scope: Ints  # the innermost scope of every node
    node_count: Ints  # nodes inside, descendants included

    @property
    def size(self) -> int:
        return len(self.name)


_trees: WeakKeyDictionary[Graph, ScopeTree] = WeakKeyDictionary()


def scope_tree(graph: Graph) -> ScopeTree:
    """The scopes of a graph; the same object for the same graph."""
    tree = _trees.get(graph)
    if tree is None:
        tree = _trees[graph] = _read_scopes(graph)
    return tree


def _read_scopes(graph: Graph) -> ScopeTree:
    size = len(graph.scope_name)
    parent = np.array(graph.scope_parent, np.int32)
    parent[(parent >= np.arange(size)) | (parent < -1)] = 0  # a reader's error must not hang the walk
    parent[0] = -1
    depth = np.zeros(size, np.int32)
    for scope in range(1, size):
        depth[scope] = depth[parent[scope]] + 1
    node_scope = (
        np.array(graph.node_scope, np.int32)
        if len(graph.node_scope)
        else np.zeros(graph.node_count, np.int32)
    )
    counts = np.bincount(node_scope, minlength=size).astype(np.int32)
    for scope in range(size - 1, 0, -1):
        counts[parent[scope]] += counts[scope]
    return ScopeTree(list(graph.scope_name), list(graph.scope_type), parent, depth, node_scope, counts)


SMALL = 600
"""Nodes up to which a graph is first shown with everything open."""


def initial_view(graph: Graph, subgraph: int = 0) -> GraphView:
    """How a graph is first shown: all of it when it is small, else the scopes that keep it readable."""
    tree = scope_tree(graph)
    if graph.node_count <= SMALL:
        return GraphView(subgraph=subgraph)
    return GraphView(subgraph=subgraph, collapsed=frozenset(range(1, tree.size)))
