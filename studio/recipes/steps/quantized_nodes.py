"""How many nodes of a quantized ONNX file really compute in fewer bits, and where they came from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

_INTEGER_OPS = frozenset(
    ("QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger", "DynamicQuantizeMatMul",
     "MatMulIntegerToFloat", "MatMulNBits", "DynamicQuantizeLSTM", "QGemm", "QAttention")
)  # fmt: skip
_BOUNDARY_OPS = frozenset(("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "Cast", "Constant"))


def count_reduced_nodes(path: Path) -> tuple[int, int]:
    """(nodes that compute in fewer bits, nodes that compute at all), bodies of If and Loop included.

    Counted in the file itself. A node counts when it is an integer operator, reads float16, or
    reads a dequantized tensor and either has dequantized weights or gives to a QuantizeLinear: one
    that was kept in float between quantized ones does not.
    """
    import onnx

    reduced = total = 0
    for graph in _graphs(onnx.load(str(path), load_external_data=False).graph):
        halves = _float16_tensors(graph)
        weights, activations = _dequantized_tensors(graph)
        quantized_next = {n.input[0] for n in graph.node if n.op_type == "QuantizeLinear" and n.input}
        for node in graph.node:
            if node.op_type in _BOUNDARY_OPS:
                continue
            total += 1
            reads = set(node.input)
            reduced += bool(
                node.op_type in _INTEGER_OPS
                or reads & halves
                or reads & weights
                or (reads & activations and quantized_next.intersection(node.output))
            )
    return reduced, total


def has_bodies(path: Path) -> bool:
    """Whether an ONNX file has If, Loop or Scan, whose bodies hold nodes of their own."""
    import onnx

    return len(list(_graphs(onnx.load(str(path), load_external_data=False).graph))) > 1


def _graphs(graph: Any) -> Iterator[Any]:
    """The graph and every body inside it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for body in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from _graphs(body)


def _dequantized_tensors(graph: Any) -> tuple[set[str], set[str]]:
    """(dequantized constants, dequantized activations) of a graph, by name."""
    constants = {t.name for t in graph.initializer}
    weights: set[str] = set()
    activations: set[str] = set()
    for node in graph.node:
        if node.op_type == "DequantizeLinear":
            (weights if node.input[0] in constants else activations).update(node.output)
    return weights, activations


def _float16_tensors(graph: Any) -> set[str]:
    """Names of float16 tensors; the outputs of a node that reads float16 are taken for float16."""
    from onnx import TensorProto

    halves = {t.name for t in graph.initializer if t.data_type in (TensorProto.FLOAT16, TensorProto.BFLOAT16)}
    for node in graph.node:
        if node.op_type == "Constant":
            is_half = any(a.t.data_type == TensorProto.FLOAT16 for a in node.attribute if a.HasField("t"))
        elif node.op_type == "Cast":
            is_half = any(a.name == "to" and a.i == TensorProto.FLOAT16 for a in node.attribute)
        else:
            is_half = node.op_type not in _BOUNDARY_OPS and not halves.isdisjoint(node.input)
        if is_half:
            halves.update(node.output)
    return halves


def carry_metadata(source: Path, made: Path) -> None:
    """Copies names of modules and source lines to the nodes that are still there.

    onnxruntime's clean-up drops node metadata; nodes are matched by name, then by first output.
    """
    import onnx

    before = onnx.load(str(source), load_external_data=False)
    after = onnx.load(str(made), load_external_data=False)
    by_name = {node.name: node for node in before.graph.node if node.name and node.metadata_props}
    by_output = {node.output[0]: node for node in before.graph.node if node.output and node.metadata_props}
    touched = False
    for node in after.graph.node:
        origin = by_name.get(node.name) or by_output.get(node.output[0] if node.output else "")
        if origin is not None and not node.metadata_props and origin.op_type == node.op_type:
            node.metadata_props.extend(origin.metadata_props)
            touched = True
    if touched:
        made.write_bytes(after.SerializeToString())
