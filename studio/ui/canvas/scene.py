"""Scene: a graph and its layout, prepared for painting and picking.

What lives here: the columns that every frame needs (boxes, edges and their bounds, which edges touch
which box, which nodes a box stands for) and the queries on them, such as the curves of edges in sight.
What does not: colours (`overlay`), texts (`labels`), painting (`painter`).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from studio.graph import Graph
from studio.graph.curves import curves_of
from studio.graph.groups import ranges
from studio.graph.layout import ItemKind, Layout

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]


class Scene:
    """A graph and a layout of it with the indices that painting and picking ask for."""

    def __init__(self, graph: Graph, layout: Layout) -> None:
        self.graph = graph
        self.layout = layout
        self.count = len(layout.item_kind)
        self.left, self.top = _finite(layout.item_x), _finite(layout.item_y)
        self.right = self.left + _finite(layout.item_width)
        self.bottom = self.top + _finite(layout.item_height)
        self._tallest = float((self.bottom - self.top).max()) if self.count else 0.0
        self.edge_points = _finite(layout.edge_points).reshape(-1, 2)
        self.edge_count = len(layout.edge_source)
        (self.edge_left, self.edge_right), (self.edge_top, self.edge_bottom) = self._reach_of_edges()
        self.edge_is_straight = self.edge_right - self.edge_left < 0.5
        self.bounds = self._bounds()

    def _reach_of_edges(self) -> list[tuple[Floats, Floats]]:
        """(least, greatest) x and y of every edge; a curve stays within the box of its points.

        Most edges are a start and an end; the points between are looked at for the others only.
        """
        offsets = self.layout.edge_offsets
        counts = np.diff(offsets)
        bent = np.flatnonzero(counts > 2)
        points, begins = ranges(offsets[bent], counts[bent]), np.cumsum(counts[bent]) - counts[bent]
        result = []
        for axis in (0, 1):
            along = np.ascontiguousarray(self.edge_points[:, axis])
            start, end = along[offsets[:-1]], along[offsets[1:] - 1]
            low, high = np.minimum(start, end), np.maximum(start, end)
            if len(bent):
                low[bent] = np.minimum.reduceat(along[points], begins)
                high[bent] = np.maximum.reduceat(along[points], begins)
            result.append((low, high))
        return result

    def _bounds(self) -> tuple[float, float, float, float]:
        if not self.count:
            return 0.0, 0.0, 1.0, 1.0
        lefts, tops = [self.left.min(), self.edge_left.min(initial=np.inf)], [self.top.min()]
        rights, bottoms = [self.right.max(), self.edge_right.max(initial=-np.inf)], [self.bottom.max()]
        if len(self.layout.frame_x):
            lefts.append(self.layout.frame_x.min())
            tops.append(self.layout.frame_y.min())
            rights.append((self.layout.frame_x + self.layout.frame_width).max())
            bottoms.append((self.layout.frame_y + self.layout.frame_height).max())
        return float(min(lefts)), float(min(tops)), float(max(rights)), float(max(bottoms))

    def items_in(self, left: float, top: float, right: float, bottom: float) -> Ints:
        """Boxes that touch a rectangle, from top to bottom."""
        first = int(np.searchsorted(self.top, top - self._tallest))
        last = int(np.searchsorted(self.top, bottom, side="right"))
        span = slice(first, last)
        hit = (self.bottom[span] >= top) & (self.right[span] >= left) & (self.left[span] <= right)
        return (np.flatnonzero(hit) + first).astype(np.int32)

    def edges_in(self, left: float, top: float, right: float, bottom: float) -> Ints:
        """Edges whose bounds touch a rectangle."""
        hit = (self.edge_bottom >= top) & (self.edge_top <= bottom)
        hit &= (self.edge_right >= left) & (self.edge_left <= right)
        return np.flatnonzero(hit).astype(np.int32)

    def frames_in(self, left: float, top: float, right: float, bottom: float) -> Ints:
        """Frames that touch a rectangle, outer ones first."""
        frames = self.layout
        hit = (frames.frame_x <= right) & (frames.frame_x + frames.frame_width >= left)
        hit &= (frames.frame_y <= bottom) & (frames.frame_y + frames.frame_height >= top)
        found = np.flatnonzero(hit)
        return found[np.argsort(frames.frame_depth[found], kind="stable")].astype(np.int32)

    def item_at(self, x: float, y: float) -> int:
        """The box at a layout point, −1 when there is none."""
        found = self.items_in(x, y, x, y)
        return int(found[-1]) if len(found) else -1

    def frame_at(self, x: float, y: float, title_height: float) -> int:
        """The innermost frame whose title row is at a layout point, −1 when there is none."""
        found = self.frames_in(x, y, x, y)
        titled = found[y <= self.layout.frame_y[found] + title_height]
        return int(titled[-1]) if len(titled) else -1

    def edge_at(self, x: float, y: float, reach: float, *, with_portals: bool = False) -> int:
        """The edge that passes within `reach` of a layout point, −1 when there is none."""
        near = self.edges_in(x - reach, y - reach, x + reach, y + reach)
        if not with_portals:
            near = near[~self.layout.edge_is_portal[near]]
        best, found = reach, -1
        for edge in near[:400].tolist():
            line = flatten(self.curve(edge))
            distance = distance_to_polyline(line, x, y)
            if distance <= best:
                best, found = distance, edge
        return found

    def curves(self, edges: Ints) -> tuple[Ints, Floats]:
        """(offsets, points) of the cubic curves of some edges, made as a frame asks for them."""
        begins = self.layout.edge_offsets[edges]
        counts = self.layout.edge_offsets[edges + 1] - begins
        offsets = np.zeros(len(edges) + 1, np.int32)
        np.cumsum(counts, out=offsets[1:])
        return curves_of(offsets, self.edge_points[ranges(begins, counts)])

    def curve(self, edge: int) -> Floats:
        """An edge's cubic curve: first point, then three points per segment."""
        return self.curves(np.array([edge], np.int32))[1]

    def starts(self, edges: npt.NDArray[np.integer]) -> Floats:
        """[n, 2] where edges leave their sources."""
        points: Floats = self.edge_points[self.layout.edge_offsets[edges]]
        return points

    def tips(self, edges: npt.NDArray[np.integer]) -> Floats:
        """[n, 2] where edges arrive."""
        points: Floats = self.edge_points[self.layout.edge_offsets[edges + 1] - 1]
        return points

    @cached_property
    def _nodes_by_item(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.layout.node_item, kind="stable").astype(np.int32)
        sorted_items = self.layout.node_item[order]
        offsets = np.searchsorted(sorted_items, np.arange(self.count + 1)).astype(np.int32)
        return offsets, order

    def nodes_of(self, item: int) -> Ints:
        """The nodes that a box shows; empty for an input or output."""
        offsets, order = self._nodes_by_item
        return order[offsets[item] : offsets[item + 1]]

    @cached_property
    def _edges_by_item(self) -> tuple[Ints, Ints, Ints, Ints]:
        result: list[Ints] = []
        for ends in (self.layout.edge_source, self.layout.edge_target):
            order = np.argsort(ends, kind="stable").astype(np.int32)
            result += [np.searchsorted(ends[order], np.arange(self.count + 1)).astype(np.int32), order]
        return result[0], result[1], result[2], result[3]

    def edges_from(self, item: int) -> Ints:
        """Edges that start at a box."""
        offsets, order, _, _ = self._edges_by_item
        return order[offsets[item] : offsets[item + 1]]

    def edges_to(self, item: int) -> Ints:
        """Edges that end at a box."""
        _, _, offsets, order = self._edges_by_item
        return order[offsets[item] : offsets[item + 1]]

    def item_of_node(self, node: int) -> int:
        """The box that shows a node, −1 when it is hidden or there is no such node."""
        return int(self.layout.node_item[node]) if 0 <= node < len(self.layout.node_item) else -1

    def node_of_item(self, item: int) -> int:
        """The node that a box is, −1 for scopes, inputs and outputs."""
        if item < 0 or self.layout.item_kind[item] != ItemKind.NODE:
            return -1
        return int(self.layout.item_ref[item])

    def scope_of_item(self, item: int) -> int:
        """The collapsed scope that a box is, −1 for anything else."""
        if item < 0 or self.layout.item_kind[item] != ItemKind.SCOPE:
            return -1
        return int(self.layout.item_ref[item])

    def item_of_scope(self, scope: int) -> int:
        """The box of a collapsed scope, −1 when it is expanded or absent."""
        hit = np.flatnonzero((self.layout.item_kind == ItemKind.SCOPE) & (self.layout.item_ref == scope))
        return int(hit[0]) if len(hit) else -1

    def places_of_scope(self, scope: int) -> npt.NDArray[np.float32]:
        """[n, 4] left, top, right, bottom of a scope's frames and closed boxes, from the top."""
        layout = self.layout
        frames = np.flatnonzero(layout.frame_scope == scope)
        x, y = layout.frame_x[frames], layout.frame_y[frames]
        far = x + layout.frame_width[frames], y + layout.frame_height[frames]
        boxes = np.flatnonzero((layout.item_kind == ItemKind.SCOPE) & (layout.item_ref == scope))
        sides = (self.left[boxes], self.top[boxes], self.right[boxes], self.bottom[boxes])
        return np.concatenate([np.column_stack([x, y, *far]), np.column_stack(sides)])

    def center(self, item: int) -> tuple[float, float]:
        """The middle of a box in layout pixels."""
        return (
            float(self.left[item] + self.right[item]) / 2,
            float(self.top[item] + self.bottom[item]) / 2,
        )


def _finite(values: Floats) -> Floats:
    """The values, with zeros for those that are no numbers; nearly always as they are."""
    return values if np.isfinite(values.sum(dtype=np.float64)) else np.nan_to_num(values)


def flatten(curve: Floats, steps: int = 12) -> npt.NDArray[np.float64]:
    """A cubic curve as a polyline, `steps` pieces per segment."""
    segments = (len(curve) - 1) // 3
    if segments < 1:
        return curve.astype(float)
    t = np.linspace(0, 1, steps + 1)[None, :, None]
    a, b, c, d = (curve[k : k + 3 * segments : 3].astype(float)[:, None, :] for k in range(4))
    points = a * (1 - t) ** 3 + 3 * b * t * (1 - t) ** 2 + 3 * c * t**2 * (1 - t) + d * t**3
    return np.concatenate([points[:, :-1].reshape(-1, 2), points[-1, -1:]], axis=0)


def distance_to_polyline(line: npt.NDArray[np.float64], x: float, y: float) -> float:
    """The distance of a point from a polyline."""
    point = np.array([x, y])
    if len(line) < 2:
        return float(np.hypot(*(line[0] - point))) if len(line) else float("inf")
    start, step = line[:-1], np.diff(line, axis=0)
    length = np.maximum((step**2).sum(axis=1), 1e-12)
    along = np.clip(((point - start) * step).sum(axis=1) / length, 0, 1)
    nearest = start + along[:, None] * step
    return float(np.sqrt(((nearest - point) ** 2).sum(axis=1).min()))


def empty_layout() -> Layout:
    """A layout with nothing in it."""
    ints, floats = np.zeros(0, np.int32), np.zeros(0, np.float32)
    return Layout(
        item_kind=np.zeros(0, np.uint8), item_ref=ints, item_x=floats, item_y=floats, item_width=floats,
        item_height=floats, item_nodes=ints, item_axis=floats, node_item=ints, edge_source=ints,
        edge_target=ints, edge_tensor=ints, edge_offsets=np.zeros(1, np.int32),
        edge_points=np.zeros((0, 2), np.float32), edge_is_portal=np.zeros(0, np.bool_),
        frame_scope=ints, frame_x=floats, frame_y=floats, frame_width=floats, frame_height=floats,
        frame_depth=ints, column_nodes=ints, width=0.0, height=0.0,
    )  # fmt: skip
