"""GraphSummary: what `inspect` says about a model file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from studio.graph.cost import node_costs
from studio.graph.dtypes import element_count, is_float
from studio.graph.formats import TITLES
from studio.graph.graph import Graph, Shape, TensorKind
from studio.graph.restated import restated_nodes, restated_tensors
from studio.graph.tensor_list import holds_weights_only
from studio.records import Record

_NO_PARAMETERS = frozenset({"int64", "int32", "bool", "string", "", "uint64", "uint32"})
"""Integer constants of these types are shapes and indices; a quantised weight has 16 bits or fewer."""


class TensorSummary(Record):
    """An input or output, or a tensor of a file that holds weights only."""

    name: str
    dtype: str
    shape: Shape | None  # None = rank unknown


class GraphSummary(Record):
    """The contract of `inspect --json`. None = not known.

    `macs` sums what is known; `macs_unknown_nodes` counts the nodes it leaves out; `assumed_dims` says which
    symbolic dims were taken as a number for it. `peak_activation_bytes` is a lower bound when
    `unknown_activations` is not 0. `tensors` lists what a file of weights holds; empty for a graph.
    """

    file: str
    format: str
    format_title: str
    file_bytes: int
    sha256: str
    name: str
    producer: str
    opsets: dict[str, int]
    inputs: tuple[TensorSummary, ...]
    outputs: tuple[TensorSummary, ...]
    symbolic_dims: tuple[str, ...]
    nodes: int
    subgraphs: int
    operators: dict[str, int]
    parameters: int
    weight_bytes: int
    dtypes: dict[str, int]  # of constants: dtype → elements
    macs: int | None
    macs_unknown_nodes: int
    assumed_dims: dict[str, int]
    peak_activation_bytes: int | None
    unknown_activations: int
    quantized_tensors: int
    notes: tuple[str, ...]
    tensors: tuple[TensorSummary, ...] = ()


def summarize(graph: Graph) -> GraphSummary:
    """The summary of an opened graph."""
    costs = node_costs(graph)
    elements: Counter[str] = Counter()
    told_twice = restated_tensors(graph)
    for tensor in range(graph.tensor_count):
        if graph.tensor_kind[tensor] == TensorKind.CONSTANT and not told_twice[tensor]:
            elements[graph.tensor_dtype[tensor] or "unknown"] += max(
                element_count(graph.tensor_shape[tensor]), 0
            )
    operators = Counter(
        f"{domain}.{op}" if domain else op
        for domain, op, told in zip(graph.node_domain, graph.node_op, restated_nodes(graph).tolist())
        if not told
    )
    inputs = _tensors(graph, graph.main_inputs())
    outputs = _tensors(graph, graph.main_outputs())
    symbols = {d: None for t in (*inputs, *outputs) for d in t.shape or () if isinstance(d, str)}
    all_unknown = not graph.node_count or (costs.unknown_macs > 0 and costs.total_macs == 0)
    path = Path(graph.file_path)
    return GraphSummary(
        file=graph.file_path,
        format=graph.format,
        format_title=TITLES.get(graph.format, graph.format),
        file_bytes=path.stat().st_size if path.is_file() else 0,
        sha256=graph.file_sha256,
        name=graph.name,
        producer=graph.producer,
        opsets=graph.opsets,
        inputs=inputs,
        outputs=outputs,
        symbolic_dims=tuple(symbols),
        nodes=operators.total(),
        subgraphs=max(len(graph.subgraphs) - 1, 0),
        operators=dict(sorted(operators.items(), key=lambda item: (-item[1], item[0]))),
        parameters=sum(
            n for dtype, n in elements.items() if dtype not in _NO_PARAMETERS and _is_weight(dtype)
        ),
        weight_bytes=costs.total_weight_bytes,
        dtypes=dict(sorted(elements.items())),
        macs=None if all_unknown else costs.total_macs,
        macs_unknown_nodes=costs.unknown_macs,
        assumed_dims=costs.assumed_dims,
        peak_activation_bytes=costs.peak_activation_bytes,
        unknown_activations=costs.unknown_bytes,
        quantized_tensors=len(graph.tensor_quantization),
        notes=tuple(graph.notes),
        tensors=_tensors(graph, tuple(range(graph.tensor_count))) if holds_weights_only(graph) else (),
    )


def _is_weight(dtype: str) -> bool:
    return is_float(dtype) or "int" in dtype or dtype.startswith(("complex", "q", "iq", "tq", "mxfp", "ggml"))


def _tensors(graph: Graph, ids: tuple[int, ...]) -> tuple[TensorSummary, ...]:
    return tuple(
        TensorSummary(name=graph.tensor_name[t], dtype=graph.tensor_dtype[t], shape=graph.tensor_shape[t])
        for t in ids
    )
