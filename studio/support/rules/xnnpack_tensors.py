"""What LiteRT's XNNPACK delegate asks of tensors: dtype, rank, constant or not, and its fused activations.

Source: github:google-ai-edge/LiteRT@f67457790:tflite/delegates/xnnpack/xnnpack_delegate.cc.
"""

from __future__ import annotations

from studio.support.op_node import OpNode, OpTensor
from studio.support.ruling import Ruling, refuses, unknown

_FILE = "github:google-ai-edge/LiteRT@f67457790:tflite/delegates/xnnpack/xnnpack_delegate.cc"


FLOATS = ("float32", "float16")


MAX_RANK = 6  # XNN_MAX_TENSOR_DIMS


CLAMPS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "")


def at(line: int) -> str:
    return f"{_FILE}#L{line}"


def typed(tensor: OpTensor, allowed: tuple[str, ...], line: int) -> Ruling | None:
    """A float, or a per-tensor quantised 8-bit tensor where allowed."""
    if tensor.dtype not in allowed:
        return refuses(f"{tensor.dtype or 'unknown type'} is not taken ({', '.join(allowed)}).", at(line))
    if tensor.dtype in ("int8", "uint8") and len(tensor.scale) != 1:
        return refuses("8-bit tensors need one scale and zero point.", at(line))
    return None


FLOAT_OR_8BIT = (*FLOATS, "int8", "uint8")


def quantizable(node: OpNode, *indices: int) -> Ruling | None:
    """CheckTensorFloatOrQUInt8Type of inputs and output 0."""
    for tensor in (*(node.input(i) for i in indices), node.output()):
        if found := typed(tensor, FLOAT_OR_8BIT, 2432):
            return found
    return None


def rank(tensor: OpTensor, lowest: int, highest: int, line: int) -> Ruling | None:
    if tensor.rank is None:
        return unknown("A shape is not in the file.", at(line))
    if not lowest <= tensor.rank <= highest:
        return refuses(f"Rank {tensor.rank}, taken is {lowest} to {highest}.", at(line))
    return None


def clamp(node: OpNode) -> Ruling | None:
    name = node.text("fused_activation_function", "NONE")
    return refuses(f"Fused activation {name}.", at(1907)) if name not in CLAMPS else None


def constant(node: OpNode, index: int, what: str, line: int) -> Ruling | None:
    if not node.has(index) or node.input(index).is_constant:
        return None
    if node.producers[index : index + 1] in (("DEQUANTIZE",), ("DENSIFY",)):
        return unknown(
            f"{what} is unpacked by {node.producers[index]}; whether that is static is not seen here.",
            at(line),
        )
    return refuses(f"{what} is computed, XNNPACK needs it constant.", at(line))
