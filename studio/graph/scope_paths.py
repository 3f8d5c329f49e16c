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
        is_closed = np.zeros(tree.size, np.bool_)
        closed = np.fromiter(collapsed, np.int64, len(collapsed))
        is_closed[closed[(closed > 0) & (closed < tree.size)]] = True
        leaf = np.full(tree.size, -1, np.int32)
        for level in levels[1:]:
            above = leaf[tree.parent[level]]
            leaf[level] = np.where(above >= 0, above, np.where(is_closed[level], level, -1))
        self.leaf = leaf
        is_frame = (leaf < 0) & (counts > 1)
        self.frame = np.zeros(tree.size, np.int32)
        """For every scope the innermost frame that it is drawn in, perhaps its own; 0 = the root."""
        self.depth = np.zeros(tree.size, np.int32)
        """How many frames are around a scope, its own included."""
        self._around = np.zeros(tree.size, np.int32)  # the frame around every frame
        for level in levels[1:]:
            above = tree.parent[level]
            self._around[level] = self.frame[above]
            self.frame[level] = np.where(is_frame[level], level, self.frame[above])
            self.depth[level] = self.depth[above] + is_frame[level]

    def paths(self, scopes: Ints) -> Ints:
        """[most frames, scopes] the frames round each scope from the outer to the inner; −1 = none."""
        frame = self.frame[scopes]
        depth = self.depth[frame]
        result = np.full((int(depth.max(initial=0)) + 1, len(scopes)), -1, np.int32)
        for level in range(len(result) - 1, -1, -1):
            is_here = depth >= level
            result[level, is_here] = frame[is_here]
            frame = np.where(is_here, self._around[frame], frame)
        return result

    def runs(self, order: Ints) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """(starts, ends) of the stretches of an order in one collapsed scope, or directly in one frame."""
        if not len(order):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        places = np.where(self.leaf >= 0, self.leaf, -1 - np.arange(self.tree.size))
        bounds = np.flatnonzero(np.diff(places[self.tree.node_scope[order]])) + 1
        return np.append(0, bounds), np.append(bounds, len(order))


def _levels(tree: ScopeTree) -> list[Ints]:
    """The scopes of every depth."""
    order = np.argsort(tree.depth, kind="stable").astype(np.int32)
    deepest = int(tree.depth.max(initial=0))
    bounds = np.searchsorted(tree.depth[order], np.arange(deepest + 2)).tolist()
    return [order[a:b] for a, b in pairwise(bounds)]
