"""The layout of a view: blocks arranged from the inside out, then put in place from the outside in."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.graph import items
from studio.graph.blocks import BlockTree
from studio.graph.columns import wrap
from studio.graph.drawing import Drawing, moved
from studio.graph.graph import Graph
from studio.graph.groups import members, order_by, ranges
from studio.graph.layout_columns import Layout
from studio.graph.lines import Lines, join_hops
from studio.graph.places import Places
from studio.graph.portals import portal_edges, spread_portals
from studio.graph.routes import Routes, find_routes
from studio.graph.scopes import ScopeTree
from studio.graph.sizes import leaf_sizes
from studio.graph.solved import keep_solved, last_solved
from studio.graph.solving import Solver

MARGIN = 24.0
BIG = 3_000
"""Nodes of a graph beyond which lines are kept short in all of its views."""
Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]


def compose(
    graph: Graph, tree: ScopeTree, blocks: BlockTree, *, wrapped: bool, before: Places | None = None
) -> Layout:
    """The layout of a view's blocks; wrapped = in columns when it is tall. `before`: see `layout.lay_out`."""
    if before is not None and len(before.node_x) != graph.node_count:
        before = None  # of another graph
    drawing = _Composer(graph, tree, blocks, before).drawing()
    axis = drawing.boxes[:, 0] + drawing.boxes[:, 2] / 2
    if wrapped:
        nodes = [n for n in before.column_nodes if blocks.node_leaf[n] >= 0] if before is not None else []
        drawing = wrap(drawing, blocks.edge_tensor, blocks.node_leaf[nodes])
    spread_portals(drawing, blocks.edge_source, blocks.edge_target, blocks.edge_tensor)
    return _pack(blocks, drawing, axis)


class _Composer:
    """One run: sizes, routes, tiles, absolute places."""

    def __init__(self, graph: Graph, tree: ScopeTree, blocks: BlockTree, before: Places | None) -> None:
        self.tree = blocks
        self.count = len(blocks.blocks.scope)
        leaves = blocks.leaves
        is_big = graph.node_count > BIG
        self.is_portal = portal_edges(graph, leaves, blocks.edge_source, blocks.edge_target, is_big=is_big)
        self.width, self.height = leaf_sizes(graph, tree, leaves)
        self.routes: Routes = find_routes(blocks, self.is_portal)
        solved = Solver(blocks, self.routes, self.width, self.height, before).solve(last_solved(graph))
        keep_solved(graph, solved)
        self.tiles = solved.columns

    def drawing(self) -> Drawing:
        """Everything in place, in one column."""
        blocks, leaves = self.tree.blocks, self.tree.leaves
        children, x, y = self.tiles.children, self.tiles.x, self.tiles.y
        at_x, at_y = np.zeros(self.count), np.zeros(self.count)  # axis and top of a block's content
        parent, depth = blocks.parent, blocks.depth
        place = children[parent] + blocks.place
        for level in members(depth, int(depth.max()) + 1)[1:]:  # from the outside in
            outer = parent[level]
            at_x[level] = at_x[outer] + x[place[level]]
            at_y[level] = at_y[outer] + y[place[level]] + items.FRAME_TITLE
        child = children[leaves.block] + leaves.place
        boxes = np.stack(
            [
                at_x[leaves.block] + x[child] - self.width / 2,
                at_y[leaves.block] + y[child],
                self.width,
                self.height,
            ],
            axis=1,
        )
        lines = self._lines(at_x, at_y, boxes)
        return Drawing(
            boxes=boxes,
            frames=self._frames(at_x, at_y),
            frame_of=np.arange(1, self.count),
            frame_depth=depth[1:],
            points=lines.points,
            offsets=lines.offsets,
            is_portal=self.is_portal,
            box_column=np.zeros(len(boxes), np.int64),
        )

    def _frames(self, at_x: Floats, at_y: Floats) -> Floats:
        left, right, height = self.tiles.rims[1:].T
        return np.stack(
            [
                at_x[1:] - left - items.FRAME_PAD,
                at_y[1:] - items.FRAME_TITLE,
                left + right + 2 * items.FRAME_PAD,
                height + items.FRAME_TITLE + items.FRAME_PAD,
            ],
            axis=1,
        ).reshape(-1, 4)

    def _lines(self, at_x: Floats, at_y: Floats, boxes: Floats) -> Lines:
        """The lines of all edges; those with an end in a crowd become portals."""
        tiles, tree, routes = self.tiles, self.tree, self.routes
        lengths = tiles.lengths
        per_block = np.diff(tiles.starts)
        points = moved(tiles.points, np.stack([at_x, at_y], axis=1), per_block)
        is_drawn = lengths[routes.hop_slot] > 0
        self.is_portal[routes.hop_edge[~is_drawn]] = True
        hops = ~self.is_portal[routes.hop_edge]
        edge, slot = routes.hop_edge[hops], routes.hop_slot[hops]
        starts = np.cumsum(lengths) - lengths
        chosen = points.take(ranges(starts[slot], lengths[slot]), axis=0)
        ends = boxes.take(tree.edge_source, axis=0), boxes.take(tree.edge_target, axis=0)
        return join_hops(edge, lengths[slot], chosen, self.is_portal, *ends)


def _pack(tree: BlockTree, drawing: Drawing, axis: Floats) -> Layout:
    """The columns of a Layout, items sorted by y and moved so that everything starts at the margin."""
    box, frames, flat = drawing.boxes, drawing.frames, drawing.points
    count = len(box)
    first, last = _extent(box, frames, flat)
    shift = MARGIN - first
    size = last + shift + MARGIN
    box[:, :2] += shift
    frames[:, :2] += shift
    flat = moved(flat, shift[None], np.array([len(flat)]))
    order = _down_and_right(box)
    rank = np.zeros(count, np.int32)
    rank[order] = np.arange(count, dtype=np.int32)
    leaves = tree.leaves
    node_item = tree.node_leaf
    if count:
        node_item = np.where(node_item >= 0, rank[np.maximum(node_item, 0)], -1)
    scope = np.array(tree.blocks.scope, np.int32)
    return Layout(
        item_kind=leaves.kind[order].astype(np.uint8),
        item_ref=leaves.ref[order],
        item_x=box[order, 0].astype(np.float32),
        item_y=box[order, 1].astype(np.float32),
        item_width=box[order, 2].astype(np.float32),
        item_height=box[order, 3].astype(np.float32),
        item_nodes=leaves.nodes[order],
        item_axis=axis[order].astype(np.float32),
        node_item=node_item.astype(np.int32),
        edge_source=rank[tree.edge_source],
        edge_target=rank[tree.edge_target],
        edge_tensor=tree.edge_tensor,
        edge_offsets=drawing.offsets,
        edge_points=flat.astype(np.float32),
        edge_is_portal=drawing.is_portal,
        frame_scope=scope[drawing.frame_of],
        frame_x=frames[:, 0].astype(np.float32),
        frame_y=frames[:, 1].astype(np.float32),
        frame_width=frames[:, 2].astype(np.float32),
        frame_height=frames[:, 3].astype(np.float32),
        frame_depth=drawing.frame_depth.astype(np.int32),
        column_nodes=_column_nodes(tree, drawing, order),
        width=float(size[0]),
        height=float(size[1]),
    )


def _down_and_right(box: Floats) -> Longs:
    """The boxes from top to bottom, those at one height from left to right.

    Heights are compared as a layout has them; they are positive, so their bits are in the same order.
    """
    top = box[:, 1].astype(np.float32).view(np.int32)
    return order_by(top, (box[:, 0] * 4).astype(np.int64))


def _extent(boxes: Floats, frames: Floats, points: Floats) -> tuple[Floats, Floats]:
    """(least, greatest) x and y of all; when there is nothing so that only margins are left."""
    if not len(boxes):
        return np.full(2, MARGIN), np.full(2, -MARGIN)
    first, last = np.empty(2), np.empty(2)
    for axis in (0, 1):  # one by one: numpy is slow along an axis of two
        along, left, outer = points[:, axis], boxes[:, axis], frames[:, axis]
        first[axis] = min(left.min(), outer.min(initial=np.inf), along.min(initial=np.inf))
        last[axis] = max(
            (left + boxes[:, axis + 2]).max(),
            (outer + frames[:, axis + 2]).max(initial=-np.inf),
            along.max(initial=-np.inf),
        )
    return first, last


def _column_nodes(tree: BlockTree, drawing: Drawing, order: Longs) -> npt.NDArray[np.int32]:
    """The first node of the topmost box with nodes of the second and every further column.

    `order`: the boxes from top to bottom and left to right.
    """
    if not drawing.box_column.any():
        return np.zeros(0, np.int32)
    nodes = np.flatnonzero(tree.node_leaf >= 0)[::-1]
    first_node = np.full(len(order), -1, np.int64)
    first_node[tree.node_leaf[nodes]] = nodes  # the smallest is written last
    held = order[first_node[order] >= 0][::-1]
    topmost = np.full(int(drawing.box_column[held].max(initial=0)) + 1, -1, np.int64)
    topmost[drawing.box_column[held]] = held
    return first_node[topmost[1:][topmost[1:] >= 0]].astype(np.int32)
