"""Reads `.tflite` files: all subgraphs, operator versions, options, quantization; weights stay on disk.

Node versions are the file's operator versions. Custom operators have the domain "custom"; stateful
control flow (IF, WHILE, CALL, STABLEHLO bodies) refers to its subgraphs. Nodes have no names in this
format; scopes come from the name of the first output. Schema: TensorFlow's schema.fbs through
`resources/schemas/tflite.json`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from studio.graph.builder import GraphBuilder
from studio.graph.flatbuffer import FlatBuffer, Schema, Table, broken, load_schema
from studio.graph.graph import Graph, Provenance, SubgraphRef, TensorKind
from studio.graph.mapped import map_file
from studio.graph.tflite_options import options_of
from studio.graph.tflite_tensors import Tensors


def read_tflite(path: Path) -> Graph:
    """The graph of a TFLite file. Raises InputError when it is damaged."""
    return _Reader(FlatBuffer(map_file(path), load_schema("tflite"))).read()


class _Reader:
    def __init__(self, buffer: FlatBuffer) -> None:
        self.buffer = buffer
        self.schema: Schema = buffer.schema
        self.builder = GraphBuilder("tflite")
        self._codes: list[tuple[str, str, int]] = []

    def read(self) -> Graph:
        b, g = self.builder, self.builder.graph
        model = self.buffer.root()
        g.producer = model["description"]
        g.metadata["schema_version"] = str(model["version"])
        self._tensors = Tensors(self.buffer, b)
        self._codes = [self._code(table) for table in model["operator_codes"]]
        self._read_metadata(model)
        subgraphs = model["subgraphs"]
        if not subgraphs:
            raise broken("it has no graph")
        for index, table in enumerate(subgraphs):
            b.subgraph(table["name"] or ("main" if index == 0 else f"subgraph {index}"))
        g.name = g.subgraphs[0].name
        for index, table in enumerate(subgraphs):
            self._read_subgraph(table, index)
        return b.finish()

    def _code(self, table: Table) -> tuple[str, str, int]:
        """(operator, domain, version). Codes under 127 are stored twice, for old readers."""
        code = max(int(table["builtin_code"]), int(table["deprecated_builtin_code"]))
        name = self.schema.enum("BuiltinOperator", code)
        version = int(table["version"])
        if name == "CUSTOM":
            return table["custom_code"] or "CUSTOM", "custom", version
        return (name, "", version) if not name.isdigit() else (f"BUILTIN_{name}", "unknown", version)

    def _read_metadata(self, model: Table) -> None:
        spans = self._tensors.spans
        for entry in model["metadata"]:
            name, index = entry["name"], entry["buffer"]
            if not 0 <= index < len(spans):
                continue
            start, length = spans[index]
            if name == "min_runtime_version":
                text = bytes(self.buffer.data[start : start + min(length, 32)]).split(b"\0")[0]
                self.builder.graph.metadata[name] = text.decode("ascii", "replace")
            elif name == "LiteRtStamp":  # maker and SoC, 124 characters each (litert/core/build_stamp.h)
                words = bytes(self.buffer.data[start : start + min(length, 250)]).split(b"\0")
                stamp = b" ".join(word for word in words if len(word) > 1)
                self.builder.graph.metadata[name] = stamp.decode("ascii", "replace")
            elif name:
                self.builder.graph.metadata[name[:200]] = f"{length} bytes"

    # subgraphs

    def _read_subgraph(self, table: Table, index: int) -> None:
        b = self.builder
        ids = [
            self._tensors.add(tensor, f"{index}/{number}") for number, tensor in enumerate(table["tensors"])
        ]
        count = len(ids)

        def known(numbers: Any, *, optional: bool = False) -> list[int]:
            result = []
            for number in numbers.tolist():
                if not 0 <= number < count:
                    if optional and number == -1:
                        result.append(-1)
                        continue
                    raise broken("an operator names a tensor that is not there")
                result.append(ids[number])
            return result

        inputs, outputs = known(table["inputs"]), known(table["outputs"])
        for tensor in inputs:
            b.set_kind(tensor, TensorKind.INPUT)
        for operator in table["operators"]:
            code = operator["opcode_index"]
            if code >= len(self._codes):
                raise broken("an operator has no code")
            op, domain, version = self._codes[code]
            sources = known(operator["inputs"], optional=True)
            results = known(operator["outputs"], optional=True)
            name = next((b.graph.tensor_name[t] for t in results if t >= 0), "")
            path, types, provenance = scope_of(name)
            node = b.node(
                op,
                sources,
                results,
                domain=domain,
                version=version,
                attributes=options_of(operator, op, self.schema, len(b.graph.subgraphs)),
                scope=b.scope(path, types) if path else 0,
                subgraph=index,
                provenance=provenance,
            )
            self._adopt(node)
        b.close_subgraph(index, inputs, outputs)

    def _adopt(self, node: int) -> None:
        """Hangs the subgraphs that a node refers to on it; the first reference wins."""
        g = self.builder.graph
        for name, value in g.node_attributes[node].items():
            if isinstance(value, SubgraphRef) and value.subgraph > 0:
                known = g.subgraphs[value.subgraph]
                if known.parent_node < 0:
                    g.subgraphs[value.subgraph] = msgspec.structs.replace(
                        known, parent_node=node, attribute=name
                    )


_MODULE = re.compile(r"^(?:\w+\.)+([^\W_]+)_(\w+)$")


def scope_of(tensor_name: str) -> tuple[list[str], list[str], Provenance | None]:
    """(scope path, class of each scope, provenance) from the name of a node's output.

    litert-torch writes `app.Net/torch.nn.modules.conv.Conv2d_conv;`: class and attribute of each
    module, the whole path being modules. Others write `block/conv/Conv2D`: all but the last are scopes.
    """
    parts = [part for part in tensor_name.partition(";")[0].split("/", 80) if part]
    modules = [_MODULE.match(part) for part in parts]
    if not any(modules):
        return parts[:-1], [], None
    found = [match for match in modules if match]
    path = [match.group(2) for match in found]
    types = [match.group(1) for match in found]
    return path, types, Provenance(module=".".join(path), module_type=types[-1])
