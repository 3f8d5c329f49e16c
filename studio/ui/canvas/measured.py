"""The overlays of measured figures: how long each node took, and how far each layer is from the original."""

from __future__ import annotations

from studio.graph import Graph
from studio.graph.labels import percent_text, value_text
from studio.measure.layer_errors import LayerError, LayerErrors, node_relative_error, relative_error
from studio.measure.node_profile import (
    NodeLatency,
    NodeProfile,
    NodeTime,
    Statistic,
    node_milliseconds,
)
from studio.targets import TARGETS
from studio.ui.canvas.overlay import Gather, Overlay
from studio.ui.texts import fill, translate


def latency_words(graph: Graph, profile: NodeProfile, node: int) -> str:
    """What a profile says of one node."""
    times = [time for time in profile.nodes if node in time.nodes]
    leading = next((time for time in times if time.nodes[0] == node), times[0] if times else None)
    return latency_sentence(graph, profile, leading, node, is_folded=node in profile.folded)


def error_words(graph: Graph, errors: LayerErrors, node: int) -> str:
    """What a comparison says of one node: the worst of its outputs."""
    is_first = errors.a.sha256 == graph.file_sha256
    layers = [layer for layer in errors.layers if node == (layer.node_a if is_first else layer.node_b)]
    return error_sentence(max(layers, key=relative_error)) if layers else translate("Canvas", "Not compared.")


def latency_overlay(graph: Graph, profile: NodeProfile) -> Overlay:
    """The time of every node, in seconds: the median, or the mean where no more is told; a collapsed scope
    shows the sum."""
    if profile.statistic is Statistic.P50:
        name = fill(translate("Canvas", "Latency · {target}"), target=_target_title(profile))
    else:
        name = fill(translate("Canvas", "Mean latency · {target}"), target=_target_title(profile))
    times: dict[int, NodeTime] = {}
    for time in profile.nodes:
        for node in time.nodes:
            if node not in times or time.nodes[0] == node:
                times[node] = time
    folded = frozenset(profile.folded)

    def sentence(node: int) -> str:
        return latency_sentence(graph, profile, times.get(node), node, is_folded=node in folded)

    values = node_milliseconds(profile, graph.node_count) / 1e3
    return Overlay(name=name, values=values, unit="s", sentence=sentence)


def _target_title(profile: NodeProfile) -> str:
    target = TARGETS.get(profile.target_ran)
    return target.title if target else profile.target_ran


def latency_sentence(
    graph: Graph, profile: NodeProfile, time: NodeTime | None, node: int, *, is_folded: bool
) -> str:
    """How long a node took, its share, over how many inferences, and what it was fused with."""
    if time is None:
        if is_folded:
            return translate("Canvas", "No time: computed once, at load.")
        return translate("Canvas", "Not timed: it ran in no kernel that can be attributed to it.")
    if time.nodes[0] != node:
        return fill(
            translate("Canvas", "Runs inside the kernel of {node}."), node=graph.label(time.nodes[0])[:80]
        )
    figures = time.latency_ms
    if figures.p50 is not None and figures.p90 is not None:
        said = fill(
            translate("Canvas", "p50 {p50}, p90 {p90} over {n} inferences"),
            p50=time_text(figures.p50),
            p90=time_text(figures.p90),
            n=figures.n,
        )
    else:
        said = fill(
            translate("Canvas", "mean {mean} over {n} inferences"),
            mean=time_text(figures.mean),
            n=figures.n,
        )
    total = time_text(profile.sum_ms)
    if time.is_inside:
        lines = [said, translate("Canvas", "Part of the time of the node around it.")]
    else:
        lines = [
            said,
            fill(
                translate("Canvas", "{share} of {total} in all kernels"),
                share=percent_text(time.share),
                total=total,
            ),
        ]
    if len(time.nodes) > 1:
        fused = fill(translate("Canvas", "One kernel with {n} other nodes"), n=len(time.nodes) - 1)
        lines.append(f"{fused}: {', '.join(graph.label(n)[:40] for n in time.nodes[1:5])}")
    return "\n".join(lines)


def inference_text(latency: NodeLatency) -> str:
    """The median where it is told, else the mean, said so."""
    if latency.p50 is not None:
        return time_text(latency.p50)
    return fill(translate("Canvas", "mean {time}"), time=time_text(latency.mean))


def time_text(milliseconds: float) -> str:
    """ "43.2 µs", "1.25 ms"; profilers count in microseconds, so 0 is less than one."""
    return value_text(milliseconds / 1e3, "s") if milliseconds > 0 else "< 1 µs"


def error_overlay(graph: Graph, errors: LayerErrors) -> Overlay:
    """The error of every layer relative to its signal, in percent (1 % = 40 dB); a scope shows its worst."""
    values = node_relative_error(errors, graph.file_sha256, graph.node_count)
    is_first = errors.a.sha256 == graph.file_sha256
    layers: dict[int, LayerError] = {}
    for layer in errors.layers:
        node = layer.node_a if is_first else layer.node_b
        known = layers.get(node)
        if known is None or relative_error(layer) > relative_error(known):
            layers[node] = layer

    def sentence(node: int) -> str:
        layer = layers.get(node)
        return error_sentence(layer) if layer is not None else translate("Canvas", "Not compared.")

    return Overlay(
        name=translate("Canvas", "Error, relative to the signal"),
        values=values,
        unit="%",
        gather=Gather.MAX,
        sentence=sentence,
    )


def sqnr_text(layer: LayerError) -> str:
    """ "32.1 dB", "equal", or how many values are broken."""
    if layer.nonfinite:
        return fill(translate("Canvas", "{n} values are NaN or infinite"), n=f"{layer.nonfinite:,}")
    return translate("Canvas", "equal") if layer.sqnr_db is None else f"{layer.sqnr_db:.1f} dB"


def error_sentence(layer: LayerError) -> str:
    """How far a layer is from the original, in all figures."""
    figures = fill(
        translate("Canvas", "cosine {cosine} · mean error {mean} · largest {largest}"),
        cosine=f"{layer.cosine:.5f}",
        mean=f"{layer.mean_abs:.3g}",
        largest=f"{layer.max_abs:.3g}",
    )
    return f"SQNR {sqnr_text(layer)}\n{figures}"
