"""What NNAPI's op builders share: float or quantised inputs, ranks, constants, and how to cite them.

Source: see `ort_nnapi`.
"""

from __future__ import annotations

from studio.support.op_node import OpNode
from studio.support.ruling import Ruling, refuses

BASE = (
    "github:onnxruntime/onnxruntime-qnn@cee6c0d91e:onnxruntime/core/providers/nnapi/nnapi_builtin/builders/"
)
MAX_RANK = 4
UINT8_TOO = {"MaxPool", "Concat", "Transpose", "Resize"}


def at(file: str, line: int) -> str:
    """The citation of a line in a file of the builders' folder."""
    return f"{BASE}{file}#L{line}"


def impl(name: str, line: int) -> str:
    """The citation of a line in one op builder."""
    return at(f"impl/{name}_op_builder.cc", line)


def float_input(node: OpNode, level: int) -> Ruling | None:
    """Float32 input 0 (HasSupportedInputOutputsImpl), or a quantised group with its own checks."""
    if node.qdq is not None:
        return quantized(node, level)
    allowed = ("float32", "uint8") if node.op in UINT8_TOO else ("float32",)
    dtype = node.input(0).dtype
    if dtype not in allowed:
        return refuses(f"{node.op} on {dtype}: NNAPI takes {' and '.join(allowed)}.", impl("base", 91))
    if dtype == "uint8" and (not node.producers or not node.producers[0]):
        return refuses(
            "uint8 graph inputs carry no scale, so NNAPI does not take them.", at("helper.cc", 331)
        )
    return None


def quantized(node: OpNode, level: int) -> Ruling | None:
    """uint8 everywhere, int8 only as weight of Conv, Gemm, MatMul; constant scales."""
    assert node.qdq is not None
    weighted = node.op in ("Conv", "Gemm", "MatMul")
    checked = node.qdq.inputs[:2] if weighted or node.op in ("Add", "Mul") else node.qdq.inputs
    for index, tensor in enumerate((*checked, *node.qdq.outputs)):
        is_weight = weighted and index == 1
        if not tensor.dtype:
            continue
        if tensor.dtype != "uint8" and not (is_weight and tensor.dtype == "int8"):
            return refuses(
                f"Quantised {node.op} in {tensor.dtype}: NNAPI takes uint8 (weights also int8).",
                at("op_builder_helpers.cc", 1257),
            )
        if not tensor.scale:
            return refuses(
                "The scale is computed, NNAPI needs it constant.", at("op_builder_helpers.cc", 1098)
            )
        if tensor.is_per_channel:
            if not is_weight or tensor.dtype != "int8" or node.op == "MatMul":
                return refuses(
                    "Per-channel scales only on int8 weights of Conv and Gemm.",
                    at("op_builder_helpers.cc", 1106),
                )
            if level < 29:
                return refuses("Per-channel weights need Android API 29.", at("op_builder_helpers.cc", 1120))
        if is_weight and tensor.dtype == "int8" and any(tensor.zero_point):
            return refuses("int8 weights need zero point 0.", at("op_builder_helpers.cc", 1201))
    if node.op == "Softmax":
        out = node.qdq.outputs[0]
        if not out.scale or abs(out.scale[0] - 1 / 256) > 1e-9 or any(out.zero_point):
            return refuses("Quantised Softmax needs output scale 1/256, zero point 0.", impl("softmax", 214))
    if node.op == "AveragePool" and (
        node.qdq.inputs[0].scale != node.qdq.outputs[0].scale
        or node.qdq.inputs[0].zero_point != node.qdq.outputs[0].zero_point
    ):
        return refuses("Quantised AveragePool needs the same scale on both sides.", impl("pool", 257))
    return None


def rank(
    node: OpNode, level: int, *, name: str, line: int, lowest: int = 1, highest: int = MAX_RANK
) -> Ruling | None:
    """Float input of a rank that NNAPI has."""
    if found := float_input(node, level):
        return found
    rank = node.input(0).rank or 0
    if not lowest <= rank <= highest:
        fixes = ("rank5-to-4",) if rank > highest else ()
        span = str(lowest) if lowest == highest else f"{lowest} to {highest}"
        return refuses(
            f"Rank {rank} ({node.input(0).shape_text()}): NNAPI takes rank {span}.", impl(name, line), *fixes
        )
    return None


def constant(node: OpNode, index: int, what: str, name: str, line: int) -> Ruling | None:
    if node.has(index) and not node.input(index).is_constant:
        return refuses(f"{what} is computed, NNAPI needs it constant.", impl(name, line))
    return None
