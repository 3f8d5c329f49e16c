"""PyTorch → ExecuTorch's edge dialect: what decomposition leaves of an aten operator.

Source: torch 2.13 core-aten decompositions and `to_edge_transform_and_lower` of executorch 1.5.1,
checked by the audit. Accepts TorchScript names (`aten::conv2d`) and those of `.pt2` (`aten.conv2d.default`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from studio.support.op_node import OpNode, OpTensor
from studio.support.predict import torch_to_edge_products as products
from studio.support.predict.aten import base_name, settled
from studio.support.predict.edge_nodes import SOURCE, edge, view_of
from studio.support.predict.lowering import Lowering, becomes, not_known, vanishes


def lower(node: OpNode) -> Lowering:
    """What is left of an aten operator in the edge dialect."""
    if node.op.startswith(("quantized_decomposed.", "torch_ao", "quantized::")):
        return becomes(SOURCE, replace(node, op=node.op.removeprefix("torch.ops.")), sure=False)
    if (found := settled(node, SOURCE, _REMOVED)) is not None:
        return found
    name = base_name(node.op)
    if name in _POINTWISE:
        return becomes(SOURCE, edge(node, _POINTWISE[name]))
    make = _MAKE.get(name)
    if make is not None:
        return make(node)
    if node.op.startswith("aten.") and node.op.count(".") >= 2:
        return replace(becomes(SOURCE, node, sure=False), is_guess=True)
    return not_known(f"How {name} is decomposed is not known here.", SOURCE)


_REMOVED = {
    "dropout",
    "detach",
    "contiguous",
    "alias",
    "identity",
    "feature_dropout",
    "_assert_tensor_metadata",
}
_POINTWISE = {
    "relu": "relu.default", "sigmoid": "sigmoid.default", "tanh": "tanh.default",
    "hardtanh": "hardtanh.default",
    "hardswish": "hardswish.default", "gelu": "gelu.default", "abs": "abs.default", "neg": "neg.default",
    "exp": "exp.default", "log": "log.default", "sqrt": "sqrt.default", "rsqrt": "rsqrt.default",
    "sin": "sin.default", "cos": "cos.default", "floor": "floor.default", "ceil": "ceil.default",
    "round": "round.default", "erf": "erf.default", "reciprocal": "reciprocal.default",
    "sign": "sign.default",
    "leaky_relu": "leaky_relu.default", "elu": "elu.default",
    "prelu": "prelu.default",
    "maximum": "maximum.default", "minimum": "minimum.default", "where": "where.self",
    "logical_and": "logical_and.default", "logical_or": "logical_or.default",
    "logical_not": "logical_not.default",
    "cat": "cat.default", "max_pool2d": "max_pool2d.default", "avg_pool2d": "avg_pool2d.default",
    "embedding": "embedding.default",
    "layer_norm": "native_layer_norm.default",
    "group_norm": "native_group_norm.default", "constant_pad_nd": "constant_pad_nd.default",
    "bmm": "bmm.default",
    "index_select": "index_select.default", "topk": "topk.default", "nonzero": "nonzero.default",
    "cumsum": "cumsum.default", "argmax": "argmax.default", "argmin": "argmin.default",
    "sum": "sum.dim_IntList",
    "amax": "amax.default", "amin": "amin.default", "select": "select_copy.int", "slice": "slice_copy.Tensor",
    "unsqueeze": "unsqueeze_copy.default", "squeeze": "squeeze_copy.dims", "expand": "expand_copy.default",
    "repeat": "repeat.default", "permute": "permute_copy.default", 
    "t": "permute_copy.default",
    "unbind": "select_copy.int", "numpy_T": "permute_copy.default", "clone": "clone.default",
    "upsample_bilinear2d": "upsample_bilinear2d.vec",
    "upsample_nearest2d": "upsample_nearest2d.vec", "split_with_sizes": "split_with_sizes_copy.default",
    "split": "split_with_sizes_copy.default", "chunk": "split_with_sizes_copy.default",
    "gather": "gather.default",
    "tan": "tan.default", "asin": "asin.default", "acos": "acos.default", "atan": "atan.default",
    "sinh": "sinh.default", "cosh": "cosh.default", "isnan": "isnan.default", "linear": "linear.default",
    "reflection_pad2d": "reflection_pad2d.default", "replication_pad2d": "replication_pad2d.default",
}  # fmt: skip


def _binary(node: OpNode) -> Lowering:
    name = base_name(node.op)
    overload = "Tensor" if len(node.inputs) > 1 and node.has(1) else "Scalar"
    sure = overload == "Tensor"
    names = {"eq": "eq", "gt": "gt", "lt": "lt", "ge": "ge", "le": "le", "ne": "ne"}
    kinds = {t.dtype for t in node.inputs if t.dtype}
    if len(kinds) > 1 or (name == "div" and not kinds <= {"float32", "float16"}):
        # types are promoted by casts around the operator, which then sees other types than the file says
        return replace(becomes(SOURCE, edge(node, f"{name}.{overload}"), sure=False), is_guess=True)
    if name == "div" and node.text("rounding_mode", ""):
        return becomes(SOURCE, edge(node, "div.Tensor_mode"))
    inputs = node.inputs
    if not sure:  # a Python number is lifted to a scalar tensor of the same type
        inputs = (node.input(0), OpTensor(dtype=node.input(0).dtype, shape=(), is_constant=True))
    if name in names:
        return becomes(SOURCE, edge(node, f"{name}.{overload}"))
    return becomes(SOURCE, edge(node, f"{name}.Tensor", inputs), sure=sure)


def _pixel_shuffle(node: OpNode) -> Lowering:
    return becomes(
        SOURCE, view_of(node, node.input(0), node.output()),
        edge(node, "permute_copy.default", node.inputs[:1]),
        edge(node, "clone.default", node.inputs[:1]), view_of(node, node.input(0), node.output()),
    )  # fmt: skip


def _pad(node: OpNode) -> Lowering:
    if node.text("mode", "constant") != "constant":
        return not_known(f"Padding by {node.text('mode', '')}.", SOURCE)
    return becomes(SOURCE, edge(node, "constant_pad_nd.default", node.inputs[:1]))


def _view(node: OpNode) -> Lowering:
    return becomes(SOURCE, view_of(node, node.input(0), node.output()))


def _adaptive_pool(node: OpNode) -> Lowering:
    size = node.ints("output_size")
    if base_name(node.op) == "adaptive_avg_pool2d" and size == (1, 1):
        return becomes(SOURCE, edge(node, "mean.dim", node.inputs[:1], dim=[-1, -2], keepdim=1))
    made = becomes(SOURCE, edge(node, f"_{base_name(node.op)}.default"), sure=False)
    return replace(made, is_guess=base_name(node.op).endswith("1d"))  # a view, a 2-D pool, a view


def _mean(node: OpNode) -> Lowering:
    return becomes(SOURCE, edge(node, "mean.dim", node.inputs[:1]))


def _softmax(node: OpNode) -> Lowering:
    return becomes(SOURCE, edge(node, f"_{base_name(node.op)}.default", node.inputs[:1]))


def _clamp(node: OpNode) -> Lowering:
    return becomes(SOURCE, edge(node, "clamp.Tensor" if node.op.endswith(".Tensor") else "clamp.default"))


def _lifted(node: OpNode) -> Lowering:
    return becomes(SOURCE, replace(node, op="dim_order_ops._clone_dim_order.default"), sure=False)


def _swap(node: OpNode) -> Lowering:
    rank, dims = node.input(0).rank, (node.attributes.get("dim0"), node.attributes.get("dim1"))
    if rank and len({d % rank for d in dims if isinstance(d, int)}) == 1 and None not in dims:
        # a dim with itself: an alias_copy, which is mostly refused and sometimes gone
        return replace(becomes(SOURCE, edge(node, "alias_copy.default"), sure=False), is_guess=True)
    return becomes(SOURCE, edge(node, "permute_copy.default"))


def _pow(node: OpNode) -> Lowering:
    if node.op.endswith(".Scalar"):
        return becomes(SOURCE, edge(node, "pow.Scalar"))
    return becomes(SOURCE, edge(node, "pow.Tensor_Scalar" if len(node.inputs) < 2 else "pow.Tensor_Tensor"))


def _silu(node: OpNode) -> Lowering:
    x = node.input(0)
    return becomes(SOURCE, edge(node, "sigmoid.default", (x,)), edge(node, "mul.Tensor", (x, x)))


def _relu6(node: OpNode) -> Lowering:
    return becomes(SOURCE, edge(node, "hardtanh.default", min_val=0.0, max_val=6.0))


def _hardsigmoid(node: OpNode) -> Lowering:
    x = node.input(0)
    number = OpTensor(dtype=x.dtype, shape=(), is_constant=True)
    return becomes(
        SOURCE,
        edge(node, "add.Tensor", (x, number)), edge(node, "clamp.default", (x,)),
        edge(node, "div.Tensor", (x, number)),
        sure=False,
    )  # fmt: skip


def _to(node: OpNode) -> Lowering:
    if node.input(0).dtype and node.input(0).dtype == node.output().dtype:
        return vanishes("A cast to the same type is removed.", SOURCE)
    return becomes(
        SOURCE, replace(edge(node, "x", node.inputs[:1]), op="dim_order_ops._to_dim_order_copy.default")
    )


def _unrolled(node: OpNode) -> Lowering:
    return not_known(f"{base_name(node.op)} is unrolled into many operators; ask the tool.", SOURCE)


_MAKE: dict[str, Callable[[OpNode], Lowering]] = {
    **dict.fromkeys(("add", "sub", "mul", "div", "eq", "gt", "lt", "ge", "le", "ne"), _binary),
    **dict.fromkeys(
        ("conv1d", "conv2d", "conv3d", "_convolution", "convolution", "conv_transpose1d", "conv_transpose2d",
         "conv_transpose3d"),
        products.convolution,
    ),
    **dict.fromkeys(("view", "reshape", "flatten", "_unsafe_view", "unflatten"), _view),
    **dict.fromkeys(("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool2d"), _adaptive_pool),
    **dict.fromkeys(("softmax", "log_softmax"), _softmax),
    **dict.fromkeys(("mm", "addmm"), products.mm),
    **dict.fromkeys(("lstm", "gru", "rnn_tanh", "rnn_relu"), _unrolled),
    "batch_norm": products.batch_norm,
    "clamp": _clamp,
    "lift_fresh_copy": _lifted,
    "transpose": _swap,
    "hardsigmoid": _hardsigmoid,
    "matmul": products.matmul,
    "mean": _mean,
    "pad": _pad,
    "pixel_shuffle": _pixel_shuffle,
    "pow": _pow,
    "relu6": _relu6,
    "scaled_dot_product_attention": products.attention,
    "silu": _silu,
    "to": _to,
    "_to_copy": _to,
}  # fmt: skip
