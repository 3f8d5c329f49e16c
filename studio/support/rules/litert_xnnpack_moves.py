"""LiteRT's XNNPACK delegate: the conditions of reductions and of what only moves data."""

from __future__ import annotations

from studio.support.op_node import OpNode
from studio.support.rules.xnnpack_tensors import (
    FLOAT_OR_8BIT,
    MAX_RANK,
    at,
    constant,
    quantizable,
    rank,
    typed,
)
from studio.support.ruling import Ruling, refuses, unknown


def concat(node: OpNode) -> Ruling | None:
    if not 2 <= len(node.inputs) <= 5:
        return refuses(f"{len(node.inputs)} inputs, taken are 2 to 5.", at(3904), "split-concat")
    for tensor in (*node.inputs, node.output()):
        if found := typed(tensor, FLOAT_OR_8BIT, 3910):
            return found
    y = node.output()
    if y.dtype == "uint8" and any(t.scale != y.scale or t.zero_point != y.zero_point for t in node.inputs):
        return refuses("uint8 inputs need the output's scale.", at(3928))
    return None


def reduce(node: OpNode) -> Ruling | None:
    if found := quantizable(node, 0) or constant(node, 1, "Axes", 5325):
        return found
    if node.input(1).dtype != "int32":
        return refuses("Axes that are not int32.", at(5318))
    if node.input(1).values == ():
        return refuses("No axes.", at(5335))
    return None


def pad(node: OpNode) -> Ruling | None:
    if len(node.inputs) != 2:
        return refuses("Two inputs are needed.", at(5620))
    if (
        found := quantizable(node, 0)
        or rank(node.input(0), 1, MAX_RANK, 5627)
        or constant(node, 1, "Padding", 5637)
    ):
        return found
    if node.input(1).dtype != "int32":
        return refuses("Padding that is not int32.", at(5632))
    if any(v < 0 for v in node.input(1).values or ()):
        return refuses("Negative padding.", at(5655))
    return None


def reshape(node: OpNode) -> Ruling | None:
    if found := quantizable(node, 0):
        return found
    for tensor in (node.input(0), node.output()):
        if found := rank(tensor, 0, MAX_RANK, 5755):
            return found
    if node.input(0).scale != node.output().scale or node.input(0).zero_point != node.output().zero_point:
        return refuses("Scale changes across the reshape.", at(5770))
    if node.has(1) and node.input(1).dtype != "int32":
        return refuses("A new shape that is not int32.", at(5790))
    return constant(node, 1, "The new shape", 5790)


def resize(node: OpNode) -> Ruling | None:
    x, y = node.input(0), node.output()
    if found := typed(x, ("float32", "int8", "uint8"), 5858) or typed(y, FLOAT_OR_8BIT, 5880):
        return found
    return rank(x, 4, 4, 5861) or rank(y, 4, 4, 5883) or constant(node, 1, "The output size", 5876)


def slice(node: OpNode) -> Ruling | None:
    for index, what in ((1, "Begin"), (2, "Size")):
        if found := constant(node, index, what, 5945):
            return found
    if found := quantizable(node, 0) or rank(node.input(0), 1, MAX_RANK, 5960):
        return found
    begin, size = node.input(1).values, node.input(2).values
    if begin is None or size is None:
        return unknown("Begin and size are not known here.", at(5980))
    if any(v < 0 for v in begin) or any(v <= 0 and v != -1 for v in size):
        return refuses("A begin or size out of range.", at(5985))
    return None


def strided_slice(node: OpNode) -> Ruling | None:
    if any(node.integer(name, 0) for name in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")):
        return refuses("Ellipsis, new-axis or shrink masks.", at(6252))
    for index, what in ((1, "Begin"), (2, "End"), (3, "Strides")):
        if found := constant(node, index, what, 6275):
            return found
    if any(v != 1 for v in node.input(3).values or ()):
        return refuses("Strides other than 1.", at(6285))
    return quantizable(node, 0) or rank(node.input(0), 1, MAX_RANK, 6280)


def blocks(node: OpNode) -> Ruling | None:
    if node.integer("block_size", 0) <= 1:
        return refuses("A block size of 1 or less.", at(4361))
    return quantizable(node, 0)


def split(node: OpNode) -> Ruling | None:
    if not 2 <= len(node.outputs) <= 4:
        return refuses(f"{len(node.outputs)} outputs, taken are 2 to 4.", at(6137))
    if found := constant(node, 0, "The axis", 6145):
        return found
    for tensor in (node.input(1), *node.outputs):
        if found := typed(tensor, FLOAT_OR_8BIT, 6152):
            return found
    return None


def transpose(node: OpNode) -> Ruling | None:
    return (
        quantizable(node, 0)
        or rank(node.input(0), 1, MAX_RANK, 6199)
        or constant(node, 1, "The permutation", 6204)
    )
