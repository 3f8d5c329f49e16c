"""Routes: the nets that every edge of a view runs through, from block to block.

An edge between two blocks leaves the inner frames one by one, crosses one block, and enters frames again:
each step is a hop over a net of that block. A net is one tensor from one child (or from outside); all edges
that it carries share its slots, one per target.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.graph.blocks import BlockTree
from studio.graph.groups import bounds_of, number_rows, order_by

Ints = npt.NDArray[np.integer]
Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

OUTSIDE = -1


@dataclass(slots=True, eq=False)
class Routes:
    """Nets by block, slots by net, hops by edge (in the direction of the edge), as columns."""

    block_nets: list[int]  # [blocks + 1] where each block's nets begin
    net_source: Ints  # a place in the block, −1 = enters through the top
    net_tensor: Ints
    net_slots: Longs  # [nets + 1] where each net's slots begin
    slot_target: Ints  # a place in the block, −1 = leaves through the bottom
    hop_edge: Ints
    hop_slot: Longs


def find_routes(tree: BlockTree, is_cut: Bools) -> Routes:
    """The routes of all edges that are not cut."""
    edge, block, source, target = _hops(tree, is_cut)
    tensor = tree.edge_tensor[edge]
    net_of_hop, net_first = number_rows(block, tensor, source)
    slot_of_hop, slot_first = number_rows(net_of_hop, target)
    blocks = len(tree.blocks.scope)
    return Routes(
        block_nets=bounds_of(block[net_first], blocks).tolist(),
        net_source=source[net_first],
        net_tensor=tensor[net_first],
        net_slots=bounds_of(net_of_hop[slot_first], len(net_first)),
        slot_target=target[slot_first],
        hop_edge=edge,
        hop_slot=slot_of_hop,
    )


def _hops(tree: BlockTree, is_cut: Bools) -> tuple[Ints, Ints, Ints, Ints]:
    """(edge, block, source place, target place) of all hops, by edge, from its source to its target."""
    frames = tree.blocks
    parent, depth, place = (c.astype(np.int32) for c in (frames.parent, frames.depth, frames.place))
    edge = np.flatnonzero(~is_cut).astype(np.int32)
    source, target = tree.edge_source[edge], tree.edge_target[edge]
    a, b = tree.leaves.block[source], tree.leaves.block[target]
    at_a, at_b = tree.leaves.place[source], tree.leaves.place[target]
    rows: list[tuple[Ints, ...]] = []
    last = 2 * (int(depth.max(initial=0)) + 1)  # more steps than any way has
    step = 0
    while len(edge):
        meets = a == b
        rows.append(_rows(meets, last, edge, a, at_a, at_b))
        edge, a, b, at_a, at_b = (column[~meets] for column in (edge, a, b, at_a, at_b))
        out = depth[a] >= depth[b]
        nowhere = np.full(len(edge), OUTSIDE, np.int32)
        rows.append(_rows(out, step, edge, a, at_a, nowhere))
        rows.append(_rows(~out, 2 * last - step, edge, b, nowhere, at_b))
        at_a, at_b = np.where(out, place[a], at_a), np.where(out, at_b, place[b])
        a, b = np.where(out, parent[a], a), np.where(out, b, parent[b])
        step += 1
    if not rows:
        none = np.zeros(0, np.int32)
        return none, none, none, none
    edges, blocks, sources, targets, steps = (np.concatenate(columns) for columns in zip(*rows))
    order = order_by(edges, steps)
    return edges[order], blocks[order], sources[order], targets[order]


def _rows(chosen: Bools, step: int, *columns: Ints) -> tuple[Ints, ...]:
    """The chosen rows of the columns, and a column that says which step they are."""
    return (*(column[chosen] for column in columns), np.full(int(chosen.sum()), step))
