"""Overlays: the colourings that a picture can have, by the same names as in the window.

`OVERLAYS` is the table that `deployment-studio render` offers. An overlay that needs more facts adds them to
`Facts` and a line to the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from studio.errors import InputError
from studio.graph.cost import Costs
from studio.graph.graph import Graph
from studio.graph.labels import scale_text, value_text
from studio.graph.quantization_roles import quantization_codes
from studio.graph.scales import GROUP_COLORS
from studio.measure.layer_errors import LayerErrors
from studio.measure.node_profile import NodeProfile
from studio.report.measured_paint import error_paint, latency_paint
from studio.report.paint import Category, Group, Paint, value_paint, verdict_paint
from studio.report.palette import Palette
from studio.support.boundaries import crossing_bytes, partition_codes, partition_members, partition_places
from studio.support.verdict import TargetVerdicts
from studio.targets import TARGETS

_MOST_NAMED = 6  # more partitions than this share a row of the legend
_HATCHES = ("", "/", "-", ".", "x")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a graph; what an overlay needs and is not there, it asks for by an InputError."""

    graph: Graph
    palette: Palette
    verdicts: TargetVerdicts | None = None
    costs: Callable[[], Costs] | None = None
    profile: NodeProfile | None = None
    layers: LayerErrors | None = None


def _verdicts(facts: Facts) -> TargetVerdicts:
    if facts.verdicts is None:
        raise InputError("This overlay is of one target.", hint="Name it: --target ort/nnapi")
    return facts.verdicts


def _costs(facts: Facts) -> Costs:
    if facts.costs is None:
        raise InputError("The costs of this graph are not known.", hint="Open the model again.")
    return facts.costs()


def _latency(facts: Facts) -> Paint:
    if facts.profile is None:
        raise InputError(
            "No profile of this file is kept: how long its nodes take is not known.",
            hint="Make one: deployment-studio profile FILE. Or name one: --profile FILE.profile.json",
        )
    return latency_paint(facts.graph, facts.profile)


def _error(facts: Facts) -> Paint:
    if facts.layers is None:
        raise InputError(
            "No comparison of this file's layers with another file's is kept.",
            hint="Make one: deployment-studio compare-layers ORIGINAL FILE. Or name one: "
            "--layers FILE.layers.json",
        )
    return error_paint(facts.graph, facts.layers)


def partition_paint(facts: Facts) -> Paint:
    """The partitions of a target: a colour and a line round each, edges that cross them thick by bytes."""
    graph, verdicts = facts.graph, _verdicts(facts)
    count = len(verdicts.partitions)
    looks = min(count, len(GROUP_COLORS) * len(_HATCHES))
    shared = "" if count <= _MOST_NAMED else f"in one of {count:,} partitions"
    categories = [
        Category(
            shared or f"partition {k + 1} of {count}",
            GROUP_COLORS[k % len(GROUP_COLORS)],
            hatch=_HATCHES[k // len(GROUP_COLORS)],
            group=shared,
            is_calm=True,
        )
        for k in range(looks)
    ]
    categories.append(Category("not on the accelerator", facts.palette.falls_back, "triangle", "/"))
    place = partition_places(graph, verdicts)
    codes = partition_codes(graph, place, looks, -1).astype(np.int16)
    groups = tuple(
        Group(f"partition {k + 1} of {count}", GROUP_COLORS[k % len(GROUP_COLORS)], nodes)
        for k, nodes in enumerate(partition_members(place, count))
    )
    weight = crossing_bytes(graph, place)
    notes = {tensor: value_text(size, "B") for tensor, size in weight.items() if size}
    target = TARGETS.get(verdicts.target_id)
    name = f"Partitions · {target.title if target else verdicts.target_id}"
    inside = verdicts.is_inside if len(verdicts.is_inside) else None
    return Paint(
        tuple(categories),
        codes,
        name,
        groups=groups,
        tensor_bytes=weight,
        tensor_note=notes,
        uncounted=inside,
    )


def quantization_paint(facts: Facts) -> Paint:
    """Where a graph computes in integers, the borders to float, pairs that only rescale, float islands."""
    p = facts.palette
    looks = (
        (0, Category("integer", p.integer, "check", is_calm=True)),
        (1, Category("float", p.unknown, "", "-", is_calm=True)),
        (2, Category("quantize / dequantize", p.boundary, "dot", ".", is_calm=True)),
        (3, Category("requantize pair", p.conditional, "diamond", "x")),
        (4, Category("float island", p.falls_back, "triangle", "/")),
        (5, Category("no arithmetic on activations", p.unknown, is_calm=True)),
    )
    gravity = (5, 1, 0, 2, 3, 4)  # the later, the graver
    rank = np.array([gravity.index(code) for code, _ in looks], np.int16)
    categories = tuple(looks[code][1] for code in gravity)
    scales = {t: scale_text(q) for t, q in facts.graph.tensor_quantization.items()}
    return Paint(categories, rank[quantization_codes(facts.graph)], "Quantisation", tensor_note=scales)


OVERLAYS: dict[str, Callable[[Facts], Paint]] = {
    "verdict": lambda facts: verdict_paint(_verdicts(facts), facts.palette),
    "partitions": partition_paint,
    "macs": lambda facts: value_paint("MACs", _costs(facts).macs.astype(float), ""),  # the name is the unit
    "weights": lambda facts: value_paint("Weight bytes", _costs(facts).weight_bytes.astype(float), "B"),
    "activations": lambda f: value_paint("Activation bytes", _costs(f).activation_bytes.astype(float), "B"),
    "memory": lambda facts: value_paint(
        "Memory alive", _costs(facts).live_bytes.astype(float), "B", take_largest=True
    ),
    "quantization": quantization_paint,
    "latency": _latency,
    "error": _error,
}
"""name → the paint of a graph's facts."""

OF_A_TARGET = frozenset({"verdict", "partitions"})
"""Overlays that are about one target."""
