"""PyTorch → ExecuTorch's edge dialect: what decomposition leaves of an aten operator.

Source: torch 2.13 core-aten decompositions and `to_edge_transform_and_lower` of executorch 1.5.1,
checked by the audit. Accepts TorchScript names (`aten::conv2d`) and those of `.pt2` (`aten.conv2d.default`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from studio.graph.graph import Shape
from studio.support.op_node import OpNode, OpTensor
from studio.support.predict.lowering import Lowering, becomes, not_known, vanishes
from studio.support.predict.script_nodes import not_computed

SOURCE = "prediction: core-aten decompositions, executorch 1.5.1 (studio/support/predict/torch_to_edge.py)"


def base_name(op: str) -> str:
    """`conv2d` of `aten::conv2d`, `aten.conv2d.default`, `aten::relu_`; empty for another namespace."""
    for prefix in ("aten::", "aten.", "torch.ops.aten."):
        if op.startswith(prefix):
            name = op[len(prefix) :].split(".")[0]
            return name.rstrip("_") if name.endswith("_") and not name.endswith("__") else name
    return ""


def lower(node: OpNode) -> Lowering:
    """What is left of an aten operator in the edge dialect."""
    if (found := not_computed(node)) is not None:
        return found
    name = base_name(node.op)
    if not name:
        if node.op.startswith(("quantized_decomposed.", "torch_ao", "quantized::")):
            return becomes(SOURCE, replace(node, op=node.op.removeprefix("torch.ops.")), sure=False)
        return not_known(f"{node.op} is not an aten operator.", SOURCE)
    if name in _REMOVED:
        return vanishes(f"{name} does nothing at inference and is removed.", SOURCE)
    if name in _POINTWISE:
        return becomes(SOURCE, _edge(node, _POINTWISE[name]))
    make = _MAKE.get(name)
    if make is not None:
        return make(node)
    if node.op.startswith("aten.") and node.op.count(".") >= 2:
        return replace(becomes(SOURCE, node, sure=False), is_guess=True)
    return not_known(f"How {name} is decomposed is not known here.", SOURCE)


def _edge(node: OpNode, op: str, inputs: tuple[OpTensor, ...] | None = None, **attributes: Any) -> OpNode:
    merged = {**node.attributes, **attributes}
    return replace(node, op=f"aten.{op}", attributes=merged, inputs=node.inputs if inputs is None else inputs)


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
        return replace(becomes(SOURCE, _edge(node, f"{name}.{overload}"), sure=False), is_guess=True)
    if name == "div" and node.text("rounding_mode", ""):
        return becomes(SOURCE, _edge(node, "div.Tensor_mode"))
    inputs = node.inputs
    if not sure:  # a Python number is lifted to a scalar tensor of the same type
        inputs = (node.input(0), OpTensor(dtype=node.input(0).dtype, shape=(), is_constant=True))
    if name in names:
        return becomes(SOURCE, _edge(node, f"{name}.{overload}"))
    return becomes(SOURCE, _edge(node, f"{name}.Tensor", inputs), sure=sure)


def _convolution(node: OpNode) -> Lowering:
    if not base_name(node.op).startswith("conv_transpose"):
        return becomes(SOURCE, _edge(node, "convolution.default", node.inputs[:3]))
    return becomes(SOURCE, _edge(node, "convolution.default", node.inputs[:3], transposed=True))


def _batch_norm(node: OpNode) -> Lowering:
    if (node.producers[:1] and base_name(node.producers[0]).startswith(("conv", "linear"))) or node.producers[
        :1
    ] == ("Conv",):
        return becomes(SOURCE, _edge(node, "_native_batch_norm_legit_no_training.default"),
                       text="Fused into the convolution before it, if XNNPACK takes both.")  # fmt: skip
    return becomes(SOURCE, _edge(node, "_native_batch_norm_legit_no_training.default"))


def _matmul(node: OpNode) -> Lowering:
    a, b = node.input(0), node.input(1)
    if a.rank is None or b.rank is None:
        return not_known("The ranks are not in the file.", SOURCE)
    if a.rank == 2 and b.rank == 2:
        return becomes(SOURCE, _edge(node, "mm.default"))
    if a.rank > 2 and b.rank == 2:
        flat = replace(a, shape=(None, a.shape[-1]) if a.shape else None)
        return becomes(
            SOURCE, _view_of(node, a, node.output()), _edge(node, "mm.default", (flat, b)), sure=False
        )
    if a.rank >= 3 and b.rank >= 3:
        flat_a, flat_b = (replace(t, shape=_batched(t.shape)) for t in (a, b))
        return becomes(
            SOURCE, replace(_view_of(node, a, a), op="aten.expand_copy.default"), _view_of(node, a, flat_a),
            _edge(node, "bmm.default", (flat_a, flat_b)), _view_of(node, node.output(), node.output()),
        )  # fmt: skip
    return not_known("A matmul of these ranks.", SOURCE)


def _view_of(node: OpNode, x: OpTensor, y: OpTensor) -> OpNode:
    return replace(node, op="aten.view_copy.default", attributes={}, inputs=(x,), outputs=(y,))


def _batched(shape: Shape | None) -> Shape | None:
    """All leading dims as one, as bmm wants them."""
    if shape is None or len(shape) < 3 or not all(isinstance(d, int) for d in shape):
        return None if shape is None else (None, *shape[-2:])
    count = 1
    for dim in shape[:-2]:
        count *= dim if isinstance(dim, int) else 1
    return (count, *shape[-2:])


def _pixel_shuffle(node: OpNode) -> Lowering:
    return becomes(
        SOURCE, _view_of(node, node.input(0), node.output()),
        _edge(node, "permute_copy.default", node.inputs[:1]),
        _edge(node, "clone.default", node.inputs[:1]), _view_of(node, node.input(0), node.output()),
    )  # fmt: skip


def _pad(node: OpNode) -> Lowering:
    if node.text("mode", "constant") != "constant":
        return not_known(f"Padding by {node.text('mode', '')}.", SOURCE)
    return becomes(SOURCE, _edge(node, "constant_pad_nd.default", node.inputs[:1]))


def _view(node: OpNode) -> Lowering:
    return becomes(SOURCE, _view_of(node, node.input(0), node.output()))


def _adaptive_pool(node: OpNode) -> Lowering:
    size = node.ints("output_size")
    if base_name(node.op) == "adaptive_avg_pool2d" and size == (1, 1):
        return becomes(SOURCE, _edge(node, "mean.dim", node.inputs[:1], dim=[-1, -2], keepdim=1))
    made = becomes(SOURCE, _edge(node, f"_{base_name(node.op)}.default"), sure=False)
    return replace(made, is_guess=base_name(node.op).endswith("1d"))  # a view, a 2-D pool, a view


def _mean(node: OpNode) -> Lowering:
    return becomes(SOURCE, _edge(node, "mean.dim", node.inputs[:1]))


def _softmax(node: OpNode) -> Lowering:
    return becomes(SOURCE, _edge(node, f"_{base_name(node.op)}.default", node.inputs[:1]))


def _clamp(node: OpNode) -> Lowering:
    return becomes(SOURCE, _edge(node, "clamp.Tensor" if node.op.endswith(".Tensor") else "clamp.default"))


def _lifted(node: OpNode) -> Lowering:
    return becomes(SOURCE, replace(node, op="dim_order_ops._clone_dim_order.default"), sure=False)


def _swap(node: OpNode) -> Lowering:
    rank, dims = node.input(0).rank, (node.attributes.get("dim0"), node.attributes.get("dim1"))
    if rank and len({d % rank for d in dims if isinstance(d, int)}) == 1 and None not in dims:
        # a dim with itself: an alias_copy, which is mostly refused and sometimes gone
        return replace(becomes(SOURCE, _edge(node, "alias_copy.default"), sure=False), is_guess=True)
    return becomes(SOURCE, _edge(node, "permute_copy.default"))


def _pow(node: OpNode) -> Lowering:
    if node.op.endswith(".Scalar"):
        return becomes(SOURCE, _edge(node, "pow.Scalar"))
    return becomes(SOURCE, _edge(node, "pow.Tensor_Scalar" if len(node.inputs) < 2 else "pow.Tensor_Tensor"))


def _silu(node: OpNode) -> Lowering:
    x = node.input(0)
    return becomes(SOURCE, _edge(node, "sigmoid.default", (x,)), _edge(node, "mul.Tensor", (x, x)))


def _relu6(node: OpNode) -> Lowering:
    return becomes(SOURCE, _edge(node, "hardtanh.default", min_val=0.0, max_val=6.0))


def _hardsigmoid(node: OpNode) -> Lowering:
    x = node.input(0)
    number = OpTensor(dtype=x.dtype, shape=(), is_constant=True)
    return becomes(
        SOURCE,
        _edge(node, "add.Tensor", (x, number)), _edge(node, "clamp.default", (x,)),
        _edge(node, "div.Tensor", (x, number)),
        sure=False,
    )  # fmt: skip


def _to(node: OpNode) -> Lowering:
    if node.input(0).dtype and node.input(0).dtype == node.output().dtype:
        return vanishes("A cast to the same type is removed.", SOURCE)
    return becomes(
        SOURCE, replace(_edge(node, "x", node.inputs[:1]), op="dim_order_ops._to_dim_order_copy.default")
    )


def _attention(node: OpNode) -> Lowering:
    q = node.input(0)
    return becomes(
        SOURCE, _edge(node, "bmm.default", (q, q)), _edge(node, "_softmax.default", (q,), dim=-1),
        _edge(node, "bmm.default", (q, q)),
        sure=False, text="Decomposed into bmm → softmax → bmm with reshapes.",
    )  # fmt: skip


def _mm(node: OpNode) -> Lowering:
    return becomes(SOURCE, _edge(node, f"{base_name(node.op)}.default"))


def _unrolled(node: OpNode) -> Lowering:
    return not_known(f"{base_name(node.op)} is unrolled into many operators; ask the tool.", SOURCE)


_MAKE: dict[str, Callable[[OpNode], Lowering]] = {
    **dict.fromkeys(("add", "sub", "mul", "div", "eq", "gt", "lt", "ge", "le", "ne"), _binary),
    **dict.fromkeys(
        ("conv1d", "conv2d", "conv3d", "_convolution", "convolution", "conv_transpose1d", "conv_transpose2d",
         "conv_transpose3d"),
        _convolution,
    ),
    **dict.fromkeys(("view", "reshape", "flatten", "_unsafe_view", "unflatten"), _view),
    **dict.fromkeys(("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool2d"), _adaptive_pool),
    **dict.fromkeys(("softmax", "log_softmax"), _softmax),
    **dict.fromkeys(("mm", "addmm"), _mm),
    **dict.fromkeys(("lstm", "gru", "rnn_tanh", "rnn_relu"), _unrolled),
    "batch_norm": _batch_norm,
    "clamp": _clamp,
    "lift_fresh_copy": _lifted,
    "transpose": _swap,
    "hardsigmoid": _hardsigmoid,
    "matmul": _matmul,
    "mean": _mean,
    "pad": _pad,
    "pixel_shuffle": _pixel_shuffle,
    "pow": _pow,
    "relu6": _relu6,
    "scaled_dot_product_attention": _attention,
    "silu": _silu,
    "to": _to,
    "_to_copy": _to,
}  # fmt: skip
