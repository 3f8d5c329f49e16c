"""Values of shape arithmetic: what Shape and the nodes after it make once the sizes are known.

onnx follows such values through Slice, Concat and friends of opset 13 and later only. In an older file a
Reshape whose target comes from Shape stays without a shape, and so does all that follows, even where every
input has a fixed size; runtimes fold such nodes when they load the file. `with_values` does it for the
inference: nodes whose result is known become constants, and onnx looks again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from studio.graph.onnx_tensors import type_of

_OPS = frozenset(
    {"Shape", "Size", "Identity", "Cast", "Slice", "Gather", "Concat", "Squeeze", "Unsqueeze", "Add", "Sub",
     "Mul", "Div", "Reshape", "Min", "Max", "Floor", "Ceil", "ReduceProd", "Range", "ConstantOfShape",
     "Equal", "Where", "Expand", "Mod", "Neg", "Abs"}
)  # fmt: skip
_MOST_ELEMENTS = 64  # a shape has few
_MOST_ROUNDS = 32  # each Reshape may wait for the one before it


def with_values(shaped: Any, infer: Callable[[Any], Any], *, end: float, round_seconds: float) -> Any:
    """The inferred model `shaped`, or one in which more shapes are known; its nodes may have gone.

    `infer` infers shapes anew, which takes about `round_seconds`. Ends when nothing new is known, or before
    the processor time of this process passes `end`.
    """
    for _ in range(_MOST_ROUNDS):
        shapes = _shapes(shaped.graph)
        end_of_values = end - round_seconds
        if time.process_time() > end_of_values or not _waits(shaped.graph, shapes):
            return shaped
        values = _values(shaped, shapes, end_of_values)
        if not values:
            return shaped
        shaped = infer(_folded(shaped, values))
    return shaped


def _shapes(graph: Any) -> dict[str, tuple[int, ...]]:
    """The shapes that are numbers alone."""
    found: dict[str, tuple[int, ...]] = {}
    for infos in (graph.input, graph.value_info, graph.output):
        for info in infos:
            shape = type_of(info.type)[1]
            if shape is not None and all(isinstance(dim, int) for dim in shape):
                found[info.name] = shape  # type: ignore[assignment]
    for tensor in graph.initializer:
        found[tensor.name] = tuple(tensor.dims)
    return found


def _waits(graph: Any, shapes: dict[str, tuple[int, ...]]) -> bool:
    """Whether a shape is missing while there is a Shape or Size of something of known size."""
    return any(
        node.op_type in ("Shape", "Size") and node.domain == "" and node.input and node.input[0] in shapes
        for node in graph.node
    ) and any(name and name not in shapes for node in graph.node for name in node.output)


def _values(model: Any, shapes: dict[str, tuple[int, ...]], end: float) -> dict[str, Any]:
    """The results of the nodes that can be computed until `end`, by name."""
    from onnx import numpy_helper

    known: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for tensor in model.graph.initializer:
        if _is_small(tuple(tensor.dims)) and not tensor.external_data:
            known[tensor.name] = numpy_helper.to_array(tensor)
    for node in model.graph.node:
        if node.domain not in ("", "ai.onnx") or len(node.output) != 1:
            continue
        if node.op_type == "Constant":
            value = next((a.t for a in node.attribute if a.name == "value"), None)
            if value is not None and _is_small(tuple(value.dims)) and not value.external_data:
                known[node.output[0]] = numpy_helper.to_array(value)
            continue
        if node.op_type not in _OPS:
            continue
        if time.process_time() > end:
            break
        result = _result(model, node, known, shapes)
        if result is not None and result.size <= _MOST_ELEMENTS:
            known[node.output[0]] = found[node.output[0]] = result
    return found


def _is_small(dims: tuple[int, ...]) -> bool:
    count = 1
    for dim in dims:
        count *= dim
    return 0 <= count <= _MOST_ELEMENTS


def _result(model: Any, node: Any, known: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> Any:
    """What a node makes, None when that is not known."""
    import numpy as np
    from onnx.reference import ReferenceEvaluator

    names = [name for name in node.input if name]
    if node.op_type in ("Shape", "Size"):
        shape = shapes.get(names[0]) if len(names) == 1 else None
        if shape is None:
            return None
        bounds = {a.name: a.i for a in node.attribute}
        if node.op_type == "Size":
            return np.array(int(np.prod(shape, dtype=object)), np.int64)
        return np.array(shape[bounds.get("start", 0) : bounds.get("end")], np.int64)
    if not names or any(name not in known for name in names) or _grows(node, known):
        return None
    try:
        return np.asarray(_run(ReferenceEvaluator, model, node, {name: known[name] for name in names}))
    except Exception:  # operands that the operator does not take: onnx will say so where it matters
        return None


def _grows(node: Any, known: dict[str, Any]) -> bool:
    """Whether a node could make much out of little."""
    import numpy as np

    if node.op_type in ("ConstantOfShape", "Expand"):
        wanted = known[node.input[-1]]
        return bool(np.prod(wanted, dtype=object) > _MOST_ELEMENTS)
    if node.op_type == "Range":
        start, limit, delta = (float(known[name]) for name in node.input)
        return delta == 0 or (limit - start) / delta > _MOST_ELEMENTS
    return False


def _run(evaluator: Any, model: Any, node: Any, feeds: dict[str, Any]) -> Any:
    from onnx import helper

    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in feeds.items()
    ]
    outputs = [helper.make_empty_tensor_value_info(node.output[0])]
    alone = helper.make_model(
        helper.make_graph([node], "alone", inputs, outputs), opset_imports=list(model.opset_import)
    )
    return evaluator(alone).run(None, feeds)[0]


def _folded(model: Any, values: dict[str, Any]) -> Any:
    """A copy in which those results are constants."""
    from onnx import helper, numpy_helper

    copy = type(model)()
    copy.CopyFrom(model)
    graph = copy.graph
    kept = [node for node in graph.node if not (len(node.output) == 1 and node.output[0] in values)]
    del graph.node[:]
    graph.node.extend(kept)
    stated = {info.name for info in (*graph.value_info, *graph.output)}
    for name, value in values.items():
        graph.initializer.append(numpy_helper.from_array(value, name))
        if name not in stated:
            dtype = helper.np_dtype_to_tensor_dtype(value.dtype)
            graph.value_info.append(helper.make_tensor_value_info(name, dtype, value.shape))
    return copy
