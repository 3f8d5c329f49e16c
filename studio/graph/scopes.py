"""ScopeTree: the tree of a graph's scopes, and the views that open and close them.

Scopes come from the file (torch module paths, ONNX name paths and metadata); a graph without any
gets the blocks that `found_blocks.py` finds. A tree's ids are those of the graph's own scopes
where it has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import msgspec
import numpy as np
import numpy.typing as npt

from studio.graph.found_blocks import FoundBlocks, find_blocks
from studio.graph.graph import Graph
from studio.graph.view import GraphView

Ints = npt.NDArray[np.int32]

SMALL = 600
"""Nodes up to which a graph is first shown with everything open."""
COMFORTABLE = 300
"""Boxes that the first view of a bigger graph may have."""
DEEPEST = 64
"""Levels of scopes that are told apart; nodes deeper down belong to their ancestor there."""


@dataclass(slots=True, eq=False)
class ScopeTree:
    """Scopes as columns; scope 0 is the root, and every parent has a smaller id than its children."""

    name: list[str]
    type: list[str]
    parent: Ints
    depth: Ints
    node_scope: Ints  # the innermost scope of every node
    node_count: Ints  # nodes inside, descendants included
    is_found: bool = False  # the scopes are found blocks, not the file's own

    @property
    def size(self) -> int:
        return len(self.name)

    def around(self, node: int) -> list[int]:
        """The scopes that a node is in, the outermost first, without the root."""
        chain = []
        scope = int(self.node_scope[node])
        while scope > 0:
            chain.append(scope)
            scope = int(self.parent[scope])
        return chain[::-1]

    def path(self, scope: int) -> str:
        """The names from the outermost scope to this one, joined by “/”."""
        parts = []
        while scope > 0:
            parts.append(self.name[scope])
            scope = int(self.parent[scope])
        return "/".join(reversed(parts))


_trees: WeakKeyDictionary[Graph, ScopeTree] = WeakKeyDictionary()


def scope_tree(graph: Graph) -> ScopeTree:
    """The scopes of a graph; the same object for the same graph."""
    tree = _trees.get(graph)
    if tree is None:
        tree = _trees[graph] = _read_scopes(graph)
    return tree


def _read_scopes(graph: Graph) -> ScopeTree:
    found = find_blocks(graph) if len(graph.scope_name) <= 1 else None
    if found is not None and len(found.name) > 1:
        return _make_tree(found, True)
    own = FoundBlocks(
        list(graph.scope_name) or [""],
        list(graph.scope_type) or [""],
        np.array(graph.scope_parent, np.int32) if len(graph.scope_parent) else np.full(1, -1, np.int32),
        np.array(graph.node_scope, np.int32)
        if len(graph.node_scope)
        else np.zeros(graph.node_count, np.int32),
    )
    return _make_tree(own, False)


def _make_tree(blocks: FoundBlocks, is_found: bool) -> ScopeTree:
    size = len(blocks.name)
    parent = blocks.parent
    parent[(parent >= np.arange(size)) | (parent < -1)] = 0  # a reader's error must not hang the walk
    parent[0] = -1
    depth = np.zeros(size, np.int32)
    for scope in range(1, size):
        depth[scope] = depth[parent[scope]] + 1
    node_scope = blocks.node_scope
    if int(depth.max(initial=0)) > DEEPEST:
        anchor = np.arange(size, dtype=np.int32)
        for scope in range(1, size):
            if depth[scope] > DEEPEST:
                anchor[scope] = anchor[parent[scope]]
        node_scope = anchor[node_scope]
    counts = np.bincount(node_scope, minlength=size).astype(np.int32)
    for scope in range(size - 1, 0, -1):
        counts[parent[scope]] += counts[scope]
    return ScopeTree(blocks.name, blocks.type, parent, depth, node_scope, counts, is_found)


def initial_view(graph: Graph, subgraph: int = 0) -> GraphView:
    """How a graph is first shown: all of it when it is small, else opened as deep as stays readable."""
    if graph.node_count <= SMALL:
        return GraphView(subgraph=subgraph)
    tree = scope_tree(graph)
    deepest = int(tree.depth.max(initial=0))
    direct = np.bincount(tree.depth[tree.node_scope], minlength=deepest + 2)
    scopes = np.bincount(tree.depth[tree.node_count > 0], minlength=deepest + 2)
    best = 1
    for depth in range(1, deepest + 1):
        if int(direct[:depth].sum()) + int(scopes[depth]) <= COMFORTABLE:
            best = depth
    return depth_view(graph, GraphView(subgraph=subgraph), best)


def depth_view(graph: Graph, view: GraphView, depth: int) -> GraphView:
    """The view with every scope at `depth` or deeper collapsed; depth 0 opens all."""
    tree = scope_tree(graph)
    closed = np.flatnonzero(tree.depth >= depth) if depth > 0 else np.zeros(0, np.int32)
    return msgspec.structs.replace(view, collapsed=frozenset(closed.tolist()))


def toggle_scope(view: GraphView, scope: int) -> GraphView:
    """The view with one scope opened if it was closed, else closed."""
    return msgspec.structs.replace(view, collapsed=view.collapsed ^ {scope})


def reveal(graph: Graph, view: GraphView, node: int) -> GraphView:
    """The view in which a node can be seen: its body entered, its scopes opened, hidden kinds shown."""
    from studio.graph.hidden import visible_nodes

    subgraph = int(graph.node_subgraph[node]) if len(graph.node_subgraph) else 0
    if subgraph != view.subgraph and not is_open(graph, view, subgraph):
        view = initial_view(graph, subgraph)
    tree = scope_tree(graph)
    view = msgspec.structs.replace(view, collapsed=view.collapsed - set(tree.around(node)))
    for hiding in ("hide_shape_arithmetic", "hide_constants"):
        if not visible_nodes(graph, view)[node]:
            view = msgspec.structs.replace(view, **{hiding: False})
    return view


def is_open(graph: Graph, view: GraphView, subgraph: int) -> bool:
    """Whether a subgraph can be seen: it is what the view shows, or drawn in place inside of that."""
    seen: set[int] = set()
    while subgraph != view.subgraph:
        if subgraph not in view.opened or subgraph in seen:
            return False
        seen.add(subgraph)
        parent = graph.subgraphs[subgraph].parent_node
        subgraph = int(graph.node_subgraph[parent]) if 0 <= parent < graph.node_count else 0
    return True


def _used(tree: ScopeTree) -> list[int]:
    return [s for s in np.flatnonzero(tree.node_count > 0).tolist() if s]


def translate_view(view: GraphView, graph: Graph, other: Graph) -> GraphView:
    """The same view of another graph: scopes are followed by their paths; new ones stay as first shown."""
    here, there = scope_tree(graph), scope_tree(other)
    ids = {there.path(scope): scope for scope in _used(there)}
    known = {ids[path]: scope for scope in _used(here) if (path := here.path(scope)) in ids}
    collapsed = {new for new, old in known.items() if old in view.collapsed}
    if other.node_count > SMALL:
        collapsed |= {scope for scope in initial_view(other).collapsed if scope not in known}
    subgraph = view.subgraph if view.subgraph < max(len(other.subgraphs), 1) else 0
    return msgspec.structs.replace(
        view, collapsed=frozenset(collapsed), subgraph=subgraph, opened=frozenset()
    )


def frame_words(graph: Graph, scope: int) -> tuple[str, str]:
    """(name, type) of a layout's frame: a scope's, or, beyond the scopes, an opened body's and its node's."""
    tree = scope_tree(graph)
    if scope < tree.size:
        return tree.name[scope], tree.type[scope].rsplit(".", 1)[-1]
    body = graph.subgraphs[scope - tree.size]
    owner = graph.node_op[body.parent_node] if 0 <= body.parent_node < graph.node_count else ""
    return body.attribute or body.name, owner


def bodies_of(graph: Graph, node: int) -> list[int]:
    """The subgraphs that hang on a node: an If's branches, a Loop's body, a delegate's graph."""
    return [i for i, body in enumerate(graph.subgraphs) if i and body.parent_node == node]


def toggle_bodies(graph: Graph, view: GraphView, node: int) -> GraphView:
    """The view with the bodies of a node opened in place, or closed when one of them is open."""
    bodies = set(bodies_of(graph, node))
    opened = view.opened - bodies if bodies & view.opened else view.opened | bodies
    return msgspec.structs.replace(view, opened=frozenset(opened))
