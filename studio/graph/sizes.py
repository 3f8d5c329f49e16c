"""How wide and high the leaves of a view are; what is known of a graph's nodes and scopes is kept."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from studio.graph import items
from studio.graph.blocks import Leaves
from studio.graph.graph import Graph
from studio.graph.labels import tensor_text
from studio.graph.layout_columns import ItemKind
from studio.graph.scopes import ScopeTree

Floats = npt.NDArray[np.float64]

_HEIGHTS = np.array([items.NODE_HEIGHT, items.SCOPE_HEIGHT, items.PILL_HEIGHT, items.PILL_HEIGHT])

_node_widths: WeakKeyDictionary[Graph, Floats] = WeakKeyDictionary()
_scope_widths: WeakKeyDictionary[Graph, dict[int, float]] = WeakKeyDictionary()


def leaf_sizes(graph: Graph, tree: ScopeTree, leaves: Leaves) -> tuple[Floats, Floats]:
    """(widths, heights) of all leaves."""
    widths = np.zeros(len(leaves.kind))
    nodes = leaves.kind == ItemKind.NODE
    widths[nodes] = _widths_of_nodes(graph)[leaves.ref[nodes]]
    scopes = np.flatnonzero(leaves.kind == ItemKind.SCOPE)
    known = _scope_widths.setdefault(graph, {})
    found = []
    for scope in leaves.ref[scopes].tolist():
        width = known.get(scope)
        if width is None:
            width = known[scope] = items.scope_width(tree.name[scope], tree.type[scope])
        found.append(width)
    widths[scopes] = found
    pills = np.flatnonzero(leaves.kind >= ItemKind.INPUT)
    widths[pills] = [
        items.pill_width(graph.tensor_name[t], tensor_text(graph, t)) for t in leaves.ref[pills].tolist()
    ]
    return widths, _HEIGHTS[leaves.kind]


def _widths_of_nodes(graph: Graph) -> Floats:
    widths = _node_widths.get(graph)
    if widths is None:
        by_op = {op: items.node_width(op) for op in set(graph.node_op)}
        widths = _node_widths[graph] = np.array([by_op[op] for op in graph.node_op], np.float64)
    return widths
