"""Scales and zero points that QuantizeLinear and DequantizeLinear give to the tensors around them."""

from __future__ import annotations

from studio.graph.builder import GraphBuilder
from studio.graph.graph import Quantization

_OPERATORS = frozenset({"QuantizeLinear", "DequantizeLinear"})


def record_quantization(builder: GraphBuilder) -> None:
    """Puts scale and zero point on both sides of every QuantizeLinear and DequantizeLinear.

    The float side carries them too: its values are on that grid, or are about to be. Scales that
    are computed, or longer than the values a Graph keeps, are left out.
    """
    graph = builder.graph
    for node, op in enumerate(graph.node_op):
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
