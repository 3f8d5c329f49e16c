"""ONNX → TFLite: convolutions, pools and resizing, whose TFLite operators have channels last.

BatchNormalization after a convolution is folded into its weights, which is a pass of the TFLite converter.
"""

from __future__ import annotations

from dataclasses import replace

from studio.support.op_node import OpNode, OpTensor
from studio.support.predict.lowering import Lowering, becomes, not_known, vanishes
from studio.support.predict.tflite_nodes import INT_VECTOR, nhwc, tflite

SOURCE = "prediction: TFLite operators of the same meaning (studio/support/predict/onnx_to_tflite_spatial.py)"


def conv(node: OpNode) -> Lowering:
    weight, x, y = node.input(1), node.input(0), node.output()
    rank = weight.rank
    if rank is None:
        return not_known("The weight's rank is not in the file.", SOURCE)
    if rank == 5:
        return becomes(SOURCE, tflite(node, "CONV_3D"), sure=False)
    if rank == 3:
        return not_known(
            "A 1-D convolution becomes reshapes around CONV_2D, in an order not known here.", SOURCE
        )
    if rank != 4:
        return not_known(f"A convolution cannot have a weight of rank {rank}.", SOURCE)
    if not weight.is_constant:
        return not_known("A convolution with a computed weight.", SOURCE)
    group = node.integer("group", 1)
    channels = x.dim(1)
    shape = weight.shape or ()
    bias = node.input(2) if node.has(2) else OpTensor(dtype=x.dtype, shape=shape[:1], is_constant=True)
    strides, dilations = node.ints("strides") or (1, 1), node.ints("dilations") or (1, 1)
    options = {
        "stride_h": strides[0], "stride_w": strides[-1], "dilation_h_factor": dilations[0],
        "dilation_w_factor": dilations[-1], "fused_activation_function": "NONE",
    }  # fmt: skip
    if group > 1 and channels is not None and group == channels and len(shape) == 4:
        filter_ = replace(weight, shape=(1, shape[2], shape[3], shape[0]))
        multiplier = shape[0] // channels if isinstance(shape[0], int) else 1
        core = tflite(
            node,
            "DEPTHWISE_CONV_2D",
            (nhwc(x), filter_, bias),
            (nhwc(y),),
            depth_multiplier=multiplier,
            **options,
        )
    else:
        filter_ = replace(weight, shape=(shape[0], *shape[2:], shape[1]))
        core = tflite(node, "CONV_2D", (nhwc(x), filter_, bias), (nhwc(y),), **options)
    pads = node.ints("pads") or (0, 0, 0, 0)
    if any(pads) and not _is_same(node, x, y, pads):
        padding = OpTensor(dtype="int32", shape=(4, 2), is_constant=True)
        pad = tflite(node, "PAD", (nhwc(x), padding), (replace(nhwc(x)),))
        return becomes(SOURCE, pad, core)
    return becomes(SOURCE, core)


def _is_same(node: OpNode, x: OpTensor, y: OpTensor, pads: tuple[int, ...]) -> bool:
    """Whether explicit pads are what TFLite's SAME would choose (stride 1, symmetric)."""
    strides = node.ints("strides") or (1, 1)
    return (
        all(s == 1 for s in strides)
        and len(pads) == 4
        and pads[:2] == pads[2:]
        and x.shape is not None
        and y.shape is not None
        and x.shape[2:] == y.shape[2:]
    )


def conv_transpose(node: OpNode) -> Lowering:
    weight, x, y = node.input(1), node.input(0), node.output()
    if weight.rank != 4 or node.integer("group", 1) != 1 or any(d != 1 for d in node.ints("dilations") or ()):
        return not_known("Only a plain 2-D transposed convolution has one TFLite operator.", SOURCE)
    shape = weight.shape or ()
    filter_ = replace(weight, shape=(shape[1], shape[2], shape[3], shape[0]))
    size = OpTensor(dtype="int32", shape=(4,), is_constant=True)
    bias = (node.input(2),) if node.has(2) else ()
    strides = node.ints("strides") or (1, 1)
    return becomes(
        SOURCE,
        tflite(
            node,
            "TRANSPOSE_CONV",
            (size, filter_, nhwc(x), *bias),
            (nhwc(y),),
            stride_h=strides[0],
            stride_w=strides[-1],
        ),
        sure=False,
    )


def batch_norm(node: OpNode) -> Lowering:
    if node.producers[:1] == ("Conv",):
        return vanishes("Folded into the weights of the Conv before it.", SOURCE)
    x = node.input(0)
    scale = OpTensor(dtype=x.dtype, shape=node.input(1).shape, is_constant=True)
    return becomes(SOURCE, tflite(node, "MUL", (nhwc(x), scale)), tflite(node, "ADD", (nhwc(x), scale)))


def pool(node: OpNode) -> Lowering:
    kernel = node.ints("kernel_shape") or ()
    if len(kernel) != 2:
        return not_known("Only 2-D pooling has one TFLite operator.", SOURCE)
    if node.integer("ceil_mode", 0) or any(d != 1 for d in node.ints("dilations") or ()):
        return not_known("Pooling with ceil_mode or dilation has no single TFLite operator.", SOURCE)
    strides = node.ints("strides") or (1, 1)
    op = "AVERAGE_POOL_2D" if node.op == "AveragePool" else "MAX_POOL_2D"
    pads = node.ints("pads") or ()
    options = {
        "filter_height": kernel[0],
        "filter_width": kernel[1],
        "stride_h": strides[0],
        "stride_w": strides[1],
        "fused_activation_function": "NONE",
    }
    core = tflite(node, op, (nhwc(node.input(0)),), (nhwc(node.output()),), **options)
    if any(pads):
        padding = OpTensor(dtype="int32", shape=(4, 2), is_constant=True)
        name = "PADV2" if op == "MAX_POOL_2D" else "PAD"
        value = (OpTensor(dtype="float32", shape=(), is_constant=True),) if name == "PADV2" else ()
        return becomes(SOURCE, tflite(node, name, (nhwc(node.input(0)), padding, *value)), core, sure=False)
    return becomes(SOURCE, core)


def global_pool(node: OpNode) -> Lowering:
    op = "MEAN" if node.op == "GlobalAveragePool" else "REDUCE_MAX"
    return becomes(
        SOURCE, tflite(node, op, (nhwc(node.input(0)), INT_VECTOR), (nhwc(node.output()),), keep_dims=True)
    )


def pad(node: OpNode) -> Lowering:
    mode = node.text("mode", "constant")
    pads = node.ints_of(1, "pads")
    if pads is None:
        return not_known("A pad with computed sizes.", SOURCE)
    padding = OpTensor(dtype="int32", shape=(len(pads) // 2, 2), is_constant=True, values=pads)
    if mode == "constant":
        return becomes(SOURCE, tflite(node, "PAD", (node.input(0), padding)))
    if mode == "reflect":
        return becomes(
            SOURCE, tflite(node, "MIRROR_PAD", (node.input(0), padding), mode="REFLECT"), sure=False
        )
    return not_known(f"Pad mode {mode}.", SOURCE)


def resize(node: OpNode) -> Lowering:
    mode = node.text("mode", "nearest")
    coordinates = node.text("coordinate_transformation_mode", "half_pixel")
    if node.input(0).rank != 4 or mode not in ("linear", "nearest"):
        return not_known(f"Resize mode {mode} of this rank.", SOURCE)
    options = {
        "align_corners": int(coordinates == "align_corners"),
        "half_pixel_centers": int("half_pixel" in coordinates),
    }
    if coordinates not in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"):
        return not_known(f"Coordinate mode {coordinates}.", SOURCE)
    op = "RESIZE_BILINEAR" if mode == "linear" else "RESIZE_NEAREST_NEIGHBOR"
    return becomes(
        SOURCE,
        tflite(node, op, (nhwc(node.input(0)), INT_VECTOR), (nhwc(node.output()),), **options),
        sure=mode == "linear",
    )
