"""An order of nodes that is topological and keeps scopes together.

Kahn's algorithm that stays in a scope as long as it can, and enters a scope only when nothing outside of it
is still missing, if there is any choice. So a scope that can be one stretch of the order is one.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Ints
from studio.graph.scopes import ScopeTree

Bools = npt.NDArray[np.bool_]


def scope_order(
    tree: ScopeTree, visible: Bools, source: Ints, target: Ints
) -> tuple[list[int], set[tuple[int, int]]]:
    """The visible nodes in order, given the edges between them.

    Also the (source, target) pairs that had to be ignored, which a graph with cycles has.
    """
    backward: set[tuple[int, int]] = set()
    nodes = np.flatnonzero(visible)
    scopes = np.unique(tree.node_scope[nodes]) if len(nodes) else np.zeros(0, np.int32)
    if bool(np.all(source < target)) and len(scopes) <= 1:
        return nodes.tolist(), backward
    loops = source == target
    backward.update((int(i), int(i)) for i in source[loops])
    pairs = np.unique(np.stack([source[~loops], target[~loops]], 1), axis=0)
    return _ScopeWalk(len(visible), tree, nodes.tolist(), pairs).run(backward)


class _ScopeWalk:
    """One walk: what is ready, per scope, and which scopes need nothing more from outside."""

    def __init__(self, size: int, tree: ScopeTree, nodes: list[int], pairs: npt.NDArray[np.int32]) -> None:
        self.parent = tree.parent.tolist()
        self.depth = tree.depth.tolist()
        self.scope = tree.node_scope.tolist()
        self.nodes = nodes
        self.waiting = np.bincount(pairs[:, 1], minlength=size).tolist() if len(pairs) else [0] * size
        self.offsets = np.searchsorted(pairs[:, 0], np.arange(size + 1)).tolist()
        self.targets = pairs[:, 1].tolist()
        self.outside = [0] * tree.size  # edges from unfinished nodes outside of a scope into it
        for a, b in pairs.tolist():
            for scope in self._entered(a, b):
                self.outside[scope] += 1
        self.ready: list[list[int]] = [[] for _ in self.parent]  # heaps of nodes directly in a scope
        self.whole: list[list[tuple[int, int]]] = [[] for _ in self.parent]  # heaps of (first node, child)
        self.partly: list[list[tuple[int, int]]] = [[] for _ in self.parent]
        self.left = [0] * tree.size  # nodes to do in a scope's subtree
        self.first = [size] * tree.size
        for node in nodes:
            scope = self.scope[node]
            while scope >= 0:
                self.left[scope] += 1
                self.first[scope] = min(self.first[scope], node)
                scope = self.parent[scope]
        self.done = [False] * size

    def _entered(self, a: int, b: int) -> list[int]:
        """The scopes that an edge from node a enters to reach node b."""
        p, q = self.scope[a], self.scope[b]
        if p == q:
            return []
        result = []
        while self.depth[q] > self.depth[p]:
            result.append(q)
            q = self.parent[q]
        while self.depth[p] > self.depth[q]:
            p = self.parent[p]
        while p != q:
            result.append(q)
            p, q = self.parent[p], self.parent[q]
        return result

    def run(self, backward: set[tuple[int, int]]) -> tuple[list[int], set[tuple[int, int]]]:
        for scope in range(1, len(self.parent)):
            if not self.outside[scope] and self.left[scope]:
                heappush(self.whole[self.parent[scope]], (self.first[scope], scope))
        for node in self.nodes:
            if not self.waiting[node]:
                self._offer(node)
        order: list[int] = []
        unstuck = 0
        scope = 0
        while len(order) < len(self.nodes):
            node, child = self._choose(scope)
            if node >= 0:
                order.append(node)
                self._finish(node)
            elif child >= 0:
                scope = child
            elif scope:
                scope = self.parent[scope]
            else:  # a cycle: let the first node that waits go ahead
                while self.done[self.nodes[unstuck]]:
                    unstuck += 1
                self.waiting[self.nodes[unstuck]] = 0
                self._offer(self.nodes[unstuck])
        place = {node: i for i, node in enumerate(order)}
        for node in self.nodes:
            for target in self.targets[self.offsets[node] : self.offsets[node + 1]]:
                if place[target] < place[node]:
                    backward.add((node, target))
        return order, backward

    def _offer(self, node: int) -> None:
        scope = self.scope[node]
        heappush(self.ready[scope], node)
        while self.parent[scope] >= 0:
            heappush(self.partly[self.parent[scope]], (node, scope))
            scope = self.parent[scope]

    def _choose(self, scope: int) -> tuple[int, int]:
        """(node, −1) or (−1, child scope to enter), (−1, −1) when nothing here can go on."""
        ready, whole, partly = self.ready[scope], self.whole[scope], self.partly[scope]
        while ready and self.done[ready[0]]:
            heappop(ready)
        while whole and not self.left[whole[0][1]]:
            heappop(whole)
        while partly and self.done[partly[0][0]]:
            heappop(partly)
        if ready and (not whole or ready[0] < whole[0][0]):
            return heappop(ready), -1
        if whole:
            return -1, heappop(whole)[1]
        if partly:
            return -1, partly[0][1]
        return -1, -1

    def _finish(self, node: int) -> None:
        self.done[node] = True
        scope = self.scope[node]
        while scope >= 0:
            self.left[scope] -= 1
            scope = self.parent[scope]
        for target in self.targets[self.offsets[node] : self.offsets[node + 1]]:
            for scope in self._entered(node, target):
                self.outside[scope] -= 1
                if not self.outside[scope]:
                    heappush(self.whole[self.parent[scope]], (self.first[scope], scope))
            if self.waiting[target] > 0:
                self.waiting[target] -= 1
                if not self.waiting[target] and not self.done[target]:
                    self._offer(target)
