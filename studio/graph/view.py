"""GraphView: which part of a graph is shown, and how far its scopes are opened. Immutable.

A view is a value: expanding a scope makes another view, so that back and forward are a list. It
speaks of scopes by their ids in `scopes.ScopeTree`; to carry it to another graph (the next step's
model, a reopened project) go through paths, see `scopes.translate_view`.
"""

from __future__ import annotations

from studio.records import Record


class GraphView(Record):
    """What of a graph is on the screen.

    `collapsed` holds scopes drawn as one box; scopes inside a collapsed one keep their own state.
    `subgraph` is the body that is looked into (0 = the main graph), `opened` the bodies that are
    drawn inside their node. `wrap` lets a tall drawing continue in further columns.
    """

    subgraph: int = 0
    collapsed: frozenset[int] = frozenset()
    opened: frozenset[int] = frozenset()
    hide_constants: bool = True
    hide_shape_arithmetic: bool = False
    wrap: bool = True
