"""The layout tax: transposes that a graph holds, and those that a runtime puts where layouts meet.

An accelerator that computes channels-last wants its rank-4 activations transposed where they come from, or
go to, something that keeps channels first: inputs and outputs of the model, and operators that mean another
thing in another order (Reshape, Flatten, a convolution on the CPU). Operators that do not care (Relu, Add,
Concat) go along with their neighbours: whichever side costs fewer transposes. ONNX Runtime takes those
along even outside of the accelerator's partitions; ExecuTorch's XNNPACK keeps to its partition.
"""

from __future__ import annotations

from collections import defaultdict

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
AGNOSTIC = {
    "Abs", "Add", "And", "Cast", "Ceil", "Celu", "Clip", "Concat", "Cos", "DequantizeLinear", "Div",
    "Elu", "Equal", "Erf", "Exp", "Floor", "Gelu", "Greater", "HardSigmoid", "HardSwish", "Identity",
    "LeakyRelu", "Less", "Log", "LogSoftmax", "Max", "Mean", "Min", "Mish", "Mul", "Neg", "Not",
    "PRelu", "Pad", "Pow", "QuantizeLinear", "Reciprocal", "ReduceL2", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceSum", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Slice", "Softmax",
    "Softplus", "Softsign", "Split", "Sqrt", "Squeeze", "Sub", "Sum", "Tanh", "ThresholdedRelu", "Where",
}  # fmt: skip
"""Operators through which transposes are pushed (onnxruntime transpose_optimization/
onnx_transpose_optimization.cc, the handlers of elementwise, broadcast and axis operators)."""
TORCH_AGNOSTIC = (
    "relu", "relu_", "relu6", "add", "add_", "sub", "mul", "div", "sigmoid", "tanh", "hardtanh",
    "clamp", "hardswish", "hardsigmoid", "leaky_relu", "elu", "gelu", "silu", "abs", "neg", "sqrt",
    "exp", "cat", "maximum", "minimum", "square", "ceil", "floor", "round",
)  # fmt: skip
CHANNELS_LAST = {
    "ort/nnapi": "onnxruntime/core/optimizer/layout_transformation/layout_transformation.cc",
    "ort/xnnpack": "onnxruntime/core/optimizer/layout_transformation/layout_transformation.cc",
    "ort/qnn": "onnxruntime/core/optimizer/layout_transformation/layout_transformation.cc",
    "executorch/xnnpack": "executorch/backends/xnnpack/_passes/channels_last_tagged_reshape_pass.py",
}
"""Targets whose runtime takes a channels-first graph and computes channels-last, and where it does so."""
_STAYS_INSIDE = ("executorch/xnnpack",)
"""Targets where nothing outside of a partition is computed channels-last."""


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
    """Rank-4 activations that are wanted in both orders, each with a node of its channels-last side."""
    owner = verdicts.partition_of.tolist()
    stays = verdicts.target_id in _STAYS_INSIDE
    last: list[bool | None] = []  # None: does not care
    for node, op in enumerate(graph.node_op):
        inside = owner[node] >= 0
        if _base(op, SPATIAL, TORCH_SPATIAL):
            last.append(inside)
        else:
            last.append(None if _base(op, AGNOSTIC, TORCH_AGNOSTIC) and (inside or not stays) else False)
    inputs, outputs = set(graph.main_inputs()), set(graph.main_outputs())
    tensors = [
        _Ends(graph, t, is_output=t in outputs)
        for t in range(graph.tensor_count)
        if _is_rank_4(graph, t) and (graph.producer_of[t] >= 0 or t in inputs)
    ]
    of_node: dict[int, list[_Ends]] = defaultdict(list)
    for ends in tensors:
        for node in set(ends.nodes):
            of_node[node].append(ends)
    for group in _groups(tensors, last):
        mine = set(group)
        touching = list({e.tensor: e for node in group for e in of_node[node]}.values())
        counts = {}
        for choice in (True, False):
            for node in group:
                last[node] = choice
            counts[choice] = sum(1 for e in touching if e.meets(last))
        # nothing is gained by taking along what no channels-last operator touches
        choice = counts[True] <= counts[False] and any(e.has_last(last, mine) for e in touching)
        for node in group:
            last[node] = choice
    return [(e.tensor, e.last_node(last)) for e in tensors if e.meets(last)]


class _Ends:
    """An activation: the node that makes it (−1: an input of the model) and those that read it."""

    def __init__(self, graph: Graph, tensor: int, *, is_output: bool) -> None:
        self.tensor = tensor
        self.maker = int(graph.producer_of[tensor])
        self.readers = [int(r) for r in graph.consumers_of(tensor).tolist()]
        self.is_output = is_output
        self.nodes = [*([self.maker] if self.maker >= 0 else []), *self.readers]

    def meets(self, last: list[bool | None]) -> bool:
        """Whether it is wanted channels-last here and channels-first there."""
        sides = {bool(last[n]) for n in self.nodes}
        if self.maker < 0 or self.is_output:
            sides.add(False)
        return len(sides) > 1

    def has_last(self, last: list[bool | None], besides: set[int]) -> bool:
        """Whether another node than these wants it channels-last."""
        return any(last[n] for n in self.nodes if n not in besides)

    def last_node(self, last: list[bool | None]) -> int:
        """A node of the channels-last side: who makes it, else the first that reads it."""
        return next(n for n in self.nodes if last[n])


def _groups(tensors: list[_Ends], last: list[bool | None]) -> list[list[int]]:
    """Nodes that do not care, in groups that rank-4 activations join."""
    parent = {node: node for node, side in enumerate(last) if side is None}

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for ends in tensors:
        free = [n for n in ends.nodes if n in parent]
        for other in free[1:]:
            parent[root(other)] = root(free[0])
    groups: dict[int, list[int]] = {}
    for node in parent:
        groups.setdefault(root(node), []).append(node)
    return list(groups.values())


def _is_rank_4(graph: Graph, tensor: int) -> bool:
    shape = graph.tensor_shape[tensor]
    return shape is not None and len(shape) == 4


def _bytes(graph: Graph, tensors: list[int]) -> tuple[int, int]:
    """(bytes of the tensors whose size is known, how many are not)."""
    sizes = [int(graph.tensor_bytes[t]) for t in tensors]
    return sum(s for s in sizes if s >= 0), sum(1 for s in sizes if s < 0)
