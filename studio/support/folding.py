"""Constant folding as runtimes do it at load: which tensors are constants after all, and their values.

Exporters leave `Shape → Gather → Concat → Reshape` chains; with static shapes every runtime folds
them before it asks an accelerator, so verdicts must see constants there. Only small integer
arithmetic is evaluated; a foldable tensor whose value is not evaluated is a constant without values.
Source: onnxruntime/core/optimizer/constant_folding.cc (level 1, runs before partitioning).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from studio.graph.graph import Graph, TensorKind

MAX_ELEMENTS = 1024
NOT_FOLDED = {
    "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli",
    "If", "Loop", "Scan", "DequantizeLinear", "QuantizeLinear",
}  # fmt: skip
"""Not deterministic, bodies, and QDQ nodes, which constant folding leaves in place."""

Array = np.ndarray[Any, Any]


def fold(graph: Graph) -> tuple[set[int], dict[int, tuple[Any, ...]]]:
    """(tensors that are constant after folding, values of the small ones). ONNX and TFLite graphs."""
    constant = set(np.flatnonzero(graph.tensor_kind == TensorKind.CONSTANT).tolist())
    values: dict[int, tuple[Any, ...]] = {t: tuple(v) for t, v in graph.tensor_value.items()}
    if graph.format == "tflite":
        return constant | _unpacked(graph, constant), values
    if graph.format not in ("onnx", "ort"):
        return constant, values
    inputs, in_at = graph.input_tensors.tolist(), graph.input_offsets.tolist()
    outputs, out_at = graph.output_tensors.tolist(), graph.output_offsets.tolist()
    shapes = graph.tensor_shape
    for node, op in enumerate(graph.node_op):
        if op in NOT_FOLDED or graph.node_domain[node] not in ("", "ai.onnx"):
            continue
        ins = inputs[in_at[node] : in_at[node + 1]]
        outs = outputs[out_at[node] : out_at[node + 1]]
        if not outs:
            continue
        if op in ("Shape", "Size"):
            shape = shapes[ins[0]] if ins and ins[0] >= 0 else None
            if shape is None or not all(isinstance(d, int) for d in shape) or outs[0] < 0:
                continue
            start = graph.node_attributes[node].get("start", 0)
            end = graph.node_attributes[node].get("end", len(shape))
            if not isinstance(start, int) or not isinstance(end, int):
                continue
            dims = tuple(shape)[slice(start, end)] if op == "Shape" else (_product(shape),)
            constant.add(outs[0])
            values[outs[0]] = dims
            continue
        if not ins:
            if op == "Constant":
                constant.update(t for t in outs if t >= 0)
            continue
        if any(t >= 0 and t not in constant for t in ins):
            continue
        constant.update(t for t in outs if t >= 0)
        evaluate = _EVALUATE.get(op)
        if evaluate is None or outs[0] < 0 or not all(t < 0 or t in values for t in ins):
            continue
        arrays = [_array(graph, t, values) for t in ins]
        try:
            result = np.asarray(evaluate(graph.node_attributes[node], arrays))
        except (ValueError, IndexError, TypeError, ZeroDivisionError, OverflowError, AttributeError):
            continue  # a malformed node: it stays a constant of unknown value
        if result.size <= MAX_ELEMENTS:
            values[outs[0]] = tuple(result.reshape(-1).tolist())
    return constant, values


def _unpacked(graph: Graph, constant: set[int]) -> set[int]:
    """Tensors that TFLite unpacks once: float16, int8 or sparse constants through DEQUANTIZE and DENSIFY.

    Source: github:google-ai-edge/LiteRT@f67457790:tflite/delegates/xnnpack/xnnpack_delegate.cc#L7299-L7402
    (quasi-static tensors); LiteRT's own DEQUANTIZE kernel evaluates a constant input once, too.
    """
    found: set[int] = set()
    for node, op in enumerate(graph.node_op):
        if op not in ("DEQUANTIZE", "DENSIFY"):
            continue
        inputs, outputs = graph.inputs_of(node).tolist(), graph.outputs_of(node).tolist()
        if len(inputs) != 1 or len(outputs) != 1 or not (inputs[0] in constant or inputs[0] in found):
            continue
        if graph.tensor_dtype[inputs[0]] in ("float16", "int8", "float32"):
            found.add(outputs[0])
    return found


def _product(shape: Any) -> int:
    result = 1
    for dim in shape:
        result *= dim
    return result


def _array(graph: Graph, tensor: int, values: dict[int, tuple[Any, ...]]) -> Array | None:
    if tensor < 0:
        return None
    array = np.asarray(values[tensor])
    shape = graph.tensor_shape[tensor]
    if shape is not None and all(isinstance(d, int) for d in shape) and _product(shape) == array.size:
        array = array.reshape(shape)  # type: ignore[arg-type]
    return array


def _axes(attributes: Any, arrays: list[Array | None]) -> tuple[int, ...]:
    given = arrays[1] if len(arrays) > 1 else None
    return tuple(int(a) for a in (given.reshape(-1) if given is not None else attributes.get("axes", ())))


def _unsqueeze(attributes: Any, arrays: list[Array | None]) -> Any:
    return np.expand_dims(arrays[0], _axes(attributes, arrays))  # type: ignore[arg-type]


def _squeeze(attributes: Any, arrays: list[Array | None]) -> Any:
    return np.squeeze(arrays[0], _axes(attributes, arrays) or None)  # type: ignore[arg-type]


def _gather(attributes: Any, arrays: list[Array | None]) -> Any:
    return np.take(arrays[0], arrays[1], axis=int(attributes.get("axis", 0)))  # type: ignore[arg-type]


def _concat(attributes: Any, arrays: list[Array | None]) -> Any:
    return np.concatenate([a for a in arrays if a is not None], axis=int(attributes.get("axis", 0)))


def _slice(attributes: Any, arrays: list[Array | None]) -> Any:
    data = arrays[0]
    if data is None or len(arrays) < 3:
        raise ValueError("attributes of opset 9 are not folded here")
    starts, ends = arrays[1], arrays[2]
    axes = arrays[3] if len(arrays) > 3 else None
    steps = arrays[4] if len(arrays) > 4 else None
    cut = [slice(None)] * data.ndim
    for i, (start, end) in enumerate(zip(starts.reshape(-1), ends.reshape(-1), strict=True)):  # type: ignore[union-attr]
        axis = int(axes.reshape(-1)[i]) if axes is not None else i
        cut[axis] = slice(int(start), int(end), int(steps.reshape(-1)[i]) if steps is not None else 1)
    return data[tuple(cut)]


def _cast(attributes: Any, arrays: list[Array | None]) -> Any:
    to = attributes.get("to")  # TensorProto data type: 1 float, 6 int32, 7 int64, 9 bool
    kinds: dict[Any, type[Any]] = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_}
    return arrays[0].astype(kinds[to]) if to in kinds else _raise()  # type: ignore[union-attr]


def _raise() -> Any:
    raise ValueError("not evaluated")


def _divide(_: Any, arrays: list[Array | None]) -> Any:
    a, b = arrays
    if a is None or b is None or not np.all(b):
        raise ValueError("division by zero")
    if a.dtype.kind in "iu" and b.dtype.kind in "iu":
        return (np.abs(a) // np.abs(b)) * np.sign(a) * np.sign(b)  # ONNX truncates towards zero
    return a / b


_EVALUATE: dict[str, Callable[[Any, list[Array | None]], Any]] = {
    "Identity": lambda _, a: a[0],
    "Cast": _cast,
    "Gather": _gather,
    "Concat": _concat,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Slice": _slice,
    "Add": lambda _, a: a[0] + a[1],  # type: ignore[operator]
    "Sub": lambda _, a: a[0] - a[1],  # type: ignore[operator]
    "Mul": lambda _, a: a[0] * a[1],  # type: ignore[operator]
    "Div": _divide,
    "Reshape": lambda _, a: a[0].reshape(a[1].reshape(-1).astype(int)),  # type: ignore[union-attr]
    "Floor": lambda _, a: np.floor(a[0]),  # type: ignore[arg-type]
    "Ceil": lambda _, a: np.ceil(a[0]),  # type: ignore[arg-type]
}
