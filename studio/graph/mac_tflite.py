"""Multiply-accumulates of TFLite's and XNNPACK's operators.

Operands by position: tensorflow/lite/kernels/*.cc (2.20), which the schema does not state.
"""

from __future__ import annotations

from math import prod

from studio.graph.mac_formulas import Formula, recurrent, scaled_dot_product, unknown
from studio.graph.node_shapes import NodeShapes, Unknown


def _conv(n: NodeShapes) -> int:
    return prod(n.output()) * prod(n.input(1)[1:])


def _depthwise(n: NodeShapes) -> int:
    return prod(n.output()) * prod(n.input(1)[1:3])


def _transpose_conv(n: NodeShapes) -> int:
    """Weights are [out, height, width, in]."""
    return prod(n.input(2)) * prod(n.input(1)[:3])


def _fully_connected(n: NodeShapes) -> int:
    weight = n.input(1)
    if len(weight) != 2:
        raise Unknown
    return prod(n.input(0)) // max(weight[1], 1) * weight[0] * weight[1]


def _batch_matmul(n: NodeShapes) -> int:
    left = n.input(0)
    if len(left) < 2:
        raise Unknown
    return prod(n.output()) * (left[-2] if n.number("adj_x") else left[-1])


def _conv3d(n: NodeShapes) -> int:
    """Weights are [depth, height, width, in, out]."""
    return prod(n.output()) * prod(n.input(1)[:4])


def _conv3d_transpose(n: NodeShapes) -> int:
    """Inputs are the output's shape, weights [depth, height, width, out, in], the data."""
    return prod(n.input(2)) * prod(n.input(1)[:4])


_LSTM_WEIGHTS = (*range(1, 9), 16)
"""Input and recurrent weights of the four gates (the input gate's may be left out) and the projection."""

_BACKWARD_LSTM_WEIGHTS = (*range(18, 26), 33)
_AUXILIARY_LSTM_WEIGHTS = tuple(range(40, 48))


def _lstm(n: NodeShapes) -> int:
    """One step: the kernel of five inputs has all gates' weights in one matrix, the full one in nine."""
    if n.attributes.get("kernel_type") == "BASIC" or n.input_count == 5:
        return n.input(0)[0] * prod(n.input(2))
    return recurrent(_LSTM_WEIGHTS, step_dims=1)(n)


def _svdf(n: NodeShapes) -> int:
    """A filter over features, then one over time: [filters, features] and [filters, memory]."""
    return n.input(0)[0] * (prod(n.input(1)) + prod(n.input(2)))


def _dot_general(n: NodeShapes) -> int:
    left = n.input(0)
    return prod(n.output()) * prod(left[d] for d in n.numbers("lhs_contracting_dimensions"))


def _stablehlo_convolution(n: NodeShapes) -> int:
    kernel = n.input(1)
    return prod(n.output()) * prod(kernel) // max(kernel[n.number("kernel_output_feature_dimension")], 1)


TFLITE: dict[str, Formula] = {
    "CONV_2D": _conv,
    "DEPTHWISE_CONV_2D": _depthwise,
    "TRANSPOSE_CONV": _transpose_conv,
    "FULLY_CONNECTED": _fully_connected,
    "BATCH_MATMUL": _batch_matmul,
    "CONV_3D": _conv3d,
    "CONV_3D_TRANSPOSE": _conv3d_transpose,
    "LSTM": _lstm,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": recurrent(_LSTM_WEIGHTS),
    "BIDIRECTIONAL_SEQUENCE_LSTM": recurrent(
        (*_LSTM_WEIGHTS, *_BACKWARD_LSTM_WEIGHTS, *_AUXILIARY_LSTM_WEIGHTS)
    ),
    "RNN": recurrent((1, 2), step_dims=1),
    "UNIDIRECTIONAL_SEQUENCE_RNN": recurrent((1, 2)),
    "BIDIRECTIONAL_SEQUENCE_RNN": recurrent((1, 2, 5, 6, 10, 11)),
    "SVDF": _svdf,
    "STABLEHLO_CONVOLUTION": _stablehlo_convolution,
    "STABLEHLO_DOT_GENERAL": _dot_general,
    **dict.fromkeys(("RFFT2D", "STABLEHLO_CUSTOM_CALL", "CUSTOM", "DELEGATE"), unknown),
}

XNNPACK: dict[str, Formula] = {
    # filters are [out, height, width, in/group]; depthwise ones [1, height, width, channels]
    "XNNConv2d": _conv,
    "XNNDepthwiseConv2d": _depthwise,
    "XNNConvTranspose2d": lambda n: prod(n.input(0)[:-1]) * prod(n.input(1)),
    "XNNFullyConnected": lambda n: prod(n.output()) * n.input(1)[-1],
    "XNNBatchMatrixMultiply": lambda n: prod(n.output()) * n.input(0)[-1],
    "XNNScaledDotProductAttention": scaled_dot_product,
    "XNN?": unknown,
}
