"""Small graphs and layouts for the canvas's tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pytestqt.qtbot import QtBot

from studio.graph import Graph, Quantization, Subgraph
from studio.graph.layout import Layout, lay_out
from studio.graph.view import GraphView
from studio.support import Partition, Reason, TargetVerdicts
from studio.ui.canvas import GraphCanvas


def graph_of(
    edges: Sequence[tuple[int, int]],
    *,
    ops: Sequence[str],
    names: Sequence[str] | None = None,
    scopes: Sequence[str] = (),
    node_scope: Sequence[int] | None = None,
    dtypes: Sequence[str] | None = None,
    quantization: dict[int, Quantization] | None = None,
) -> Graph:
    """A graph of nodes with one output each (tensor i is node i's); `scopes` are names under the root."""
    count = len(ops)
    inputs: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        inputs[target].append(source)
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum([len(i) for i in inputs], out=offsets[1:])
    return Graph(
        format="onnx",
        name="test",
        node_op=list(ops),
        node_domain=[""] * count,
        node_name=list(names) if names is not None else [f"node{i}" for i in range(count)],
        node_attributes=[{}] * count,
        node_version=np.zeros(count, np.int32),
        node_scope=np.array(node_scope if node_scope is not None else [0] * count, np.int32),
        node_subgraph=np.zeros(count, np.int32),
        input_offsets=offsets,
        input_tensors=np.array([t for i in inputs for t in i], np.int32),
        output_offsets=np.arange(count + 1, dtype=np.int32),
        output_tensors=np.arange(count, dtype=np.int32),
        tensor_name=[f"t{i}" for i in range(count)],
        tensor_dtype=list(dtypes) if dtypes is not None else ["float32"] * count,
        tensor_shape=[(1, 8, 4, 4)] * count,
        tensor_kind=np.zeros(count, np.uint8),
        tensor_bytes=np.full(count, 512, np.int64),
        tensor_quantization=quantization or {},
        scope_name=["", *scopes],
        scope_parent=np.array([-1, *[0] * len(scopes)], np.int32),
        scope_type=["", *["Block"] * len(scopes)],
        subgraphs=[Subgraph(name="main", outputs=(count - 1,) if count else ())],
    )


def chain(length: int, **more: object) -> Graph:
    """Conv, Relu, Conv, … one after the other."""
    ops = ["Conv" if i % 2 == 0 else "Relu" for i in range(length)]
    return graph_of([(i, i + 1) for i in range(length - 1)], ops=ops, **more)  # type: ignore[arg-type]


def laid_out(graph: Graph, **view: object) -> Layout:
    """The layout of a graph's view."""
    return lay_out(graph, GraphView(**view))  # type: ignore[arg-type]


def verdicts_of(codes: Sequence[int]) -> TargetVerdicts:
    """Verdicts with these codes; what runs is in one partition per run of codes."""
    partition_of = []
    last = -1
    for i, code in enumerate(codes):
        if code == 0 and (i == 0 or codes[i - 1] != 0):
            last += 1
        partition_of.append(last if code == 0 else -1)
    parts = tuple(
        Partition(nodes=tuple(i for i, p in enumerate(partition_of) if p == k)) for k in range(last + 1)
    )
    return TargetVerdicts(
        "ort/nnapi",
        np.array(codes, np.uint8),
        np.zeros(len(codes), np.int32),
        (Reason(text="The test says so.", source="test"),),
        parts,
        np.array(partition_of, np.int32),
    )


def shown_chain(qtbot: QtBot) -> GraphCanvas:
    """A shown canvas with a chain of ten nodes, without motion."""
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.camera.motion_is_on = False
    canvas.resize(800, 600)
    graph = chain(10)
    canvas.set_view(graph, laid_out(graph))
    with qtbot.waitExposed(canvas):
        canvas.show()
    return canvas
