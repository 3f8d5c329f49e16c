"""Which scopes are alike: the same operators, wired the same way inside."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph
from studio.graph.scopes import ScopeTree, scope_tree

Ints = npt.NDArray[np.int32]


@dataclass(slots=True, eq=False)
class Repeats:
    """Per scope the first scope that is alike (itself when none is before), and how many are alike."""

    first: Ints
    count: Ints

    def alike(self, scope: int) -> list[int]:
        """The scopes alike to this one, itself included."""
        return np.flatnonzero(self.first == self.first[scope]).tolist()


_known: WeakKeyDictionary[Graph, Repeats] = WeakKeyDictionary()


def repeats(graph: Graph) -> Repeats:
    """The likeness of a graph's scopes; the same object for the same graph."""
    result = _known.get(graph)
    if result is None:
        result = _known[graph] = _compare(graph, scope_tree(graph))
    return result


def _compare(graph: Graph, tree: ScopeTree) -> Repeats:
    size = tree.size
    before = _preorder(tree)
    after = before + _subtree_sizes(tree)
    ops: dict[str, int] = {}
    op = np.array([ops.setdefault(name, len(ops)) for name in graph.node_op], np.int32)
    place = before[tree.node_scope] if graph.node_count else np.zeros(0, np.int32)
    by_place = np.argsort(place, kind="stable")
    node_bounds = np.searchsorted(place[by_place], np.arange(size + 1))
    source, target, _ = graph.edges
    edge_order = np.argsort(place[target], kind="stable")
    edge_source, edge_target = source[edge_order], target[edge_order]
    edge_bounds = np.searchsorted(place[edge_target], np.arange(size + 1))
    first = np.arange(size, dtype=np.int32)
    seen: dict[bytes, int] = {}
    for scope in range(1, size):
        a, b = int(before[scope]), int(after[scope])
        nodes = np.sort(by_place[node_bounds[a] : node_bounds[b]])
        if len(nodes) < 2:
            continue
        inner = slice(int(edge_bounds[a]), int(edge_bounds[b]))
        sources, targets = edge_source[inner], edge_target[inner]
        inside = (place[sources] >= a) & (place[sources] < b)
        from_place = np.where(inside, np.searchsorted(nodes, sources), -1).astype(np.int32)
        to_place = np.searchsorted(nodes, targets).astype(np.int32)
        order = np.lexsort((from_place, to_place))
        digest = hashlib.blake2b(op[nodes].tobytes(), digest_size=16)
        digest.update(np.stack([from_place[order], to_place[order]]).tobytes())
        first[scope] = seen.setdefault(digest.digest(), scope)
    return Repeats(first, np.bincount(first, minlength=size)[first].astype(np.int32))


def _preorder(tree: ScopeTree) -> Ints:
    """The place of every scope in a walk that visits parents before children, subtrees whole."""
    sizes = _subtree_sizes(tree)
    place = np.zeros(tree.size, np.int32)
    free = place + 1  # the next free place inside each scope
    for scope in range(1, tree.size):
        parent = tree.parent[scope]
        place[scope] = free[parent]
        free[parent] += sizes[scope]
        free[scope] = place[scope] + 1
    return place


def _subtree_sizes(tree: ScopeTree) -> Ints:
    """How many scopes each subtree has, itself included."""
    sizes = np.ones(tree.size, np.int32)
    for scope in range(tree.size - 1, 0, -1):
        sizes[tree.parent[scope]] += sizes[scope]
    return sizes
