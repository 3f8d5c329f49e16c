"""PyTorch → edge dialect: convolutions, normalisation after them, matrix products and attention."""

from __future__ import annotations

from dataclasses import replace

from studio.graph.graph import Shape
from studio.support.op_node import OpNode
from studio.support.predict.aten import base_name
from studio.support.predict.edge_nodes import SOURCE, edge, view_of
from studio.support.predict.lowering import Lowering, becomes, not_known


def convolution(node: OpNode) -> Lowering:
    if not base_name(node.op).startswith("conv_transpose"):
        return becomes(SOURCE, edge(node, "convolution.default", node.inputs[:3]))
    return becomes(SOURCE, edge(node, "convolution.default", node.inputs[:3], transposed=True))


def batch_norm(node: OpNode) -> Lowering:
    if (node.producers[:1] and base_name(node.producers[0]).startswith(("conv", "linear"))) or node.producers[
        :1
    ] == ("Conv",):
        return becomes(SOURCE, edge(node, "_native_batch_norm_legit_no_training.default"),
                       text="Fused into the convolution before it, if XNNPACK takes both.")  # fmt: skip
    return becomes(SOURCE, edge(node, "_native_batch_norm_legit_no_training.default"))


def matmul(node: OpNode) -> Lowering:
    a, b = node.input(0), node.input(1)
    if a.rank is None or b.rank is None:
        return not_known("The ranks are not in the file.", SOURCE)
    if a.rank == 2 and b.rank == 2:
        return becomes(SOURCE, edge(node, "mm.default"))
    if a.rank > 2 and b.rank == 2:
        flat = replace(a, shape=(None, a.shape[-1]) if a.shape else None)
        return becomes(
            SOURCE, view_of(node, a, node.output()), edge(node, "mm.default", (flat, b)), sure=False
        )
    if a.rank >= 3 and b.rank >= 3:
        flat_a, flat_b = (replace(t, shape=_batched(t.shape)) for t in (a, b))
        return becomes(
            SOURCE, replace(view_of(node, a, a), op="aten.expand_copy.default"), view_of(node, a, flat_a),
            edge(node, "bmm.default", (flat_a, flat_b)), view_of(node, node.output(), node.output()),
        )  # fmt: skip
    return not_known("A matmul of these ranks.", SOURCE)


def _batched(shape: Shape | None) -> Shape | None:
    """All leading dims as one, as bmm wants them."""
    if shape is None or len(shape) < 3 or not all(isinstance(d, int) for d in shape):
        return None if shape is None else (None, *shape[-2:])
    count = 1
    for dim in shape[:-2]:
        count *= dim if isinstance(dim, int) else 1
    return (count, *shape[-2:])


def attention(node: OpNode) -> Lowering:
    q = node.input(0)
    return becomes(
        SOURCE, edge(node, "bmm.default", (q, q)), edge(node, "_softmax.default", (q,), dim=-1),
        edge(node, "bmm.default", (q, q)),
        sure=False, text="Decomposed into bmm → softmax → bmm with reshapes.",
    )  # fmt: skip


def mm(node: OpNode) -> Lowering:
    return becomes(SOURCE, edge(node, f"{base_name(node.op)}.default"))
