"""Multiply-accumulates of one node, by the operator's definition, for ONNX, TFLite and torch operators.

Counted: convolutions, matrix products, recurrent layers, attention. Element-wise operators, pooling,
normalisation and data movement count 0, the convention of `torch.utils.flop_counter` (whose flops are
2 × these figures). Bias is not counted. −1 = not known: an operator without a formula whose work is
not negligible, or a shape that is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from studio.graph.graph import AttributeValue, Graph

Dims = Sequence[int]
Formula = Callable[["NodeShapes"], int]


class NodeShapes:
    """Static shapes and attributes of one node; a missing or unknown shape raises `Unknown`."""

    def __init__(self, graph: Graph, node: int, dims: Callable[[int], tuple[int, ...] | None]) -> None:
        self._inputs = graph.inputs_of(node).tolist()
        self._outputs = graph.outputs_of(node).tolist()
        self._dims = dims
        self.attributes: Mapping[str, AttributeValue] = graph.node_attributes[node]
        self.values = graph.tensor_value

    def has_input(self, index: int) -> bool:
        return index < len(self._inputs) and self._inputs[index] >= 0

    @property
    def input_count(self) -> int:
        return len(self._inputs)

    def input(self, index: int) -> tuple[int, ...]:
        return self._shape(self._inputs, index)

    def output(self, index: int = 0) -> tuple[int, ...]:
        return self._shape(self._outputs, index)

    def value(self, index: int) -> list[object] | None:
        """The constant values of an input."""
        return self.values.get(self._inputs[index]) if self.has_input(index) else None

    def number(self, name: str, default: int = 0) -> int:
        found = self.attributes.get(name, default)
        return int(found) if isinstance(found, (int, float)) else default

    def _shape(self, ids: list[int], index: int) -> tuple[int, ...]:
        if index >= len(ids) or ids[index] < 0:
            raise Unknown
        shape = self._dims(ids[index])
        if shape is None:
            raise Unknown
        return shape


class Unknown(Exception):
    """A shape or attribute that the formula needs is not known."""


def _conv(weight: int) -> Formula:
    """Output elements × (input channels of a group × kernel): weight is [out, in/group, *kernel]."""
    return lambda n: prod(n.output()) * prod(n.input(weight)[1:])


def _conv_transpose(n: NodeShapes) -> int:
    return prod(n.input(0)) * prod(n.input(1)[1:])


def _matmul(a: int = 0, b: int = 1) -> Formula:
    def macs(n: NodeShapes) -> int:
        left, right = n.input(a), n.input(b)
        if not left or not right:
            return 0
        rows = prod(left[:-1])
        if len(right) <= 2:
            return rows * left[-1] * (right[-1] if len(right) == 2 else 1)
        return prod(n.output()) * left[-1]

    return macs


def _fused_matmul(n: NodeShapes) -> int:
    left = n.input(0)
    return prod(n.output()) * (left[-2] if n.number("transA") and len(left) > 1 else left[-1])


def _gemm(n: NodeShapes) -> int:
    left = n.input(0)
    if len(left) != 2:
        raise Unknown
    return prod(n.output()) * (left[0] if n.number("transA") else left[1])


def _qgemm(n: NodeShapes) -> int:
    return _gemm(n)


def _matmul_nbits(n: NodeShapes) -> int:
    return prod(n.input(0)[:-1]) * n.number("K") * n.number("N")


def _recurrent(n: NodeShapes) -> int:
    """Steps × batch × (input weights + recurrent weights); X is [steps, batch, input] or batch first."""
    return prod(n.input(0)[:2]) * (prod(n.input(1)) + prod(n.input(2)))


def _einsum(n: NodeShapes) -> int:
    """Product of all index sizes for two operands without ellipsis; a single operand multiplies nothing."""
    equation = n.attributes.get("equation")
    if not isinstance(equation, str) or "." in equation:
        raise Unknown
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    if len(terms) == 1:
        return 0
    if len(terms) != 2:
        raise Unknown
    sizes: dict[str, int] = {}
    for index, term in enumerate(terms):
        shape = n.input(index)
        if len(shape) != len(term):
            raise Unknown
        for letter, size in zip(term, shape):
            sizes[letter] = max(size, sizes.get(letter, 1))
    return prod(sizes.values())


def _attention(n: NodeShapes) -> int:
    """ONNX Attention (opset 23): heads × queries × keys × (head size + value head size)."""
    q, k, v = n.input(0), n.input(1), n.input(2)
    if len(q) == 4 and len(k) == 4 and len(v) == 4:
        batch, heads, queries, size = q
        keys, value_size = k[2], v[3]
    elif len(q) == 3 and len(k) == 3 and len(v) == 3:
        heads = n.number("q_num_heads")
        kv_heads = n.number("kv_num_heads", heads)
        if not heads or not kv_heads:
            raise Unknown
        batch, queries, keys = q[0], q[1], k[1]
        size, value_size = q[2] // heads, v[2] // kv_heads
    else:
        raise Unknown
    if n.has_input(4):  # past keys lengthen the sequence
        keys += n.input(4)[2]
    return batch * heads * queries * keys * (size + value_size)


def _multi_head_attention(n: NodeShapes) -> int:
    """com.microsoft MultiHeadAttention with separate 3-D query, key and value."""
    q, k, v = n.input(0), n.input(1), n.input(2)
    if len(q) != 3 or len(k) != 3 or len(v) != 3:
        raise Unknown
    return q[0] * q[1] * k[1] * (q[2] + v[2])


def _unknown(n: NodeShapes) -> int:
    raise Unknown


ONNX: dict[tuple[str, str], Formula] = {
    ("", "Conv"): _conv(1),
    ("", "ConvInteger"): _conv(1),
    ("", "QLinearConv"): _conv(3),
    ("", "DeformConv"): _conv(1),
    ("", "ConvTranspose"): _conv_transpose,
    ("", "MatMul"): _matmul(),
    ("", "MatMulInteger"): _matmul(),
    ("", "QLinearMatMul"): _matmul(0, 3),
    ("", "Gemm"): _gemm,
    ("", "Einsum"): _einsum,
    ("", "LSTM"): _recurrent,
    ("", "GRU"): _recurrent,
    ("", "RNN"): _recurrent,
    ("", "Attention"): _attention,
    ("", "DFT"): _unknown,
    ("", "STFT"): _unknown,
    ("com.microsoft", "FusedConv"): _conv(1),
    ("com.microsoft", "QLinearConv"): _conv(3),
    ("com.microsoft", "FusedGemm"): _gemm,
    ("com.microsoft", "FusedMatMul"): _fused_matmul,
    ("com.microsoft", "QGemm"): _qgemm,
    ("com.microsoft", "MatMulIntegerToFloat"): _matmul(),
    ("com.microsoft", "DynamicQuantizeMatMul"): _matmul(),
    ("com.microsoft", "MatMulNBits"): _matmul_nbits,
    ("com.microsoft", "MultiHeadAttention"): _multi_head_attention,
    ("com.microsoft.nchwc", "Conv"): _conv(1),
}

ONNX_FREE: dict[str, frozenset[str]] = {
    "com.microsoft": frozenset({
        "Gelu", "FastGelu", "BiasGelu", "QuickGelu", "SkipLayerNormalization", "QLinearAdd", "QLinearMul",
        "EmbedLayerNormalization", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearConcat", "QLinearSoftmax",
        "QLinearAveragePool", "QLinearGlobalAveragePool", "QuantizeLinear", "DequantizeLinear",
        "SimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization", "RotaryEmbedding", "Pad",
        "QLinearReduceMean", "QLinearWhere", "BiasSoftmax", "BiasAdd", "BiasSplitGelu", "NhwcMaxPool",
    }),
    "com.microsoft.nchwc": frozenset({
        "ReorderInput", "ReorderOutput", "MaxPool", "GlobalMaxPool", "AveragePool", "GlobalAveragePool",
        "Upsample",
    }),
}  # fmt: skip
"""Operators outside the standard domains that multiply-accumulate nothing."""


def _tfl_conv(n: NodeShapes) -> int:
    return prod(n.output()) * prod(n.input(1)[1:])


def _tfl_depthwise(n: NodeShapes) -> int:
    return prod(n.output()) * prod(n.input(1)[1:3])


def _tfl_transpose_conv(n: NodeShapes) -> int:
    return prod(n.input(2)) * prod(n.input(1)[:3])


def _tfl_fully_connected(n: NodeShapes) -> int:
    weight = n.input(1)
    if len(weight) != 2:
        raise Unknown
    return prod(n.input(0)) // max(weight[1], 1) * weight[0] * weight[1]


def _tfl_batch_matmul(n: NodeShapes) -> int:
    left = n.input(0)
    if len(left) < 2:
        raise Unknown
    return prod(n.output()) * (left[-2] if n.number("adj_x") else left[-1])


def _tfl_conv3d(n: NodeShapes) -> int:
    return prod(n.output()) * prod(n.input(1)[:4])


TFLITE: dict[str, Formula] = {
    "CONV_2D": _tfl_conv,
    "DEPTHWISE_CONV_2D": _tfl_depthwise,
    "TRANSPOSE_CONV": _tfl_transpose_conv,
    "FULLY_CONNECTED": _tfl_fully_connected,
    "BATCH_MATMUL": _tfl_batch_matmul,
    "CONV_3D": _tfl_conv3d,
    **dict.fromkeys(
        (
            "LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM", "RNN", "SVDF",
            "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN", "CONV_3D_TRANSPOSE", "RFFT2D",
            "STABLEHLO_CONVOLUTION", "STABLEHLO_DOT_GENERAL", "CUSTOM", "DELEGATE",
        ),
        _unknown,
    ),
}  # fmt: skip


def _xnn_conv(n: NodeShapes) -> int:
    """Filters are [out, height, width, in/group]; depthwise ones [1, height, width, channels]."""
    return prod(n.output()) * prod(n.input(1)[1:])


def _xnn_batch_matmul(n: NodeShapes) -> int:
    return prod(n.output()) * n.input(0)[-1]


XNNPACK: dict[str, Formula] = {
    "XNNConv2d": _xnn_conv,
    "XNNDepthwiseConv2d": _tfl_depthwise,
    "XNNConvTranspose2d": lambda n: prod(n.input(0)[:-1]) * prod(n.input(1)),
    "XNNFullyConnected": lambda n: prod(n.output()) * n.input(1)[-1],
    "XNNBatchMatrixMultiply": _xnn_batch_matmul,
    "XNNScaledDotProductAttention": _unknown,
    "XNN?": _unknown,
}


def _is_transposed(n: NodeShapes) -> bool:
    found = n.attributes.get("transposed")
    if found is None and n.has_input(6):
        values = n.value(6)
        found = bool(values[0]) if values else None
    if found is None:
        raise Unknown
    return bool(found)


def _aten_convolution(n: NodeShapes) -> int:
    return _conv_transpose(n) if _is_transposed(n) else prod(n.output()) * prod(n.input(1)[1:])


def _aten_linear(n: NodeShapes) -> int:
    return prod(n.input(0)) * n.input(1)[0]


def _aten_addmm(n: NodeShapes) -> int:
    return prod(n.output()) * n.input(1)[-1]


def _sdpa(n: NodeShapes) -> int:
    q, k, v = n.input(0), n.input(1), n.input(2)
    if min(len(q), len(k), len(v)) < 2:
        raise Unknown
    return prod(q[:-1]) * k[-2] * (q[-1] + v[-1])


ATEN: dict[str, Formula] = {
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _conv(1)),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), _conv_transpose),
    **dict.fromkeys(("convolution", "_convolution"), _aten_convolution),
    **dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot"), _matmul()),
    **dict.fromkeys(("addmm", "baddbmm", "addbmm"), _aten_addmm),
    "linear": _aten_linear,
    "scaled_dot_product_attention": _sdpa,
    **dict.fromkeys(("lstm", "gru", "rnn_tanh", "rnn_relu", "einsum", "lstm_cell", "gru_cell"), _unknown),
}
