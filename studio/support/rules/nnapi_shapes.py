"""NNAPI's op builders that move data: reshape, resize, slice, split, pad, gather, transpose.

Source: see `ort_nnapi`.
"""

from __future__ import annotations

from studio.support.op_node import OpNode
from studio.support.rules.nnapi_common import MAX_RANK, constant, float_input, impl, rank
from studio.support.ruling import Ruling, depends, refuses, unknown


def depth_to_space(node: OpNode, level: int) -> Ruling | None:
    if found := rank(node, level, name="depthtospace", line=78, lowest=4):
        return found
    mode = node.text("mode", "DCR")
    if node.version >= 11 and mode != "DCR":
        return refuses(
            f"DepthToSpace mode {mode}: NNAPI has DCR only (PixelShuffle exports CRD).",
            impl("depthtospace", 93),
        )
    return None


def gather(node: OpNode, level: int) -> Ruling | None:
    if found := rank(node, level, name="gather", line=145):
        return found
    if node.input(1).dtype != "int32" and not node.input(1).is_constant:
        return refuses("Computed indices that are not int32.", impl("gather", 168))
    return None


def pad(node: OpNode, level: int) -> Ruling | None:
    if found := rank(node, level, name="pad", line=130):
        return found
    mode = node.text("mode", "constant")
    if mode != "constant":
        return refuses(f"Pad mode {mode}: NNAPI has constant only.", impl("pad", 147))
    if found := constant(node, 1, "Pads", "pad", 156) or constant(node, 2, "The pad value", "pad", 175):
        return found
    values = node.input(1).values
    if values is None:
        return unknown("The pads' values are not known here.", impl("pad", 163))
    if any(v < 0 for v in values):
        return refuses("Negative pads (cropping).", impl("pad", 163))
    return None


def reshape(node: OpNode, level: int) -> Ruling | None:
    if not node.input(1).is_constant:
        return refuses("The new shape is computed, NNAPI needs it constant.", impl("reshape", 100))
    if found := rank(node, level, name="reshape", line=109):
        return found
    values = node.input(1).values
    if node.integer("allowzero", 0) == 1 and (values is None or 0 in values):
        return refuses("allowzero=1 with a zero in the shape.", impl("reshape", 130))
    if (node.output().rank or 0) > MAX_RANK:
        return depends(
            f"The builder takes it, but its output has rank {node.output().rank}; drivers take at most 4.",
            "https://github.com/microsoft/onnxruntime/issues/12979", "rank5-to-4",
        )  # fmt: skip
    return None


def resize(node: OpNode, level: int) -> Ruling | None:
    if found := rank(node, level, name="resize", line=156, lowest=4):
        return found
    mode = node.text("mode", "nearest")
    if mode not in ("linear", "nearest"):
        return refuses(f"Resize mode {mode}.", impl("resize", 167))
    if node.integer("exclude_outside", 0):
        return refuses("exclude_outside=1.", impl("resize", 173))
    coordinates = node.text("coordinate_transformation_mode", "half_pixel")
    if mode == "linear":
        if coordinates not in ("half_pixel", "align_corners", "asymmetric"):
            return refuses(f"Coordinate mode {coordinates}.", impl("resize", 183), "resize-half-pixel")
        if level < 30 and coordinates != "asymmetric":
            return refuses(
                f"Coordinate mode {coordinates} needs Android API 30.",
                impl("resize", 188),
            )
    else:
        nearest = node.text("nearest_mode", "round_prefer_floor")
        if coordinates != "asymmetric":
            return refuses(
                f"Nearest with coordinate mode {coordinates}: only asymmetric.",
                impl("resize", 197),
                "resize-asymmetric",
            )
        if nearest != "floor":
            return refuses(f"nearest_mode {nearest}: only floor.", impl("resize", 203), "resize-asymmetric")
    if node.version >= 18 and (
        node.integer("antialias", 0)
        or node.ints("axes")
        or node.text("keep_aspect_ratio_policy", "stretch") != "stretch"
    ):
        return refuses("antialias, axes or keep_aspect_ratio_policy.", impl("resize", 211))
    return resize_sizes(node)


def resize_sizes(node: OpNode) -> Ruling | None:
    x = node.input(0)
    using_scales = node.has(2) and node.input(2).shape != (0,)
    given = node.input(2) if using_scales else node.input(3)
    if not using_scales and not node.has(3):
        return refuses("Neither scales nor sizes.", impl("resize", 236))
    if not given.is_constant:
        return refuses("Scales or sizes are computed, NNAPI needs them constant.", impl("resize", 247))
    if given.values is None or len(given.values) != 4:
        return unknown("The values of scales or sizes are not known here.", impl("resize", 247))
    if using_scales:
        if given.values[0] != 1 or given.values[1] != 1:
            return refuses("Batch or channel is scaled.", impl("resize", 260))
        for index in (2, 3):
            scale, size = given.values[index], x.dim(index) or 0
            if scale < 1 and (abs(1 / scale - round(1 / scale)) > 1e-6 or size % round(1 / scale)):
                return refuses("Shrinking must divide the size evenly.", impl("resize", 277))
    elif given.values[0] != x.dim(0) or given.values[1] != x.dim(1):
        return refuses("Batch or channel is resized.", impl("resize", 297))
    return None


def slice_(node: OpNode, level: int) -> Ruling | None:
    if found := rank(node, level, name="slice", line=210, lowest=0):
        return found
    for index, what in enumerate(("Starts", "Ends", "Axes", "Steps"), start=1):
        if found := constant(node, index, what, "slice", 222):
            return found
    return None


def split(node: OpNode, level: int) -> Ruling | None:
    if found := float_input(node, level):
        return found
    size = node.input(0).dim(node.integer("axis", 0))
    if size is None:
        return unknown("The split dim is not known.", impl("split", 98))
    if node.has(1):
        values = node.input(1).values
        if not node.input(1).is_constant:
            return refuses("Split sizes are computed.", impl("split", 102))
        if values is None or sum(values) != size or len(set(values)) != 1:
            return refuses("Only equal parts.", impl("split", 123))
        return None
    parts = node.integer("num_outputs", len(node.outputs))
    if not parts or parts > size or size % parts:
        return refuses("Only equal parts.", impl("split", 147))
    return None


def axes(node: OpNode, level: int) -> Ruling | None:
    name = node.op.lower()
    if found := rank(node, level, name=name, line=70):
        return found
    return constant(node, 1, "Axes", name, 79)


def transpose(node: OpNode, level: int) -> Ruling | None:
    return rank(node, level, name="transpose", line=104)
