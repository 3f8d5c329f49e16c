"""The tree of blocks that a view draws: leaves (nodes, collapsed scopes, inputs, outputs) in frames.

Nodes are put into a topological order that keeps scopes together (`scope_walk.py`); the stretches of
that order are the blocks. Every block is therefore an interval of one topological order, and lines
between blocks never run upwards. A scope that other scopes interrupt appears as several blocks with
the same scope.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from studio.graph.bodies import Shown
from studio.graph.graph import Graph, Ints, TensorKind
from studio.graph.scopes import ScopeTree
from studio.graph.view import GraphView
from studio.graph.walked import walk

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


def block_tree(graph: Graph, tree: ScopeTree, view: GraphView) -> BlockTree:
    """The blocks and leaves of a view, and the edges between leaves."""
    own_scopes = tree.size
    walked = walk(graph, tree, view)
    part, order, backward = walked.part, walked.order, walked.backward
    tree = part.tree
    blocks = [Block(0, -1, 0)]
    leaves: list[Leaf] = []
    node_leaf = np.full(graph.node_count, -1, np.int32)
    _add_inputs(graph, view, part, blocks[0], leaves)
    paths = _scope_paths(tree, view.collapsed, _framed(tree, part.visible, own_scopes))
    entered: set[int] = set()
    stack = [0]
    stack_scopes = [0]
    collapsed_leaf = -1  # the leaf of the collapsed scope we are in
    for start, end in _runs(order, tree.node_scope, paths):
        path, leaf_scope = paths[int(tree.node_scope[order[start]])]
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
            if scope >= own_scopes and scope not in entered:
                entered.add(scope)
                for given in _declared(graph, view, scope - own_scopes):
                    blocks[block].children.append((False, len(leaves)))
                    leaves.append(Leaf(INPUT, given, block, 0))
        children = blocks[stack[-1]].children
        if leaf_scope < 0:
            collapsed_leaf = -1
            first = len(leaves)
            children.extend((False, leaf) for leaf in range(first, first + end - start))
            leaves.extend(Leaf(NODE, node, stack[-1]) for node in order[start:end])
            node_leaf[order[start:end]] = np.arange(first, len(leaves))
            continue
        if collapsed_leaf >= 0 and leaves[collapsed_leaf].ref == leaf_scope:
            leaves[collapsed_leaf].nodes += end - start
        else:
            collapsed_leaf = len(leaves)
            children.append((False, collapsed_leaf))
            leaves.append(Leaf(SCOPE, leaf_scope, stack[-1], end - start))
        node_leaf[order[start:end]] = collapsed_leaf
    source, target, tensor = _interface_edges(
        graph, view, part, node_leaf, blocks[0], leaves, _leaf_edges(part, node_leaf, backward)
    )
    place = [0] * len(leaves)
    for b in blocks:
        for index, (is_block, child) in enumerate(b.children):
            if is_block:
                blocks[child].place = index
            else:
                place[child] = index
    return BlockTree(blocks, leaves, place, node_leaf, source, target, tensor)


def _framed(tree: ScopeTree, visible: Bools, own_scopes: int) -> list[bool]:
    """True for the scopes that deserve a frame: those with more than one visible node, and bodies."""
    counts = np.bincount(tree.node_scope[visible], minlength=tree.size)
    for scope in range(tree.size - 1, 0, -1):
        counts[tree.parent[scope]] += counts[scope]
    counts[own_scopes:] *= 2
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
            result.append(([*path, scope] if framed[scope] else path, -1))  # DEEPEST bounds the length
    return result


def _runs(order: list[int], node_scope: Ints, paths: list[tuple[list[int], int]]) -> list[tuple[int, int]]:
    """(start, end) of the stretches of an order that are in one collapsed scope, or directly in one frame."""
    if not order:
        return []
    places = np.array([leaf if leaf >= 0 else -1 - scope for scope, (_, leaf) in enumerate(paths)], np.int64)
    bounds = (np.flatnonzero(np.diff(places[node_scope[order]])) + 1).tolist()
    return list(zip([0, *bounds], [*bounds, len(order)]))


def _declared(graph: Graph, view: GraphView, subgraph: int) -> list[int]:
    """The declared inputs of a body that are to be shown."""
    declared = graph.subgraphs[subgraph].inputs if subgraph < len(graph.subgraphs) else ()
    return [t for t in declared if not view.hide_constants or graph.tensor_kind[t] != TensorKind.CONSTANT]


def _add_inputs(graph: Graph, view: GraphView, part: Shown, root: Block, leaves: list[Leaf]) -> None:
    """Pills for what the body reads and does not make, the declared inputs first."""
    declared = _declared(graph, view, view.subgraph)
    read = np.unique(part.read_tensor)
    producer = graph.producer_of[read]
    outside = producer < 0
    if view.subgraph:  # a body also reads what the graph around it made
        outside |= part.stands_for[np.maximum(producer, 0)] < 0
    if view.hide_constants:
        outside &= graph.tensor_kind[read] != TensorKind.CONSTANT
    known = {*declared, *(t for s in part.bodies for t in graph.subgraphs[s].inputs)}
    for tensor in [*declared, *(t for t in read[outside].tolist() if t not in known)]:
        root.children.append((False, len(leaves)))
        leaves.append(Leaf(INPUT, tensor, 0, 0))


def _leaf_edges(part: Shown, node_leaf: Ints, backward: set[tuple[int, int]]) -> tuple[Ints, Ints, Ints]:
    """(source, target, tensor) of the edges between leaves; of those within one leaf only self loops."""
    a, b = node_leaf[part.source], node_leaf[part.target]
    keep = (a >= 0) & (b >= 0) & (a != b)
    if backward:
        keep |= (a >= 0) & (a == b) & (part.source == part.target)
    return a[keep], b[keep], part.tensor[keep]


def _interface_edges(
    graph: Graph,
    view: GraphView,
    part: Shown,
    node_leaf: Ints,
    root: Block,
    leaves: list[Leaf],
    edges: tuple[Ints, Ints, Ints],
) -> tuple[Ints, Ints, Ints]:
    """All edges, without doubles: those given, those from inputs and to outputs; adds the outputs' leaves."""
    sources, targets, tensors = [edges[0]], [edges[1]], [edges[2]]
    leaf_of_input = np.full(graph.tensor_count, -1, np.int32)
    for index, leaf in enumerate(leaves):
        if leaf.kind == INPUT:
            leaf_of_input[leaf.ref] = index
    reader = node_leaf[part.reader]
    keep = (leaf_of_input[part.read_tensor] >= 0) & (reader >= 0)
    sources.append(leaf_of_input[part.read_tensor[keep]])
    targets.append(reader[keep])
    tensors.append(part.read_tensor[keep])
    extra: list[tuple[int, int, int]] = []
    for subgraph in part.bodies:  # what a body hands on without touching it
        for tensor in graph.subgraphs[subgraph].outputs:
            source = int(leaf_of_input[tensor])
            target = int(node_leaf[graph.subgraphs[subgraph].parent_node])
            if source >= 0 and target >= 0:
                extra.append((source, target, tensor))
    outputs = graph.subgraphs[view.subgraph].outputs if view.subgraph < len(graph.subgraphs) else ()
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
