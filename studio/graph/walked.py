"""What of a view does not depend on which scopes are collapsed: its part of the graph, and the nodes' order.

It is kept from one view of a graph to the next, and a worker hands it to the window in a file: at 50,000
nodes it is three quarters of a layout, and opening a scope should not have to wait for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from studio.errors import InputError
from studio.graph.bodies import Shown, shown_part
from studio.graph.graph import Graph, Ints
from studio.graph.scope_walk import scope_order
from studio.graph.scopes import ScopeTree, scope_tree
from studio.graph.view import GraphView
from studio.records import Record, read_packed, write_packed

Pairs = set[tuple[int, int]]


@dataclass(slots=True, eq=False)
class Walked:
    """The part that a view shows, its nodes in order, and the edges that run back against it."""

    key: GraphView
    part: Shown
    order: Ints
    backward: Pairs


class _Head(Record):
    key: GraphView


_walked: WeakKeyDictionary[Graph, Walked] = WeakKeyDictionary()


def _key(view: GraphView) -> GraphView:
    return msgspec.structs.replace(view, collapsed=frozenset(), wrap=True)


def walk(graph: Graph, tree: ScopeTree, view: GraphView) -> Walked:
    """The walk of a view; the one before when only collapsed scopes differ."""
    known = _walked.get(graph)
    if known is None or known.key != _key(view):
        part = shown_part(graph, tree, view)
        order, backward = scope_order(part.tree, part.visible, part.source, part.target)
        known = _walked[graph] = Walked(_key(view), part, np.array(order, np.int32), backward)
    return known


def save_walk(graph: Graph, view: GraphView, path: Path) -> None:
    """Writes the walk of a view, atomically."""
    found = walk(graph, scope_tree(graph), view)
    arrays = {
        "order": found.order,
        "backward": np.array(sorted(found.backward), np.int32).reshape(-1, 2),
    }
    write_packed(path, _Head(key=found.key), arrays)


def load_walk(graph: Graph, path: Path) -> None:
    """Takes over a saved walk for the graph's next layouts. Raises InputError when it is not this graph's."""
    try:
        head, arrays = read_packed(path, _Head)
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Open the model again.") from None
    part = shown_part(graph, scope_tree(graph), head.key)
    order = arrays.get("order", np.zeros(0, np.int32))
    if not np.array_equal(np.sort(order), np.flatnonzero(part.visible)):
        raise InputError(f"{path} belongs to another graph.", hint="Open the model again.")
    backward: Pairs = {(a, b) for a, b in arrays.get("backward", np.zeros((0, 2))).tolist()}
    _walked[graph] = Walked(head.key, part, order.astype(np.int32), backward)
