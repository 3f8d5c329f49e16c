"""Laying out: from a graph and a view of it to a `Layout`."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from studio.graph.blocks import block_tree
from studio.graph.compose import compose
from studio.graph.graph import Graph
from studio.graph.layout_columns import ItemKind, Layout
from studio.graph.places import Places, carry_places, places_of
from studio.graph.scopes import scope_tree
from studio.graph.view import GraphView

__all__ = ["ItemKind", "Layout", "Places", "carry_places", "lay_out", "places_of"]


def lay_out(graph: Graph, view: GraphView, before: Places | None = None) -> Layout:
    """The layout of a view: layered, narrow, one longest path straight at x = 0 in every frame.

    `before`: where nodes were; boxes keep their order from left to right where that crosses no more lines,
    and columns begin where they began as long as they stay about equally long.
    """
    tree = scope_tree(graph)
    with _garbage_left():
        return compose(graph, tree, block_tree(graph, tree, view), wrapped=view.wrap, before=before)


@contextmanager
def _garbage_left() -> Iterator[None]:
    """No cyclic garbage collection meanwhile: it took 40 % of the time and found nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
