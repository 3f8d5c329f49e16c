"""Quantisation groups: DequantizeLinear → operator → QuantizeLinear, which runtimes take as one node.

Source: onnxruntime/core/optimizer/qdq_transformer/selectors_actions/qdq_selectors.cc (CheckQDQNodes):
every present input comes from a DequantizeLinear (operators that only move data: input 0), every
output goes to exactly one QuantizeLinear and is no graph output. A DequantizeLinear with other readers, or
whose result the graph returns, is copied for the group (ensure_unique_dq_for_node_unit.cc), itself left out.
"""

from __future__ import annotations

import numpy as np

from studio.graph.graph import Graph, Ints

DATA_INPUT_ONLY = {
    "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Resize", "MaxPool", "AveragePool",
    "GlobalAveragePool", "GlobalMaxPool", "Slice", "Split", "Gather", "GatherElements", "Pad", "Expand",
    "Tile", "Clip", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum", "Cast", "TopK", "ArgMax",
    "ArgMin", "DepthToSpace", "SpaceToDepth", "Identity",
}  # fmt: skip
QDQ_OPS = {"DequantizeLinear", "QuantizeLinear"}


def find_groups(graph: Graph) -> tuple[Ints, dict[int, tuple[list[int], list[int]]]]:
    """(for every node the node its group stands around, −1 = none; per such node its DQ and Q nodes).

    The DQ list follows the inputs (−1 = that input is not dequantised).
    """
    owner = np.full(graph.node_count, -1, np.int32)
    groups: dict[int, tuple[list[int], list[int]]] = {}
    ops = graph.node_op
    if "QuantizeLinear" not in ops:
        return owner, groups
    outputs = {t for s in graph.subgraphs for t in s.outputs}
    producer = graph.producer_of
    for quantize in [i for i, op in enumerate(ops) if op == "QuantizeLinear"]:
        data = graph.inputs_of(quantize)[:1].tolist()
        node = int(producer[data[0]]) if data and data[0] >= 0 else -1
        if node < 0 or node in groups or ops[node] in QDQ_OPS:
            continue
        quantizers: list[int] = []
        for tensor in graph.outputs_of(node).tolist():
            if tensor < 0:
                continue
            readers = graph.consumers_of(tensor).tolist()
            if len(readers) != 1 or ops[readers[0]] != "QuantizeLinear" or tensor in outputs:
                break
            quantizers.append(readers[0])
        else:
            ins = graph.inputs_of(node).tolist()
            makers = [int(producer[t]) if t >= 0 else -1 for t in ins]
            dequantizers = [m if m >= 0 and ops[m] == "DequantizeLinear" else -1 for m in makers]
            needed = [0] if ops[node] in DATA_INPUT_ONLY else [i for i, t in enumerate(ins) if t >= 0]
            if needed and all(dequantizers[i] >= 0 for i in needed if i < len(dequantizers)):
                groups[node] = (dequantizers, quantizers)
                owner[node] = node
                owner[quantizers] = node
                for i, dequantizer in enumerate(dequantizers):
                    alone = len(graph.consumers_of(ins[i])) == 1 and ins[i] not in outputs
                    if dequantizer >= 0 and alone:
                        owner[dequantizer] = node
    return owner, groups
