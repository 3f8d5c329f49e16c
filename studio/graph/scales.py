"""Scales that all pictures of a graph share: figures on a heat scale, bytes as thickness, colours.

Source of the colours: those of groups are Okabe and Ito's (2008) with two more, told apart by all
common kinds of colour blindness; the heat scale is cividis (Nuñez, Anderton, Renslow 2018),
monotone in lightness, seven stops of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Figures = npt.NDArray[np.float64]

GROUP_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c7a00", "#7a5cc2")
HEAT_STOPS = ("#00306f", "#3b496c", "#5f636e", "#7c7b78", "#9c9373", "#c2b062", "#fde737")
HEAVIEST = 5
"""Classes of thickness of an edge."""

_MEDIAN_AT = 1 / 3
_FLATTEST = 0.15


@dataclass(frozen=True, slots=True)
class HeatScale:
    """Place = (figure / largest) ** exponent, from 0 to 1."""

    largest: float  # 0 = no figure is above 0
    exponent: float

    def places(self, figures: Figures) -> npt.NDArray[np.float32]:
        """Where figures stand; NaN for what is unknown, and for 0, which is not the scale's low end."""
        result = np.full(len(figures), np.nan, np.float32)
        above = np.isfinite(figures) & (figures > 0)
        if self.largest > 0:
            result[above] = np.minimum(figures[above] / self.largest, 1.0) ** self.exponent
        return result

    def figure_at(self, place: float) -> float:
        """The figure at a place: what a legend's tick says."""
        return float(self.largest * place ** (1 / self.exponent))


def heat_scale(figures: Figures) -> HeatScale:
    """The scale on which the median stands at a third: costs are lopsided."""
    above = figures[np.isfinite(figures) & (figures > 0)]
    if not above.size:
        return HeatScale(0.0, 1.0)
    top = float(above.max())
    middle = float(np.median(above / top))
    exponent = max(math.log(_MEDIAN_AT) / math.log(middle), _FLATTEST) if middle < _MEDIAN_AT else 1.0
    return HeatScale(top, exponent)


def gather_figures(
    figures: Figures, node_item: npt.NDArray[np.int32], item_count: int, *, take_largest: bool
) -> Figures:
    """[items] the sum (or the largest) of the known figures of every box's nodes, NaN = none is known."""
    result = np.full(item_count, np.nan)
    nodes = np.flatnonzero(node_item[: len(figures)] >= 0)
    nodes = nodes[np.isfinite(figures[nodes])]
    items, found = node_item[nodes], figures[nodes]
    if take_largest:
        total = np.full(item_count, -np.inf)
        np.maximum.at(total, items, found)
    else:
        total = np.bincount(items, weights=found, minlength=item_count)
    result[items] = total[items]
    return result


@lru_cache(maxsize=2)
def heat_table(is_dark: bool) -> npt.NDArray[np.uint8]:
    """The heat scale as [256, 3] RGB from low to high: high is what stands out from the canvas, so it is
    bright on a dark canvas and dark on a light one."""
    stops = np.array([[int(s[i : i + 2], 16) for i in (1, 3, 5)] for s in HEAT_STOPS], float)
    if not is_dark:
        stops = stops[::-1]
    at, x = np.linspace(0, 1, len(stops)), np.linspace(0, 1, 256)
    return np.stack([np.interp(x, at, stops[:, c]) for c in range(3)], axis=1).round().astype(np.uint8)


def weight_classes(tensors: npt.NDArray[np.int32], weights: Mapping[int, float]) -> npt.NDArray[np.uint8]:
    """[edges] the class of thickness (1 to HEAVIEST, by the logarithm) of edges by their tensors' bytes;
    0 = the tensor has no weight."""
    classes = np.zeros(len(tensors), np.uint8)
    if weights and len(tensors):
        table = np.full(max(int(tensors.max()), max(weights)) + 1, np.nan)
        table[list(weights)] = [max(w, 0.0) for w in weights.values()]
        size = np.log1p(table)
        top = max(float(np.nanmax(size)), 1e-9)
        of_edge = np.where(tensors >= 0, size[tensors], np.nan) / top
        known = np.isfinite(of_edge)
        classes[known] = 1 + np.round(of_edge[known] * (HEAVIEST - 1))
    return classes
