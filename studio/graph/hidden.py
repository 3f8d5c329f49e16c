"""Which nodes a view leaves out: constants, and arithmetic on shapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph, TensorKind
from studio.graph.view import GraphView

Bools = npt.NDArray[np.bool_]

_SHAPE_SOURCES = frozenset({"Shape", "Size", "aten::size", "sym_size", "SHAPE", "RANK", "size"})
_SHAPE_STEPS = frozenset(
    {
        "Add", "Sub", "Mul", "Div", "Mod", "Neg", "Floor", "Ceil", "Max", "Min", "Equal", "Where", "Not",
        "Gather", "Slice", "Concat", "Unsqueeze", "Squeeze", "Cast", "Reshape", "Range", "ReduceProd",
        "ReduceMax", "Identity", "Expand", "ConstantOfShape", "Split", "ScatterND", "Less", "Greater", "And",
        "ADD", "SUB", "MUL", "DIV", "GATHER", "SLICE", "STRIDED_SLICE", "CONCATENATION", "PACK", "UNPACK",
        "CAST", "RESHAPE", "SQUEEZE", "EXPAND_DIMS", "REDUCE_PROD",
    }
)  # fmt: skip


def visible_nodes(graph: Graph, view: GraphView, opened: Sequence[int] = ()) -> Bools:
    """True for the nodes of the view's body, and of the bodies `opened` in it, that it does not hide."""
    if len(graph.node_subgraph):
        visible: Bools = np.isin(graph.node_subgraph, [view.subgraph, *opened])
    else:
        visible = np.ones(graph.node_count, np.bool_)
    if view.hide_constants:
        visible = visible & ~constant_nodes(graph)
    if view.hide_shape_arithmetic:
        visible = visible & ~shape_arithmetic(graph)
    return visible


def constant_nodes(graph: Graph) -> Bools:
    """True for nodes whose outputs are all constants: they give the same in every run."""
    n = graph.node_count
    result = np.array([op == "Constant" for op in graph.node_op], np.bool_) if n else np.zeros(0, np.bool_)
    made = graph.output_tensors >= 0
    owner = np.repeat(np.arange(n), np.diff(graph.output_offsets))[made]
    constant = graph.tensor_kind[graph.output_tensors[made]] == TensorKind.CONSTANT
    outputs = np.bincount(owner, minlength=n)
    result |= (outputs > 0) & (outputs == np.bincount(owner[constant], minlength=n))
    return result


def shape_arithmetic(graph: Graph) -> Bools:
    """True for Shape-like nodes and for the small integer steps that work on nothing but their results."""
    result = np.zeros(graph.node_count, np.bool_)
    producer = graph.producer_of
    inputs, offsets = graph.input_tensors.tolist(), graph.input_offsets.tolist()
    kind = graph.tensor_kind.tolist()
    for node, op in enumerate(graph.node_op):
        if op in _SHAPE_SOURCES:
            result[node] = True
        elif op in _SHAPE_STEPS:
            read = [t for t in inputs[offsets[node] : offsets[node + 1]] if t >= 0]
            live = [t for t in read if kind[t] != TensorKind.CONSTANT]
            result[node] = (
                bool(live)
                and all(producer[t] >= 0 and result[producer[t]] for t in live)
                and _is_small(graph, node)
            )
    return result


def _is_small(graph: Graph, node: int) -> bool:
    """True when what a node makes can be a shape: integers or booleans of rank 0 or 1."""
    for tensor in graph.outputs_of(node).tolist():
        if tensor < 0:
            continue
        shape = graph.tensor_shape[tensor]
        if graph.tensor_dtype[tensor] not in ("int64", "int32", "bool", "") or (shape and len(shape) > 1):
            return False
    return True
