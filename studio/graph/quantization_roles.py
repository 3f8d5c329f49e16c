"""What every node of a graph is to quantisation: integer, float, a border between, a pair, an island."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph, TensorKind

QUANTIZE_OPS = frozenset({"QuantizeLinear", "QUANTIZE", "quantize_per_tensor", "quantize_per_channel"})
DEQUANTIZE_OPS = frozenset(
    {"DequantizeLinear", "DEQUANTIZE", "dequantize_per_tensor", "dequantize_per_channel"}
)
_WHOLE = frozenset({"int4", "uint4", "int8", "uint8", "int16", "uint16"})
_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})

INTEGER, FLOAT, BORDER, REQUANTIZE, ISLAND, OTHER = range(6)
"""Codes of the overlay, in the order of its legend."""


def quantization_codes(graph: Graph) -> npt.NDArray[np.uint8]:
    """[nodes] INTEGER, FLOAT, BORDER, REQUANTIZE, ISLAND or OTHER.

    A node counts as integer when its activations are quantised tensors, or when all its float
    activations come from dequantize nodes and go to quantize nodes (the QDQ form).
    """
    base = [op.rsplit("::", 1)[-1].split(".")[0] for op in graph.node_op]
    is_quantize = np.array([b in QUANTIZE_OPS for b in base], np.bool_)
    is_dequantize = np.array([b in DEQUANTIZE_OPS for b in base], np.bool_)
    is_float = np.array([d in _FLOATS for d in graph.tensor_dtype], np.bool_)
    is_whole = np.array(
        [
            dtype in _WHOLE or (dtype == "int32" and tensor in graph.tensor_quantization)
            for tensor, dtype in enumerate(graph.tensor_dtype)
        ],
        np.bool_,
    )
    codes = np.full(graph.node_count, OTHER, np.uint8)
    codes[is_quantize | is_dequantize] = BORDER
    activation = graph.tensor_kind != TensorKind.CONSTANT
    for node in np.flatnonzero(codes == OTHER).tolist():
        inputs = [t for t in graph.inputs_of(node).tolist() if t >= 0 and activation[t]]
        outputs = [t for t in graph.outputs_of(node).tolist() if t >= 0]
        floats_in = [t for t in inputs if is_float[t]]
        floats_out = [t for t in outputs if is_float[t]]
        if not floats_in and not floats_out:
            if any(is_whole[t] for t in (*inputs, *outputs)):
                codes[node] = INTEGER
            continue
        is_fed = all(graph.producer_of[t] >= 0 and is_dequantize[graph.producer_of[t]] for t in floats_in)
        is_drained = all(_only(is_quantize, graph.consumers_of(t)) for t in floats_out)
        codes[node] = INTEGER if is_fed and is_drained else FLOAT
    source, target, tensor = graph.edges
    pair = is_dequantize[source] & is_quantize[target]
    codes[source[pair]] = REQUANTIZE
    codes[target[pair]] = REQUANTIZE
    # a tflite QUANTIZE between two integer tensors changes the scale as well
    codes[target[is_quantize[target] & is_whole[tensor] & activation[tensor]]] = REQUANTIZE
    if (codes == INTEGER).any():
        codes[codes == FLOAT] = ISLAND
    return codes


def _only(mask: npt.NDArray[np.bool_], nodes: npt.NDArray[np.int32]) -> bool:
    return bool(len(nodes)) and bool(mask[nodes].all())
