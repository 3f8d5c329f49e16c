"""Paint: what a picture of a graph says by colour: a category or a figure per node, groups, thick edges.

Every category has colour, sign and word, so that colour never stands alone; the figures of a heat map
are written on the boxes. The window's overlays become paints as well (`ui.views.picture_dialog`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from studio.graph.diff import GraphDiff
from studio.report.palette import VERDICT_ICONS, Palette
from studio.support.verdict import VERDICTS, TargetVerdicts, Verdict


@dataclass(frozen=True, slots=True)
class Category:
    """A legend entry. `hatch`: "", "/", "-", "." or "x", drawn over the colour so that it is not alone.

    Categories of one `group` share an entry of the legend under that title.
    """

    word: str
    colour: str
    icon: str = ""
    hatch: str = ""
    group: str = ""
    is_calm: bool = False  # its boxes are not tinted


@dataclass(frozen=True, slots=True)
class Group:
    """A dashed line round some nodes, with a title."""

    title: str
    colour: str
    nodes: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Figures:
    """One figure per node, NaN = not known; a closed scope shows the sum of its nodes or the largest."""

    values: npt.NDArray[np.float64]
    unit: str = ""
    take_largest: bool = False
    nothing: str = "No node has a figure above 0."
    unknown: str = ""
    """What the legend says of the unknown nodes; empty: their number, in English."""


@dataclass(frozen=True, slots=True)
class Paint:
    """Categories and the code of every node (−1 = none); the later a category, the graver it is."""

    categories: tuple[Category, ...]
    codes: npt.NDArray[np.int16]
    name: str = ""
    show_counts: bool = True
    figures: Figures | None = None
    groups: tuple[Group, ...] = ()
    tensor_bytes: Mapping[int, float] = field(default_factory=dict)  # what crosses a border
    tensor_note: Mapping[int, str] = field(default_factory=dict)
    uncounted: npt.NDArray[np.bool_] | None = None  # [nodes] that another one is counted for; None = none


_VERDICT_ORDER = (Verdict.RUNS, Verdict.UNKNOWN, Verdict.CONDITIONAL, Verdict.FALLS_BACK, Verdict.FAILS)


def verdict_paint(verdicts: TargetVerdicts, palette: Palette) -> Paint:
    """The paint of one target's verdicts."""
    sign = VERDICT_ICONS
    looks = {
        Verdict.RUNS: Category("runs", palette.runs, sign[Verdict.RUNS], is_calm=True),
        Verdict.UNKNOWN: Category("unknown", palette.unknown, sign[Verdict.UNKNOWN], "-", is_calm=True),
        Verdict.CONDITIONAL: Category("conditional", palette.conditional, sign[Verdict.CONDITIONAL], "."),
        Verdict.FALLS_BACK: Category("falls back", palette.falls_back, sign[Verdict.FALLS_BACK], "/"),
        Verdict.FAILS: Category("fails", palette.fails, sign[Verdict.FAILS], "x"),
    }
    rank = np.array([_VERDICT_ORDER.index(v) for v in VERDICTS], np.int16)
    inside = verdicts.is_inside if len(verdicts.is_inside) else None
    return Paint(tuple(looks[v] for v in _VERDICT_ORDER), rank[verdicts.codes], uncounted=inside)


def value_paint(
    name: str,
    values: npt.NDArray[np.float64] | Sequence[float],
    unit: str,
    *,
    take_largest: bool = False,
) -> Paint:
    """A heat map of one figure per node; below 0, infinite or NaN = not known, uncoloured."""
    known = np.asarray(values, np.float64).copy()
    known[~np.isfinite(known) | (known < 0)] = np.nan
    codes = np.full(len(known), -1, np.int16)
    return Paint((), codes, name, figures=Figures(known, unit, take_largest))


def diff_paint(diff: GraphDiff, side: str, palette: Palette) -> Paint:
    """The paint of one side ("a" = before, "b" = after) of a comparison."""
    looks = (
        Category("same", palette.quiet, is_calm=True),
        Category("changed", palette.conditional, "tilde", "/"),
        Category("removed", palette.fails, "minus", "x"),
        Category("added", palette.runs, "plus", "-"),
    )
    codes = diff.status_a if side == "a" else diff.status_b
    return Paint(looks, codes.astype(np.int16))
