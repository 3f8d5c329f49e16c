"""NNAPI's op builders that compute: convolutions, products, pooling, element-wise, normalisation, casts.

Source: see `ort_nnapi`.
"""

from __future__ import annotations

from studio.support.op_node import OpNode, OpTensor
from studio.support.rules.nnapi_common import MAX_RANK, at, constant, float_input, impl, rank
from studio.support.rules.onnx_common import clip_bounds
from studio.support.ruling import Ruling, depends, refuses
from studio.support.tables import load_table


def binary(node: OpNode, level: int) -> Ruling | None:
    if node.op == "Pow" and {node.input(0).dtype, node.input(1).dtype} != {"float32"}:
        return refuses("Pow only on two float32 operands.", impl("binary", 195))
    if found := float_input(node, level):
        return found
    for index in (0, 1):
        if (node.input(index).rank or 0) > MAX_RANK:
            return refuses(
                f"Rank {node.input(index).rank}: NNAPI takes at most 4.", impl("binary", 217), "rank5-to-4"
            )
    return None


def clip(node: OpNode, level: int) -> Ruling | None:
    if found := float_input(node, level):
        return found
    bounds = clip_bounds(node)
    if bounds is None:
        return refuses("Clip with computed bounds.", impl("clip", 91))
    if bounds not in ((0.0, 6.0), (-1.0, 1.0)):
        return refuses(
            f"Clip to [{bounds[0]:g}, {bounds[1]:g}]: NNAPI has only [0, 6] (RELU6) and [−1, 1] (RELU1).",
            impl("clip", 96),
        )
    return None


def batch_norm(node: OpNode, level: int) -> Ruling | None:
    if len(node.outputs) != 1 or node.integer("training_mode", 0):
        return refuses("BatchNormalization in training mode.", impl("batchnorm", 132))
    if found := rank(node, level, name="batchnorm", line=144, lowest=0):
        return found
    if node.integer("spatial", 1) != 1:
        return refuses("Non-spatial BatchNormalization.", impl("batchnorm", 152))
    for index, what in enumerate(("Scale", "B", "Mean", "Var"), start=1):
        if found := constant(node, index, what, "batchnorm", 161):
            return found
    return None


def cast(node: OpNode, level: int) -> Ruling | None:
    if found := float_or_int(node):
        return found
    to = node.output().dtype
    if to not in ("float32", "int32"):
        return refuses(
            f"Cast to {to or 'an unknown type'}: NNAPI casts to float32 and int32.", impl("cast", 77)
        )
    return None


def float_or_int(node: OpNode) -> Ruling | None:
    if node.input(0).dtype != "float32":
        return refuses(f"{node.op} from {node.input(0).dtype}: only from float32.", impl("base", 91))
    return None


def conv(node: OpNode, level: int) -> Ruling | None:
    if found := float_input(node, level):
        return found
    weight = node.qdq.inputs[1] if node.qdq else node.input(1)
    if not weight.is_constant:
        return refuses("The weight is computed, NNAPI needs it constant.", impl("conv", 338))
    if weight.rank != 4:
        fixes = ("conv1d-to-conv2d",) if weight.rank == 3 else ()
        return refuses(
            f"Only 2-D convolutions, the weight is {weight.shape_text()}.", impl("conv", 319), *fixes
        )
    if any(d != 1 for d in node.ints("dilations") or ()):
        if node.integer("group", 1) != 1 and weight.dim(1) != 1:
            return refuses("Dilated grouped convolution.", impl("conv", 326))
        if level < 29:
            return refuses("Dilated convolution needs Android API 29.", impl("conv", 331))
    if node.qdq is not None and node.has(2):
        bias = node.qdq.inputs[2] if len(node.qdq.inputs) > 2 else OpTensor()
        if not (bias.is_constant or node.input(2).is_constant):
            return refuses("The quantised bias is computed.", impl("conv", 343))
    return None


def pool(node: OpNode, level: int) -> Ruling | None:
    if found := rank(node, level, name="pool", line=183, lowest=4):
        return found
    if node.op.startswith("Global"):
        return None
    if node.integer("count_include_pad", 0) == 1:
        return refuses("count_include_pad=1: NNAPI does not count padding.", impl("pool", 196))
    if node.integer("storage_order", 0) == 1:
        return refuses("storage_order=1.", impl("pool", 202))
    if len(node.ints("kernel_shape") or (1, 1)) != 2:
        return refuses("Only 2-D pooling.", impl("pool", 207))
    if node.integer("ceil_mode", 0) == 1:
        return refuses("ceil_mode=1: NNAPI rounds output sizes down.", impl("pool", 212))
    if any(d != 1 for d in node.ints("dilations") or ()):
        return refuses("Dilated pooling.", impl("pool", 217))
    if len(node.outputs) != 1:
        return refuses("The Indices output.", impl("pool", 223))
    return None


def dequantize(node: OpNode, level: int) -> Ruling | None:
    return linear(node, node.input(0))


def quantize(node: OpNode, level: int) -> Ruling | None:
    if node.input(0).dtype != "float32":
        return refuses(f"QuantizeLinear of {node.input(0).dtype}.", impl("quantizelinear", 43))
    return linear(node, node.output())


def linear(node: OpNode, quantized: OpTensor) -> Ruling | None:
    source = at("op_builder_helpers.cc", 1257)
    if quantized.dtype != "uint8":
        return refuses(f"{node.op} with {quantized.dtype}: NNAPI takes uint8.", source)
    if not node.input(1).is_constant or (node.has(2) and not node.input(2).is_constant):
        return refuses("Scale or zero point is computed.", source)
    if (node.input(1).rank or 0) and node.input(1).dim(0) != 1:
        return refuses("Per-channel scales.", source)
    return None


def softmax(node: OpNode, level: int) -> Ruling | None:
    if found := float_input(node, level):
        return found
    rank = node.input(0).rank or 0
    if node.version < 13:
        return None
    if rank > MAX_RANK:
        return refuses(f"Rank {rank}: NNAPI takes at most 4.", impl("softmax", 170), "rank5-to-4")
    if level < 29 and (rank not in (2, 4) or node.integer("axis", 1) not in (-1, rank - 1)):
        return refuses("Below Android API 29 only rank 2 or 4, last axis.", impl("softmax", 183))
    return None


def reduce(node: OpNode, level: int) -> Ruling | None:
    if found := rank(node, level, name="reduction", line=183):
        return found
    if node.version >= 18 and node.integer("noop_with_empty_axes", 0):
        return refuses("noop_with_empty_axes.", impl("reduction", 202))
    return constant(node, 1, "Axes", "reduction", 193)


def two_inputs(node: OpNode, level: int) -> Ruling | None:
    if found := float_input(node, level):
        return found
    if len(node.inputs) != 2:
        return refuses(f"{len(node.inputs)} inputs, NNAPI takes two.", impl("minmax", 59))
    return None


def gemm(node: OpNode, level: int) -> Ruling | None:
    if found := float_input(node, level):
        return found
    a, b = node.input(0), node.input(1)
    b_data = node.qdq.inputs[1] if node.qdq else b
    if (a.rank or 0) != 2 or (b.rank or 0) != 2:
        return batch_matmul(node, a, b)
    if node.op == "Gemm":
        if node.integer("transA", 0) or node.number("alpha", 1.0) != 1.0 or node.number("beta", 1.0) != 1.0:
            return refuses("Gemm only with transA=0, alpha=beta=1.", impl("gemm", 340))
        if not node.integer("transB", 0) and not b_data.is_constant:
            return refuses("B is computed, NNAPI needs it constant.", impl("gemm", 350))
        if node.has(2):
            c = node.input(2)
            wide = [d for d in c.shape or () if d != 1]
            size = b.dim(0) if node.integer("transB", 0) else b.dim(1)
            if len(wide) > 1 or (wide or [1])[0] != size:
                return refuses("C must be a vector of the output size.", impl("gemm", 364))
    elif not b_data.is_constant:
        return refuses(
            "Both operands are computed; NNAPI needs B constant (or a batched MatMul).", impl("gemm", 375)
        )
    return None


def batch_matmul(node: OpNode, a: OpTensor, b: OpTensor) -> Ruling | None:
    """op_builder_helpers.cc#L221: rank ≥ 3 on both sides, equal leading dims, float, not quantised."""
    source = at("op_builder_helpers.cc", 256)
    if (
        node.op == "MatMul"
        and b.rank == 2
        and b.is_constant
        and node.consumers == ("Add",)
        and node.qdq is None
    ):
        return depends(
            "Taken if the Add after it adds a constant bias vector: ONNX Runtime then fuses both into Gemm.",
            "onnxruntime/core/optimizer/matmul_add_fusion.cc, level 1",
        )
    if (
        node.op != "MatMul"
        or node.qdq is not None
        or not a.rank
        or not b.rank
        or a.rank < 3
        or a.rank != b.rank
    ):
        return refuses(
            f"{a.shape_text()} × {b.shape_text()}: NNAPI multiplies 2-D by 2-D, or batches of equal rank.",
            source,
        )
    if a.shape is None or b.shape is None or a.shape[:-2] != b.shape[:-2]:
        return refuses(f"Batches {a.shape_text()} and {b.shape_text()} differ.", source)
    return None


def qlinear(node: OpNode, level: int) -> Ruling | None:
    return depends(
        "Taken if scales and zero points are constant, uint8, and of the form that the builder wants.",
        load_table("ort_nnapi").cite_op(node.op, node.domain),
    )
