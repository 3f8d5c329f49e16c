"""Shapes of an ONNX model: inferred by onnx itself, behind guards against models that make it explode.

`onnx.shape_inference` enters a local function at every call and propagates the values of shape tensors.
A few hundred bytes can make either grow without bound: functions that call each other twice, or a
shape concatenated with itself again and again. Both are counted first, without doing them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from studio.errors import InputError
from studio.graph.builder import GraphBuilder
from studio.graph.onnx_tensors import short, type_of

MAX_EXPANDED_NODES = 1_000_000
MAX_SHAPE_VALUES = 10_000


def with_shapes(model: Any, builder: GraphBuilder) -> Any:
    """The model with inferred shapes, or the model itself and a note on `builder` when that fails."""
    if _knows_all_shapes(model.graph):
        return model
    import onnx

    if _expanded_nodes(model) > MAX_EXPANDED_NODES:
        builder.note("Shapes were not inferred: local functions call each other too often.")
        return model
    in_functions = any(node.op_type == "Concat" for function in model.functions for node in function.node)
    follow_values = not in_functions and _longest_shape_value(model.graph, {}) <= MAX_SHAPE_VALUES
    try:
        return onnx.shape_inference.infer_shapes(model, strict_mode=False, data_prop=follow_values)
    except Exception as error:  # it raises InferenceError, ValueError, RuntimeError, UnicodeDecodeError
        reason = short(str(error).strip().partition("\n")[0], 200)
        builder.note(f"Shapes could not be inferred: {reason}")
        return model


def fix_dims(graph: Any, dims: Mapping[str, int]) -> None:
    """Sets dims of the graph's inputs and forgets every shape that was said of the rest."""
    used: set[str] = set()
    constants = {tensor.name for tensor in graph.initializer}
    for info in graph.input:
        if info.name in constants or info.type.WhichOneof("value") != "tensor_type":
            continue
        for axis, dim in enumerate(info.type.tensor_type.shape.dim):
            for key in (dim.dim_param, f"{info.name}:{axis}"):
                if key in dims and dim.dim_value <= 0:  # 0 and −1 stand for “open” in old exporters
                    dim.dim_value = dims[key]
                    used.add(key)
    unused = [name for name in dims if name not in used]
    if unused:
        raise InputError(
            f"The model's inputs have no open dim called {', '.join(unused)}.",
            hint="Name a symbolic dim of an input, or an input and an axis as in images:0.",
        )
    del graph.value_info[:]
    for info in graph.output:
        if info.type.WhichOneof("value") == "tensor_type":
            info.type.tensor_type.ClearField("shape")


def _knows_all_shapes(graph: Any) -> bool:
    """Whether every node output has a declared, static shape, so that inference has nothing to add."""
    known: set[str] = set()
    for infos in (graph.value_info, graph.output):
        for info in infos:
            shape = type_of(info.type)[1]
            if shape is not None and all(isinstance(dim, int) for dim in shape):
                known.add(info.name)
    return all(not name or name in known for node in graph.node for name in node.output)


def _bodies(node: Any) -> Iterator[Any]:
    """The graphs in a node's attributes."""
    for attribute in node.attribute:
        if attribute.type == 5:
            yield attribute.g
        elif attribute.type == 10:
            yield from attribute.graphs


def _expanded_nodes(model: Any) -> int:
    """Nodes that inference visits when it enters functions at every call; huge for recursive ones."""
    functions = {(f.domain, f.name): f for f in model.functions}
    if not functions:
        return 0
    sizes: dict[tuple[str, str], int] = {}
    open_: set[tuple[str, str]] = set()

    def size_of(key: tuple[str, str]) -> int:
        if key in sizes:
            return sizes[key]
        if key in open_ or len(open_) > 100:
            return MAX_EXPANDED_NODES + 1
        open_.add(key)
        sizes[key] = count(functions[key].node)
        open_.discard(key)
        return sizes[key]

    def count(nodes: Any) -> int:
        total = 0
        for node in nodes:
            key = (node.domain, node.op_type)
            total += 1 + (size_of(key) if key in functions else 0)
            total += sum(count(body.node) for body in _bodies(node))
            if total > MAX_EXPANDED_NODES:
                break
        return total

    return count(model.graph.node)


def _longest_shape_value(graph: Any, lengths: dict[str, int]) -> int:
    """An upper bound of the elements that value propagation may hold for one tensor of the graph.

    `lengths` is shared with the graphs inside, which see the names of those around them.
    """
    longest = 0
    for node in graph.node:
        known = [lengths.get(name, 64) for name in node.input]
        size = sum(known) if node.op_type == "Concat" else max(known, default=64)
        longest = max(longest, size)
        if longest > MAX_SHAPE_VALUES:
            return longest
        if size > 64:
            for name in node.output:
                lengths[name] = size
        for body in _bodies(node):
            longest = max(longest, _longest_shape_value(body, lengths))
    return longest
