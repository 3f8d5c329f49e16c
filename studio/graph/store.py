"""Saves a Graph, a Layout or Costs to one packed file each: a worker computes, the window only loads.

The files are a cache: the version changes with the columns, and another version is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from studio.errors import InputError
from studio.graph.cost import Costs
from studio.graph.graph import (
    AttributeValue,
    DataLocation,
    Graph,
    Provenance,
    Quantization,
    Shape,
    Subgraph,
    SubgraphRef,
    TensorRef,
)
from studio.graph.layout import Layout
from studio.records import Record, read_packed, write_packed

VERSION = 2

C = TypeVar("C", Layout, Costs)

_ARRAYS = (
    "node_version", "node_scope", "node_subgraph", "input_offsets", "input_tensors", "output_offsets",
    "output_tensors", "tensor_kind", "tensor_bytes", "scope_parent",
)  # fmt: skip


class _Head(Record):
    """Everything of a Graph that is no array; references are `{"t": tensor}` and `{"g": subgraph}`."""

    version: int
    format: str
    name: str
    producer: str
    file_path: str
    file_sha256: str
    opsets: dict[str, int]
    metadata: dict[str, str]
    notes: list[str]
    node_op: list[str]
    node_domain: list[str]
    node_name: list[str]
    node_attributes: list[dict[str, Any]]
    node_provenance: dict[int, Provenance]
    tensor_name: list[str]
    tensor_dtype: list[str]
    tensor_shape: list[Shape | None]
    tensor_quantization: dict[int, Quantization]
    tensor_data: dict[int, DataLocation]
    tensor_value: dict[int, list[Any]]
    scope_name: list[str]
    scope_type: list[str]
    subgraphs: list[Subgraph]


_SAME = tuple(f for f in _Head.__struct_fields__ if f not in ("version", "node_attributes"))


def save_graph(graph: Graph, path: Path) -> None:
    """Writes the graph, atomically. Raises InputError when the folder is not writable or full."""
    head = _Head(
        version=VERSION,
        node_attributes=[_plain(a) for a in graph.node_attributes],
        **{name: getattr(graph, name) for name in _SAME},
    )
    write_packed(path, head, {name: getattr(graph, name) for name in _ARRAYS})


def load_graph(path: Path) -> Graph:
    """The graph of a packed file. Raises InputError when it is damaged, absent or of another version."""
    try:
        head, arrays = read_packed(path, _Head)
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Open the model again.") from None
    if head.version != VERSION or set(arrays) != set(_ARRAYS):
        raise InputError(f"{path} is from another version of the studio.", hint="Open the model again.")
    columns: dict[str, Any] = {**arrays, **{name: getattr(head, name) for name in _SAME}}
    attributes: list[Mapping[str, AttributeValue]] = [
        _refer(a) if _has_refs(a) else a for a in head.node_attributes
    ]
    return Graph(node_attributes=attributes, **columns)


def _plain(attributes: Mapping[str, AttributeValue]) -> dict[str, Any]:
    return {name: _plain_value(value) for name, value in attributes.items()}


def _plain_value(value: AttributeValue) -> Any:
    if isinstance(value, TensorRef):
        return {"t": value.tensor}
    if isinstance(value, SubgraphRef):
        return {"g": value.subgraph}
    if isinstance(value, list) and value and isinstance(value[0], SubgraphRef):
        return {"g": [v.subgraph for v in value if isinstance(v, SubgraphRef)]}
    return value


def _has_refs(attributes: Mapping[str, Any]) -> bool:
    return any(isinstance(value, dict) for value in attributes.values())


def _refer(attributes: Mapping[str, Any]) -> dict[str, AttributeValue]:
    return {name: _refer_value(value) for name, value in attributes.items()}


def _refer_value(value: Any) -> AttributeValue:
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    if "t" in value:
        return TensorRef(tensor=value["t"])
    found = value["g"]
    return (
        [SubgraphRef(subgraph=v) for v in found] if isinstance(found, list) else SubgraphRef(subgraph=found)
    )


class _Scalars(Record):
    """The fields of a column record that are no arrays."""

    version: int
    kind: str
    fields: dict[str, Any]


def save_columns(columns: Layout | Costs, path: Path) -> None:
    """Writes a Layout or Costs, atomically."""
    values = {f.name: getattr(columns, f.name) for f in fields(columns)}
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    rest = {name: value for name, value in values.items() if name not in arrays}
    write_packed(path, _Scalars(version=VERSION, kind=type(columns).__name__, fields=rest), arrays)


def load_columns(kind: type[C], path: Path) -> C:
    """The Layout or Costs of a packed file. Raises InputError when it is damaged, absent or another thing."""
    try:
        head, arrays = read_packed(path, _Scalars)
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Open the model again.") from None
    values: dict[str, Any] = {**head.fields, **arrays}
    if (
        head.version != VERSION
        or head.kind != kind.__name__
        or values.keys() != {f.name for f in fields(kind)}
    ):
        raise InputError(f"{path} is from another version of the studio.", hint="Open the model again.")
    return kind(**values)
