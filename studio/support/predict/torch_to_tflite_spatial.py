"""PyTorch → TFLite: convolutions, pools, norms and resizing as litert-torch 0.10.0 writes them.

A 1-D convolution is reshaped to rank 4, convolved by CONV_2D and reshaped back. Pads that are not TFLite's
SAME become a PAD of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from studio.graph.graph import Shape
from studio.support.op_node import OpNode, OpTensor
from studio.support.predict.aten import base_name
from studio.support.predict.lowering import Lowering, becomes, not_known, vanishes
from studio.support.predict.tflite_nodes import INT_VECTOR, constant, nhwc, tflite

SOURCE = "prediction: what litert-torch 0.10.0 writes (studio/support/predict/torch_to_tflite_spatial.py)"


def _spread(values: tuple[int, ...] | None, dims: int, default: int) -> tuple[int, ...]:
    if not values:
        return (default,) * dims
    return values if len(values) == dims else (values[0],) * dims


def _wide(tensor: OpTensor) -> OpTensor:
    """A rank-3 tensor [N, C, L] as [N, C, L, 1]; another one as it is."""
    shape = tensor.shape
    return replace(tensor, shape=(*shape, 1)) if shape is not None and len(shape) == 3 else tensor


def _reshaped(node: OpNode, *core: OpNode) -> tuple[OpNode, ...]:
    """The parts between two reshapes, where the source is one-dimensional."""
    if node.input(0).rank != 3:
        return core
    reshape = tflite(node, "RESHAPE", (node.input(0), INT_VECTOR), (_wide(node.input(0)),))
    return (reshape, *core, tflite(node, "RESHAPE", (_wide(node.output()), INT_VECTOR)))


def _convolution(node: OpNode) -> Lowering:
    weight, x, y = node.input(1), node.input(0), node.output()
    if weight.rank not in (3, 4) or x.rank != weight.rank:
        return not_known("Only 1-D and 2-D convolutions of a batch are known here.", SOURCE)
    if not weight.is_constant or (node.has(2) and not node.input(2).is_constant):
        return not_known("A convolution with a computed weight or bias.", SOURCE)
    if isinstance(node.attributes.get("padding"), str):
        return not_known("A convolution with padding by name.", SOURCE)
    dims = weight.rank - 2
    if "transpose" in node.op or node.integer("transposed", 0):
        return _transposed(node, dims)
    shape = _wide(weight).shape or ()
    groups, channels = node.integer("groups", 1), x.dim(1)
    strides = (*_spread(node.ints("stride"), dims, 1), 1)[:2]
    dilations = (*_spread(node.ints("dilation"), dims, 1), 1)[:2]
    pads = (*_spread(node.ints("padding"), dims, 0), 0)[:2]
    options: dict[str, Any] = {
        "stride_h": strides[0], "stride_w": strides[1], "dilation_h_factor": dilations[0],
        "dilation_w_factor": dilations[1], "fused_activation_function": "NONE",
    }  # fmt: skip
    bias = constant(x.dtype, *(d for d in shape[:1] if isinstance(d, int)))
    into, out = nhwc(_wide(x)), nhwc(_wide(y))
    if groups > 1 and groups == channels:
        filter_ = replace(weight, shape=(1, shape[2], shape[3], shape[0]))
        multiplier = shape[0] // channels if isinstance(shape[0], int) else 1
        core = tflite(
            node, "DEPTHWISE_CONV_2D", (into, filter_, bias), (out,), depth_multiplier=multiplier, **options
        )
    else:
        filter_ = replace(weight, shape=(shape[0], shape[2], shape[3], shape[1]))
        core = tflite(node, "CONV_2D", (into, filter_, bias), (out,), **options)
    if any(pads) and not _is_same(into.shape, out.shape, strides):
        core_pad = tflite(node, "PAD", (into, constant("int32", 4, 2)), (into,))
        return becomes(SOURCE, *_reshaped(node, core_pad, core))
    return becomes(SOURCE, *_reshaped(node, core))


def _is_same(x: Shape | None, y: Shape | None, strides: tuple[int, ...]) -> bool:
    """Whether symmetric pads are what TFLite's SAME would choose."""
    return x is not None and y is not None and x[1:3] == y[1:3] and all(s == 1 for s in strides)


def _transposed(node: OpNode, dims: int) -> Lowering:
    weight, x = node.input(1), node.input(0)
    dilated = any(d != 1 for d in node.ints("dilation") or ())
    if node.integer("groups", 1) != 1 or dilated:
        return not_known("A grouped or dilated transposed convolution.", SOURCE)
    shape = _wide(weight).shape or ()
    strides = (*_spread(node.ints("stride"), dims, 1), 1)[:2]
    filter_ = replace(weight, shape=(shape[1], shape[2], shape[3], shape[0]))
    core = tflite(
        node, "TRANSPOSE_CONV",
        (constant("int32", 4), filter_, nhwc(_wide(x))), (nhwc(_wide(node.output())),),
        stride_h=strides[0], stride_w=strides[1],
    )  # fmt: skip
    return becomes(SOURCE, *_reshaped(node, core), sure=False)


def _batch_norm(node: OpNode) -> Lowering:
    if node.producers[:1] and base_name(node.producers[0]) in (
        "conv1d",
        "conv2d",
        "conv_transpose2d",
        "linear",
    ):
        return vanishes(f"Folded into the weights of the {base_name(node.producers[0])} before it.", SOURCE)
    x = node.input(0)
    scale = constant(
        x.dtype, *(d for d in (node.input(1).shape or node.input(3).shape or ()) if isinstance(d, int))
    )
    return becomes(
        SOURCE,
        tflite(node, "MUL", (x, scale), node.outputs[:1]),
        tflite(node, "ADD", (x, scale), node.outputs[:1]),
    )


def _pool(node: OpNode) -> Lowering:
    name = base_name(node.op)
    x, y = node.input(0), node.output()
    if not name.endswith("2d") or x.rank != 4:
        return not_known("Only 2-D pools of a batch are known here.", SOURCE)
    average = name.startswith("avg")
    kernel = _spread(node.ints("kernel_size"), 2, 1)
    stride = _spread(node.ints("stride") or kernel, 2, 1)
    pads = _spread(node.ints("padding"), 2, 0)
    if any(d != 1 for d in node.ints("dilation") or ()) or node.attributes.get("divisor_override"):
        return not_known("A pool with dilation or a divisor of its own.", SOURCE)
    if average and node.integer("ceil_mode", 0):
        return not_known("An average pool with ceil_mode.", SOURCE)
    if average and any(pads) and not node.integer("count_include_pad", 1):
        window = tflite(node, "STABLEHLO_REDUCE_WINDOW", (nhwc(x),), (nhwc(y),))
        return becomes(SOURCE, window, tflite(node, "DIV", (nhwc(y), nhwc(y)), (nhwc(y),)))
    options: dict[str, Any] = {
        "filter_height": kernel[0], "filter_width": kernel[1], "stride_h": stride[0], "stride_w": stride[1],
        "fused_activation_function": "NONE",
    }  # fmt: skip
    core = tflite(node, "AVERAGE_POOL_2D" if average else "MAX_POOL_2D", (nhwc(x),), (nhwc(y),), **options)
    same = not average and _is_same(nhwc(x).shape, nhwc(y).shape, stride)
    if not any(pads) or same:
        return becomes(SOURCE, core, sure=not node.integer("ceil_mode", 0))
    padding = constant("int32", 4, 2)
    inputs = (nhwc(x), padding) if average else (nhwc(x), padding, constant(x.dtype))
    return becomes(SOURCE, tflite(node, "PAD" if average else "PADV2", inputs, (nhwc(x),)), core)


def _adaptive(node: OpNode) -> Lowering:
    x, y = node.input(0), node.output()
    if x.rank != 4 or "avg" not in node.op or not (x.is_static and y.is_static):
        return not_known("Only 2-D adaptive average pools of known shapes are known here.", SOURCE)
    if (y.dim(2), y.dim(3)) == (1, 1):
        return becomes(SOURCE, tflite(node, "MEAN", (x, INT_VECTOR), keep_dims=True))
    sizes = [(x.dim(i) or 0, y.dim(i) or 1) for i in (2, 3)]
    if any(a % b for a, b in sizes):
        return not_known("An adaptive pool whose windows differ.", SOURCE)
    (h, oh), (w, ow) = sizes
    return becomes(
        SOURCE,
        tflite(node, "AVERAGE_POOL_2D", (nhwc(x),), (nhwc(y),), filter_height=h // oh, filter_width=w // ow,
               stride_h=h // oh, stride_w=w // ow, fused_activation_function="NONE"),
    )  # fmt: skip


def _upsample(node: OpNode) -> Lowering:
    x, y = node.input(0), node.output()
    if x.rank != 4:
        return not_known("Only 2-D resizing is known here.", SOURCE)
    bilinear = "bilinear" in node.op
    corners = bool(node.integer("align_corners", 0))
    op = "RESIZE_BILINEAR" if bilinear else "RESIZE_NEAREST_NEIGHBOR"
    return becomes(
        SOURCE,
        tflite(node, op, (nhwc(x), INT_VECTOR), (nhwc(y),),
               align_corners=int(corners), half_pixel_centers=int(bilinear and not corners)),
    )  # fmt: skip


def _layer_norm(node: OpNode) -> Lowering:
    x, y = node.input(0), node.outputs[:1]
    number = constant(x.dtype)
    parts = (
        tflite(node, "MEAN", (x, INT_VECTOR), y), tflite(node, "RESHAPE", (x, INT_VECTOR), y),
        tflite(node, "SQUARED_DIFFERENCE", (x, x), y), tflite(node, "ADD", (x, number), y),
        tflite(node, "RSQRT", (x,), y), tflite(node, "MUL", (x, x), y), tflite(node, "SUB", (x, x), y),
    )  # fmt: skip
    return becomes(SOURCE, *parts, text="Decomposed into means, differences, RSQRT, scale and shift.")


def _group_norm(node: OpNode) -> Lowering:
    x, y = node.input(0), node.outputs[:1]
    number = constant(x.dtype)
    parts = [
        tflite(node, "RESHAPE", (x, INT_VECTOR), y), tflite(node, "MEAN", (x, INT_VECTOR), y),
        tflite(node, "SUB", (x, x), y), tflite(node, "MUL", (x, x), y), tflite(node, "ADD", (x, number), y),
        tflite(node, "RSQRT", (x,), y),
    ]  # fmt: skip
    groups = node.integer("num_groups", 0)
    if base_name(node.op) == "group_norm" and groups != x.dim(1):
        parts.append(tflite(node, "BROADCAST_TO", (x, INT_VECTOR), y))  # a group's mean, to its channels
    names = " → ".join(part.op for part in parts)
    return becomes(SOURCE, *parts, text=f"Decomposed: {names}, scale and shift.")


MAKE: dict[str, Callable[[OpNode], Lowering]] = {
    **dict.fromkeys(("conv1d", "conv2d", "convolution", "_convolution"), _convolution),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d"), _convolution),
    **dict.fromkeys(("max_pool2d", "avg_pool2d"), _pool),
    **dict.fromkeys(("upsample_nearest2d", "upsample_bilinear2d"), _upsample),
    "adaptive_avg_pool2d": _adaptive,
    "batch_norm": _batch_norm,
    "group_norm": _group_norm,
    "instance_norm": _group_norm,
    "layer_norm": _layer_norm,
}  # fmt: skip
