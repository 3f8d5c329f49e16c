"""Options of a `.tflite` operator as attributes: enums by name, bodies as references."""

from __future__ import annotations

from typing import Any

import numpy as np

from studio.graph.builder import MAX_VALUES
from studio.graph.flatbuffer import Schema, Table
from studio.graph.graph import AttributeValue, SubgraphRef

_ENUM_OF = {
    "padding": "Padding",
    "fused_activation_function": "ActivationFunctionType",
    "in_data_type": "TensorType",
    "out_data_type": "TensorType",
    "quantized_bias_type": "TensorType",
    "output_type": "TensorType",
    "weights_format": "FullyConnectedOptionsWeightsFormat",
    "combiner": "CombinerType",
    "kernel_type": "LSTMKernelType",
    "reduce_function": "ReduceWindowFunction",
    "comparison_direction": "StablehloComparisonDirection",
    "compare_type": "StablehloComparisonType",
}
_MIRROR_PAD = "MirrorPadMode"
_BODIES = {
    "then_subgraph_index", "else_subgraph_index", "cond_subgraph_index", "body_subgraph_index",
    "init_subgraph_index", "subgraph", "embedded_functions", "comparator_subgraph_index",
    "computation_subgraph_index", "decomposition_subgraph_index",
}  # fmt: skip


def options_of(operator: Table, op: str, schema: Schema, subgraphs: int) -> dict[str, AttributeValue]:
    """The builtin options and the size of custom ones; `subgraphs` is how many graphs the file has."""
    result: dict[str, AttributeValue] = {}
    for field in ("builtin_options", "builtin_options_2"):
        table = operator[field]
        if table is not None:
            for name in table.fields():
                result[name] = _option(name, table[name], op, schema, subgraphs)
    length = operator.span("custom_options")[1]
    if length:
        result["custom_options_bytes"] = length
    return result


def _option(name: str, value: Any, op: str, schema: Schema, subgraphs: int) -> AttributeValue:
    if name in _BODIES and isinstance(value, int):
        if 0 <= value < subgraphs:
            return SubgraphRef(subgraph=value)
        return value
    enum = _MIRROR_PAD if op == "MIRROR_PAD" and name == "mode" else _ENUM_OF.get(name)
    if enum and isinstance(value, int) and not isinstance(value, bool) and enum in schema.enums:
        return schema.enum(enum, value)
    if isinstance(value, np.ndarray):
        items: list[Any] = value[: 16 * MAX_VALUES].tolist()
        return items
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return f"{len(value)} entries" if isinstance(value, list) else "…"
