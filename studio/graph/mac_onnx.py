"""Multiply-accumulates of ONNX operators, and of those that ONNX Runtime writes into a model.

Definitions: onnx's operator schemas (1.23) and ONNX Runtime's docs/ContribOperators.md (1.32).
"""

from __future__ import annotations

from math import prod

from studio.graph.mac_formulas import (
    Formula,
    attention_macs,
    conv,
    conv_transpose,
    einsum,
    matmul,
    matmul_macs,
    recurrent,
    unknown,
)
from studio.graph.node_shapes import NodeShapes, Unknown


def _fused_matmul(n: NodeShapes) -> int:
    """A·B with either transposed in its last two dims; its transposed batches are not counted."""
    if n.number("transBatchA") or n.number("transBatchB"):
        raise Unknown
    left, right = n.input(0), n.input(1)
    if n.number("transA") and len(left) > 1:
        left = (*left[:-2], left[-1], left[-2])
    if n.number("transB") and len(right) > 1:
        right = (*right[:-2], right[-1], right[-2])
    return matmul_macs(left, right)


def _gemm(b: int) -> Formula:
    def macs(n: NodeShapes) -> int:
        left, right = n.input(0), n.input(b)
        if len(left) != 2 or len(right) != 2:
            raise Unknown
        return prod(left) * right[0 if n.number("transB") else 1]

    return macs


def _matmul_by_attributes(n: NodeShapes) -> int:
    """Weights packed in blocks of few bits: their size stands in K and N."""
    k, width = n.number("K"), n.number("N")
    if not k or not width:
        raise Unknown
    return prod(n.input(0)[:-1]) * k * width


def _attention(n: NodeShapes) -> int:
    """Attention of opset 23: heads × queries × keys × (head size + value head size)."""
    q, k, v = n.input(0), n.input(1), n.input(2)
    if len(q) == 3 and len(k) == 3 and len(v) == 3:
        heads = n.number("q_num_heads")
        kv_heads = n.number("kv_num_heads", heads)
        if not heads or not kv_heads:
            raise Unknown
        q = (q[0], heads, q[1], q[2] // heads)
        k = (k[0], kv_heads, k[1], k[2] // kv_heads)
        v = (v[0], kv_heads, v[1], v[2] // kv_heads)
    elif not len(q) == len(k) == len(v) == 4:
        raise Unknown
    past = n.input(4)[2] if n.has_input(4) else 0  # past keys lengthen the sequence
    return attention_macs(q, (*k[:2], k[2] + past, k[3]), v)


def _merged_attention(past: int) -> Formula:
    """com.microsoft Attention and QAttention: one projection of the input to Q, K and V, then attention."""

    def macs(n: NodeShapes) -> int:
        x, weight = n.input(0), n.input(1)
        if len(x) != 3 or len(weight) != 2:
            raise Unknown
        sizes = n.numbers("qkv_hidden_sizes") or [weight[1] // 3] * 3
        keys = x[1]
        if n.has_input(past):
            if n.number("past_present_share_buffer"):
                raise Unknown  # the buffer is as long as it may ever be
            keys += n.input(past)[3]
        projection = prod(x) * weight[1]
        return projection + attention_macs((x[0], x[1], sizes[0]), (x[0], keys, sizes[1]), (0, sizes[2]))

    return macs


def _packed_attention(n: NodeShapes) -> int:
    """com.microsoft MultiHeadAttention: Q, K and V apart, or packed [batch, tokens, heads, 3, size]."""
    q = n.input(0)
    past = 0
    if n.has_input(6):
        if n.has_input(8):
            raise Unknown  # past_sequence_length: the cache is longer than what is in it
        past = n.input(6)[2]
    if len(q) == 5:
        return q[0] * q[1] * (q[1] + past) * q[2] * 2 * q[4]
    k = n.input(1)
    if len(q) != 3:
        raise Unknown
    if len(k) == 5:
        return q[0] * q[1] * (k[1] + past) * 2 * q[2]
    v = n.input(2)
    if len(k) == 4 and len(v) == 4:  # keys of another sequence, as [batch, heads, keys, size]
        return q[0] * q[1] * k[2] * (q[2] + v[1] * v[3])
    if len(k) != 3 or len(v) != 3:
        raise Unknown
    return q[0] * q[1] * (k[1] + past) * (q[2] + v[2])


def _grouped_attention(n: NodeShapes) -> int:
    """com.microsoft GroupQueryAttention: every query head meets every key, past ones included."""
    q, heads = n.input(0), n.number("num_heads")
    if len(q) != 3 or not heads:
        raise Unknown
    if n.has_input(1):
        hidden = q[2]
    else:  # packed: heads + 2 × key-value heads of one size
        every = heads + 2 * n.number("kv_num_heads", heads)
        hidden = q[2] // every * heads
    total = n.value(6)
    if total and isinstance(total[0], int):
        keys = total[0]
    elif n.has_input(3):
        raise Unknown  # how full the cache is, only a run tells
    else:
        keys = n.input(1)[1] if n.has_input(1) else q[1]
    window = n.number("local_window_size", -1)
    if 0 < window < keys:
        raise Unknown
    return q[0] * q[1] * keys * 2 * hidden


def _linear_model(n: NodeShapes) -> int:
    """ai.onnx.ml's linear models: the coefficients stand in an attribute, all used for each sample."""
    found = n.attributes.get("coefficients")
    if not isinstance(found, list):
        raise Unknown
    return prod(n.input(0)[:-1]) * len(found)


_UNKNOWN = {
    "": ("DFT", "STFT", "Det", "LinearAttention"),
    "ai.onnx.ml": ("SVMClassifier", "SVMRegressor"),
    "ai.onnx.preview.training": ("Gradient",),
}

ONNX: dict[tuple[str, str], Formula] = {
    ("", "Conv"): conv(1),
    ("", "ConvInteger"): conv(1),
    ("", "QLinearConv"): conv(3),
    ("", "DeformConv"): conv(1),
    ("", "CausalConvWithState"): conv(1),
    ("", "ConvTranspose"): conv_transpose(),
    ("", "MatMul"): matmul(),
    ("", "MatMulInteger"): matmul(),
    ("", "QLinearMatMul"): matmul(0, 3),
    ("", "Gemm"): _gemm(1),
    ("", "Einsum"): einsum,
    **{("", op): recurrent((1, 2)) for op in ("LSTM", "GRU", "RNN")},
    ("", "Attention"): _attention,
    **{("ai.onnx.ml", op): _linear_model for op in ("LinearClassifier", "LinearRegressor")},
    **{(domain, op): unknown for domain, ops in _UNKNOWN.items() for op in ops},
    **{("com.microsoft", op): conv(1) for op in ("FusedConv", "NhwcConv", "NhwcFusedConv")},
    ("com.microsoft", "QLinearConv"): conv(3),
    ("com.microsoft", "ConvTransposeWithDynamicPads"): conv_transpose(),
    ("com.microsoft", "FusedGemm"): _gemm(1),
    ("com.microsoft", "QGemm"): _gemm(3),
    **{("com.microsoft", op): _fused_matmul
       for op in ("FusedMatMul", "FusedMatMulActivation", "TransposeMatMul")},
    **{("com.microsoft", op): matmul()
       for op in ("MatMulIntegerToFloat", "DynamicQuantizeMatMul", "MatMulInteger16", "GemmFastGelu")},
    **{("com.microsoft", op): _matmul_by_attributes for op in ("MatMulNBits", "MatMulBnb4")},
    ("com.microsoft", "DynamicQuantizeLSTM"): recurrent((1, 2)),
    ("com.microsoft", "Attention"): _merged_attention(4),
    ("com.microsoft", "QAttention"): _merged_attention(8),
    ("com.microsoft", "MultiHeadAttention"): _packed_attention,
    ("com.microsoft", "GroupQueryAttention"): _grouped_attention,
    ("com.microsoft.nchwc", "Conv"): conv(1),
    **{("com.ms.internal.nhwc", op): conv(1) for op in ("Conv",)},
    ("com.ms.internal.nhwc", "QLinearConv"): conv(3),
}  # fmt: skip

ONNX_FREE: dict[str, frozenset[str]] = {
    "com.microsoft": frozenset({
        "Gelu", "FastGelu", "BiasGelu", "QuickGelu", "SkipLayerNormalization", "QLinearAdd", "QLinearMul",
        "EmbedLayerNormalization", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearConcat", "QLinearSoftmax",
        "QLinearAveragePool", "QLinearGlobalAveragePool", "QuantizeLinear", "DequantizeLinear",
        "SimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization", "RotaryEmbedding", "Pad",
        "QLinearReduceMean", "QLinearWhere", "BiasSoftmax", "BiasAdd", "BiasSplitGelu", "NhwcMaxPool",
        "BiasDropout", "BitmaskDropout", "BitmaskBiasDropout", "CropAndResize", "DequantizeWithOrder",
        "ExpandDims", "GatedAdd", "GatherBlockQuantized", "GatherND", "GemmaRotaryEmbedding", "GridSample",
        "GroupNorm", "IsAllFinite", "MaxpoolWithMask", "MulInteger", "MurmurHash3",
        "QEmbedLayerNormalization", "QOrderedGelu", "QOrderedLayerNormalization", "QuantizeWithOrder",
        "Range", "ReduceSumInteger",
        "RelativePositionBias", "RemovePadding", "RestorePadding", "SampleOp", "ScaledSiLU", "SkipGroupNorm",
        "SwiGLU", "TorchEmbedding", "Trilu", "UnfoldTensor", "Unique",
    }),
    "com.microsoft.nchwc": frozenset({
        "ReorderInput", "ReorderOutput", "MaxPool", "GlobalMaxPool", "AveragePool", "GlobalAveragePool",
        "Upsample",
    }),
}  # fmt: skip
"""Operators outside the standard domains that multiply-accumulate nothing."""
