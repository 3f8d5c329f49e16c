"""Places: where the nodes of a graph were in an earlier layout, so that the next one keeps them in order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph
from studio.graph.layout_columns import Layout

Floats = npt.NDArray[np.float64]


@dataclass(slots=True, eq=False)
class Places:
    """Per node the x of its box before the drawing was put into columns (NaN = not shown), and the nodes
    at which columns began. What is kept is the order, not the pixels."""

    node_x: Floats
    column_nodes: tuple[int, ...] = ()

    def among(self, group: npt.NDArray[np.integer], count: int) -> Floats:
        """The mean x of the nodes of every group (−1 = in none); NaN where none of them was shown."""
        known = np.isfinite(self.node_x) & (group >= 0)
        number = np.bincount(group[known], minlength=count)
        total = np.bincount(group[known], self.node_x[known], count)
        return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def places_of(layout: Layout) -> Places:
    """Where a layout has its nodes."""
    shown = layout.node_item >= 0
    node_x = np.full(len(layout.node_item), np.nan)
    node_x[shown] = layout.item_axis[layout.node_item[shown]]
    return Places(node_x, tuple(layout.column_nodes.tolist()))


def carry_places(places: Places, graph: Graph, other: Graph) -> Places:
    """The same places for another graph, the next step's: nodes are followed by their names."""
    here = {name: node for node, name in enumerate(graph.node_name) if name}
    twin = np.array([here.get(name, -1) for name in other.node_name], np.int64)
    node_x = np.full(other.node_count, np.nan)
    node_x[twin >= 0] = places.node_x[twin[twin >= 0]]
    there = {node: new for new, node in enumerate(twin.tolist())}
    return Places(node_x, tuple(there[node] for node in places.column_nodes if node in there))
