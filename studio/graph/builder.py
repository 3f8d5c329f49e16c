"""GraphBuilder: appends nodes, tensors, scopes and subgraphs, and makes the Graph's columns of them.

Every reader uses it, so limits against hostile files (`MAX_NODES`, scope depth) hold for every
format, and ids are checked in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from studio.errors import InputError
from studio.graph.dtypes import byte_count
from studio.graph.graph import (
    AttributeValue,
    DataLocation,
    Graph,
    Provenance,
    Quantization,
    Shape,
    Subgraph,
    TensorKind,
)

MAX_NODES = 2_000_000
MAX_TENSORS = 8_000_000
MAX_LINKS = 32_000_000
MAX_SCOPE_DEPTH = 64
MAX_VALUES = 1024
"""Constants up to this many elements keep their values in `Graph.tensor_value`."""

MAX_DIM = 2**63 - 1
MAX_NOTES = 50


def refuse_size(what: str) -> InputError:
    """The error for a file that declares more than any real model has."""
    return InputError(f"This file declares too many {what}.", hint="It is damaged, or not a model.")


def require_text(*names: object) -> None:
    """Refuses names that are not text. Protobuf hands out bytes where a string is not UTF-8."""
    for name in names:
        if type(name) is not str:
            raise InputError("A name in the file is not valid UTF-8.", hint="The file is damaged.")


class GraphBuilder:
    """Mutable columns of one Graph in the making."""

    def __init__(self, format_: str) -> None:
        self.graph = Graph(format=format_)
        self._inputs: list[int] = []
        self._input_ends: list[int] = [0]
        self._outputs: list[int] = []
        self._output_ends: list[int] = [0]
        self._versions: list[int] = []
        self._scopes: list[int] = []
        self._subgraph_of: list[int] = []
        self._kinds: list[int] = []
        self._bytes: dict[int, int] = {}
        self._scope_parent: list[int] = [-1]
        self._scope_ids: dict[tuple[int, str], int] = {}
        self._path_ids: dict[tuple[str, ...], int] = {}
        self._hidden_notes = 0

    # tensors

    def tensor(
        self,
        name: str,
        dtype: str = "",
        shape: Shape | None = None,
        kind: TensorKind = TensorKind.ACTIVATION,
    ) -> int:
        """The id of a new tensor."""
        require_text(name)
        g = self.graph
        index = len(g.tensor_name)
        if index >= MAX_TENSORS:
            raise refuse_size("tensors")
        g.tensor_name.append(name)
        g.tensor_dtype.append(dtype)
        g.tensor_shape.append(shape)
        self._kinds.append(int(kind))
        return index

    @property
    def tensor_count(self) -> int:
        return len(self.graph.tensor_name)

    @property
    def node_count(self) -> int:
        return len(self.graph.node_op)

    def kind_of(self, tensor: int) -> TensorKind:
        return TensorKind(self._kinds[tensor])

    def set_kind(self, tensor: int, kind: TensorKind) -> None:
        self._kinds[tensor] = int(kind)

    def set_bytes(self, tensor: int, size: int) -> None:
        """States the stored size of a tensor whose type does not tell it (strings, GGUF blocks)."""
        self._bytes[tensor] = size

    def constant(
        self,
        tensor: int,
        *,
        value: list[Any] | None = None,
        data: DataLocation | None = None,
    ) -> None:
        """Marks a tensor as constant, with its values or where its bytes are."""
        self._kinds[tensor] = int(TensorKind.CONSTANT)
        if value is not None and len(value) <= MAX_VALUES:
            self.graph.tensor_value[tensor] = value
        if data is not None:
            self.graph.tensor_data[tensor] = data

    def quantization(self, tensor: int, quantization: Quantization) -> None:
        """Sets a tensor's scale and zero point; the first statement about a tensor stays."""
        self.graph.tensor_quantization.setdefault(tensor, quantization)

    # nodes

    def node(
        self,
        op: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        *,
        domain: str = "",
        name: str = "",
        attributes: Mapping[str, AttributeValue] | None = None,
        version: int = 0,
        scope: int = 0,
        subgraph: int = 0,
        provenance: Provenance | None = None,
    ) -> int:
        """The index of a new node. Tensor ids were made by `tensor`; −1 = left out."""
        require_text(op, domain, name)
        g = self.graph
        index = len(g.node_op)
        if index >= MAX_NODES:
            raise refuse_size("nodes")
        self._inputs += inputs
        self._outputs += outputs
        if len(self._inputs) + len(self._outputs) > MAX_LINKS:
            raise refuse_size("connections")
        g.node_op.append(op)
        g.node_domain.append(domain)
        g.node_name.append(name)
        g.node_attributes.append(attributes if attributes is not None else {})
        self._input_ends.append(len(self._inputs))
        self._output_ends.append(len(self._outputs))
        self._versions.append(version)
        self._scopes.append(scope)
        self._subgraph_of.append(subgraph)
        if provenance is not None:
            g.node_provenance[index] = provenance
        return index

    def inputs_of(self, node: int) -> list[int]:
        """Tensor ids of a node that was added."""
        return self._inputs[self._input_ends[node] : self._input_ends[node + 1]]

    def outputs_of(self, node: int) -> list[int]:
        """Tensor ids of a node that was added."""
        return self._outputs[self._output_ends[node] : self._output_ends[node + 1]]

    # subgraphs

    def subgraph(self, name: str, *, parent_node: int = -1, attribute: str = "") -> int:
        """The index of a new subgraph; its interface is set by `close_subgraph`."""
        require_text(name, attribute)
        self.graph.subgraphs.append(Subgraph(name=name, parent_node=parent_node, attribute=attribute))
        if len(self.graph.subgraphs) > MAX_NODES:
            raise refuse_size("subgraphs")
        return len(self.graph.subgraphs) - 1

    def close_subgraph(self, index: int, inputs: Iterable[int], outputs: Iterable[int]) -> None:
        """States what goes into and comes out of a subgraph."""
        old = self.graph.subgraphs[index]
        self.graph.subgraphs[index] = Subgraph(
            name=old.name,
            parent_node=old.parent_node,
            attribute=old.attribute,
            inputs=tuple(inputs),
            outputs=tuple(outputs),
        )

    # scopes

    def scope(self, path: Sequence[str], types: Sequence[str] = ()) -> int:
        """The id of the scope with this path; made, with its parents, when it is new.

        A path deeper than `MAX_SCOPE_DEPTH` (no real module tree is) ends there.
        """
        key = tuple(path[:MAX_SCOPE_DEPTH])
        found = self._path_ids.get(key)
        if found is not None:
            return found
        current = 0
        for depth, part in enumerate(key):
            child = self._scope_ids.get((current, part))
            if child is None:
                child = len(self.graph.scope_name)
                self.graph.scope_name.append(part)
                self.graph.scope_type.append(types[depth] if depth < len(types) else "")
                self._scope_parent.append(current)
                self._scope_ids[current, part] = child
            current = child
        self._path_ids[key] = current
        return current

    # the whole

    def note(self, text: str) -> None:
        """Adds a remark for people; the same remark once, and not more than fifty."""
        notes = self.graph.notes
        if text in notes:
            return
        if len(notes) < MAX_NOTES:
            notes.append(text)
        else:
            self._hidden_notes += 1

    def finish(self) -> Graph:
        """The Graph. Tensor ids of nodes and subgraphs are checked here, for every reader."""
        g = self.graph
        if not g.subgraphs:
            self.subgraph(g.name)
        g.node_version = np.array(self._versions, np.int64).clip(0, 2**31 - 1).astype(np.int32)
        g.node_scope = np.array(self._scopes, np.int32)
        g.node_subgraph = np.array(self._subgraph_of, np.int32)
        g.input_offsets = np.array(self._input_ends, np.int32)
        g.input_tensors = np.array(self._inputs, np.int32)
        g.output_offsets = np.array(self._output_ends, np.int32)
        g.output_tensors = np.array(self._outputs, np.int32)
        g.tensor_kind = np.array(self._kinds, np.uint8)
        g.tensor_bytes = np.fromiter(
            (
                self._bytes[i] if i in self._bytes else byte_count(dtype, shape)
                for i, (dtype, shape) in enumerate(zip(g.tensor_dtype, g.tensor_shape))
            ),
            np.int64,
            count=self.tensor_count,
        )
        g.scope_parent = np.array(self._scope_parent, np.int32)
        for shape in g.tensor_shape:
            if shape and any(type(dim) is int and abs(dim) > MAX_DIM for dim in shape):
                raise InputError("A tensor has a dim of more than 63 bits.", hint="The file is damaged.")
        count = self.tensor_count
        for ids in (g.input_tensors, g.output_tensors):
            if ids.size and (int(ids.max()) >= count or int(ids.min()) < -1):
                raise InputError("A node names a tensor that does not exist.", hint="The file is damaged.")
        for subgraph in g.subgraphs:
            if any(not 0 <= t < count for t in (*subgraph.inputs, *subgraph.outputs)):
                raise InputError(
                    "A subgraph names a tensor that does not exist.", hint="The file is damaged."
                )
        if self._hidden_notes:
            g.notes.append(f"{self._hidden_notes} more remarks of this kind are not shown.")
        return g
