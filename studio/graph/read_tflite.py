"""Reads `.tflite` files: all subgraphs, operator versions, options, quantization; weights stay on disk.

Node versions are the file's operator versions. Custom operators have the domain "custom"; stateful
control flow (IF, WHILE, CALL, STABLEHLO bodies) refers to its subgraphs. Nodes have no names in this
format; scopes come from the name of the first output. Schema: TensorFlow's schema.fbs through
`resources/schemas/tflite.json`.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from studio.graph.builder import MAX_VALUES, GraphBuilder
from studio.graph.dtypes import byte_count, element_count, unpack
from studio.graph.flatbuffer import FlatBuffer, Schema, Table, broken, load_schema
from studio.graph.graph import (
    AttributeValue,
    DataLocation,
    Graph,
    Provenance,
    Quantization,
    Shape,
    SubgraphRef,
    TensorKind,
)
from studio.graph.mapped import map_file

_DTYPES = {
    "FLOAT32": "float32", "FLOAT16": "float16", "INT32": "int32", "UINT8": "uint8", "INT64": "int64",
    "STRING": "string", "BOOL": "bool", "INT16": "int16", "COMPLEX64": "complex64", "INT8": "int8",
    "FLOAT64": "float64", "COMPLEX128": "complex128", "UINT64": "uint64", "RESOURCE": "resource",
    "VARIANT": "variant", "UINT32": "uint32", "UINT16": "uint16", "INT4": "int4", "BFLOAT16": "bfloat16",
    "INT2": "int2", "UINT4": "uint4", "FLOAT8_E4M3FN": "float8_e4m3fn", "FLOAT8_E5M2": "float8_e5m2",
}  # fmt: skip

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
_SMALL_BUFFER = 16 * 1024


def read_tflite(path: Path) -> Graph:
    """The graph of a TFLite file. Raises InputError when it is damaged."""
    return _Reader(FlatBuffer(map_file(path), load_schema("tflite"))).read()


def sparsity_of(path: Path, place: str) -> Table:
    """The sparsity of the tensor at `SUBGRAPH/NUMBER` of a file. Raises InputError when it has none."""
    subgraph, _, tensor = place.partition("/")
    model = FlatBuffer(map_file(path), load_schema("tflite")).root()
    subgraphs = model["subgraphs"]
    tensors = subgraphs[int(subgraph)]["tensors"] if int(subgraph) < len(subgraphs) else []
    found: Table | None = tensors[int(tensor)]["sparsity"] if int(tensor) < len(tensors) else None
    if found is None:
        raise broken("a sparse tensor is no longer there")
    return found


class _Reader:
    def __init__(self, buffer: FlatBuffer) -> None:
        self.buffer = buffer
        self.schema: Schema = buffer.schema
        self.builder = GraphBuilder("tflite")
        self._spans: list[tuple[int, int]] = []
        self._codes: list[tuple[str, str, int]] = []

    def read(self) -> Graph:
        b, g = self.builder, self.builder.graph
        model = self.buffer.root()
        g.producer = model["description"]
        g.metadata["schema_version"] = str(model["version"])
        self._spans = [self._span(table) for table in model["buffers"]]
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

    def _span(self, table: Table) -> tuple[int, int]:
        """Where a buffer's bytes are: inside the flatbuffer, or behind it in files over 2 GB."""
        start, length = table.span("data")
        if not length and table["offset"] > 1:
            start, length = int(table["offset"]), int(table["size"])
            if start + length > self.buffer.size:
                raise broken("a buffer lies outside the file")
        return start, length

    def _code(self, table: Table) -> tuple[str, str, int]:
        """(operator, domain, version). Codes under 127 are stored twice, for old readers."""
        code = max(int(table["builtin_code"]), int(table["deprecated_builtin_code"]))
        name = self.schema.enum("BuiltinOperator", code)
        version = int(table["version"])
        if name == "CUSTOM":
            return table["custom_code"] or "CUSTOM", "custom", version
        return (name, "", version) if not name.isdigit() else (f"BUILTIN_{name}", "unknown", version)

    def _read_metadata(self, model: Table) -> None:
        for entry in model["metadata"]:
            name, index = entry["name"], entry["buffer"]
            if not 0 <= index < len(self._spans):
                continue
            start, length = self._spans[index]
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
        ids = [self._tensor(tensor, f"{index}/{number}") for number, tensor in enumerate(table["tensors"])]
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
                attributes=self._options(operator, op),
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

    def _options(self, operator: Table, op: str) -> dict[str, AttributeValue]:
        result: dict[str, AttributeValue] = {}
        for field in ("builtin_options", "builtin_options_2"):
            table = operator[field]
            if table is not None:
                for name in table.fields():
                    result[name] = self._option(name, table[name], op)
        length = operator.span("custom_options")[1]
        if length:
            result["custom_options_bytes"] = length
        return result

    def _option(self, name: str, value: Any, op: str) -> AttributeValue:
        if name in _BODIES and isinstance(value, int):
            if 0 <= value < len(self.builder.graph.subgraphs):
                return SubgraphRef(subgraph=value)
            return value
        enum = _MIRROR_PAD if op == "MIRROR_PAD" and name == "mode" else _ENUM_OF.get(name)
        if enum and isinstance(value, int) and not isinstance(value, bool) and enum in self.schema.enums:
            return self.schema.enum(enum, value)
        if isinstance(value, np.ndarray):
            items: list[Any] = value[: 16 * MAX_VALUES].tolist()
            return items
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        return f"{len(value)} entries" if isinstance(value, list) else "…"

    # tensors

    def _tensor(self, table: Table, place: str) -> int:
        """The id of a tensor; `place` is where `sparsity_of` finds it again."""
        b = self.builder
        dtype = _DTYPES.get(self.schema.enum("TensorType", int(table["type"])), "")
        static = table["shape"]
        signature = table["shape_signature"]
        dims: list[int] = (signature if signature.size == static.size and signature.size else static).tolist()
        shape: Shape = tuple(d if d >= 0 else None for d in dims)
        tensor = b.tensor(table["name"], dtype, shape)
        self._read_quantization(tensor, table["quantization"])
        index = table["buffer"]
        if index >= len(self._spans):
            raise broken("a tensor names a buffer that is not there")
        start, length = self._spans[index]
        if not length or table["is_variable"]:
            return tensor
        location = DataLocation(path="", offset=start, length=length)
        if table["sparsity"] is not None:
            location = msgspec.structs.replace(location, encoding=f"tflite-sparse {place}")
            b.constant(tensor, data=location)
            b.set_bytes(tensor, length)
            return tensor
        b.constant(tensor, value=self._values(start, length, dtype, shape), data=location)
        if dtype == "string" or byte_count(dtype, shape) < 0:
            b.set_bytes(tensor, length)
        return tensor

    def _values(self, start: int, length: int, dtype: str, shape: Shape) -> list[Any] | None:
        count = element_count(shape)
        if not 0 <= count <= MAX_VALUES or length > _SMALL_BUFFER:
            return None
        raw = bytes(self.buffer.data[start : start + length])
        if dtype == "string":
            return _strings(raw, count)
        try:
            values = unpack(raw, dtype, count)
            if values.dtype.kind not in "biuf":
                values = values.astype(np.float32)
            return list(values.tolist())
        except (KeyError, ValueError, TypeError):
            return None

    def _read_quantization(self, tensor: int, table: Table | None) -> None:
        if table is None:
            return
        scale, zero = table["scale"], table["zero_point"]
        if not scale.size:
            return
        if zero.size not in (0, 1, scale.size):
            raise broken("scales and zero points of a tensor differ in number")
        points = zero.tolist() or [0]
        self.builder.quantization(
            tensor,
            Quantization(
                scale=tuple(scale.tolist()),
                zero_point=tuple(points * scale.size if len(points) == 1 else points),
                axis=int(table["quantized_dimension"]) if scale.size > 1 else None,
            ),
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


def _strings(raw: bytes, count: int) -> list[str] | None:
    """TFLite's string buffer: number of strings, their offsets, the end, then the bytes."""
    head = np.frombuffer(raw, "<i4", len(raw) // 4)
    if head.size < count + 2 or head[0] != count:
        return None
    ends = head[1 : count + 2].tolist()
    if any(not 0 <= a <= b <= len(raw) for a, b in pairwise(ends)):
        return None
    return [raw[a:b].decode("utf-8", "replace") for a, b in pairwise(ends)]
