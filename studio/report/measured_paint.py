"""Paints of measured figures: how long each node took, how far each layer is from the original.

The figures are those of the window's canvas (`node_milliseconds`, `node_relative_error`); the subtitles say
on what, over how many inferences or samples, and when they were measured.
"""

from __future__ import annotations

from studio.graph.graph import Graph
from studio.measure.layer_errors import LayerErrors, node_relative_error
from studio.measure.node_profile import NodeProfile, Statistic, node_milliseconds
from studio.report.paint import Paint, value_paint


def latency_paint(graph: Graph, profile: NodeProfile) -> Paint:
    """The time of every node, in seconds: the median, or the mean where no more is told; a closed scope
    shows the sum."""
    what = "Latency" if profile.statistic is Statistic.P50 else "Mean latency"
    name = f"{what} · {profile.target_ran}"
    return value_paint(name, node_milliseconds(profile, graph.node_count) / 1e3, "s")


def error_paint(graph: Graph, errors: LayerErrors) -> Paint:
    """The error of every layer relative to its signal, in percent (1 % = 40 dB); a scope shows its worst."""
    values = node_relative_error(errors, graph.file_sha256, graph.node_count)
    return value_paint("Error, relative to the signal", values, "%", take_largest=True)


def profile_subtitle(profile: NodeProfile) -> str:
    """What ran where and how often: "ort/cpu, ONNX Runtime 1.32.0, 1 thread, EPYC · p50 of 30 inferences"."""
    threads = "1 thread" if profile.threads == 1 else f"{profile.threads} threads"
    ran = ", ".join((profile.target_ran, profile.runtime, threads, profile.device))
    runs = f"{profile.statistic} of {profile.profiled_ms.n:,} inferences"
    return " · ".join((ran, runs, _inputs(profile.inputs), _day(profile.wall_time)))


def errors_subtitle(errors: LayerErrors) -> str:
    """Which two files on which inputs: "net.int8.onnx against net.onnx · 8 samples of photos · …"."""
    samples = "1 sample" if errors.samples == 1 else f"{errors.samples:,} samples"
    origin = _inputs(errors.inputs)
    return " · ".join((f"{errors.b.file} against {errors.a.file}", samples, origin, _day(errors.wall_time)))


def _inputs(origin: str) -> str:
    return f"inputs {origin}" if origin else "inputs not named"


def _day(wall_time: str) -> str:
    return wall_time[:10]
