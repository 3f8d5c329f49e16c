"""Solving: the tile of every block of a view, from the inside out.

A frame in a block is a box of the size of its own tile, and lines end on it where they go on inside. Most
blocks hold no frame: for those nothing is put together but a digest of slices of columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from studio.graph import items
from studio.graph.blocks import BlockTree
from studio.graph.groups import bounds_of
from studio.graph.ordering import is_hurried
from studio.graph.places import Places
from studio.graph.routes import Routes
from studio.graph.tiles import Columns, Tile, contradicts, known_tile, solve

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer]


@dataclass(slots=True)
class _Ports:
    """Where tensors enter and leave an arranged block, relative to its axis."""

    entries: dict[int, float]
    exits: dict[int, float]


class Solver:
    """One run over the blocks of a view, the last one first."""

    def __init__(
        self, tree: BlockTree, routes: Routes, width: Floats, height: Floats, before: Places | None
    ) -> None:
        self.blocks, self.routes = tree.blocks, routes
        self.count = len(tree.blocks.scope)
        leaves = tree.leaves
        self.leaf_bounds = bounds_of(leaves.block, self.count).tolist()
        by_block = np.argsort(leaves.block, kind="stable")
        self.place = leaves.place[by_block]  # of every leaf, block by block
        self.boxes = np.stack([width[by_block] / 2, height[by_block], leaves.nodes[by_block]], axis=1)
        self.counts = np.diff(routes.net_slots)
        self.nets = np.stack([routes.net_source, self.counts], axis=1).astype(np.int64)
        self.targets = routes.slot_target.astype(np.int64)
        self.tensors: list[int] = routes.net_tensor.tolist()
        self.net_slots: list[int] = routes.net_slots.tolist()
        self.inner: list[list[int]] = [[] for _ in range(self.count)]  # the blocks in a block
        for block in range(1, self.count):
            self.inner[tree.blocks.parent[block]].append(block)
        # nodes in every block: opening a scope does not change the weight of its place
        nodes = np.bincount(leaves.block, leaves.nodes, self.count).astype(np.int64).tolist()
        for block in range(self.count - 1, 0, -1):
            nodes[tree.blocks.parent[block]] += nodes[block]
        self.nodes: list[int] = nodes
        self.leaf_before: Floats | None = None
        if before is not None:
            block_of_node = np.where(tree.node_leaf >= 0, leaves.block[tree.node_leaf], -1)
            self.leaf_before = before.among(tree.node_leaf, len(leaves.kind))[by_block]
            self.block_before = self._of_blocks(before, block_of_node)
        self.effort = 0
        self.met: set[bytes] = set()
        self.tiles: list[Tile | None] = [None] * self.count
        self.ports: list[_Ports | None] = [None] * self.count

    def _of_blocks(self, before: Places, block_of_node: Integers) -> list[float]:
        """Where every block was: the mean of its own nodes, else of the blocks in it."""
        means: list[float] = before.among(block_of_node, self.count).tolist()
        for block in range(self.count - 1, -1, -1):
            if means[block] != means[block]:
                inner = [means[b] for b in self.inner[block] if means[b] == means[b]]
                means[block] = sum(inner) / len(inner) if inner else float("nan")
        return means

    def solve(self) -> list[Tile]:
        """The tiles of all blocks."""
        boxes, nets, targets = self.boxes.tobytes(), self.nets.tobytes(), self.targets.tobytes()
        seen: dict[tuple[bytes, ...], Tile] = {}  # most blocks are repeated: no digest for those
        for block in range(self.count - 1, -1, -1):
            first, last = self.leaf_bounds[block : block + 2]
            net, net_end = self.routes.block_nets[block : block + 2]
            slot, slot_end = self.net_slots[net], self.net_slots[net_end]
            tile = None
            if not self.inner[block]:
                shape = (
                    f"{is_hurried(self.effort)} {last - first} {net_end - net}".encode(),
                    boxes[24 * first : 24 * last],
                    nets[16 * net : 16 * net_end],
                    targets[8 * slot : 8 * slot_end],
                )
                known = seen.get(shape)
                if known is None:
                    key = blake2b(b" ".join(shape), digest_size=16).digest()
                    known = seen[shape] = known_tile(key, partial(self._plain_tile, block))
                if self.leaf_before is None or not contradicts(known, self.leaf_before[first:last]):
                    tile = known
            if tile is None:
                tile = solve(self._problem(block), self.effort, self._before(block))
            if tile.key not in self.met:
                self.met.add(tile.key)
                self.effort += tile.effort
            self.tiles[block] = tile
            if block:
                names = self.tensors[net:net_end]
                self.ports[block] = _Ports(
                    {names[k]: x for k, x in tile.entries}, {names[k]: x for k, x in tile.exits}
                )
        return [tile for tile in self.tiles if tile is not None]

    def _plain_tile(self, block: int) -> Tile:
        return solve(self._problem(block), self.effort)

    def _problem(self, block: int) -> Columns:
        """The columns that `tiles.solve` takes, of one block whose inner blocks are solved."""
        size = self.blocks.size[block]
        first, last = self.leaf_bounds[block : block + 2]
        net, net_end = self.routes.block_nets[block : block + 2]
        slot, slot_end = self.net_slots[net], self.net_slots[net_end]
        left, right, height, weight = np.zeros((4, size))
        place = self.place[first:last]
        left[place] = right[place] = self.boxes[first:last, 0]
        height[place] = self.boxes[first:last, 1]
        weight[place] = self.boxes[first:last, 2]
        source, counts = self.nets[net:net_end, 0], self.counts[net:net_end]
        target = self.targets[slot:slot_end]
        source_dx, target_dx = np.zeros(len(source)), np.zeros(len(target))
        if self.inner[block]:
            ports: list[_Ports | None] = [None] * size
            for inside in self.inner[block]:
                tile, at = self.tiles[inside], self.blocks.place[inside]
                assert tile is not None
                left[at] = tile.left + items.FRAME_PAD
                right[at] = tile.right + items.FRAME_PAD
                height[at] = tile.height + items.FRAME_TITLE + items.FRAME_PAD
                weight[at] = self.nodes[inside]
                ports[at] = self.ports[inside]
            names = self.tensors[net:net_end]
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
        if self.leaf_before is None:
            return None
        first, last = self.leaf_bounds[block : block + 2]
        result = np.full(self.blocks.size[block], np.nan)
        result[self.place[first:last]] = self.leaf_before[first:last]
        for inside in self.inner[block]:
            result[self.blocks.place[inside]] = self.block_before[inside]
        return result
