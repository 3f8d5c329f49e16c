"""The Graph: nodes, edges, tensors, scopes and subgraphs as columns.

Node i has `node_op[i]`, `node_name[i]`, …; its inputs are tensor ids
`input_tensors[input_offsets[i]:input_offsets[i + 1]]` (−1 = an optional input left out), outputs
likewise. Tensor t has `tensor_name[t]`, `tensor_shape[t]`, …. Edges are derived: producer of a
tensor → each consumer. Subgraph 0 is the main graph; nodes of an If branch, a Loop body, an ONNX
local function, a tflite subgraph or a `.pte` delegate carry another subgraph's index.
All arrays are read-only by agreement: a changed graph is a new Graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.records import Record

Ints = npt.NDArray[np.int32]
Shape = tuple[int | str | None, ...]
"""Dims: int, the name of a symbolic dim, or None when nothing is known of it."""


class TensorKind(IntEnum):
    """What a tensor is to the graph."""

    ACTIVATION = 0
    INPUT = 1
    CONSTANT = 2


class TensorRef(Record, tag=True):
    """An attribute whose value is a tensor of the graph."""

    tensor: int


class SubgraphRef(Record, tag=True):
    """An attribute whose value is a subgraph."""

    subgraph: int


AttributeValue = (
    int
    | float
    | str
    | bool
    | list[int]
    | list[float]
    | list[str]
    | TensorRef
    | SubgraphRef
    | list[SubgraphRef]
    | None
)


class Quantization(Record):
    """Scale and zero point of a tensor; per axis when `axis` is given. real = scale · (q − zero point)."""

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int | None = None


class DataLocation(Record):
    """Where a constant's raw bytes are: `path` relative to the model's folder ("" = the file itself)."""

    path: str
    offset: int
    length: int
    encoding: str = "raw"  # "raw" little endian, or a reader-specific name


class Provenance(Record):
    """Where a node came from in Python: torch module path, source file and line, original names."""

    module: str = ""
    module_type: str = ""
    file: str = ""
    line: int = 0
    original: tuple[str, ...] = ()


class Subgraph(Record):
    """A body: its name, the node and attribute it hangs on (−1, "" for the main graph), its interface."""

    name: str
    parent_node: int = -1
    attribute: str = ""
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()


def empty_ints() -> Ints:
    return np.zeros(0, dtype=np.int32)


@dataclass(slots=False, eq=False)
class Graph:
    """What a model file says. See the module docstring for the layout of the columns."""

    format: str
    name: str = ""
    producer: str = ""
    file_path: str = ""
    file_sha256: str = ""
    opsets: dict[str, int] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    node_op: list[str] = field(default_factory=list)
    node_domain: list[str] = field(default_factory=list)
    node_name: list[str] = field(default_factory=list)
    node_attributes: list[Mapping[str, AttributeValue]] = field(default_factory=list)
    node_version: Ints = field(default_factory=empty_ints)  # op version; 0 = unknown
    node_scope: Ints = field(default_factory=empty_ints)  # index into scope_*
    node_subgraph: Ints = field(default_factory=empty_ints)
    node_provenance: dict[int, Provenance] = field(default_factory=dict)

    input_offsets: Ints = field(default_factory=lambda: np.zeros(1, np.int32))
    input_tensors: Ints = field(default_factory=empty_ints)
    output_offsets: Ints = field(default_factory=lambda: np.zeros(1, np.int32))
    output_tensors: Ints = field(default_factory=empty_ints)

    tensor_name: list[str] = field(default_factory=list)
    tensor_dtype: list[str] = field(
        default_factory=list
    )  # numpy names, "bfloat16", "int4", "string", "" unknown
    tensor_shape: list[Shape | None] = field(default_factory=list)  # None = rank unknown
    tensor_kind: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    tensor_bytes: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # −1 unknown
    tensor_quantization: dict[int, Quantization] = field(default_factory=dict)
    tensor_data: dict[int, DataLocation] = field(default_factory=dict)
    tensor_value: dict[int, list[Any]] = field(default_factory=dict)
    """Flat values of small constants (at most 1,024 elements), for rules and the inspector."""

    scope_name: list[str] = field(default_factory=lambda: [""])  # last path element; scope 0 is the root
    scope_parent: Ints = field(default_factory=lambda: np.full(1, -1, np.int32))
    scope_type: list[str] = field(default_factory=lambda: [""])  # e.g. the torch module class

    subgraphs: list[Subgraph] = field(default_factory=list)

    @property
    def node_count(self) -> int:
        return len(self.node_op)

    @property
    def tensor_count(self) -> int:
        return len(self.tensor_name)

    def inputs_of(self, node: int) -> Ints:
        """Tensor ids of a node's inputs; −1 for an optional one left out."""
        return self.input_tensors[self.input_offsets[node] : self.input_offsets[node + 1]]

    def outputs_of(self, node: int) -> Ints:
        """Tensor ids of a node's outputs; −1 for an optional one left out."""
        return self.output_tensors[self.output_offsets[node] : self.output_offsets[node + 1]]

    @cached_property
    def producer_of(self) -> Ints:
        """For every tensor the node that makes it, −1 for inputs and constants."""
        result = np.full(self.tensor_count, -1, np.int32)
        owner = np.repeat(np.arange(self.node_count, dtype=np.int32), np.diff(self.output_offsets))
        made = self.output_tensors >= 0
        result[self.output_tensors[made]] = owner[made]
        return result

    @cached_property
    def consumers(self) -> tuple[Ints, Ints]:
        """(offsets, nodes): the nodes that read each tensor, as a CSR pair."""
        owner = np.repeat(np.arange(self.node_count, dtype=np.int32), np.diff(self.input_offsets))
        used = self.input_tensors >= 0
        tensors, owner = self.input_tensors[used], owner[used]
        order = np.argsort(tensors, kind="stable")
        offsets = np.zeros(self.tensor_count + 1, np.int32)
        np.cumsum(np.bincount(tensors, minlength=self.tensor_count), out=offsets[1:])
        return offsets, owner[order]

    def consumers_of(self, tensor: int) -> Ints:
        """The nodes that read a tensor."""
        offsets, nodes = self.consumers
        return nodes[offsets[tensor] : offsets[tensor + 1]]

    @cached_property
    def edges(self) -> tuple[Ints, Ints, Ints]:
        """(source node, destination node, tensor) of every data edge between two nodes."""
        owner = np.repeat(np.arange(self.node_count, dtype=np.int32), np.diff(self.input_offsets))
        used = self.input_tensors >= 0
        tensors, dst = self.input_tensors[used], owner[used]
        src = self.producer_of[tensors]
        real = src >= 0
        return src[real], dst[real], tensors[real]

    def main_inputs(self) -> tuple[int, ...]:
        """Tensor ids of the graph's inputs, without constants."""
        return self.subgraphs[0].inputs if self.subgraphs else ()

    def main_outputs(self) -> tuple[int, ...]:
        """Tensor ids of the graph's outputs."""
        return self.subgraphs[0].outputs if self.subgraphs else ()

    def scope_path(self, scope: int) -> str:
        """The path of a scope, elements joined by “/”."""
        parts: list[str] = []
        while scope > 0:
            parts.append(self.scope_name[scope])
            scope = int(self.scope_parent[scope])
        return "/".join(reversed(parts))

    def label(self, node: int) -> str:
        """The node's name, or a stable stand-in `Op#index` when it has none."""
        return self.node_name[node] or f"{self.node_op[node]}#{node}"

    def nodes_in(self, subgraph: int) -> Iterator[int]:
        """Indices of a subgraph's nodes in file order."""
        return iter(np.flatnonzero(self.node_subgraph == subgraph).tolist())
