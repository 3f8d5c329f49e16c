"""From the session's overlay choice to what the canvas paints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.ui.stages import OpenedGraph
from studio.ui.texts import translate

if TYPE_CHECKING:
    from studio.ui.canvas.overlay import Overlay


def overlay_of(opened: OpenedGraph, overlay: str, target_id: str) -> Overlay | None:
    """The overlay of that name for a graph; None when its facts are not known."""
    from studio.ui import canvas

    verdicts = opened.verdicts.get(target_id)
    if overlay == "quantization":
        return canvas.quantization_overlay(opened.graph)
    if overlay in ("macs", "weights", "activations"):
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
        return canvas.value_overlay(translate("TargetBar", "MACs"), costs.macs, "MACs")
    if overlay == "weights":
        return canvas.value_overlay(translate("TargetBar", "Weight bytes"), costs.weight_bytes, "B")
    return canvas.value_overlay(translate("TargetBar", "Activation bytes"), costs.activation_bytes, "B")
