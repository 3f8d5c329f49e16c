"""The layout tax: transposes that a graph holds, and those that a runtime puts around its partitions.

An accelerator that computes channels-last gets its rank-4 tensors transposed on the way in and out. ONNX
Runtime pushes such transposes to the border of the channels-last region and cancels pairs inside, so what
is left is about one for each rank-4 activation that crosses a partition's border.
"""

from __future__ import annotations

import numpy as np

from studio.graph.graph import Graph
from studio.records import Record
from studio.support.verdict import TargetVerdicts

TRANSPOSES = {"Transpose", "TRANSPOSE"}
TORCH_TRANSPOSES = ("permute", "transpose", "t", "permute_copy", "transpose_copy", "t_copy", "numpy_T")
SPATIAL = {
    "Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "Resize",
    "BatchNormalization", "InstanceNormalization", "DepthToSpace", "SpaceToDepth", "LRN", "Upsample",
    "QLinearConv", "QLinearAveragePool", "FusedConv", "GridSample",
}  # fmt: skip
TORCH_SPATIAL = ("conv2d", "convolution", "_convolution", "conv_transpose2d", "max_pool2d", "avg_pool2d",
                 "upsample_bilinear2d", "batch_norm", "pixel_shuffle")  # fmt: skip
CHANNELS_LAST = {
    "ort/nnapi": "onnxruntime/core/optimizer/layout_transformation/layout_transformation.cc",
    "ort/xnnpack": "onnxruntime/core/optimizer/layout_transformation/layout_transformation.cc",
    "ort/qnn": "onnxruntime/core/optimizer/layout_transformation/layout_transformation.cc",
    "executorch/xnnpack": "executorch/backends/xnnpack/_passes/channels_last_tagged_reshape_pass.py",
}
"""Targets whose runtime takes a channels-first graph and computes channels-last, and where it does so."""


class LayoutTax(Record):
    """Transposes and the bytes they move. `inserted` is a prediction for the partitions as they are now."""

    held: int = 0
    held_nodes: tuple[int, ...] = ()
    held_bytes: int = 0
    inserted: int = 0
    inserted_nodes: tuple[int, ...] = ()  # per inserted one, the node of the partition at whose side it is
    inserted_bytes: int = 0
    unknown_sizes: int = 0  # tensors whose size the file does not say: the bytes are a lower bound
    source: str = ""


def layout_tax(graph: Graph, verdicts: TargetVerdicts) -> LayoutTax:
    """What transposing costs on this target: of the graph's own nodes, and what its runtime adds."""
    gone = np.asarray([r.vanishes for r in verdicts.reasons] or [False], np.bool_)[verdicts.reason_of]
    held = [
        n for n, op in enumerate(graph.node_op) if _base(op, TRANSPOSES, TORCH_TRANSPOSES) and not gone[n]
    ]
    moved = [int(t) for n in held for t in graph.outputs_of(n)[:1].tolist() if t >= 0]
    held_bytes, blind = _bytes(graph, moved)
    source = CHANNELS_LAST.get(verdicts.target_id, "")
    crossing: list[tuple[int, int]] = []
    if source and len(verdicts.partition_of) and graph.format != "tflite":
        crossing = _crossing(graph, verdicts)
    inserted_bytes, more = _bytes(graph, [tensor for tensor, _ in crossing])
    return LayoutTax(
        held=len(held),
        held_nodes=tuple(held),
        held_bytes=held_bytes,
        inserted=len(crossing),
        inserted_nodes=tuple(node for _, node in crossing),
        inserted_bytes=inserted_bytes,
        unknown_sizes=blind + more,
        source=source,
    )


def _base(op: str, names: set[str], torch_names: tuple[str, ...]) -> bool:
    if op in names:
        return True
    parts = op.replace("::", ".").split(".")
    return parts[0] == "aten" and len(parts) > 1 and parts[1] in torch_names


def _crossing(graph: Graph, verdicts: TargetVerdicts) -> list[tuple[int, int]]:
    """Rank-4 activations that enter or leave a partition with spatial operators, once per partition.

    Each with the first node inside that reads it, or the one that makes it.
    """
    spatial = {
        p
        for p, op in zip(verdicts.partition_of.tolist(), graph.node_op)
        if p >= 0 and _base(op, SPATIAL, TORCH_SPATIAL)
    }
    produced = {int(t) for n in range(graph.node_count) for t in graph.outputs_of(n).tolist() if t >= 0}
    outputs, inputs = set(graph.main_outputs()), set(graph.main_inputs())
    owner = verdicts.partition_of.tolist()
    found: dict[tuple[int, str, int], int] = {}
    for node in range(graph.node_count):
        mine = owner[node]
        if mine not in spatial:
            continue
        for tensor in graph.inputs_of(node).tolist():
            if tensor < 0 or not _is_rank_4(graph, tensor) or not (tensor in produced or tensor in inputs):
                continue
            maker = int(graph.producer_of[tensor])
            if maker < 0 or owner[maker] != mine:
                found.setdefault((tensor, "in", mine), node)
        for tensor in graph.outputs_of(node).tolist():
            if tensor < 0 or not _is_rank_4(graph, tensor):
                continue
            if tensor in outputs or any(owner[r] != mine for r in graph.consumers_of(tensor).tolist()):
                found.setdefault((tensor, "out", mine), node)
    return [(tensor, node) for (tensor, _, _), node in found.items()]


def _is_rank_4(graph: Graph, tensor: int) -> bool:
    shape = graph.tensor_shape[tensor]
    return shape is not None and len(shape) == 4


def _bytes(graph: Graph, tensors: list[int]) -> tuple[int, int]:
    """(bytes of the tensors whose size is known, how many are not)."""
    sizes = [int(graph.tensor_bytes[t]) for t in tensors]
    return sum(s for s in sizes if s >= 0), sum(1 for s in sizes if s < 0)
