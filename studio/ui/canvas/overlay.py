"""Overlay: what the canvas colours nodes by. One mechanism for verdicts, heat maps, diffs, …

An overlay gives every node of the graph either a category (a code into `categories`: colour,
icon and hatching, so that colour never stands alone) or a value (`values`, in `unit`, shown on
the heat scale). It may add outlines round groups of nodes, a weight per tensor that thickens
edges, a note per tensor that labels edges, and a sentence per node for the tooltip.
The functions that make overlays are in `overlays.py`; how they look is in `sprites.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from studio.graph.scales import gather_figures, heat_scale
from studio.records import Choice

NO_CATEGORY = 255


class Icon(Choice):
    """Shapes drawn as paths; no font is asked for them."""

    NONE = "none"
    CHECK = "check"
    DIAMOND = "diamond"
    TRIANGLE = "triangle"
    CROSS = "cross"
    QUESTION = "question"
    PLUS = "plus"
    MINUS = "minus"
    DELTA = "delta"
    DOT = "dot"


class Hatch(Choice):
    """Patterns of the bar at a card's left edge."""

    SOLID = "solid"
    DIAGONAL = "diagonal"
    STRIPES = "stripes"
    CROSSED = "crossed"
    DOTTED = "dotted"


class Gather(Choice):
    """How the values of many nodes become the value of the box that stands for them."""

    SUM = "sum"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Category:
    """One entry of a legend. The higher `severity` wins where many nodes share a box or a pixel."""

    title: str
    color: str  # a role of CanvasColors, `partition:N` or `#rrggbb`
    icon: Icon = Icon.NONE
    hatch: Hatch = Hatch.SOLID
    severity: int = 0
    is_loud: bool = False  # tinted card, full colour when far away
    group: str = ""  # categories of one group share a row of the legend, under this title


@dataclass(frozen=True, slots=True)
class Outline:
    """A dashed band round a group of nodes."""

    title: str
    color: str
    nodes: npt.NDArray[np.int32]


def _no_sentence(node: int) -> str:
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class Overlay:
    """Colour, icon and pattern for every node; see the module docstring."""

    name: str
    categories: tuple[Category, ...] = ()
    codes: npt.NDArray[np.uint8] | None = None  # [nodes], NO_CATEGORY = none
    values: npt.NDArray[np.float64] | None = None  # [nodes], NaN = unknown
    unit: str = ""
    gather: Gather = Gather.SUM
    outlines: tuple[Outline, ...] = ()
    tensor_weight: Mapping[int, float] = field(default_factory=dict)  # tensor → bytes that cross a border
    tensor_note: Mapping[int, str] = field(default_factory=dict)
    sentence: Callable[[int], str] = _no_sentence
    uncounted: npt.NDArray[np.bool_] | None = None  # [nodes] that another one is counted for; None = none

    @property
    def counts(self) -> list[int]:
        """How many nodes each category has."""
        if self.codes is None:
            return []
        size = len(self.categories)
        codes = self.codes if self.uncounted is None else self.codes[~self.uncounted]
        return np.bincount(codes, minlength=size)[:size].tolist()  # type: ignore[no-any-return]

    @property
    def unknown(self) -> int:
        """How many nodes have no value."""
        return int(np.isnan(self.values).sum()) if self.values is not None else 0

    @property
    def largest(self) -> float:
        """The largest finite value of a node, 0 when there is none: the upper end of the scale."""
        if self.values is None:
            return 0.0
        finite = self.values[np.isfinite(self.values)]
        return max(float(finite.max()), 0.0) if finite.size else 0.0

    def above(self, share: float) -> npt.NDArray[np.bool_]:
        """Which nodes reach `share` (0..1) of the largest value; all of them when there are no values."""
        if self.values is None:
            size = 0 if self.codes is None else len(self.codes)
            return np.ones(size, np.bool_)
        return np.nan_to_num(self.values, nan=-1.0) >= share * self.largest


@dataclass(frozen=True, slots=True, eq=False)
class ItemColors:
    """An overlay gathered onto the boxes of a layout."""

    code: npt.NDArray[np.int16]  # [items], −1 = none: the most severe category in the box
    counts: npt.NDArray[np.int32]  # [items, categories]
    position: npt.NDArray[np.float32]  # [items], above 0 to 1 on the heat scale, NaN = none or 0
    value: npt.NDArray[np.float64]  # [items], NaN = none
    largest: float  # the upper end of the heat scale, 0 = there is none
    exponent: float  # position = (value / largest) ** exponent


def gather_on_items(overlay: Overlay | None, node_item: npt.NDArray[np.int32], item_count: int) -> ItemColors:
    """The overlay per box. Heat positions are a power of value / largest box value, chosen so that the
    median stands at a third of the scale: costs are lopsided. The legend's ticks follow it."""
    code = np.full(item_count, -1, np.int16)
    counts = np.zeros((item_count, 0), np.int32)
    value = np.full(item_count, np.nan)
    shown = np.flatnonzero(node_item >= 0)
    if overlay is not None and overlay.codes is not None and overlay.categories:
        kinds = len(overlay.categories)
        usable = shown[shown < len(overlay.codes)]
        usable = usable[overlay.codes[usable] < kinds]
        flat = node_item[usable].astype(np.int64) * kinds + overlay.codes[usable]
        counts = np.bincount(flat, minlength=item_count * kinds).reshape(item_count, kinds).astype(np.int32)
        for kind in np.argsort([c.severity for c in overlay.categories], kind="stable"):
            code[counts[:, kind] > 0] = kind
    if overlay is not None and overlay.values is not None:
        value = gather_figures(
            overlay.values, node_item, item_count, take_largest=overlay.gather is Gather.MAX
        )
    scale = heat_scale(value)
    return ItemColors(code, counts, scale.places(value), value, scale.largest, scale.exponent)
