"""Solving: the tile of every block of a view, from the inside out.

A frame in a block is a box of the size of its own tile, and lines end on it where they go on inside. Most
blocks hold no frame: for those nothing is put together but a digest of slices of columns.
"""

from __future__ import annotations

from functools import partial
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from studio.graph import items
from studio.graph.blocks import BlockTree
from studio.graph.groups import bounds_of, members, order_by
from studio.graph.ordering import is_hurried
from studio.graph.places import Places
from studio.graph.routes import Routes
from studio.graph.solved import (
    BlockRows,
    Ports,
    Solved,
    bounds_from,
    stretches,
    tile_rows,
    twins_of,
    without_contradictions,
)
from studio.graph.tiles import Columns, Tile, contradicts, known_tile, solve

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer]


class Solver:
    """One run over the blocks of a view, the last one first."""

    def __init__(
        self, tree: BlockTree, routes: Routes, width: Floats, height: Floats, before: Places | None
    ) -> None:
        self.blocks, self.routes = tree.blocks, routes
        self.count = len(tree.blocks.scope)
        leaves = tree.leaves
        leaf_bounds = bounds_of(leaves.block, self.count)
        by_block = order_by(leaves.block)
        self.place = leaves.place[by_block]  # of every leaf, block by block
        self.boxes = np.stack([width[by_block] / 2, height[by_block], leaves.nodes[by_block]], axis=1)
        self.counts = np.diff(routes.net_slots)
        self.nets = np.stack([routes.net_source, self.counts], axis=1).astype(np.int64)
        self.targets = routes.slot_target.astype(np.int64)
        net_bounds = np.array(routes.block_nets, np.int64)
        blocks = tree.blocks
        self.parent = blocks.parent
        self.rows = BlockRows(
            blocks.scope,
            blocks.parent,
            blocks.place,
            blocks.size,
            (
                (leaf_bounds, (self.place, self.boxes)),
                (net_bounds, (self.nets, routes.net_tensor)),
                (routes.net_slots[net_bounds], (self.targets,)),
            ),
        )
        self.leaf_bounds: list[int] = leaf_bounds.tolist()
        self.slot_bounds: list[int] = routes.net_slots[net_bounds].tolist()
        self.children = bounds_from(blocks.size)
        self.by_parent = order_by(self.parent)[1:].tolist()  # all blocks but the root
        self.inner_bounds: list[int] = bounds_of(self.parent[1:], self.count).tolist()
        # nodes in every block: opening a scope does not change the weight of its place
        nodes = np.bincount(leaves.block, leaves.nodes, self.count).astype(np.int64)
        self.levels = members(blocks.depth, int(blocks.depth.max()) + 1)
        for level in self.levels[:0:-1]:
            np.add.at(nodes, self.parent[level], nodes[level])
        self.nodes = nodes
        self.child_before: Floats | None = None
        if before is not None:
            block_of_node = np.where(tree.node_leaf >= 0, leaves.block[tree.node_leaf], -1)
            self.child_before = np.full(int(self.children[-1]), np.nan)
            leaf_before = before.among(tree.node_leaf, len(leaves.kind))
            self.child_before[self.children[leaves.block] + leaves.place] = leaf_before
            block_before = self._of_blocks(before, block_of_node)
            self.child_before[self.children[self.parent[1:]] + blocks.place[1:]] = block_before[1:]
        self.effort = 0
        self.met: set[bytes] = set()
        self.tiles: list[Tile | None] = [None] * self.count
        self.ports: list[Ports | None] = [None] * self.count

    def _inner(self, block: int) -> list[int]:
        """The blocks in a block."""
        found: list[int] = self.by_parent[self.inner_bounds[block] : self.inner_bounds[block + 1]]
        return found

    def _of_blocks(self, before: Places, block_of_node: Integers) -> Floats:
        """Where every block was: the mean of its own nodes, else of the blocks in it."""
        means = before.among(block_of_node, self.count)
        for level in self.levels[:0:-1]:
            level = level[np.isfinite(means[level])]
            around = self.parent[level]
            number = np.bincount(around, minlength=self.count)
            total = np.bincount(around, means[level], self.count)
            filled = np.flatnonzero(np.isnan(means) & (number > 0))
            means[filled] = total[filled] / number[filled]
        return means

    def solve(self, last: Solved | None = None) -> Solved:
        """The tiles of all blocks. `last`: what the view before left, to take equal blocks from."""
        self.effort = 0
        self.met.clear()
        twin = np.full(self.count, -1, np.int64)
        if last is not None:
            twin = twins_of(self.rows, last.rows)
            twin = without_contradictions(twin, last, self.rows, self.child_before)
            for first, end, there in stretches(twin):
                self.tiles[first:end] = last.tiles[there : there + end - first]
                self.ports[first:end] = last.ports[there : there + end - first]
        self._solve(np.flatnonzero(twin < 0)[::-1].tolist())
        tiles = [tile for tile in self.tiles if tile is not None]
        is_hurried_now = is_hurried(sum({tile.key: tile.effort for tile in set(tiles)}.values()))
        if last is not None and is_hurried_now:
            return self.solve()
        columns = tile_rows(twin, tiles, last.columns if last is not None else None)
        is_plain = last.is_plain[twin] if last is not None else np.zeros(self.count, np.bool_)
        fresh = np.flatnonzero(twin < 0)
        is_plain[fresh] = [tiles[block].is_plain for block in fresh.tolist()]
        return Solved(self.rows, tiles, self.ports, columns, is_plain, is_hurried=is_hurried_now)

    def _solve(self, blocks: list[int]) -> None:
        """Makes the tiles of blocks, inner ones first."""
        boxes, nets, targets = self.boxes.tobytes(), self.nets.tobytes(), self.targets.tobytes()
        seen: dict[tuple[bytes, ...], Tile] = {}  # most blocks are repeated: no digest for those
        for block in blocks:
            first, end = self.leaf_bounds[block : block + 2]
            net, net_end = self.routes.block_nets[block : block + 2]
            slot, slot_end = self.slot_bounds[block : block + 2]
            before = self._before(block)
            tile = None
            if not self._inner(block):
                shape = (
                    f"{is_hurried(self.effort)} {end - first} {net_end - net}".encode(),
                    boxes[24 * first : 24 * end],
                    nets[16 * net : 16 * net_end],
                    targets[8 * slot : 8 * slot_end],
                )
                known = seen.get(shape)
                if known is None:
                    key = blake2b(b" ".join(shape), digest_size=16).digest()
                    known = seen[shape] = known_tile(key, partial(self._plain_tile, block))
                if before is None or not contradicts(known, before):
                    tile = known
            if tile is None:
                tile = solve(self._problem(block), self.effort, before)
            if tile.key not in self.met:
                self.met.add(tile.key)
                self.effort += tile.effort
            self.tiles[block] = tile
            if block:
                names = self.routes.net_tensor[net:net_end].tolist()
                self.ports[block] = Ports(
                    {names[k]: x for k, x in tile.entries}, {names[k]: x for k, x in tile.exits}
                )

    def _plain_tile(self, block: int) -> Tile:
        return solve(self._problem(block), self.effort)

    def _problem(self, block: int) -> Columns:
        """The columns that `tiles.solve` takes, of one block whose inner blocks are solved."""
        size = int(self.blocks.size[block])
        first, last = self.leaf_bounds[block : block + 2]
        net, net_end = self.routes.block_nets[block : block + 2]
        slot, slot_end = self.slot_bounds[block : block + 2]
        left, right, height, weight = np.zeros((4, size))
        place = self.place[first:last]
        left[place] = right[place] = self.boxes[first:last, 0]
        height[place] = self.boxes[first:last, 1]
        weight[place] = self.boxes[first:last, 2]
        source, counts = self.nets[net:net_end, 0], self.counts[net:net_end]
        target = self.targets[slot:slot_end]
        source_dx, target_dx = np.zeros(len(source)), np.zeros(len(target))
        if inner := self._inner(block):
            ports: list[Ports | None] = [None] * size
            at = self.blocks.place[inner]
            tiles = [tile for tile in map(self.tiles.__getitem__, inner) if tile is not None]
            rims = np.array([(tile.left, tile.right, tile.height) for tile in tiles])
            left[at], right[at] = rims[:, 0] + items.FRAME_PAD, rims[:, 1] + items.FRAME_PAD
            height[at] = rims[:, 2] + items.FRAME_TITLE + items.FRAME_PAD
            weight[at] = self.nodes[inner]
            for inside, place_of in zip(inner, at.tolist()):
                ports[place_of] = self.ports[inside]
            names = self.routes.net_tensor[net:net_end].tolist()
            for k, (child, name) in enumerate(zip(source.tolist(), names)):
                port = ports[child] if child >= 0 else None
                if port is not None:
                    source_dx[k] = port.exits.get(name, 0.0)
            net_of_slot = np.repeat(np.arange(len(names)), counts).tolist()
            for k, (child, of_net) in enumerate(zip(target.tolist(), net_of_slot)):
                port = ports[child] if child >= 0 else None
                if port is not None:
                    target_dx[k] = port.entries.get(names[of_net], 0.0)
        return left, right, height, weight.astype(np.int64), source, counts, target, source_dx, target_dx

    def _before(self, block: int) -> Floats | None:
        """Where the children of a block were, NaN = not known; None when nothing is known."""
        if self.child_before is None:
            return None
        return self.child_before[self.children[block] : self.children[block + 1]]
