"""Structure of a layout in numbers: crossings, width, straightness. For benches and golden tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studio.graph.layout import ItemKind, Layout


@dataclass(frozen=True)
class Quality:
    """`width_columns` is the drawing's width in widths of a node; `straight` the share of vertical edges."""

    edges: int
    portals: int
    crossings: int
    through_boxes: int
    width_columns: float
    straight: float

    @property
    def crossings_per_edge(self) -> float:
        return self.crossings / max(self.edges, 1)


def quality(layout: Layout) -> Quality:
    """The figures of a layout; lines of one tensor do not cross each other."""
    segments, tensors = _segments(layout)
    drawn = ~layout.edge_is_portal
    straight = 0
    for edge in np.flatnonzero(drawn).tolist():
        xs = layout.edge_points[layout.edge_offsets[edge] : layout.edge_offsets[edge + 1], 0]
        straight += bool(np.ptp(xs) < 1)
    nodes = layout.item_kind == ItemKind.NODE
    unit = float(np.median(layout.item_width[nodes])) if nodes.any() else 176.0
    return Quality(
        edges=int(drawn.sum()),
        portals=int(layout.edge_is_portal.sum()),
        crossings=count_crossings(segments, tensors),
        through_boxes=_through_boxes(layout, segments),
        width_columns=layout.width / unit,
        straight=straight / max(int(drawn.sum()), 1),
    )


def _segments(layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Line pieces [n, 4] (x1, y1, x2, y2) with y1 ≤ y2, without doubles, and the tensor of each."""
    counts = np.diff(layout.edge_offsets)
    edge = np.repeat(np.arange(len(counts)), counts)
    points = layout.edge_points
    inner = np.flatnonzero((edge[1:] == edge[:-1]) & ~layout.edge_is_portal[edge[1:]])
    rows = np.concatenate([points[inner], points[inner + 1]], axis=1)
    flip = rows[:, 1] > rows[:, 3]
    rows[flip] = rows[flip][:, [2, 3, 0, 1]]
    tagged = np.concatenate([rows, layout.edge_tensor[edge[inner]][:, None]], axis=1)
    tagged = np.unique(tagged, axis=0) if len(tagged) else tagged
    return tagged[:, :4].astype(np.float64), tagged[:, 4].astype(np.int64)


def count_crossings(segments: np.ndarray, tensors: np.ndarray) -> int:
    """Pairs of pieces of different tensors that properly cross, by a sweep over y."""
    order = np.argsort(segments[:, 1], kind="stable")
    segments, tensors = segments[order], tensors[order]
    total = 0
    tops = segments[:, 1]
    for i in range(len(segments)):
        last = np.searchsorted(tops, segments[i, 3], side="left")
        if last <= i + 1:
            continue
        other = segments[i + 1 : last]
        total += int((_cross(segments[i], other) & (tensors[i + 1 : last] != tensors[i])).sum())
    return total


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    def side(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
        value = (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1])
        value = value - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])
        return np.where(np.abs(value) < 1e-3, 0, np.sign(value))

    a1, a2, b1, b2 = a[None, :2], a[None, 2:], b[:, :2], b[:, 2:]
    return (side(a1, a2, b1) * side(a1, a2, b2) < 0) & (side(b1, b2, a1) * side(b1, b2, a2) < 0)


def _through_boxes(layout: Layout, segments: np.ndarray) -> int:
    """Line pieces that run through the inside of a box."""
    left, top = layout.item_x + 1, layout.item_y + 1
    right, bottom = left + layout.item_width - 2, top + layout.item_height - 2
    tallest = float(layout.item_height.max(initial=0))
    total = 0
    for x1, y1, x2, y2 in segments.tolist():
        low = np.searchsorted(layout.item_y, y1 - tallest)
        high = np.searchsorted(layout.item_y, y2, side="right")
        if high <= low:
            continue
        near_left, t, near_right, b = left[low:high], top[low:high], right[low:high], bottom[low:high]
        span = max(y2 - y1, 1e-9)
        start = np.clip((t - y1) / span, 0, 1)
        end = np.clip((b - y1) / span, 0, 1)
        near = np.minimum(x1 + (x2 - x1) * start, x1 + (x2 - x1) * end)
        far = np.maximum(x1 + (x2 - x1) * start, x1 + (x2 - x1) * end)
        total += int(((y1 < b) & (y2 > t) & (far > near_left) & (near < near_right)).sum())
    return total
