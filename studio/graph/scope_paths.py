"""Where the nodes of every scope are drawn in a view: in which frames, or in which closed box."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Ints
from studio.graph.scopes import ScopeTree

Bools = npt.NDArray[np.bool_]


class ScopePaths:
    """For every scope the collapsed one that it is drawn in (`leaf`, −1 = none), and the frames around."""

    def __init__(self, tree: ScopeTree, collapsed: frozenset[int], visible: Bools, own_scopes: int) -> None:
        self.tree = tree
        levels = _levels(tree)
        counts = np.bincount(tree.node_scope[visible], minlength=tree.size)
        for level in levels[:0:-1]:
            np.add.at(counts, tree.parent[level], counts[level])
        counts[own_scopes:] *= 2  # a body has a frame even for one node
        self.is_framed = (counts > 1).tolist()
        is_closed = np.zeros(tree.size, np.bool_)
        closed = np.fromiter(collapsed, np.int64, len(collapsed))
        is_closed[closed[(closed > 0) & (closed < tree.size)]] = True
        leaf = np.full(tree.size, -1, np.int32)
        for level in levels[1:]:
            above = leaf[tree.parent[level]]
            leaf[level] = np.where(above >= 0, above, np.where(is_closed[level], level, -1))
        self._leaves = leaf
        self.leaf: list[int] = leaf.tolist()
        self._known: dict[int, list[int]] = {0: [0]}

    def path(self, scope: int) -> list[int]:
        """The frames from the root to a scope, or to the collapsed one that it is drawn in."""
        todo = []
        while scope not in self._known:
            todo.append(scope)
            scope = int(self.tree.parent[scope])
        path = self._known[scope]
        for inner in reversed(todo):
            if self.leaf[inner] < 0 and self.is_framed[inner]:
                path = [*path, inner]  # DEEPEST bounds the length
            self._known[inner] = path
        return path

    def runs(self, order: Ints) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """(starts, ends) of the stretches of an order in one collapsed scope, or directly in one frame."""
        if not len(order):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        places = np.where(self._leaves >= 0, self._leaves, -1 - np.arange(self.tree.size))
        bounds = np.flatnonzero(np.diff(places[self.tree.node_scope[order]])) + 1
        return np.append(0, bounds), np.append(bounds, len(order))


def _levels(tree: ScopeTree) -> list[Ints]:
    """The scopes of every depth."""
    order = np.argsort(tree.depth, kind="stable").astype(np.int32)
    deepest = int(tree.depth.max(initial=0))
    bounds = np.searchsorted(tree.depth[order], np.arange(deepest + 2)).tolist()
    return [order[a:b] for a, b in pairwise(bounds)]
