"""Paint: what a picture of a graph says by colour: one category per node, each with colour, sign and word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studio.graph.diff import GraphDiff
from studio.graph.labels import count_text
from studio.report.palette import Palette, mix
from studio.support.verdict import VERDICTS, TargetVerdicts, Verdict


@dataclass(frozen=True, slots=True)
class Category:
    """A legend entry. `hatch`: "", "/" or "x", drawn over the colour so that it is not alone."""

    word: str
    colour: str
    icon: str = ""
    hatch: str = ""


@dataclass(frozen=True, slots=True)
class Paint:
    """Categories and the code of every node (−1 = none); the later a category, the graver it is."""

    categories: tuple[Category, ...]
    codes: npt.NDArray[np.int16]
    show_counts: bool = True


_VERDICT_ORDER = (Verdict.RUNS, Verdict.UNKNOWN, Verdict.CONDITIONAL, Verdict.FALLS_BACK, Verdict.FAILS)


def verdict_paint(verdicts: TargetVerdicts, palette: Palette) -> Paint:
    """The paint of one target's verdicts."""
    looks = {
        Verdict.RUNS: Category("runs", palette.runs, "check"),
        Verdict.UNKNOWN: Category("unknown", palette.unknown, "question", "."),
        Verdict.CONDITIONAL: Category("conditional", palette.conditional, "diamond"),
        Verdict.FALLS_BACK: Category("falls back", palette.falls_back, "triangle", "/"),
        Verdict.FAILS: Category("fails", palette.fails, "cross", "x"),
    }
    rank = np.array([_VERDICT_ORDER.index(v) for v in VERDICTS], np.int16)
    return Paint(tuple(looks[v] for v in _VERDICT_ORDER), rank[verdicts.codes])


def value_paint(
    name: str, values: npt.NDArray[np.float64] | Sequence[float], unit: str, palette: Palette, steps: int = 5
) -> Paint:
    """A heat map: values ≥ 0 in equal steps of their logarithm; below 0 or NaN = not known, uncoloured."""
    known = np.asarray(values, np.float64)
    codes = np.full(len(known), -1, np.int16)
    positive = np.isfinite(known) & (known > 0)
    if not positive.any():
        return Paint((), codes)
    high = float(known[positive].max())
    low = max(float(known[positive].min()), high / 1e4)
    if low >= high:
        low = high / 10
    edges = np.geomspace(low, high, steps + 1)
    codes[positive] = np.clip(np.searchsorted(edges, known[positive], side="right") - 1, 0, steps - 1)
    categories = tuple(
        Category(
            f"{'' if i else name + ' '}{count_text(edges[i])}{unit} – {count_text(edges[i + 1])}{unit}",
            mix(palette.canvas, palette.accent, 0.15 + 0.85 * i / max(steps - 1, 1)),
        )
        for i in range(steps)
    )
    return Paint(categories, codes, show_counts=False)


def diff_paint(diff: GraphDiff, side: str, palette: Palette) -> Paint:
    """The paint of one side ("a" = before, "b" = after) of a comparison."""
    looks = (
        Category("same", palette.quiet),
        Category("changed", palette.conditional, "tilde", "."),
        Category("removed", palette.fails, "minus", "x"),
        Category("added", palette.accent, "plus", "/"),
    )
    codes = diff.status_a if side == "a" else diff.status_b
    return Paint(looks, codes.astype(np.int16))
