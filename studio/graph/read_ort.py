"""Reads `.ort` files: ONNX Runtime's flatbuffer, turned into the ONNX structure and read as that.

The flatbuffer holds the same things as a ModelProto (nodes, attributes, subgraphs, types), so it becomes
one, weights left where they are, and `read_onnx` does the rest. Nodes come in order of index, which need
not be an order of execution; they are sorted here. Schema: onnxruntime/core/flatbuffers/schema/ort.fbs.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

from studio.errors import InputError
from studio.graph.builder import MAX_VALUES
from studio.graph.flatbuffer import FlatBuffer, Table, broken, load_schema
from studio.graph.graph import Graph
from studio.graph.mapped import map_file
from studio.graph.onnx_skeleton import SELF
from studio.graph.read_onnx import read_model

_MAX_DEPTH = 40


def read_ort(path: Path) -> Graph:
    """The graph of an ORT file. Raises InputError when it is damaged."""
    session = FlatBuffer(map_file(path), load_schema("ort")).root()
    model = session["model"]
    if model is None or model["graph"] is None:
        raise broken("it has no graph")
    graph = read_model(_model(model), path.parent, format_="ort")
    graph.metadata["ort_version"] = session["ort_version"]
    used = set(graph.node_domain) | {""}  # ORT lists every domain it knows
    graph.opsets = {domain: version for domain, version in graph.opsets.items() if domain in used}
    return graph


def _model(table: Table) -> Any:
    import onnx

    model = onnx.ModelProto()
    model.ir_version = table["ir_version"]
    model.producer_name = table["producer_name"]
    model.producer_version = table["producer_version"]
    for entry in table["opset_import"]:
        model.opset_import.add(domain=entry["domain"], version=entry["version"])
    for entry in table["metadata_props"]:
        model.metadata_props.add(key=entry["key"], value=entry["value"])
    _graph(table["graph"], model.graph, 0)
    model.graph.name = "main"
    return model


def _graph(table: Table, graph: Any, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise InputError("The file nests graphs too deeply.", hint="Flatten its If and Loop bodies.")
    outputs = set(table["outputs"])
    infos = {info["name"]: info for info in table["node_args"]}
    for tensor in table["initializers"]:
        _tensor(tensor, graph.initializer.add())
    for sparse in table["sparse_initializers"]:
        values = sparse["values"]
        if values is not None:
            proto = graph.sparse_initializer.add()
            proto.values.name, proto.values.data_type = values["name"], values["data_type"]
            proto.dims.extend(sparse["dims"].tolist())
    for name in table["inputs"]:
        _info(infos.get(name), name, graph.input.add())
    for name in table["outputs"]:
        _info(infos.get(name), name, graph.output.add())
    for name, info in infos.items():
        if name not in outputs:
            _info(info, name, graph.value_info.add())
    for node in _sorted(table["nodes"]):
        _node(node, graph.node.add(), depth)


def _sorted(nodes: list[Table]) -> list[Table]:
    """The nodes so that producers come before consumers; those on a cycle last, in file order."""
    inputs = [[*node["inputs"], *node["implicit_inputs"]] for node in nodes]
    producer = {name: i for i, node in enumerate(nodes) for name in node["outputs"] if name}
    waits = [len({producer[name] for name in names if name in producer}) for names in inputs]
    consumers: dict[int, set[int]] = {}
    for index, names in enumerate(inputs):
        for name in names:
            if name in producer:
                consumers.setdefault(producer[name], set()).add(index)
    ready = deque(i for i, count in enumerate(waits) if count == 0)
    order: list[int] = []
    while ready:
        index = ready.popleft()
        order.append(index)
        for consumer in sorted(consumers.get(index, ())):
            waits[consumer] -= 1
            if waits[consumer] == 0:
                ready.append(consumer)
    placed = set(order)
    return [nodes[i] for i in order + [i for i in range(len(nodes)) if i not in placed]]


def _node(table: Table, node: Any, depth: int) -> None:
    node.op_type, node.domain, node.name = table["op_type"], table["domain"], table["name"]
    node.input.extend(table["inputs"])
    node.output.extend(table["outputs"])
    for attribute in table["attributes"]:
        proto = node.attribute.add()
        proto.name, proto.type = attribute["name"], max(0, min(int(attribute["type"]), 14))
        _attribute(attribute, proto, depth)


def _attribute(table: Table, proto: Any, depth: int) -> None:
    kind = proto.type
    if kind == 1:
        proto.f = table["f"]
    elif kind == 2:
        proto.i = table["i"]
    elif kind == 3:
        proto.s = table["s"].encode()
    elif kind == 4 and table["t"] is not None:
        _tensor(table["t"], proto.t)
    elif kind == 5 and table["g"] is not None:
        _graph(table["g"], proto.g, depth + 1)
    elif kind == 6:
        proto.floats.extend(table["floats"].tolist())
    elif kind == 7:
        proto.ints.extend(table["ints"].tolist())
    elif kind == 8:
        proto.strings.extend(s.encode() for s in table["strings"])
    elif kind == 9:
        for tensor in table["tensors"]:
            _tensor(tensor, proto.tensors.add())
    elif kind == 10:
        for graph in table["graphs"]:
            _graph(graph, proto.graphs.add(), depth + 1)


def _tensor(table: Table, proto: Any) -> None:
    """Dims, type, and either the few values or the place in the file."""
    proto.name, proto.data_type = table["name"], table["data_type"]
    dims = table["dims"].tolist()
    proto.dims.extend(dims)
    count = 1
    for dim in dims:
        count = min(count * max(dim, 0), 1 << 62)
    start, length = table.span("raw_data")
    if table["data_type"] == 8:
        proto.string_data.extend(s.encode() for s in table["string_data"])
    elif length and count <= MAX_VALUES and length <= 16 * MAX_VALUES:
        proto.raw_data = bytes(table.buffer.data[start : start + length])
    elif length:
        proto.data_location = 1
        for key, text in (("location", SELF), ("offset", str(start)), ("length", str(length))):
            proto.external_data.add(key=key, value=text)


def _info(table: Table | None, name: str, proto: Any) -> None:
    proto.name = name
    kind = table["type"] if table is not None else None
    value = kind["value"] if kind is not None else None
    if value is None:
        return
    if value.kind == "SequenceType":
        proto.type.sequence_type.SetInParent()
    elif value.kind == "MapType":
        proto.type.map_type.SetInParent()
    else:
        tensor = proto.type.tensor_type
        tensor.elem_type = value["elem_type"]
        if value["shape"] is not None:
            tensor.shape.SetInParent()
            for dim in value["shape"]["dim"]:
                found = tensor.shape.dim.add()
                size = dim["value"]
                if size is not None and size["dim_type"] == 1:
                    found.dim_value = size["dim_value"]
                elif size is not None and size["dim_type"] == 2:
                    found.dim_param = size["dim_param"]
