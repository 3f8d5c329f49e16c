"""What is inside an ExecuTorch Vulkan delegate: its operator calls as a subgraph.

A blob is a header (`VH00`) and a flatbuffer (`VK00`). A call's results are its last arguments. Source:
executorch/backends/vulkan/runtime/VulkanDelegateHeader.cpp and serialization/schema.fbs (1.5).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from studio.graph.builder import GraphBuilder
from studio.graph.etrecord import MethodOrigins
from studio.graph.flatbuffer import FlatBuffer, Table, broken, load_schema
from studio.graph.graph import AttributeValue, Shape, TensorKind

Span = tuple[int, int]
_HEADER = struct.Struct("<4s4sHIIIQ")
_DTYPES = {
    "BOOL": "bool", "UINT8": "uint8", "INT8": "int8", "INT32": "int32", "FLOAT16": "float16",
    "FLOAT32": "float32", "FLOAT64": "float64", "INT64": "int64",
}  # fmt: skip
_PLAIN = {
    "Int": "int_val",
    "Bool": "bool_val",
    "Double": "double_val",
    "String": "string_val",
    "SymInt": "value",
}


class VulkanBlob:
    """A parsed blob at `span` of the file."""

    def __init__(self, data: memoryview, span: Span, named: Mapping[str, Span]) -> None:
        start, length = span
        blob = data[start : start + length]
        offset, size = 0, length
        if bytes(blob[4:8]) == b"VH00":
            if length < _HEADER.size:
                raise broken("a Vulkan delegate is cut off")
            _, _, _, offset, size, _, _ = _HEADER.unpack_from(blob)
            if offset + size > length:
                raise broken("a Vulkan delegate points outside itself")
        buffer = FlatBuffer(blob[offset : offset + size], load_schema("vulkan"))
        self._schema = buffer.schema
        self._graph = buffer.root()
        self._values: list[Table | None] = [value["value"] for value in self._graph["values"]]
        self.inputs: list[int] = self._graph["input_ids"].tolist()
        self.outputs: list[int] = self._graph["output_ids"].tolist()

    def read_into(self, builder: GraphBuilder, subgraph: int, origins: MethodOrigins | None = None) -> None:
        """Adds the nodes; the subgraph's inputs and outputs stand in the order of the delegate's.

        Vulkan numbers its calls anew, so `origins` tells nothing of them.
        """
        ids: dict[int, int] = {}
        inputs = [self._tensor(n, builder, ids) for n in self.inputs]
        for tensor in inputs:
            builder.set_kind(tensor, TensorKind.INPUT)
        written = set(self.inputs)
        for call in self._graph["chain"]:
            self._call(call, builder, subgraph, ids, written)
        builder.close_subgraph(subgraph, inputs, [self._tensor(n, builder, ids) for n in self.outputs])

    def _call(
        self, call: Table, builder: GraphBuilder, subgraph: int, ids: dict[int, int], written: set[int]
    ) -> None:
        attributes: dict[str, AttributeValue] = {}
        numbers = call["args"].tolist()
        results = [n for n in self._flat(numbers[-1:]) if n not in written]
        inputs: list[int] = []
        for position, number in enumerate(numbers[: len(numbers) - (1 if results else 0)]):
            value = self._value(number)
            if value is None or value.kind == "Null":
                inputs.append(-1)
            elif value.kind in ("VkTensor", "ValueList"):
                inputs += [self._tensor(n, builder, ids) for n in self._flat([number])]
            elif value.kind in _PLAIN:
                attributes[f"argument {position}"] = value[_PLAIN[value.kind]]
            else:
                attributes[f"argument {position}"] = value["items"].tolist()
        outputs = [self._tensor(n, builder, ids) for n in results]
        written.update(results)
        builder.node(call["name"], inputs, outputs, domain="vulkan", attributes=attributes, subgraph=subgraph)

    def _flat(self, numbers: list[int]) -> list[int]:
        """Numbers of tensors, those inside value lists included."""
        result = []
        for number in numbers:
            value = self._value(number)
            if value is not None and value.kind == "ValueList":
                result += [n for n in value["items"].tolist() if n >= 0]
            elif value is not None and value.kind == "VkTensor":
                result.append(number)
        return result

    def _value(self, number: int) -> Table | None:
        if not 0 <= number < len(self._values):
            raise broken("a Vulkan call names a value that is not there")
        return self._values[number]

    def _tensor(self, number: int, builder: GraphBuilder, ids: dict[int, int]) -> int:
        if number not in ids:
            value = self._value(number)
            dtype, shape = "", None
            constant = -1
            if value is not None and value.kind == "VkTensor":
                dtype = _DTYPES.get(self._schema.enum("VkDataType", int(value["datatype"])), "")
                dims: Shape = tuple(value["dims"].tolist())
                shape, constant = dims, int(value["constant_id"])
            ids[number] = builder.tensor(f"vk {number}", dtype, shape)
            if constant >= 0:
                builder.constant(ids[number])
        return ids[number]
