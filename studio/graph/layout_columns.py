"""Layout: where every box, edge and frame of a view of a graph is, in pixels at zoom 1, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]


class ItemKind(IntEnum):
    """What a box stands for; `item_ref` is a node, scope, or tensor index accordingly."""

    NODE = 0
    SCOPE = 1  # a collapsed scope (or a repeated block)
    INPUT = 2
    OUTPUT = 3


@dataclass(slots=True, eq=False)
class Layout:
    """A laid out view: boxes (items), edges between them, frames around expanded scopes.

    y grows downwards in data-flow direction. Items are sorted by `item_y`, so that a viewport is a
    `searchsorted` slice. An edge's points run from its source's bottom to its destination's top;
    the painter draws them smoothly. A portal edge is drawn as two stubs with the tensor's name.
    """

    item_kind: npt.NDArray[np.uint8]
    item_ref: Ints
    item_x: Floats  # left
    item_y: Floats  # top
    item_width: Floats
    item_height: Floats
    item_nodes: Ints  # how many nodes the item stands for
    item_axis: Floats  # the middle before the drawing was put into columns
    node_item: Ints  # for every node of the graph the item that shows it, −1 = hidden
    edge_source: Ints  # item indices
    edge_target: Ints
    edge_tensor: Ints
    edge_offsets: Ints  # [edges + 1] into edge_points
    edge_points: Floats  # [points, 2]
    edge_is_portal: npt.NDArray[np.bool_]
    frame_scope: Ints
    frame_x: Floats
    frame_y: Floats
    frame_width: Floats
    frame_height: Floats
    frame_depth: Ints
    column_nodes: Ints  # the nodes at which the second and every further column begin
    width: float
    height: float
