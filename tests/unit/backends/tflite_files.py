"""Writes small `.tflite` files from lists of operators, for tests of what is read from them."""

from __future__ import annotations

from pathlib import Path

import flatbuffers
from ai_edge_litert import schema_py_generated as tfl

Op = tuple[str, list[str], list[str]]
"""Operator, names of its inputs, names of its outputs; an unknown operator is a custom one."""


def tflite_file(path: Path, *subgraphs: list[Op], inputs: str = "x", composite: dict[str, int] = {}) -> Path:  # noqa: B006
    """Float tensors of [1, 4] everywhere. `composite`: output name → its decomposition's subgraph."""
    codes: list[str] = []
    made = []
    for number, ops in enumerate(subgraphs):
        names: list[str] = [inputs] if number == 0 else []
        for _, taken, given in ops:
            names += [n for n in (*taken, *given) if n not in names]
        produced = {n for _, _, given in ops for n in given}
        consumed = {n for _, taken, _ in ops for n in taken}
        graph = tfl.SubGraphT()
        graph.name = b"main" if number == 0 else f"subgraph {number}".encode()
        graph.tensors = [_tensor(name) for name in names]
        graph.inputs = [i for i, n in enumerate(names) if n not in produced]
        graph.outputs = [i for i, n in enumerate(names) if n in produced and n not in consumed]
        graph.operators = []
        for op, taken, given in ops:
            if op not in codes:
                codes.append(op)
            node = tfl.OperatorT()
            node.opcodeIndex = codes.index(op)
            node.inputs, node.outputs = [names.index(n) for n in taken], [names.index(n) for n in given]
            if op == "STABLEHLO_COMPOSITE":
                node.builtinOptions2Type = tfl.BuiltinOptions2.StableHLOCompositeOptions
                node.builtinOptions2 = tfl.StableHLOCompositeOptionsT()
                node.builtinOptions2.name = b"odml.thing"
                node.builtinOptions2.decompositionSubgraphIndex = composite[given[0]]
            graph.operators.append(node)
        made.append(graph)
    model = tfl.ModelT()
    model.version, model.description, model.subgraphs, model.buffers = 3, b"test", made, [tfl.BufferT()]
    model.operatorCodes = [_code(op) for op in codes]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))
    return path


def _tensor(name: str) -> tfl.TensorT:
    made = tfl.TensorT()
    made.name, made.shape, made.buffer, made.type = name.encode(), [1, 4], 0, tfl.TensorType.FLOAT32
    return made


def _code(op: str) -> tfl.OperatorCodeT:
    made = tfl.OperatorCodeT()
    number = getattr(tfl.BuiltinOperator, op, None)
    made.builtinCode = tfl.BuiltinOperator.CUSTOM if number is None else number
    made.deprecatedBuiltinCode = min(made.builtinCode, 127)
    made.customCode = op.encode() if number is None else None
    made.version = 1
    return made
