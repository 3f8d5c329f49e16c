"""The tree of blocks that a view draws: leaves (nodes, collapsed scopes, inputs, outputs) in frames.

Nodes are put into a topological order that leaves a scope only when nothing in it can go on
(`scope_order`); the stretches of that order are the blocks. Every block is therefore an interval of
one topological order, and lines between blocks never run upwards. A scope that other scopes
interrupt appears as several blocks with the same scope.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph, Ints, TensorKind
from studio.graph.hidden import visible_nodes
from studio.graph.scopes import ScopeTree
from studio.graph.view import GraphView

Bools = npt.NDArray[np.bool_]

NODE, SCOPE, INPUT, OUTPUT = range(4)  # as layout.ItemKind


@dataclass(slots=True)
class Leaf:
    """A box: what it stands for, how many nodes, and its place in the tree."""

    kind: int
    ref: int
    block: int
    nodes: int = 1


@dataclass(slots=True)
class Block:
    """A frame: an expanded scope. Children are (is_block, index) in topological order."""

    scope: int
    parent: int
    depth: int
    place: int = 0  # index among the parent's children
    children: list[tuple[bool, int]] = field(default_factory=list)


@dataclass(slots=True)
class BlockTree:
    """Blocks (0 is the root; parents first), leaves in topological order, and the leaves' edges."""

    blocks: list[Block]
    leaves: list[Leaf]
    leaf_place: list[int]
    node_leaf: Ints
    edge_source: Ints
    edge_target: Ints
    edge_tensor: Ints


def scope_order(graph: Graph, tree: ScopeTree, visible: Bools) -> tuple[list[int], set[tuple[int, int]]]:
    """The visible nodes in an order that is topological and keeps scopes together.

    Also the (source, destination) pairs that had to be ignored, which a graph with cycles has.
    """
    source, target, _ = graph.edges
    keep = visible[source] & visible[target]
    source, target = source[keep], target[keep]
    backward: set[tuple[int, int]] = set()
    nodes = np.flatnonzero(visible)
    scopes = np.unique(tree.node_scope[nodes]) if len(nodes) else np.zeros(0, np.int32)
    if bool(np.all(source < target)) and len(scopes) <= 1:
        return nodes.tolist(), backward
    loops = source == target
    backward.update((int(i), int(i)) for i in source[loops])
    pairs = np.unique(np.stack([source[~loops], target[~loops]], 1), axis=0)
    return _ScopeWalk(graph.node_count, tree, nodes.tolist(), pairs).run(backward)


class _ScopeWalk:
    """Kahn's algorithm that stays in a scope as long as it can, and enters whole scopes first."""

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


def block_tree(graph: Graph, tree: ScopeTree, view: GraphView) -> BlockTree:
    """The blocks and leaves of a view, and the edges between leaves."""
    visible = visible_nodes(graph, view)
    order, backward = scope_order(graph, tree, visible)
    blocks = [Block(0, -1, 0)]
    leaves: list[Leaf] = []
    node_leaf = np.full(graph.node_count, -1, np.int32)
    _add_inputs(graph, view, visible, blocks[0], leaves)
    first_node_leaf = len(leaves)
    paths = _scope_paths(tree, view.collapsed, _framed(tree, visible))
    stack = [0]
    stack_scopes = [0]
    collapsed_leaf = -1  # the leaf of the collapsed scope we are in
    for node in order:
        path, leaf_scope = paths[int(tree.node_scope[node])]
        common = 1
        while common < len(stack_scopes) and common < len(path) and stack_scopes[common] == path[common]:
            common += 1
        if common < len(stack):
            del stack[common:], stack_scopes[common:]
            collapsed_leaf = -1
        for scope in path[common:]:
            block = len(blocks)
            parent = stack[-1]
            blocks.append(Block(scope, parent, len(stack), len(blocks[parent].children)))
            blocks[parent].children.append((True, block))
            stack.append(block)
            stack_scopes.append(scope)
            collapsed_leaf = -1
        if leaf_scope >= 0 and collapsed_leaf >= 0 and leaves[collapsed_leaf].ref == leaf_scope:
            leaves[collapsed_leaf].nodes += 1
        else:
            blocks[stack[-1]].children.append((False, len(leaves)))
            leaves.append(
                Leaf(SCOPE, leaf_scope, stack[-1]) if leaf_scope >= 0 else Leaf(NODE, node, stack[-1])
            )
            collapsed_leaf = len(leaves) - 1 if leaf_scope >= 0 else -1
        node_leaf[node] = len(leaves) - 1
    source, target, tensor = _leaf_edges(graph, node_leaf, backward)
    source, target, tensor = _interface_edges(
        graph, view, node_leaf, blocks[0], leaves, first_node_leaf, (source, target, tensor)
    )
    place = [0] * len(leaves)
    for b in blocks:
        for index, (is_block, child) in enumerate(b.children):
            if is_block:
                blocks[child].place = index
            else:
                place[child] = index
    return BlockTree(blocks, leaves, place, node_leaf, source, target, tensor)


def _framed(tree: ScopeTree, visible: Bools) -> list[bool]:
    """True for the scopes that deserve a frame: those with more than one visible node."""
    counts = np.bincount(tree.node_scope[visible], minlength=tree.size)
    for scope in range(tree.size - 1, 0, -1):
        counts[tree.parent[scope]] += counts[scope]
    return (counts > 1).tolist()  # type: ignore[no-any-return]


def _scope_paths(
    tree: ScopeTree, collapsed: frozenset[int], framed: list[bool]
) -> list[tuple[list[int], int]]:
    """For every scope its expanded ancestors from the root, and the collapsed one it ends in (−1)."""
    result: list[tuple[list[int], int]] = [([0], -1)]
    for scope in range(1, tree.size):
        path, leaf = result[tree.parent[scope]]
        if leaf >= 0:
            result.append((path, leaf))
        elif scope in collapsed:
            result.append((path, scope))
        else:
            result.append(([*path, scope] if framed[scope] else path, -1))
    return result


def _add_inputs(graph: Graph, view: GraphView, visible: Bools, root: Block, leaves: list[Leaf]) -> None:
    """Pills for what the body reads and does not make, the declared inputs first."""
    owner = np.repeat(np.arange(graph.node_count), np.diff(graph.input_offsets))
    used = (graph.input_tensors >= 0) & visible[owner]
    read = np.unique(graph.input_tensors[used])
    outside = graph.producer_of[read] < 0
    if view.subgraph:  # a body also reads what the graph around it made
        producer = graph.producer_of[read]
        outside |= graph.node_subgraph[np.maximum(producer, 0)] != view.subgraph
    if view.hide_constants:
        outside &= graph.tensor_kind[read] != TensorKind.CONSTANT
    declared = list(graph.subgraphs[view.subgraph].inputs) if view.subgraph < len(graph.subgraphs) else []
    if view.hide_constants:
        declared = [t for t in declared if graph.tensor_kind[t] != TensorKind.CONSTANT]
    known = set(declared)
    for tensor in [*declared, *(t for t in read[outside].tolist() if t not in known)]:
        root.children.append((False, len(leaves)))
        leaves.append(Leaf(INPUT, tensor, 0, 0))


def _leaf_edges(graph: Graph, node_leaf: Ints, backward: set[tuple[int, int]]) -> tuple[Ints, Ints, Ints]:
    """(source, target, tensor) of the edges between leaves, without doubles; backward ones come along."""
    source, target, tensor = graph.edges
    a, b = node_leaf[source], node_leaf[target]
    keep = (a >= 0) & (b >= 0) & (a != b)
    if backward:
        keep |= (a >= 0) & (a == b) & (source == target)
    return a[keep], b[keep], tensor[keep]


def _interface_edges(
    graph: Graph,
    view: GraphView,
    node_leaf: Ints,
    root: Block,
    leaves: list[Leaf],
    input_count: int,
    edges: tuple[Ints, Ints, Ints],
) -> tuple[Ints, Ints, Ints]:
    """The edges with those from inputs and to outputs; adds the outputs' leaves."""
    sources, targets, tensors = [edges[0]], [edges[1]], [edges[2]]
    leaf_of_input = np.full(graph.tensor_count, -1, np.int32)
    for leaf in range(input_count):
        leaf_of_input[leaves[leaf].ref] = leaf
    owner = np.repeat(np.arange(graph.node_count, dtype=np.int32), np.diff(graph.input_offsets))
    used = graph.input_tensors >= 0
    read, reader = graph.input_tensors[used], node_leaf[owner[used]]
    keep = (leaf_of_input[read] >= 0) & (reader >= 0)
    sources.append(leaf_of_input[read[keep]])
    targets.append(reader[keep])
    tensors.append(read[keep])
    outputs = graph.subgraphs[view.subgraph].outputs if view.subgraph < len(graph.subgraphs) else ()
    extra: list[tuple[int, int, int]] = []
    for tensor in outputs:
        producer = int(graph.producer_of[tensor])
        source = int(node_leaf[producer]) if producer >= 0 else int(leaf_of_input[tensor])
        if source >= 0:
            extra.append((source, len(leaves), tensor))
        root.children.append((False, len(leaves)))
        leaves.append(Leaf(OUTPUT, tensor, 0, 0))
    if extra:
        columns = np.array(extra, np.int32)
        sources.append(columns[:, 0])
        targets.append(columns[:, 1])
        tensors.append(columns[:, 2])
    rows = np.stack([np.concatenate(sources), np.concatenate(targets), np.concatenate(tensors)], 1)
    rows = np.unique(rows, axis=0) if len(rows) else rows
    return rows[:, 0], rows[:, 1], rows[:, 2]
