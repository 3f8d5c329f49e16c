"""Scales and zero points that QuantizeLinear, DequantizeLinear and the QLinear operators give to tensors."""

from __future__ import annotations

from studio.graph.builder import GraphBuilder
from studio.graph.graph import Quantization

_OPERATORS = frozenset({"QuantizeLinear", "DequantizeLinear"})
_RESULT_SCALE = {
    "QLinearConv": 6, "QLinearMatMul": 6, "QGemm": 7, "QLinearConcat": 0, "QLinearAdd": 6, "QLinearMul": 6,
    "QLinearGlobalAveragePool": 3, "QLinearAveragePool": 3, "QLinearSigmoid": 3, "QLinearLeakyRelu": 3,
    "QLinearSoftmax": 3, "QLinearReduceMean": 3,
}  # fmt: skip
"""operator → which input is the scale of its result; the zero point follows. Source: onnx.ai QLinearConv-10,
QLinearMatMul-21; onnxruntime docs/ContribOperators.md (com.microsoft), read 2026-11-30."""


def record_quantization(builder: GraphBuilder) -> None:
    """Puts scale and zero point on both sides of every QuantizeLinear and DequantizeLinear.

    The float side carries them too: its values are on that grid, or are about to be. Scales that
    are computed, or longer than the values a Graph keeps, are left out.
    """
    graph = builder.graph
    for node, op in enumerate(graph.node_op):
        if op in _RESULT_SCALE:
            _record_result(builder, node, _RESULT_SCALE[op])
        if op not in _OPERATORS:
            continue
        inputs, outputs = builder.inputs_of(node), builder.outputs_of(node)
        if len(inputs) < 2 or not outputs or min(inputs[:2]) < 0:
            continue
        scale = graph.tensor_value.get(inputs[1])
        zero = graph.tensor_value.get(inputs[2]) if len(inputs) > 2 and inputs[2] >= 0 else []
        if not scale or zero is None or not all(isinstance(z, (int, float)) for z in [*scale, *zero]):
            continue
        axis = graph.node_attributes[node].get("axis", 1)
        found = Quantization(
            scale=tuple(map(float, scale)),
            zero_point=tuple(int(z) for z in zero) or (0,) * len(scale),
            axis=axis if len(scale) > 1 and isinstance(axis, int) else None,
        )
        for tensor in (inputs[0], outputs[0]):
            if tensor >= 0:
                builder.quantization(tensor, found)


def _record_result(builder: GraphBuilder, node: int, place: int) -> None:
    """Puts the scale of an integer operator's result on its output; one that is computed is left out."""
    graph = builder.graph
    inputs, outputs = builder.inputs_of(node), builder.outputs_of(node)
    if len(inputs) <= place or not outputs or outputs[0] < 0 or inputs[place] < 0:
        return
    scale = graph.tensor_value.get(inputs[place])
    has_zero = len(inputs) > place + 1 and inputs[place + 1] >= 0
    zero = graph.tensor_value.get(inputs[place + 1]) if has_zero else [0]
    if scale and zero and len(scale) == 1 and all(isinstance(v, (int, float)) for v in [*scale, *zero]):
        found = Quantization(scale=(float(scale[0]),), zero_point=(int(zero[0]),))
        builder.quantization(outputs[0], found)
