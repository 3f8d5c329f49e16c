"""What is inside an ExecuTorch XNNPACK delegate: its operators as a subgraph, in XNNPACK's own names.

A blob is a header (`XH00`), a flatbuffer (`XN00`/`XN01`) and constant data. Tensors are in XNNPACK's
order (NHWC). Source: executorch/backends/xnnpack/runtime/XNNHeader.h and serialization/schema.fbs (1.5).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from studio.graph.builder import GraphBuilder
from studio.graph.etrecord import MethodOrigins
from studio.graph.flatbuffer import FlatBuffer, Table, broken, load_schema
from studio.graph.graph import AttributeValue, DataLocation, Quantization, Shape, TensorKind

Span = tuple[int, int]
_NONE = 0xFFFFFFFF
_HEADER = struct.Struct("<4s4sHIIIQ")

_DTYPES = {
    "fp32": "float32", "fp16": "float16", "qint8": "int8", "quint8": "uint8", "qint32": "int32",
    "qcint8": "int8", "qcint32": "int32", "qcint4": "int4", "qdint8": "int8", "qbint4": "int4",
    "qpint8": "int8", "int32": "int32", "pfp32": "float32", "bf16": "bfloat16",
}  # fmt: skip


class XnnpackBlob:
    """A parsed blob at `span` of the file; `named` are the program's shared constants by key."""

    def __init__(self, data: memoryview, span: Span, named: Mapping[str, Span]) -> None:
        start, length = span
        blob = data[start : start + length]
        flatbuffer, self._constants = (0, length), (0, 0)
        if bytes(blob[4:8]) == b"XH00":
            if length < _HEADER.size:
                raise broken("an XNNPACK delegate is cut off")
            _, _, _, offset, size, constant_offset, constant_size = _HEADER.unpack_from(blob)
            if offset + size > length or constant_offset + constant_size > length:
                raise broken("an XNNPACK delegate points outside itself")
            flatbuffer = (offset, size)
            self._constants = (start + constant_offset, constant_size)
        self._start = start + flatbuffer[0]
        buffer = FlatBuffer(blob[flatbuffer[0] : flatbuffer[0] + flatbuffer[1]], load_schema("xnnpack"))
        self._schema = buffer.schema
        self._graph = buffer.root()
        self._named = named
        self.inputs: list[int] = self._graph["input_ids"].tolist()
        self.outputs: list[int] = self._graph["output_ids"].tolist()

    def read_into(self, builder: GraphBuilder, subgraph: int, origins: MethodOrigins | None = None) -> None:
        """Adds the nodes; the subgraph's inputs and outputs stand in the order of the delegate's."""
        locations = self._locations()
        ids: dict[int, int] = {}
        for value in self._graph["xvalues"]:
            self._value(value["xvalue_union"], builder, ids, locations)
        inputs = [self._known(ids, n) for n in self.inputs]
        for tensor in inputs:
            builder.set_kind(tensor, TensorKind.INPUT)
        for node in self._graph["xnodes"]:
            self._node(node, builder, subgraph, ids, origins)
        builder.close_subgraph(subgraph, inputs, [self._known(ids, n) for n in self.outputs])

    def _locations(self) -> list[Span]:
        """Where constant 1, 2, … is; constant 0 means none."""
        result: list[Span] = []
        for entry in self._graph["constant_data"]:
            key = entry["named_key"]
            if key:
                result.append(self._named.get(key, (0, 0)))
                continue
            offset, size = int(entry["offset"]), int(entry["size"])
            if offset + size > self._constants[1]:
                raise broken("an XNNPACK constant lies outside its delegate")
            result.append((self._constants[0] + offset, size))
        if not result:
            for table in self._graph["constant_buffer"]:
                offset, size = table.span("storage")
                result.append((self._start + offset, size))
        return result

    def _value(
        self,
        table: Table | None,
        builder: GraphBuilder,
        ids: dict[int, int],
        locations: Sequence[Span],
    ) -> None:
        if table is None:
            return
        quantization = table["quant_params"] if table.kind == "XNNQuantizedTensorValue" else None
        if table.kind == "XNNQuantizedTensorValue":
            table = table["tensor_value"]
        if table is None:
            raise broken("an XNNPACK value has no tensor")
        number = int(table["id_out"])
        kind = self._schema.enum("XNNDatatype", int(table["datatype"])).removeprefix("xnn_datatype_")
        shape: Shape = tuple(table["dims"].tolist())
        tensor = ids[number] = builder.tensor(f"xnn {number}", _DTYPES.get(kind, ""), shape)
        constant = int(table["constant_buffer_idx"])
        if constant:
            if constant >= len(locations):
                raise broken("an XNNPACK value names a constant that is not there")
            offset, size = locations[constant]
            builder.constant(tensor, data=DataLocation(path="", offset=offset, length=size))
        found = self._quantization(quantization, locations)
        if found is not None:
            builder.quantization(tensor, found)

    def _quantization(self, table: Table | None, locations: Sequence[Span]) -> Quantization | None:
        if table is None:
            return None
        if table.kind == "PerTensorQuant":
            return Quantization(scale=(float(table["scale"]),), zero_point=(int(table["zero_point"]),))
        if table.kind == "PerChannelQuant":
            scale = table["scale"]
            if scale.size:
                return Quantization(
                    scale=tuple(scale.tolist()),
                    zero_point=(0,) * scale.size,
                    axis=int(table["channel_dim"]),
                )
        return None

    def _node(
        self,
        table: Table,
        builder: GraphBuilder,
        subgraph: int,
        ids: Mapping[int, int],
        origins: MethodOrigins | None,
    ) -> None:
        union = table["xnode_union"]
        if union is None:
            builder.node("XNN?", [], [], domain="xnnpack", subgraph=subgraph)
            return
        attributes: dict[str, AttributeValue] = {}
        inputs: list[int] = []
        outputs: list[int] = []
        operands = int(union.kind[-1]) if union.kind.startswith("XNNConcatenate") else 99
        for name in union.fields():
            value = union[name]
            if not name.endswith("_id"):
                attributes[name] = value.tolist() if hasattr(value, "tolist") else value
            elif name.startswith("output"):
                outputs.append(self._known(ids, value))
            elif len(inputs) < operands:
                inputs.append(-1 if value == _NONE else self._known(ids, value))
        limits = table["output_min_max"]
        if limits is not None:
            attributes["output_min"] = float(limits["output_min"])
            attributes["output_max"] = float(limits["output_max"])
        scope, provenance = origins.of_handle(builder, int(table["debug_handle"])) if origins else (0, None)
        builder.node(
            union.kind, inputs, outputs,
            domain="xnnpack", attributes=attributes, subgraph=subgraph, scope=scope, provenance=provenance,
        )  # fmt: skip

    @staticmethod
    def _known(ids: Mapping[int, int], value: int) -> int:
        if value not in ids:
            raise broken("an XNNPACK operator names a value that is not there")
        return ids[value]
