"""PyTorch → TFLite: reductions, recurrent layers and moves of data, as litert-torch 0.10.0 writes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from studio.support.op_node import OpNode
from studio.support.predict.aten import base_name
from studio.support.predict.lowering import Lowering, becomes, not_known, vanishes
from studio.support.predict.tflite_nodes import INT_VECTOR, constant, tflite

SOURCE = "prediction: what litert-torch 0.10.0 writes (studio/support/predict/torch_to_tflite_shapes.py)"


def reduced(node: OpNode, op: str, axes: tuple[int, ...]) -> tuple[OpNode, ...]:
    """One reduction of input 0 over these axes."""
    vector = replace(INT_VECTOR, shape=(len(axes),), values=axes)
    return (tflite(node, op, (node.input(0), vector), node.outputs[:1], keep_dims=True),)


def _reduce(node: OpNode) -> Lowering:
    name = base_name(node.op)
    op = {"mean": "MEAN", "sum": "SUM", "amax": "REDUCE_MAX", "amin": "REDUCE_MIN"}[name]
    rank = node.input(0).rank
    axes = node.ints("dim") or tuple(range(rank or 0))
    if not axes or node.attributes.get("dtype") is not None:
        return not_known("A reduction of a number, or into another type.", SOURCE)
    if all(node.input(0).dim(axis) == 1 for axis in axes):
        return vanishes("A reduction of single elements is removed.", SOURCE)
    return becomes(SOURCE, *reduced(node, op, axes))


def _arg(node: OpNode) -> Lowering:
    op = "ARG_MAX" if "max" in node.op else "ARG_MIN"
    if node.attributes.get("dim") is None:
        return not_known(f"{op} over all elements.", SOURCE)
    return becomes(SOURCE, tflite(node, op, (node.input(0), constant("int32"))))


def _reshape(node: OpNode) -> Lowering:
    if node.input(0).shape is not None and node.input(0).shape == node.output().shape:
        return vanishes("A reshape to the same shape is removed.", SOURCE)
    return becomes(SOURCE, tflite(node, "RESHAPE", (node.input(0), INT_VECTOR)))


def _transpose(node: OpNode) -> Lowering:
    return becomes(SOURCE, tflite(node, "TRANSPOSE", (node.input(0), INT_VECTOR)))


def _cat(node: OpNode) -> Lowering:
    options: dict[str, Any] = {"axis": node.integer("dim", 0), "fused_activation_function": "NONE"}
    return becomes(SOURCE, tflite(node, "CONCATENATION", **options))


def _stack(node: OpNode) -> Lowering:
    x = node.input(0)
    options: dict[str, Any] = {"axis": node.integer("dim", 0), "fused_activation_function": "NONE"}
    joined = tflite(node, "CONCATENATION", node.inputs, (x,), **options)
    return becomes(SOURCE, joined, tflite(node, "RESHAPE", (x, INT_VECTOR)))


def _piece(node: OpNode) -> OpNode:
    """A SLICE whose bounds are numbers that the source's own bounds allow."""
    begin, size = replace(INT_VECTOR, values=(0,)), replace(INT_VECTOR, values=(1,))
    return tflite(node, "SLICE", (node.input(0), begin, size), node.outputs[:1])


def _slice(node: OpNode) -> Lowering:
    if node.input(0).shape is not None and node.input(0).shape == node.output().shape:
        return vanishes("A slice of everything is removed.", SOURCE)
    step = node.integer("step", 1)
    if step != 1:
        steps = replace(INT_VECTOR, values=(step,))
        return becomes(SOURCE, tflite(node, "STRIDED_SLICE", (node.input(0), INT_VECTOR, INT_VECTOR, steps)))
    return becomes(SOURCE, _piece(node))


def _select(node: OpNode) -> Lowering:
    y = node.outputs[:1]
    return becomes(SOURCE, _piece(node), tflite(node, "RESHAPE", (node.input(0), INT_VECTOR), y))


def _split(node: OpNode) -> Lowering:
    return becomes(SOURCE, _piece(node))


def _pad(node: OpNode) -> Lowering:
    pads, x, rank = node.ints("pad"), node.input(0), node.input(0).rank or 0
    if pads is None:
        return not_known("A pad with computed sizes.", SOURCE)
    mode = node.text("mode", "constant")
    padding = constant("int32", rank, 2)
    if mode == "reflect":
        return becomes(SOURCE, tflite(node, "MIRROR_PAD", (x, padding), mode="REFLECT"))
    if mode != "constant":
        return not_known(f"Pad mode {mode}.", SOURCE)
    cut = (_piece(node),) if any(p < 0 for p in pads) else ()
    if not any(p > 0 for p in pads):
        return becomes(SOURCE, *cut) if cut else vanishes("A pad by nothing is removed.", SOURCE)
    if node.number("value", 0.0) != 0.0:
        return becomes(SOURCE, *cut, tflite(node, "PADV2", (x, padding, constant(x.dtype))))
    return becomes(SOURCE, *cut, tflite(node, "PAD", (x, padding)))


def _pixel_shuffle(node: OpNode) -> Lowering:
    x, y = node.input(0), node.output()
    factor = node.integer("upscale_factor", 0) or node.integer("downscale_factor", 0)
    if x.rank != 4 or not x.is_static or not factor:
        return not_known("A pixel shuffle of unknown shape.", SOURCE)
    n, c, h, w = (x.dim(i) or 1 for i in range(4))
    wide = replace(x, shape=(n, c // factor**2, factor, factor, h, w))
    if "unshuffle" in node.op:
        wide = replace(x, shape=(n, c, h // factor, factor, w // factor, factor))
    parts = (
        tflite(node, "RESHAPE", (x, INT_VECTOR), (wide,)),
        tflite(node, "TRANSPOSE", (wide, INT_VECTOR), (wide,)),
        tflite(node, "RESHAPE", (wide, INT_VECTOR), (y,)),
    )  # fmt: skip
    return becomes(SOURCE, *parts)


def _expand(node: OpNode) -> Lowering:
    if node.input(0).shape is not None and node.input(0).shape == node.output().shape:
        return vanishes("An expand to the same shape is removed.", SOURCE)
    return becomes(SOURCE, tflite(node, "BROADCAST_TO", (node.input(0), INT_VECTOR)))


def _repeat(node: OpNode) -> Lowering:
    x, y = node.input(0), node.output()
    if x.shape is not None and x.shape == y.shape:
        return vanishes("A repeat of once is removed.", SOURCE)
    if not x.is_static or not y.is_static:
        return not_known("A repeat of unknown shape.", SOURCE)
    # [2, 3] repeated (4, 5) is [1, 2, 1, 3] broadcast to [4, 2, 5, 3]: twice the rank
    pairs = [d for i, size in enumerate(y.shape or ()) for d in (size, 1)]
    wide = replace(y, shape=tuple(pairs))
    parts = (
        tflite(node, "BROADCAST_TO", (wide, INT_VECTOR), (wide,)),
        tflite(node, "RESHAPE", (wide, INT_VECTOR)),
    )
    return becomes(SOURCE, *parts, sure=len(pairs) <= 4)


def _topk(node: OpNode) -> Lowering:
    return becomes(SOURCE, tflite(node, "TOPK_V2", (node.input(0), constant("int32"))), sure=False)


def _cumsum(node: OpNode) -> Lowering:
    return becomes(SOURCE, tflite(node, "CUMSUM", (node.input(0), constant("int32"))))


def _glu(node: OpNode) -> Lowering:
    y = node.output()
    return becomes(
        SOURCE, _piece(node), tflite(node, "LOGISTIC", (y,), (y,)), tflite(node, "MUL", (y, y), (y,))
    )


def _recurrent(node: OpNode) -> Lowering:
    """An LSTM or GRU, unrolled into its steps; all steps are joined by one CONCATENATION."""
    x, y = node.input(0), node.output()
    time = x.dim(1 if node.integer("batch_first", 0) else 0)
    layers, both = node.integer("num_layers", 1), node.integer("bidirectional", 0)
    if x.rank != 3 or time is None or not node.integer("has_biases", 1):
        return not_known("A recurrent layer of unknown length, or without a bias.", SOURCE)
    state = replace(y, shape=(1, 1))
    weight, bias = constant(x.dtype, 4, 4), constant(x.dtype, 4)
    begin, size = replace(INT_VECTOR, values=(0,)), replace(INT_VECTOR, values=(1,))
    steps = (state,) * time
    parts = [
        tflite(node, "FULLY_CONNECTED", (state, weight, bias), (state,), fused_activation_function="NONE"),
        tflite(node, "RESHAPE", (x, INT_VECTOR), (x,)), tflite(node, "SLICE", (x, begin, size), (state,)),
        tflite(node, "ADD", (state, state), (state,)), tflite(node, "LOGISTIC", (state,), (state,)),
        tflite(node, "TANH", (state,), (state,)), tflite(node, "MUL", (state, state), (state,)),
        tflite(node, "CONCATENATION", steps, (y,), fused_activation_function="NONE"),
    ]  # fmt: skip
    if base_name(node.op) == "gru":
        parts.append(tflite(node, "SUB", (state, state), (state,)))
    text = f"Unrolled into {time} steps of FULLY_CONNECTED, LOGISTIC, TANH, MUL, ADD; then CONCATENATION."
    return becomes(SOURCE, *parts, text=text, sure=layers == 1 and not both)


MAKE: dict[str, Callable[[OpNode], Lowering]] = {
    **dict.fromkeys(("mean", "sum", "amax", "amin"), _reduce),
    **dict.fromkeys(("argmax", "argmin"), _arg),
    **dict.fromkeys(("view", "reshape", "flatten", "_unsafe_view", "unflatten"), _reshape),
    **dict.fromkeys(("squeeze", "unsqueeze"), _reshape),
    **dict.fromkeys(("permute", "transpose", "t", "numpy_T", "mT"), _transpose),
    **dict.fromkeys(("split", "chunk", "split_with_sizes"), _split),
    **dict.fromkeys(("pad", "constant_pad_nd"), _pad),
    **dict.fromkeys(("pixel_shuffle", "pixel_unshuffle"), _pixel_shuffle),
    **dict.fromkeys(("lstm", "gru"), _recurrent),
    "cat": _cat,
    "cumsum": _cumsum,
    "expand": _expand,
    "glu": _glu,
    "repeat": _repeat,
    "select": _select,
    "slice": _slice,
    "stack": _stack,
    "topk": _topk,
}  # fmt: skip
