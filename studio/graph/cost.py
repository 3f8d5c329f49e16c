"""What a graph costs: multiply-accumulates, weight bytes, activation bytes and memory over time, per node."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from studio.graph.body_macs import LIMIT, Longs, add_bodies, total_of
from studio.graph.dtypes import byte_count
from studio.graph.graph import Graph, Ints, TensorKind
from studio.graph.mac_formulas import Formula
from studio.graph.mac_onnx import ONNX, ONNX_FREE
from studio.graph.mac_tflite import TFLITE, XNNPACK
from studio.graph.mac_torch import VULKAN, torch_formula
from studio.graph.node_shapes import NodeShapes, Unknown
from studio.graph.restated import restated_tensors

_STANDARD = frozenset({"", "ai.onnx.ml", "ai.onnx.preview.training"})
_TORCH_NAMESPACES = frozenset({"aten", "prim", "prims", "_operator", "dim_order_ops"})
_QUANTIZING = re.compile(r"(fake_quant|quantize_|dequantize_|choose_qparams|convert_element_type|embedding_)")
"""Names in torchao's and PyTorch's quantization namespaces that multiply-accumulate nothing."""
_NOT_BATCH = re.compile("seq|len|time|step|frame|token|height|width", re.IGNORECASE)


@dataclass(slots=True, eq=False)
class Costs:
    """Costs as columns, [node_count]; −1 = unknown. Totals leave unknown nodes out and count them.

    A node with bodies carries its bodies' MACs: If the dearer branch, a function its body, Loop and Scan
    the body times the trip count where that is constant. Totals are over the main graph, so bodies
    count once per call.
    """

    macs: Longs
    weight_bytes: Longs  # constants the node reads; one shared by two nodes shows at both
    activation_bytes: Longs  # outputs
    live_bytes: Longs  # activations alive while the node runs; −1 inside bodies
    total_macs: int
    total_weight_bytes: int  # each constant once
    peak_activation_bytes: int | None  # maximum of live_bytes; None when nothing is known
    peak_node: int  # where the peak is, −1 when unknown
    unknown_macs: int  # nodes of the main graph whose MACs are unknown
    unknown_bytes: int  # activations of the main graph whose size is unknown: the peak is a lower bound
    assumed_dims: dict[str, int] = field(default_factory=dict)
    """Symbolic dims that were taken as a number."""


def node_costs(graph: Graph, *, dims: Mapping[str, int] | None = None, batch: int | None = 1) -> Costs:
    """The costs of a graph. Named symbolic dims take their size from `dims`.

    A symbol that is the first dim of an input, is no other dim and is not named like a length, is taken
    as `batch` (None: left unknown); `assumed_dims` says so. What depends on another symbol is unknown.
    Memory is by liveness in file order: a tensor lives from its producer to its last consumer, inputs
    from the start, outputs to the end; no in-place reuse.
    """
    sizes_of = {**(dict.fromkeys(_batch_symbols(graph), batch) if batch is not None else {}), **(dims or {})}
    assumed: dict[str, int] = {}

    def static(tensor: int) -> tuple[int, ...] | None:
        shape = graph.tensor_shape[tensor]
        if shape is None:
            return None
        result = []
        for dim in shape:
            if isinstance(dim, str):
                known = sizes_of.get(dim)
                if known is not None:
                    assumed[dim] = known
                dim = known
            if dim is None:
                return None
            result.append(dim)
        return tuple(result)

    sizes = graph.tensor_bytes.copy()
    for tensor in np.flatnonzero(sizes < 0).tolist():
        shape = static(tensor)
        if shape is not None:
            sizes[tensor] = byte_count(graph.tensor_dtype[tensor], shape)
    constant = graph.tensor_kind == TensorKind.CONSTANT
    macs = _macs(graph, static)
    add_bodies(graph, macs)
    main = graph.node_subgraph == 0
    live, peak, peak_node, unknown_bytes = _liveness(graph, sizes, constant)
    used = np.zeros(graph.tensor_count, bool)
    used[graph.input_tensors[graph.input_tensors >= 0]] = True
    return Costs(
        macs=macs,
        weight_bytes=_sum_over(
            graph.input_offsets, graph.input_tensors, np.where(constant, sizes, 0), graph.node_count
        ),
        activation_bytes=_sum_over(
            graph.output_offsets, graph.output_tensors, np.where(constant, 0, sizes), graph.node_count
        ),
        live_bytes=live,
        total_macs=total_of(macs[main]),
        total_weight_bytes=int(sizes[constant & (sizes > 0) & ~restated_tensors(graph)].sum()),
        peak_activation_bytes=peak,
        peak_node=peak_node,
        unknown_macs=int((macs[main] < 0).sum()),
        unknown_bytes=unknown_bytes,
        assumed_dims=assumed,
    )


def _batch_symbols(graph: Graph) -> set[str]:
    """Symbols that are the first dim of a main input and never another one."""
    first: set[str] = set()
    other: set[str] = set()
    for tensor in graph.main_inputs():
        shape = graph.tensor_shape[tensor] or ()
        first.update(dim for dim in shape[:1] if isinstance(dim, str))
        other.update(dim for dim in shape[1:] if isinstance(dim, str))
    return {name for name in first - other if not _NOT_BATCH.search(name)}


def _formula(graph: Graph, op: str, domain: str) -> Formula | int:
    """The formula of an operator, 0 when it multiplies nothing, −1 when that is not known."""
    if graph.format in ("onnx", "ort"):
        found = ONNX.get((domain, op))
        if found is not None:
            return found
        if domain in _STANDARD:
            return 0
        return 0 if op in ONNX_FREE.get(domain, ()) else -1
    if graph.format == "tflite":
        return TFLITE.get(op, -1 if domain else 0)
    if domain == "xnnpack":
        return XNNPACK.get(op, 0)
    if domain in ("delegate", "executorch"):
        return 0 if domain == "executorch" else -1
    if domain == "vulkan" and not op.startswith("aten."):
        return VULKAN.get(op, -1)
    namespace, _, name = op.replace("::", ".", 1).partition(".")  # aten::add_ or aten.add.Tensor
    if namespace in ("quantized_decomposed", "torchao"):
        return 0 if _QUANTIZING.match(name) else -1
    return torch_formula(name) if namespace in _TORCH_NAMESPACES else -1


def _macs(graph: Graph, static: Callable[[int], tuple[int, ...] | None]) -> Longs:
    result = np.zeros(graph.node_count, np.int64)
    formulas: dict[tuple[str, str], Formula | int] = {}
    for node, key in enumerate(zip(graph.node_op, graph.node_domain)):
        formula = formulas.get(key)
        if formula is None:
            formula = formulas[key] = _formula(graph, *key)
        if isinstance(formula, int):
            result[node] = formula
            continue
        try:
            count = formula(NodeShapes(graph, node, static))
        except (Unknown, IndexError, ValueError):
            count = -1
        result[node] = count if 0 <= count < LIMIT else -1
    return result


def _sum_over(offsets: Ints, tensors: Ints, sizes: Longs, count: int) -> Longs:
    """Per node the bytes of its tensors, −1 when one of them is unknown."""
    owner = np.repeat(np.arange(count), np.diff(offsets))
    used = tensors >= 0
    owner, found = owner[used], sizes[tensors[used]]
    result = np.zeros(count, np.int64)
    np.add.at(result, owner, np.clip(found, 0, LIMIT >> 20))
    result[owner[found < 0]] = -1
    return result


def _liveness(
    graph: Graph, sizes: Longs, constant: npt.NDArray[np.bool_]
) -> tuple[Longs, int | None, int, int]:
    """(bytes alive at each node, peak, where it is, unknown sizes), over the main graph in file order."""
    result = np.full(graph.node_count, -1, np.int64)
    main = np.flatnonzero(graph.node_subgraph == 0)
    if not main.size:
        return result, None, -1, 0
    position = _main_positions(graph, main)
    start = np.full(graph.tensor_count, -1, np.int64)
    producers = graph.producer_of
    made = (producers >= 0) & (graph.node_subgraph[np.maximum(producers, 0)] == 0)
    start[made] = position[producers[made]]
    for tensor in graph.main_inputs():
        start[tensor] = 0
    last = start.copy()
    owner = np.repeat(np.arange(graph.node_count), np.diff(graph.input_offsets))
    used = graph.input_tensors >= 0
    np.maximum.at(last, graph.input_tensors[used], position[owner[used]])
    outputs = [t for t in graph.main_outputs() if start[t] >= 0]
    last[outputs] = len(main) - 1
    counted = (start >= 0) & ~constant
    unknown = int((counted & (sizes < 0)).sum())
    known = counted & (sizes >= 0)
    steps = np.zeros(len(main) + 1, np.int64)
    amount = np.clip(sizes[known], 0, LIMIT >> 20)
    np.add.at(steps, start[known], amount)
    np.subtract.at(steps, np.maximum(last[known], start[known]) + 1, amount)
    alive = np.cumsum(steps[:-1])
    result[main] = alive
    if not known.any():
        return result, None, -1, unknown
    at = int(alive.argmax())
    return result, int(alive[at]), int(main[at]), unknown


def _main_positions(graph: Graph, main: npt.NDArray[np.int64]) -> Longs:
    """For every node the place in the main graph's order of itself or of the node whose body holds it."""
    position = np.full(graph.node_count, -1, np.int64)
    position[main] = np.arange(len(main))
    place = np.full(len(graph.subgraphs), -1, np.int64)
    for index in range(1, len(graph.subgraphs)):
        current, seen = index, 0
        while current > 0 and seen <= 64:
            parent = graph.subgraphs[current].parent_node
            if parent < 0:
                break
            if position[parent] >= 0 and graph.node_subgraph[parent] == 0:
                place[index] = position[parent]
                break
            current, seen = int(graph.node_subgraph[parent]), seen + 1
    inner = graph.node_subgraph > 0
    position[inner] = place[graph.node_subgraph[inner]]
    return position
