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
from studio.graph.graph import Graph, Ints
from studio.graph.groups import order_by, ranges
from studio.graph.layout_columns import ItemKind
from studio.graph.pills import declared_inputs, output_edges, shown_inputs, shown_outputs
from studio.graph.scope_paths import ScopePaths
from studio.graph.scopes import ScopeTree
from studio.graph.view import GraphView
from studio.graph.walked import walk

Bools = npt.NDArray[np.bool_]
Longs = npt.NDArray[np.int64]


@dataclass(slots=True, eq=False)
class Blocks:
    """Frames (expanded scopes) as columns; 0 is the root, and every block comes right before what is in it.

    `place` is a block's index among its parent's children, `size` how many children it has; a parent's
    blocks and leaves share the places.
    """

    scope: Longs
    parent: Longs
    depth: Longs
    place: Longs
    size: Longs


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
    paths = ScopePaths(part.tree, view.collapsed, part.visible, tree.size)
    pieces = _Pieces(graph, view, part, paths, order, tree.size)
    leaves = pieces.leaves(order)
    node_leaf = pieces.node_leaf(order)
    edges = _leaf_edges(part, node_leaf, bool(walked.backward))
    inputs = np.flatnonzero(leaves.kind == ItemKind.INPUT)
    input_leaf = dict(zip(leaves.ref[inputs].tolist(), inputs.tolist()))
    extra = output_edges(graph, view, part, input_leaf, node_leaf, len(leaves.kind))
    source, target, tensor = _all_edges(graph, part, leaves, node_leaf, edges, extra)
    return BlockTree(pieces.blocks, leaves, node_leaf, source, target, tensor)


_FRAME = -1  # the kind of a row that begins a block


class _Pieces:
    """The rows of a drawing in reading order: beginnings of blocks, and pieces: stretches of nodes in one
    block, or one box of another kind."""

    def __init__(
        self, graph: Graph, view: GraphView, part: Shown, paths: ScopePaths, order: Ints, own_scopes: int
    ) -> None:
        self.node_count = graph.node_count
        self.starts, self.ends = paths.runs(order)
        first = part.tree.node_scope[order[self.starts]]
        ways = paths.paths(first)
        levels, runs = ways.shape
        is_entered = np.zeros(ways.shape, np.bool_)  # a frame that the run before was not in
        differs = np.zeros(runs, np.bool_)
        for level in range(1, levels):
            differs[:1] = True
            differs[1:] |= ways[level, 1:] != ways[level, :-1]
            is_entered[level] = differs & (ways[level] >= 0)
        run, level_of = np.nonzero(is_entered.T)
        entered = ways[level_of, run]
        number = np.zeros(ways.shape, np.int64)
        number[level_of, run] = np.arange(1, len(run) + 1)
        number = np.maximum.accumulate(number, axis=1)  # of the block that each run is in, by level
        within = number[paths.depth[paths.frame[first]], np.arange(runs)]
        # rows: (run, turn in it, block around, kind, ref, boxes, nodes)
        lengths, closed = self.ends - self.starts, paths.leaf[first]
        is_open = closed < 0
        one = np.ones(len(run), np.int64)
        bodies, body_rows = np.flatnonzero(entered >= own_scopes), []
        known: set[int] = set()
        for row in bodies.tolist():
            if int(entered[row]) not in known:
                known.add(int(entered[row]))
                for tensor in declared_inputs(graph, view, int(entered[row]) - own_scopes):
                    body_rows.append((run[row], 2 * level_of[row] + 1, row + 1, ItemKind.INPUT, tensor, 1, 0))
        begin = [(-1, 0, 0, ItemKind.INPUT, tensor, 1, 0) for tensor in shown_inputs(graph, view, part)]
        end = [(runs, 0, 0, ItemKind.OUTPUT, tensor, 1, 0) for tensor in shown_outputs(graph, view)]
        frames = (run, 2 * level_of, number[level_of - 1, run], _FRAME * one, entered, one, 0 * one)
        held = (
            np.arange(runs),
            np.full(runs, 2 * levels),
            within,
            np.where(is_open, ItemKind.NODE, ItemKind.SCOPE),
            np.where(is_open, self.starts, closed),
            np.where(is_open, lengths, 1),
            np.where(is_open, 1, lengths),
        )
        pills = np.array([*begin, *body_rows, *end], np.int64).reshape(-1, 7).T
        parts: list[tuple[Ints | Longs, ...]] = [frames, held, tuple(pills)]
        run, turn, block, kind, ref, count, nodes = (
            np.concatenate(columns).astype(np.int64) for columns in zip(*parts)
        )
        rows = order_by(run, turn)
        block, kind, ref, count = block[rows], kind[rows], ref[rows], count[rows]
        place, size = _places(block, count, len(entered) + 1)
        is_frame = kind == _FRAME
        self.blocks = Blocks(
            np.append(0, ref[is_frame]),
            np.append(-1, block[is_frame]),
            np.append(0, level_of),
            np.append(0, place[is_frame]),
            size,
        )
        piece = ~is_frame
        self.kind, self.ref, self.count, self.block = kind[piece], ref[piece], count[piece], block[piece]
        self.place, self.nodes = place[piece], nodes[rows][piece]
        self.is_run = np.isin(self.kind, (ItemKind.NODE, ItemKind.SCOPE))

    def node_leaf(self, order: Ints) -> Ints:
        """The leaf of every node, −1 = hidden."""
        first = (np.cumsum(self.count) - self.count)[self.is_run]
        lengths = self.ends - self.starts
        step = np.arange(len(order)) - np.repeat(self.starts, lengths)
        is_stretch = self.kind[self.is_run] == ItemKind.NODE
        result = np.full(self.node_count, -1, np.int32)
        result[order] = np.repeat(first, lengths) + step * np.repeat(is_stretch, lengths)
        return result

    def leaves(self, order: Ints) -> Leaves:
        """The columns of all boxes."""
        step = ranges(np.zeros(len(self.count), np.int64), self.count)
        kind, ref, block, place, nodes = (
            np.repeat(column.astype(np.int32), self.count)
            for column in (self.kind, self.ref, self.block, self.place, self.nodes)
        )
        is_node = kind == ItemKind.NODE
        ref[is_node] = order[(ref + step)[is_node]]
        return Leaves(kind, ref, block, (place + step).astype(np.int32), nodes)


def _places(block: Longs, count: Longs, blocks: int) -> tuple[Longs, Longs]:
    """(place of every row in its block, size of every block), of rows that take so many places."""
    order = order_by(block)
    taken = np.cumsum(count[order]) - count[order]
    size = np.bincount(block, count, blocks).astype(np.int64)
    place = np.empty(len(block), np.int64)
    place[order] = taken - (np.cumsum(size) - size)[block[order]]
    return place, size


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
