"""`make_graph`: a Graph from a few lines, without any file format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from studio.graph import Graph, Subgraph, TensorKind

NodeRow = tuple[str, Sequence[str], Sequence[str]]


def _make_graph(
    nodes: Sequence[NodeRow],
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    constants: Sequence[str] = (),
    scopes: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    attributes: Sequence[dict[str, Any]] | None = None,
    shapes: dict[str, tuple[int | str | None, ...]] | None = None,
    dtypes: dict[str, str] | None = None,
) -> Graph:
    """A Graph of (op, inputs, outputs) rows; "" is an optional input left out; `scopes` are paths."""
    tensors: dict[str, int] = {}

    def tensor(name: str) -> int:
        return -1 if name == "" else tensors.setdefault(name, len(tensors))

    main = Subgraph(name="main", inputs=tuple(map(tensor, inputs)), outputs=tuple(map(tensor, outputs)))
    for name in constants:
        tensor(name)
    ins = [[tensor(n) for n in row[1]] for row in nodes]
    outs = [[tensor(n) for n in row[2]] for row in nodes]
    paths = {"": 0}
    parents = [-1]
    scope_of = []
    for path in scopes or [""] * len(nodes):
        at = ""
        for part in filter(None, path.split("/")):
            parent = paths[at]
            at = f"{at}/{part}"
            if at not in paths:
                paths[at] = len(parents)
                parents.append(parent)
        scope_of.append(paths[at])
    kind = np.zeros(len(tensors), np.uint8)
    for name in inputs:
        kind[tensors[name]] = TensorKind.INPUT
    for name in constants:
        kind[tensors[name]] = TensorKind.CONSTANT
    known = list(tensors)
    return Graph(
        format="onnx",
        node_op=[row[0] for row in nodes],
        node_domain=[""] * len(nodes),
        node_name=list(names) if names else [""] * len(nodes),
        node_attributes=list(attributes) if attributes else [{} for _ in nodes],
        node_version=np.zeros(len(nodes), np.int32),
        node_scope=np.array(scope_of, np.int32),
        node_subgraph=np.zeros(len(nodes), np.int32),
        input_offsets=np.cumsum([0, *map(len, ins)]).astype(np.int32),
        input_tensors=np.array([t for row in ins for t in row], np.int32),
        output_offsets=np.cumsum([0, *map(len, outs)]).astype(np.int32),
        output_tensors=np.array([t for row in outs for t in row], np.int32),
        tensor_name=known,
        tensor_dtype=[(dtypes or {}).get(n, "float32") for n in known],
        tensor_shape=[(shapes or {}).get(n) for n in known],
        tensor_kind=kind,
        tensor_bytes=np.full(len(known), -1, np.int64),
        scope_name=[p.rsplit("/", 1)[-1] for p in paths],
        scope_parent=np.array(parents, np.int32),
        scope_type=[""] * len(paths),
        subgraphs=[main],
    )


@pytest.fixture
def make_graph() -> Callable[..., Graph]:
    return _make_graph
