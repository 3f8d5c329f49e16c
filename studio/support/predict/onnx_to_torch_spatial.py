"""ONNX → PyTorch: convolutions, products, pools, norms and resizing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from studio.support.op_node import ABSENT, OpNode
from studio.support.predict.lowering import Lowering, becomes, not_known
from studio.support.predict.torch_calls import call

SOURCE = "prediction: aten operators of the same meaning (studio/support/predict/onnx_to_torch_spatial.py)"


def conv(node: OpNode) -> Lowering:
    weight = node.input(1)
    rank = weight.rank
    if rank is None or not 3 <= rank <= 5:
        return not_known("The weight's rank is not in the file.", SOURCE)
    dims = rank - 2
    pads = node.ints("pads") or (0,) * (2 * dims)
    auto = node.text("auto_pad", "NOTSET")
    transposed = node.op == "ConvTranspose"
    attributes: dict[str, Any] = {
        "stride": list(node.ints("strides") or (1,) * dims),
        "padding": list(pads[:dims]),
        "dilation": list(node.ints("dilations") or (1,) * dims),
        "groups": node.integer("group", 1),
    }
    if transposed:
        attributes["output_padding"] = list(node.ints("output_padding") or (0,) * dims)
        attributes["transposed"] = 1
    name = f"conv_transpose{dims}d" if transposed else f"conv{dims}d"
    core = call(node, name, **attributes)
    symmetric = pads[:dims] == pads[dims:] and auto in ("NOTSET", "VALID")
    if symmetric:
        return becomes(SOURCE, core)
    if transposed:
        return not_known("An asymmetric transposed convolution.", SOURCE)
    padded = replace(
        node,
        op="aten::constant_pad_nd",
        domain="",
        attributes={"pad": [0] * 2 * dims},
        inputs=node.inputs[:1],
    )
    return becomes(SOURCE, padded, core, sure=False)


def gemm(node: OpNode) -> Lowering:
    scaled = node.number("alpha", 1.0) != 1.0 or node.number("beta", 1.0) != 1.0
    weight, bias = node.input(1), node.input(2)
    if not scaled and not node.integer("transA", 0) and weight.is_constant:
        return becomes(SOURCE, call(node, "linear", (node.input(0), weight, bias)))
    if node.has(2):
        return becomes(
            SOURCE,
            call(
                node,
                "addmm",
                (bias, node.input(0), weight),
                alpha=node.number("alpha", 1.0),
                beta=node.number("beta", 1.0),
            ),
        )
    return becomes(SOURCE, call(node, "mm", node.inputs[:2]))


def matmul(node: OpNode) -> Lowering:
    if node.input(1).is_constant and node.input(1).rank == 2:
        return becomes(SOURCE, call(node, "linear", (node.input(0), node.input(1), ABSENT)), sure=True)
    return becomes(SOURCE, call(node, "matmul"))


def batch_norm(node: OpNode) -> Lowering:
    x, scale, bias, mean, var = (node.input(i) for i in range(5))
    return becomes(SOURCE, call(node, "batch_norm", (x, scale, bias, mean, var)))


def pool(node: OpNode) -> Lowering:
    kernel = node.ints("kernel_shape") or ()
    dims = len(kernel)
    pads = node.ints("pads") or (0,) * (2 * dims)
    if pads[:dims] != pads[dims:] or node.text("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return not_known("Pooling with asymmetric padding has no single aten operator.", SOURCE)
    attributes: dict[str, Any] = {
        "kernel_size": list(kernel),
        "stride": list(node.ints("strides") or (1,) * dims),
        "padding": list(pads[:dims]),
        "ceil_mode": node.integer("ceil_mode", 0),
    }
    if node.op == "AveragePool":
        if any(d != 1 for d in node.ints("dilations") or ()):
            return not_known("Dilated average pooling has no aten operator.", SOURCE)
        attributes["count_include_pad"] = node.integer("count_include_pad", 0) if any(pads) else 1
        return becomes(SOURCE, call(node, f"avg_pool{dims}d", **attributes))
    attributes["dilation"] = list(node.ints("dilations") or (1,) * dims)
    if len(node.outputs) > 1:
        return becomes(SOURCE, call(node, f"max_pool{dims}d_with_indices", **attributes))
    return becomes(SOURCE, call(node, f"max_pool{dims}d", **attributes))


def global_pool(node: OpNode) -> Lowering:
    rank = node.input(0).rank
    if rank is None:
        return not_known("The rank is not in the file.", SOURCE)
    if node.op == "GlobalMaxPool":
        return becomes(SOURCE, call(node, f"adaptive_max_pool{rank - 2}d", output_size=[1] * (rank - 2)))
    return becomes(SOURCE, call(node, f"adaptive_avg_pool{rank - 2}d", output_size=[1] * (rank - 2)))


def pad(node: OpNode) -> Lowering:
    pads = node.ints_of(1, "pads")
    mode = node.text("mode", "constant")
    if pads is None:
        return not_known("A pad with computed sizes.", SOURCE)
    half = len(pads) // 2
    flat = [p for i in reversed(range(half)) for p in (pads[i], pads[i + half])]
    name = {"constant": "constant_pad_nd", "reflect": "reflection_pad2d", "edge": "replication_pad2d"}.get(
        mode
    )
    if name is None:
        return not_known(f"Pad mode {mode}.", SOURCE)
    return becomes(SOURCE, call(node, name, node.inputs[:1], pad=flat))


def resize(node: OpNode) -> Lowering:
    mode = node.text("mode", "nearest")
    rank = node.input(0).rank
    coordinates = node.text("coordinate_transformation_mode", "half_pixel")
    if rank != 4:
        return not_known(f"Resize of rank {rank}.", SOURCE)
    if mode == "linear":
        if coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners"):
            return becomes(SOURCE, call(node, "upsample_bilinear2d", node.inputs[:1]))
        return not_known(f"Bilinear with {coordinates} has no aten operator.", SOURCE)
    if mode == "nearest":
        if coordinates == "asymmetric" and node.text("nearest_mode", "round_prefer_floor") == "floor":
            return becomes(SOURCE, call(node, "upsample_nearest2d", node.inputs[:1]))
        return not_known(f"Nearest with {coordinates} and this rounding is not aten's.", SOURCE)
    return becomes(SOURCE, call(node, "upsample_bicubic2d", node.inputs[:1]))


def depth_to_space(node: OpNode) -> Lowering:
    if node.op == "DepthToSpace" and node.text("mode", "DCR") == "CRD":
        return becomes(SOURCE, call(node, "pixel_shuffle", upscale_factor=node.integer("blocksize", 1)))
    return not_known("Only DepthToSpace in CRD mode is aten's pixel_shuffle.", SOURCE)


def norm(node: OpNode) -> Lowering:
    name = {
        "LayerNormalization": "layer_norm",
        "GroupNormalization": "group_norm",
        "InstanceNormalization": "instance_norm",
    }
    return becomes(SOURCE, call(node, name[node.op]))
