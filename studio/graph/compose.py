"""The layout of a view: blocks arranged from the inside out, then put in place from the outside in."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from studio.graph import items
from studio.graph.blocks import NODE, SCOPE, BlockTree, block_tree
from studio.graph.columns import Drawing, wrap
from studio.graph.graph import Graph
from studio.graph.labels import tensor_text
from studio.graph.layered import OUTSIDE, Arrangement, Memo, Net, Problem, arrange, simplify
from studio.graph.layout import Layout
from studio.graph.portals import STUB, portal_edges, spread_portals
from studio.graph.scopes import ScopeTree, scope_tree
from studio.graph.view import GraphView

MARGIN = 24.0
Point = tuple[float, float]
Hop = tuple[int, int, int]  # block, net, target


def compose(graph: Graph, view: GraphView) -> Layout:
    """The layout of a view; what `layout.lay_out` returns."""
    tree = scope_tree(graph)
    with _garbage_left():
        return _Composer(graph, tree, block_tree(graph, tree, view)).layout(view.wrap)


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


class _Composer:
    """One run: sizes, nets per block, arrangements, absolute places."""

    def __init__(self, graph: Graph, tree: ScopeTree, blocks: BlockTree) -> None:
        self.graph = graph
        self.tree = tree
        self.blocks = blocks.blocks
        self.leaves = blocks.leaves
        self.place = blocks.leaf_place
        self.source = blocks.edge_source.tolist()
        self.target = blocks.edge_target.tolist()
        self.tensor = blocks.edge_tensor.tolist()
        self.node_leaf = blocks.node_leaf
        self.is_portal = portal_edges(len(self.leaves), blocks.edge_source, blocks.edge_target)
        self.size = [self._size(leaf.kind, leaf.ref) for leaf in self.leaves]
        self.nets: list[list[Net]] = [[] for _ in self.blocks]
        self.net_index: list[dict[tuple[int, int], int]] = [{} for _ in self.blocks]
        self.net_targets: list[list[dict[int, int]]] = [[] for _ in self.blocks]
        self.net_tensor: list[list[int]] = [[] for _ in self.blocks]
        self.hops: list[list[Hop]] = []
        self.arranged: list[Arrangement | None] = [None] * len(self.blocks)
        self.ports: list[tuple[dict[int, float], dict[int, float]]] = [({}, {})] * len(self.blocks)
        self.origin: list[Point] = [(0.0, 0.0)] * len(self.blocks)  # axis and top of a block's content

    def layout(self, wrapped: bool) -> Layout:
        for edge in range(len(self.source)):
            self.hops.append([] if self.is_portal[edge] else self._route(edge))
        memo = Memo()
        for block in range(len(self.blocks) - 1, -1, -1):
            self.arranged[block] = self._arrange(block, memo)
            self.ports[block] = self._ports_of(block)
        for block in range(1, len(self.blocks)):
            here = self.blocks[block]
            x, y = self.origin[here.parent]
            outer = self._arrangement(here.parent)
            self.origin[block] = (x + outer.x[here.place], y + outer.y[here.place] + items.FRAME_TITLE)
        return self._collect(wrapped)

    def _arrangement(self, block: int) -> Arrangement:
        result = self.arranged[block]
        assert result is not None
        return result

    def _size(self, kind: int, ref: int) -> Point:
        graph = self.graph
        if kind == NODE:
            return items.node_width(graph.node_op[ref]), items.NODE_HEIGHT
        if kind == SCOPE:
            return items.scope_width(self.tree.name[ref], self.tree.type[ref]), items.SCOPE_HEIGHT
        return items.pill_width(graph.tensor_name[ref], tensor_text(graph, ref)), items.PILL_HEIGHT

    def _route(self, edge: int) -> list[Hop]:
        """The nets that an edge runs through, from its source outwards and in again to its target."""
        tensor = self.tensor[edge]
        a, b = self.leaves[self.source[edge]].block, self.leaves[self.target[edge]].block
        from_place, to_place = self.place[self.source[edge]], self.place[self.target[edge]]
        out: list[Hop] = []
        into: list[Hop] = []
        while a != b:
            if self.blocks[a].depth >= self.blocks[b].depth:
                out.append(self._hop(a, tensor, from_place, OUTSIDE))
                from_place, a = self.blocks[a].place, self.blocks[a].parent
            else:
                into.append(self._hop(b, tensor, OUTSIDE, to_place))
                to_place, b = self.blocks[b].place, self.blocks[b].parent
        return [*out, self._hop(a, tensor, from_place, to_place), *reversed(into)]

    def _hop(self, block: int, tensor: int, source: int, target: int) -> Hop:
        index = self.net_index[block]
        net = index.get((tensor, source))
        if net is None:
            net = index[tensor, source] = len(self.nets[block])
            self.nets[block].append(Net(source, []))
            self.net_targets[block].append({})
            self.net_tensor[block].append(tensor)
        known = self.net_targets[block][net]
        if target not in known:
            known[target] = len(known)
            self.nets[block][net].targets.append(target)
        return block, net, known[target]

    def _arrange(self, block: int, memo: Memo) -> Arrangement:
        children = self.blocks[block].children
        left, right, height, weight = [], [], [], []
        for is_block, child in children:
            if is_block:
                inner = self._arrangement(child)
                left.append(inner.left + items.FRAME_PAD)
                right.append(inner.right + items.FRAME_PAD)
                height.append(inner.height + items.FRAME_TITLE + items.FRAME_PAD)
                weight.append(sum(1 for _ in self.blocks[child].children))
            else:
                width, tall = self.size[child]
                left.append(width / 2)
                right.append(width / 2)
                height.append(tall)
                weight.append(self.leaves[child].nodes)
        for net, tensor in zip(self.nets[block], self.net_tensor[block]):
            net.source_dx = self._port(children, net.source, tensor, leaving=True)
            net.target_dx = [self._port(children, t, tensor, leaving=False) for t in net.targets]
        return arrange(Problem(left, right, height, weight, self.nets[block]), memo)

    def _port(self, children: list[tuple[bool, int]], child: int, tensor: int, *, leaving: bool) -> float:
        """Where a line ends on a child, relative to its axis: 0 for leaves, a frame's port otherwise."""
        if child < 0 or not children[child][0]:
            return 0.0
        return self.ports[children[child][1]][leaving].get(tensor, 0.0)

    def _ports_of(self, block: int) -> tuple[dict[int, float], dict[int, float]]:
        """Where every tensor enters and leaves an arranged block, relative to its axis."""
        paths = self._arrangement(block).paths
        entries: dict[int, float] = {}
        exits: dict[int, float] = {}
        for (tensor, source), net in self.net_index[block].items():
            drawn = next((path for path in paths[net] if path), None) if source == OUTSIDE else None
            if drawn:
                entries[tensor] = drawn[0][0]
            leaving = self.net_targets[block][net].get(OUTSIDE)
            if leaving is not None and paths[net][leaving]:
                exits[tensor] = paths[net][leaving][-1][0]
        return entries, exits

    def _collect(self, wrapped: bool) -> Layout:
        count = len(self.leaves)
        box = np.zeros((count, 4), np.float64)  # left, top, width, height
        for leaf in range(count):
            block = self.leaves[leaf].block
            inner = self._arrangement(block)
            x, y = self.origin[block]
            width, height = self.size[leaf]
            place = self.place[leaf]
            box[leaf] = (x + inner.x[place] - width / 2, y + inner.y[place], width, height)
        frames = self._frames()
        for edge, hops in enumerate(self.hops):
            if any(not self._arrangement(block).paths[net][target] for block, net, target in hops):
                self.is_portal[edge] = True  # an end is in a crowd
        paths = [self._points(edge, box) for edge in range(len(self.source))]
        offsets = np.zeros(len(paths) + 1, np.int32)
        np.cumsum([len(path) for path in paths], out=offsets[1:])
        drawing = Drawing(
            boxes=box,
            frames=frames,
            frame_of=list(range(1, len(self.blocks))),
            frame_depth=[block.depth for block in self.blocks[1:]],
            points=np.array([point for path in paths for point in path], np.float64).reshape(-1, 2),
            offsets=offsets,
            is_portal=np.array(self.is_portal, np.bool_),
        )
        if wrapped:
            drawing = wrap(drawing, np.array(self.tensor, np.int32))
        spread_portals(
            drawing.points,
            drawing.offsets,
            drawing.is_portal,
            self.source,
            self.target,
            self.tensor,
            drawing.boxes[:, 2],
        )
        return _pack(self, drawing)

    def _frames(self) -> npt.NDArray[np.float64]:
        rows = np.zeros((len(self.blocks) - 1, 4), np.float64)
        for block in range(1, len(self.blocks)):
            inner = self._arrangement(block)
            x, y = self.origin[block]
            rows[block - 1] = (
                x - inner.left - items.FRAME_PAD,
                y - items.FRAME_TITLE,
                inner.left + inner.right + 2 * items.FRAME_PAD,
                inner.height + items.FRAME_TITLE + items.FRAME_PAD,
            )
        return rows

    def _points(self, edge: int, box: npt.NDArray[np.float64]) -> list[Point]:
        if self.is_portal[edge]:
            left, top, width, height = box[self.source[edge]].tolist()
            x, y = left + width / 2, top + height
            left, top, width, _ = box[self.target[edge]].tolist()
            there = left + width / 2
            return [(x, y), (x, y + STUB), (there, top - STUB), (there, top)]
        points: list[Point] = []
        for block, net, target in self.hops[edge]:
            x, y = self.origin[block]
            points.extend([(x + a, y + b) for a, b in self._arrangement(block).paths[net][target]])
        return simplify(points) if len(self.hops[edge]) > 1 else points


def _pack(run: _Composer, drawing: Drawing) -> Layout:
    """The columns of a Layout, items sorted by y and moved so that everything starts at the margin."""
    box, frames, flat = drawing.boxes, drawing.frames, drawing.points
    count = len(run.leaves)
    corners = np.concatenate([box[:, :2], frames[:, :2], flat])
    ends = np.concatenate([box[:, :2] + box[:, 2:], frames[:, :2] + frames[:, 2:], flat])
    shift = MARGIN - corners.min(axis=0) if len(corners) else np.zeros(2)
    size = ends.max(axis=0) + shift + MARGIN if len(ends) else np.zeros(2)
    box[:, :2] += shift
    frames[:, :2] += shift
    flat = flat + shift
    order = np.lexsort((box[:, 0], box[:, 1]))
    rank = np.zeros(count, np.int32)
    rank[order] = np.arange(count, dtype=np.int32)
    kind = np.array([leaf.kind for leaf in run.leaves], np.uint8)
    ref = np.array([leaf.ref for leaf in run.leaves], np.int32)
    nodes = np.array([leaf.nodes for leaf in run.leaves], np.int32)
    node_item = run.node_leaf
    if count:
        node_item = np.where(node_item >= 0, rank[np.maximum(node_item, 0)], -1)
    blocks = [run.blocks[b] for b in drawing.frame_of]
    return Layout(
        item_kind=kind[order],
        item_ref=ref[order],
        item_x=box[order, 0].astype(np.float32),
        item_y=box[order, 1].astype(np.float32),
        item_width=box[order, 2].astype(np.float32),
        item_height=box[order, 3].astype(np.float32),
        item_nodes=nodes[order],
        node_item=node_item.astype(np.int32),
        edge_source=rank[np.array(run.source, np.int32)],
        edge_target=rank[np.array(run.target, np.int32)],
        edge_tensor=np.array(run.tensor, np.int32),
        edge_offsets=drawing.offsets,
        edge_points=flat.astype(np.float32),
        edge_is_portal=drawing.is_portal,
        frame_scope=np.array([b.scope for b in blocks], np.int32),
        frame_x=frames[:, 0].astype(np.float32),
        frame_y=frames[:, 1].astype(np.float32),
        frame_width=frames[:, 2].astype(np.float32),
        frame_height=frames[:, 3].astype(np.float32),
        frame_depth=np.array(drawing.frame_depth, np.int32),
        width=float(size[0]),
        height=float(size[1]),
    )
