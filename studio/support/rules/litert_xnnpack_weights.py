"""LiteRT's XNNPACK delegate: the conditions of convolutions, products and pools."""

from __future__ import annotations

from studio.support.op_node import OpNode
from studio.support.rules.xnnpack_tensors import (
    FLOAT_OR_8BIT,
    FLOATS,
    MAX_RANK,
    at,
    clamp,
    constant,
    rank,
    typed,
)
from studio.support.ruling import Ruling, refuses, unknown


def pool(node: OpNode) -> Ruling | None:
    average = node.op == "AVERAGE_POOL_2D"
    for tensor in (node.input(0), node.output()):
        if found := typed(
            tensor, FLOATS if average else ("float32", "int8", "uint8"), 3515 if average else 5243
        ):
            return found
    window = (node.integer("filter_height", 0), node.integer("filter_width", 0))
    stride = (node.integer("stride_h", 0), node.integer("stride_w", 0))
    if min(*window, *stride) <= 0:
        return refuses("A window or stride of zero.", at(2114))
    if stride[0] > window[0] or stride[1] > window[1]:
        return refuses(f"Stride {stride} is larger than the window {window}.", at(2150))
    return clamp(node)


def batch_matmul(node: OpNode) -> Ruling | None:
    a, b, y = node.input(0), node.input(1), node.output()
    if found := typed(a, FLOAT_OR_8BIT, 3582) or typed(y, FLOAT_OR_8BIT, 3625):
        return found
    if b.dtype not in FLOAT_OR_8BIT:
        return refuses(f"{b.dtype} is not taken.", at(3587))
    if a.dtype != b.dtype and not (a.dtype == "float32" and b.dtype == "int8"):
        return refuses("Mixed types.", at(3632))
    if a.dtype == "int8" and b.is_per_channel:
        return unknown("int8 by int8 with a scale per channel: XNNPACK refused what was asked.", at(3582))
    if b.dtype == "int8" and a.dtype == "int8" and any(b.zero_point):
        return refuses("Input 1 needs zero point 0.", at(3608))
    for tensor in (a, b):
        if found := rank(tensor, 2, MAX_RANK, 3640):
            return found
    return None


def convolution(node: OpNode) -> Ruling | None:
    depthwise = node.op == "DEPTHWISE_CONV_2D"
    line = 4206 if depthwise else 3983
    if len(node.inputs) < 3 or not node.has(2):
        return refuses("A bias is needed.", at(line))
    x, weight, y = node.input(0), node.input(1), node.output()
    for tensor in (x, y):
        if found := typed(tensor, FLOAT_OR_8BIT, line) or rank(tensor, 4, 4, line):
            return found
    if found := rank(weight, 4, 4, line) or rank(node.input(2), 1, 1, line):
        return found
    axis = 3 if depthwise else 0
    if weight.dtype not in FLOAT_OR_8BIT:
        return refuses(f"{weight.dtype} weights are not taken.", at(2447))
    if weight.is_per_channel and (weight.dtype != "int8" or weight.axis != axis):
        return refuses(f"Per-channel weights only int8 along axis {axis}.", at(2475))
    for index, what in ((1, "The weight"), (2, "The bias")):
        if found := constant(node, index, what, line):
            return found
    mixed = not depthwise and x.dtype == "float32" and weight.dtype == "int8"
    if x.dtype != y.dtype or (x.dtype != weight.dtype and not mixed):
        return refuses(f"{x.dtype} activations with {weight.dtype} weights.", at(line))
    multiplier = node.integer("depth_multiplier", 1)
    if depthwise and (multiplier <= 0 or (weight.dim(3) or 0) % multiplier):
        return refuses("The depth multiplier does not divide the channels.", at(1975))
    return clamp(node)


def transpose_conv(node: OpNode) -> Ruling | None:
    line = 6838
    for index, what in ((0, "The output shape"), (1, "The weight"), (3, "The bias")):
        if found := constant(node, index, what, line):
            return found
    x, weight, y = node.input(2), node.input(1), node.output()
    for tensor in (x, y):
        if found := typed(tensor, ("float32", "int8", "uint8"), line) or rank(tensor, 4, 4, line):
            return found
    if weight.is_per_channel and weight.axis != 0:
        return refuses("Per-channel weights only along axis 0.", at(2475))
    if x.dtype != y.dtype or (
        x.dtype != weight.dtype and not (x.dtype == "float32" and weight.dtype == "int8")
    ):
        return refuses(f"{x.dtype} activations with {weight.dtype} weights.", at(line))
    return clamp(node)


def fully_connected(node: OpNode) -> Ruling | None:
    line = 4933
    if node.version == 8:
        return refuses("Sparse weights (op version 8).", at(3259))
    if node.text("weights_format", "DEFAULT") != "DEFAULT":
        return refuses("Shuffled weights.", at(2101))
    x, weight, y = node.input(0), node.input(1), node.output()
    for tensor in (x, y):
        if found := typed(tensor, FLOAT_OR_8BIT, line):
            return found
    if found := rank(weight, 2, 2, line):
        return found
    if weight.dtype not in ("float32", "float16", "int8", "uint8", "int4", "int2"):
        return refuses(f"{weight.dtype} weights are not taken.", at(2557))
    if found := constant(node, 1, "The weight", line) or constant(node, 2, "The bias", line):
        return found
    if weight.is_per_channel and weight.axis != 0:
        return refuses("Per-channel weights only along axis 0.", at(2557))
    small = weight.dtype in ("int2", "int4", "int8")
    if x.dtype != y.dtype or (
        x.dtype != weight.dtype and not (small and x.dtype in ("float32", "float16", "int8"))
    ):
        return refuses(f"{x.dtype} activations with {weight.dtype} weights.", at(line))
    if x.dtype == "int8" and weight.dtype == "int8" and any(weight.zero_point):
        return refuses("int8 weights need zero point 0.", at(5035))
    return clamp(node)
