"""The overlays of targets and figures: verdicts, partitions, heat maps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.graph import Graph
from studio.graph.labels import percent_text, value_text
from studio.support import TargetVerdicts, Verdict
from studio.support.boundaries import crossing_bytes, partition_codes, partition_members, partition_places
from studio.support.verdict import VERDICTS
from studio.targets import TARGETS
from studio.ui.canvas.colors import PARTITION_COLORS
from studio.ui.canvas.overlay import NO_CATEGORY, Category, Gather, Hatch, Icon, Outline, Overlay
from studio.ui.domain_texts import translate_sentence
from studio.ui.texts import fill, translate


def verdict_categories() -> tuple[Category, ...]:
    """Legend of verdicts, in the order of VERDICTS. What fails wins over what falls back, and so on."""
    looks = {
        Verdict.RUNS: Category(translate("Canvas", "runs"), "runs", Icon.CHECK, Hatch.SOLID, 0),
        Verdict.CONDITIONAL: Category(
            translate("Canvas", "conditional"), "conditional", Icon.DIAMOND, Hatch.DOTTED, 1, True
        ),
        Verdict.FALLS_BACK: Category(
            translate("Canvas", "falls back"), "falls_back", Icon.TRIANGLE, Hatch.DIAGONAL, 3, True
        ),
        Verdict.FAILS: Category(translate("Canvas", "fails"), "fails", Icon.CROSS, Hatch.CROSSED, 4, True),
        Verdict.UNKNOWN: Category(translate("Canvas", "unknown"), "unknown", Icon.QUESTION, Hatch.STRIPES, 2),
    }
    return tuple(looks[v] for v in VERDICTS)


def verdict_sentence(verdicts: TargetVerdicts, node: int) -> str:
    """What a target does with a node, why, and who says so."""
    if not 0 <= node < len(verdicts.codes):
        return ""
    word = verdict_categories()[int(verdicts.codes[node])].title
    reason = verdicts.reason(node)
    source = f"\n{reason.source}" if reason.source else ""
    return f"{_target_title(verdicts.target_id)}: {word}. {translate_sentence(reason.text)}{source}"


def _target_title(target_id: str) -> str:
    target = TARGETS.get(target_id)
    return target.title if target else target_id


def _inside(verdicts: TargetVerdicts) -> npt.NDArray[np.bool_] | None:
    """The nodes inside compiled calls: the call is counted for them, as everywhere."""
    return verdicts.is_inside if len(verdicts.is_inside) else None


def verdict_overlay(verdicts: TargetVerdicts) -> Overlay:
    """Every node in the colour of what a target does with it."""
    return Overlay(
        name=_target_title(verdicts.target_id),
        categories=verdict_categories(),
        codes=verdicts.codes,
        sentence=lambda node: verdict_sentence(verdicts, node),
        uncounted=_inside(verdicts),
    )


MOST_NAMED = 6  # more partitions than this share a row of the legend
_HATCHES = (Hatch.SOLID, Hatch.DIAGONAL, Hatch.STRIPES, Hatch.DOTTED, Hatch.CROSSED)


def _partition_title(index: int, count: int) -> str:
    return fill(translate("Canvas", "partition {number} of {count}"), number=index + 1, count=count)


def partition_overlay(graph: Graph, verdicts: TargetVerdicts) -> Overlay:
    """The partitions of a target: a colour and an outline each, and the edges that cross their borders."""
    count = len(verdicts.partitions)
    looks = min(count, len(PARTITION_COLORS) * len(_HATCHES))
    in_one_of = fill(translate("Canvas", "in one of {count} partitions"), count=f"{count:,}")
    categories = [
        Category(
            _partition_title(k, count) if count <= MOST_NAMED else in_one_of,
            f"partition:{k % len(PARTITION_COLORS)}",
            hatch=_HATCHES[k // len(PARTITION_COLORS)],
            group="" if count <= MOST_NAMED else in_one_of,
        )
        for k in range(looks)
    ]
    off = Category(
        translate("Canvas", "not on the accelerator"), "falls_back", Icon.TRIANGLE, Hatch.DIAGONAL, 1, True
    )
    place = partition_places(graph, verdicts)
    codes = partition_codes(graph, place, looks, NO_CATEGORY).astype(np.uint8)
    outlines = tuple(
        Outline(_partition_title(k, count), f"partition:{k % len(PARTITION_COLORS)}", nodes)
        for k, nodes in enumerate(partition_members(place, count))
    )
    weight = crossing_bytes(graph, place)

    def sentence(node: int) -> str:
        k = int(place[node]) if 0 <= node < len(place) else -1
        if 0 <= node < len(codes) and codes[node] == NO_CATEGORY:
            return verdict_sentence(verdicts, node)
        where = _partition_title(k, count) if k >= 0 else off.title
        return f"{where}\n{verdict_sentence(verdicts, node)}"

    return Overlay(
        name=fill(translate("Canvas", "Partitions · {target}"), target=_target_title(verdicts.target_id)),
        categories=(*categories, off),
        codes=codes,
        outlines=outlines,
        tensor_weight=weight,
        tensor_note={t: value_text(b, "B") for t, b in weight.items() if b},
        sentence=sentence,
        uncounted=_inside(verdicts),
    )


def value_overlay(
    name: str,
    values: npt.NDArray[np.floating] | npt.NDArray[np.integer],
    unit: str,
    *,
    gather: Gather = Gather.SUM,
) -> Overlay:
    """A heat map of one figure per node; negative and NaN mean unknown. Figures of a collapsed scope
    are added up, or with Gather.MAX the largest counts (errors)."""
    figures = np.asarray(values, np.float64).copy()
    figures[~np.isfinite(figures) | (figures < 0)] = np.nan
    total = float(np.nansum(figures)) if gather is Gather.SUM else 0.0

    def sentence(node: int) -> str:
        value = float(figures[node]) if 0 <= node < len(figures) else float("nan")
        if value != value:
            word = translate("Canvas", "unknown")
            return f"{name}: {word}"
        share = f" ({percent_text(value / total)})" if total > 0 else ""
        return f"{name}: {value_text(value, unit)}{share}"

    return Overlay(name=name, values=figures, unit=unit, gather=gather, sentence=sentence)
