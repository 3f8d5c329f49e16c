"""The tree of blocks that a view draws: leaves (nodes, collapsed scopes, inputs, outputs) in frames.

Nodes are put into a topological order that keeps scopes together (`scope_walk.py`); the stretches of
that order are the blocks. Every block is therefore an interval of one topological order, and lines
between blocks never run upwards. A scope that other scopes interrupt appears as several blocks with
the same scope.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.graph.bodies import Shown
from studio.graph.graph import Graph, Ints, TensorKind
from studio.graph.groups import order_by
from studio.graph.layout_columns import ItemKind
from studio.graph.scope_paths import ScopePaths
from studio.graph.scopes import ScopeTree
from studio.graph.view import GraphView
from studio.graph.walked import walk

Bools = npt.NDArray[np.bool_]


@dataclass(slots=True)
class Blocks:
    """Frames (expanded scopes) as columns; 0 is the root, and every parent comes before its children.

    `place` is a block's index among its parent's children, `size` how many children it has; a parent's
    blocks and leaves share the places.
    """

    scope: list[int]
    parent: list[int]
    depth: list[int]
    place: list[int]
    size: list[int]

    def add(self, scope: int, parent: int) -> int:
        """The index of a new block, the last child of its parent."""
        self.scope.append(scope)
        self.parent.append(parent)
        self.depth.append(self.depth[parent] + 1)
        self.place.append(self.size[parent])
        self.size.append(0)
        self.size[parent] += 1
        return len(self.scope) - 1


@dataclass(slots=True, eq=False)
class Leaves:
    """Boxes as columns, in topological order: what each stands for, how many nodes, where it is."""

    kind: Ints
    ref: Ints
    block: Ints
    place: Ints
    nodes: Ints


@dataclass(slots=True, eq=False)
class BlockTree:
    """Blocks and leaves of a view, the leaf of every node (−1 = hidden), and the leaves' edges, sorted."""

    blocks: Blocks
    leaves: Leaves
    node_leaf: Ints
    edge_source: Ints
    edge_target: Ints
    edge_tensor: Ints


def block_tree(graph: Graph, tree: ScopeTree, view: GraphView) -> BlockTree:
    """The blocks and leaves of a view, and the edges between leaves."""
    walked = walk(graph, tree, view)
    part, order = walked.part, walked.order
    builder = _Builder(graph, view, part, tree.size)
    builder.add_inputs()
    node_leaf = builder.add_nodes(order)
    edges = _leaf_edges(part, node_leaf, bool(walked.backward))
    extra = builder.add_outputs(node_leaf)
    leaves = builder.leaves(order)
    source, target, tensor = _all_edges(graph, part, leaves, node_leaf, edges, extra)
    return BlockTree(builder.blocks, leaves, node_leaf, source, target, tensor)


class _Builder:
    """Collects leaves in pieces: a stretch of nodes, or one box of another kind."""

    def __init__(self, graph: Graph, view: GraphView, part: Shown, own_scopes: int) -> None:
        self.graph, self.view, self.part = graph, view, part
        self.own_scopes = own_scopes  # scopes beyond them are opened bodies
        self.blocks = Blocks([0], [-1], [0], [0], [0])
        self.kind: list[int] = []
        self.ref: list[int] = []  # of a stretch of nodes: its beginning in the order
        self.count: list[int] = []
        self.block: list[int] = []
        self.place: list[int] = []
        self.nodes: list[int] = []

    def _add(self, kind: ItemKind, ref: int, block: int, nodes: int, count: int = 1) -> int:
        self.kind.append(kind)
        self.ref.append(ref)
        self.count.append(count)
        self.block.append(block)
        self.place.append(self.blocks.size[block])
        self.nodes.append(nodes)
        self.blocks.size[block] += count
        return len(self.kind) - 1

    def add_inputs(self) -> None:
        """Pills for what the body reads and does not make, the declared inputs first."""
        graph, view, part = self.graph, self.view, self.part
        declared = self._declared(view.subgraph)
        is_read = np.zeros(graph.tensor_count, np.bool_)
        is_read[part.read_tensor] = True
        read = np.flatnonzero(is_read)
        producer = graph.producer_of[read]
        outside = producer < 0
        if view.subgraph:  # a body also reads what the graph around it made
            outside |= part.stands_for[np.maximum(producer, 0)] < 0
        if view.hide_constants:
            outside &= graph.tensor_kind[read] != TensorKind.CONSTANT
        known = {*declared, *(t for s in part.bodies for t in graph.subgraphs[s].inputs)}
        for tensor in [*declared, *(t for t in read[outside].tolist() if t not in known)]:
            self._add(ItemKind.INPUT, tensor, 0, 0)

    def _declared(self, subgraph: int) -> list[int]:
        """The declared inputs of a body that are to be shown."""
        graph = self.graph
        given = graph.subgraphs[subgraph].inputs if subgraph < len(graph.subgraphs) else ()
        hides = self.view.hide_constants
        return [t for t in given if not hides or graph.tensor_kind[t] != TensorKind.CONSTANT]

    def add_nodes(self, order: Ints) -> Ints:
        """The leaf of every node: each in the frame of its scope, or in a collapsed one."""
        graph, tree, blocks = self.graph, self.part.tree, self.blocks
        paths = ScopePaths(tree, self.view.collapsed, self.part.visible, self.own_scopes)
        starts, ends = paths.runs(order)
        piece_of_run: list[int] = []
        entered: set[int] = set()
        stack, scopes = [0], [0]
        closed = -1  # the piece of the collapsed scope that we are in
        first_scopes = tree.node_scope[order[starts]].tolist() if len(starts) else []
        for scope, start, end in zip(first_scopes, starts.tolist(), ends.tolist()):
            path, leaf_scope = paths.path(scope), paths.leaf[scope]
            if path != scopes:
                common = 1
                while common < min(len(scopes), len(path)) and scopes[common] == path[common]:
                    common += 1
                closed = -1
                del stack[common:], scopes[common:]
                for inner in path[common:]:
                    stack.append(blocks.add(inner, stack[-1]))
                    scopes.append(inner)
                    if inner >= self.own_scopes and inner not in entered:
                        entered.add(inner)
                        for given in self._declared(inner - self.own_scopes):
                            self._add(ItemKind.INPUT, given, stack[-1], 0)
            if leaf_scope < 0:
                closed = -1
                piece_of_run.append(self._add(ItemKind.NODE, start, stack[-1], 1, end - start))
                continue
            if closed >= 0 and self.ref[closed] == leaf_scope:
                self.nodes[closed] += end - start
            else:
                closed = self._add(ItemKind.SCOPE, leaf_scope, stack[-1], end - start)
            piece_of_run.append(closed)
        node_leaf = np.full(graph.node_count, -1, np.int32)
        if piece_of_run:
            pieces = np.array(piece_of_run)
            counts = np.array(self.count)
            first = (np.cumsum(counts) - counts)[pieces]
            is_stretch = np.array(self.kind)[pieces] == ItemKind.NODE
            lengths = ends - starts
            step = np.arange(len(order)) - np.repeat(starts, lengths)
            node_leaf[order] = np.repeat(first, lengths) + step * np.repeat(is_stretch, lengths)
        return node_leaf

    def add_outputs(self, node_leaf: Ints) -> list[tuple[int, int, int]]:
        """Pills for the outputs; the edges to them and those that a body hands on without touching them."""
        graph, part = self.graph, self.part
        leaf_of_input: dict[int, int] = {}
        leaf = 0
        for kind, ref, count in zip(self.kind, self.ref, self.count):
            if kind == ItemKind.INPUT:
                leaf_of_input[ref] = leaf
            leaf += count
        extra: list[tuple[int, int, int]] = []
        for subgraph in part.bodies:
            target = int(node_leaf[graph.subgraphs[subgraph].parent_node])
            for tensor in graph.subgraphs[subgraph].outputs:
                source = leaf_of_input.get(tensor, -1)
                if source >= 0 and target >= 0:
                    extra.append((source, target, tensor))
        subgraph = self.view.subgraph
        for tensor in graph.subgraphs[subgraph].outputs if subgraph < len(graph.subgraphs) else ():
            producer = int(graph.producer_of[tensor])
            source = int(node_leaf[producer]) if producer >= 0 else leaf_of_input.get(tensor, -1)
            if source >= 0:
                extra.append((source, leaf, tensor))
            self._add(ItemKind.OUTPUT, tensor, 0, 0)
            leaf += 1
        return extra

    def leaves(self, order: Ints) -> Leaves:
        """The columns of all that was added."""
        counts = np.array(self.count, np.int64)
        piece = np.repeat(np.arange(len(counts)), counts)
        step = np.arange(len(piece)) - np.repeat(np.cumsum(counts) - counts, counts)
        kind = np.array(self.kind, np.int32)[piece]
        ref = np.array(self.ref, np.int32)[piece]
        is_node = kind == ItemKind.NODE
        ref[is_node] = order[ref[is_node] + step[is_node]]
        return Leaves(
            kind,
            ref,
            np.array(self.block, np.int32)[piece],
            (np.array(self.place, np.int64)[piece] + step).astype(np.int32),
            np.array(self.nodes, np.int32)[piece],
        )


def _leaf_edges(part: Shown, node_leaf: Ints, has_loops: bool) -> tuple[Ints, Ints, Ints]:
    """(source, target, tensor) of the edges between leaves; of those within one leaf only self loops."""
    a, b = node_leaf[part.source], node_leaf[part.target]
    keep = (a >= 0) & (b >= 0) & (a != b)
    if has_loops:
        keep |= (a >= 0) & (a == b) & (part.source == part.target)
    return a[keep], b[keep], part.tensor[keep]


def _all_edges(
    graph: Graph,
    part: Shown,
    leaves: Leaves,
    node_leaf: Ints,
    edges: tuple[Ints, Ints, Ints],
    extra: list[tuple[int, int, int]],
) -> tuple[Ints, Ints, Ints]:
    """All edges, sorted and without doubles: those given, those from inputs, and the extra ones."""
    leaf_of_input = np.full(graph.tensor_count, -1, np.int32)
    pills = np.flatnonzero(leaves.kind == ItemKind.INPUT)
    leaf_of_input[leaves.ref[pills]] = pills
    reader = node_leaf[part.reader]
    keep = (leaf_of_input[part.read_tensor] >= 0) & (reader >= 0)
    tensors = part.read_tensor[keep]
    more = np.array(extra, np.int32).reshape(-1, 3)
    source = np.concatenate([edges[0], leaf_of_input[tensors], more[:, 0]])
    target = np.concatenate([edges[1], reader[keep], more[:, 1]])
    tensor = np.concatenate([edges[2], tensors, more[:, 2]])
    order = order_by(source, target, tensor)
    source, target, tensor = source[order], target[order], tensor[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (np.diff(source) != 0) | (np.diff(target) != 0) | (np.diff(tensor) != 0)
    return source[is_new], target[is_new], tensor[is_new]
