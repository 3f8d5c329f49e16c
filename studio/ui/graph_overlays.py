"""From the session's overlay choice to what the canvas paints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.ui.stages import OpenedGraph
from studio.ui.texts import QT_TRANSLATE_NOOP, translate

if TYPE_CHECKING:
    from studio.ui.canvas.overlay import Overlay

OVERLAYS: tuple[tuple[str, str], ...] = (
    ("verdict", QT_TRANSLATE_NOOP("TargetBar", "Support")),
    ("partitions", QT_TRANSLATE_NOOP("TargetBar", "Partitions")),
    ("macs", QT_TRANSLATE_NOOP("TargetBar", "MACs")),
    ("weights", QT_TRANSLATE_NOOP("TargetBar", "Weight bytes")),
    ("activations", QT_TRANSLATE_NOOP("TargetBar", "Activation bytes")),
    ("memory", QT_TRANSLATE_NOOP("TargetBar", "Memory alive")),
    ("quantization", QT_TRANSLATE_NOOP("TargetBar", "Quantisation")),
    ("latency", QT_TRANSLATE_NOOP("TargetBar", "Latency")),
    ("error", QT_TRANSLATE_NOOP("TargetBar", "Error")),
)
"""id → title, in the order of the menus."""


def overlay_of(opened: OpenedGraph, overlay: str, target_id: str) -> Overlay | None:
    """The overlay of that name for a graph; None when its facts are not known."""
    from studio.ui import canvas

    verdicts = opened.verdicts.get(target_id)
    if overlay == "quantization":
        return canvas.quantization_overlay(opened.graph)
    if overlay == "latency":
        return canvas.latency_overlay(opened.graph, opened.profile) if opened.profile else None
    if overlay == "error":
        return canvas.error_overlay(opened.graph, opened.layer_errors) if opened.layer_errors else None
    if overlay in ("macs", "weights", "activations", "memory"):
        return _cost_overlay(opened, overlay)
    if verdicts is None:
        return None
    if overlay == "partitions":
        return canvas.partition_overlay(opened.graph, verdicts)
    return canvas.verdict_overlay(verdicts)


def _cost_overlay(opened: OpenedGraph, overlay: str) -> Overlay | None:
    from studio.ui import canvas

    costs = opened.costs
    if costs is None:
        return None
    if overlay == "macs":
        return canvas.value_overlay(translate("TargetBar", "MACs"), costs.macs, "")  # the name is the unit
    if overlay == "weights":
        return canvas.value_overlay(translate("TargetBar", "Weight bytes"), costs.weight_bytes, "B")
    if overlay == "memory":
        title = translate("TargetBar", "Memory alive")
        return canvas.value_overlay(title, costs.live_bytes, "B", gather=canvas.Gather.MAX)
    return canvas.value_overlay(translate("TargetBar", "Activation bytes"), costs.activation_bytes, "B")
