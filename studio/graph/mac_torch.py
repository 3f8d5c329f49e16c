"""Multiply-accumulates of torch operators, in exported programs, TorchScript and ExecuTorch alike.

Definitions: aten/src/ATen/native/native_functions.yaml (torch 2.13); those that
`torch.utils.flop_counter` knows are counted as it counts them.
"""

from __future__ import annotations

from math import prod

from studio.graph.mac_formulas import (
    Formula,
    conv,
    conv_transpose,
    einsum,
    matmul,
    scaled_dot_product,
    unknown,
)
from studio.graph.node_shapes import NodeShapes, Unknown

_HEAVY = (
    "linalg_", "fft_", "_fft_", "cholesky", "lu_", "triangular_solve", "matrix_", "_linalg_", "sparse_",
    "_sparse_", "mkldnn_rnn", "_cudnn_rnn", "_thnn_fused", "_transformer_", "_native_multi_head",
)  # fmt: skip


def torch_formula(operator: str) -> Formula | int:
    """The formula of `name.overload` or `name_`, 0 when it multiplies nothing, −1 when that is not known."""
    base = operator.partition(".")[0]
    found = ATEN.get(base) or ATEN.get(base.rstrip("_"))
    if found is not None:
        return found
    return -1 if base.startswith(_HEAVY) else 0


def _is_transposed(n: NodeShapes) -> bool:
    found = n.attributes.get("transposed", n.attributes.get("argument 6"))
    if found is None and n.has_input(6):
        values = n.value(6)
        found = bool(values[0]) if values else None
    if found is None:
        raise Unknown
    return bool(found)


def _convolution(n: NodeShapes) -> int:
    return (conv_transpose() if _is_transposed(n) else conv(1))(n)


def _linear(n: NodeShapes) -> int:
    weight = n.input(1)
    return prod(n.input(0)) * (weight[0] if len(weight) > 1 else 1)


def _addmm(n: NodeShapes) -> int:
    """input + mat1·mat2, also of batches."""
    return matmul(1, 2)(n)


def _packed_linear(n: NodeShapes) -> int:
    """Weights packed in few bits: the sizes are those of what goes in and comes out."""
    return prod(n.output()) * n.input(0)[-1]


def _tensordot(n: NodeShapes) -> int:
    left, right = n.input(0), n.input(1)
    dims = n.numbers("dims_self")
    if not dims and n.attributes.get("dims_self") is None:
        raise Unknown
    summed = prod(left[d] for d in dims)
    return prod(left) * prod(right) // max(summed, 1)


def _inner(n: NodeShapes) -> int:
    left, right = n.input(0), n.input(1)
    return prod(left) * prod(right[:-1]) if left and right else 0


def _layers(states: int) -> Formula:
    """lstm, gru, rnn_*: steps × batch × the weight matrices of every layer and direction.

    Inputs are the data [steps, batch, size] (either first), states, then weights of two dims and biases.
    Packed sequences are not known: their lengths are data.
    """

    def macs(n: NodeShapes) -> int:
        data = n.input(0)
        weights = [n.input(i) for i in range(1 + states, n.input_count) if n.has_input(i)]
        if len(data) != 3 or not weights:
            raise Unknown
        return data[0] * data[1] * sum(prod(shape) for shape in weights if len(shape) == 2)

    return macs


def _lstm_cell(n: NodeShapes) -> int:
    """Batch × the weights after data and two states."""
    return n.input(0)[0] * (prod(n.input(3)) + prod(n.input(4)))


def _plain_cell(n: NodeShapes) -> int:
    """The same of gru_cell and rnn_*_cell, which have one state."""
    return n.input(0)[0] * (prod(n.input(2)) + prod(n.input(3)))


def _bilinear(n: NodeShapes) -> int:
    """y_o = x1ᵀ·W_o·x2: the product with x1 for every row, then that with x2."""
    first, weight = n.input(0), n.input(2)
    if len(weight) != 3:
        raise Unknown
    rows = prod(first[:-1])
    return rows * prod(weight) + rows * weight[0] * weight[2]


VULKAN: dict[str, Formula | int] = {
    "et_vk.prepack.default": 0,
    "et_vk.conv_with_clamp.default": _convolution,
}
"""Vulkan's own operators whose arguments are those of a torch operator; the others are not known."""

ATEN: dict[str, Formula] = {
    **dict.fromkeys(
        ("conv1d", "conv2d", "conv3d", "_convolution_mode", "mkldnn_convolution", "conv_depthwise3d",
         "slow_conv3d", "thnn_conv2d", "_slow_conv2d_forward", "_conv_depthwise2d"),
        conv(1),
    ),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), conv_transpose()),
    **dict.fromkeys(("convolution", "_convolution", "convolution_overrideable"), _convolution),
    **dict.fromkeys(
        ("matmul", "mm", "bmm", "mv", "dot", "vdot", "linalg_matmul", "_int_mm", "_scaled_mm"), matmul()
    ),
    **dict.fromkeys(("addmm", "baddbmm", "addbmm", "addmv", "_addmm_activation"), _addmm),
    "linear": _linear,
    "mkldnn_linear": _linear,
    **dict.fromkeys(
        ("_weight_int8pack_mm", "_weight_int4pack_mm", "_weight_int4pack_mm_for_cpu"), _packed_linear
    ),
    "tensordot": _tensordot,
    "inner": _inner,
    "bilinear": _bilinear,
    "einsum": einsum,
    **dict.fromkeys(
        ("scaled_dot_product_attention", "_scaled_dot_product_flash_attention",
         "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_efficient_attention",
         "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_attention_math",
         "_scaled_dot_product_fused_attention_overrideable"),
        scaled_dot_product,
    ),
    "lstm": _layers(2),
    **dict.fromkeys(("gru", "rnn_tanh", "rnn_relu"), _layers(1)),
    "lstm_cell": _lstm_cell,
    **dict.fromkeys(("gru_cell", "rnn_tanh_cell", "rnn_relu_cell"), _plain_cell),
    **dict.fromkeys(
        ("stft", "istft", "cdist", "_cdist_forward", "_euclidean_dist", "svd", "_trilinear", "inverse",
         "pinverse", "qr", "lstsq", "ormqr", "orgqr", "geqrf", "det", "logdet", "slogdet", "chain_matmul",
         "conv_tbc", "multi_head_attention_forward", "cov", "corrcoef"),
        unknown,
    ),
}  # fmt: skip
