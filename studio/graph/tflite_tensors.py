"""Tensors of a `.tflite` file: type, shape, quantisation, where their bytes are or small values."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from studio.graph.builder import MAX_VALUES, GraphBuilder
from studio.graph.dtypes import byte_count, element_count, unpack
from studio.graph.flatbuffer import FlatBuffer, Table, broken, load_schema
from studio.graph.graph import DataLocation, Quantization, Shape
from studio.graph.mapped import map_file

_DTYPES = {
    "FLOAT32": "float32", "FLOAT16": "float16", "INT32": "int32", "UINT8": "uint8", "INT64": "int64",
    "STRING": "string", "BOOL": "bool", "INT16": "int16", "COMPLEX64": "complex64", "INT8": "int8",
    "FLOAT64": "float64", "COMPLEX128": "complex128", "UINT64": "uint64", "RESOURCE": "resource",
    "VARIANT": "variant", "UINT32": "uint32", "UINT16": "uint16", "INT4": "int4", "BFLOAT16": "bfloat16",
    "INT2": "int2", "UINT4": "uint4", "FLOAT8_E4M3FN": "float8_e4m3fn", "FLOAT8_E5M2": "float8_e5m2",
}  # fmt: skip

_SMALL_BUFFER = 16 * 1024


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


class Tensors:
    """Adds a file's tensors to a builder; knows where its buffers are."""

    def __init__(self, buffer: FlatBuffer, builder: GraphBuilder) -> None:
        self._buffer, self._builder = buffer, builder
        self.spans = [self._span(table) for table in buffer.root()["buffers"]]
        """Start and length in bytes of each buffer."""

    def _span(self, table: Table) -> tuple[int, int]:
        """Where a buffer's bytes are: inside the flatbuffer, or behind it in files over 2 GB."""
        start, length = table.span("data")
        if not length and table["offset"] > 1:
            start, length = int(table["offset"]), int(table["size"])
            if start + length > self._buffer.size:
                raise broken("a buffer lies outside the file")
        return start, length

    def add(self, table: Table, place: str) -> int:
        """The id of a tensor; `place` is where `sparsity_of` finds it again."""
        b = self._builder
        dtype = _DTYPES.get(self._buffer.schema.enum("TensorType", int(table["type"])), "")
        static = table["shape"]
        signature = table["shape_signature"]
        dims: list[int] = (signature if signature.size == static.size and signature.size else static).tolist()
        shape: Shape = tuple(d if d >= 0 else None for d in dims)
        tensor = b.tensor(table["name"], dtype, shape)
        self._read_quantization(tensor, table["quantization"])
        index = table["buffer"]
        if index >= len(self.spans):
            raise broken("a tensor names a buffer that is not there")
        start, length = self.spans[index]
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
        raw = bytes(self._buffer.data[start : start + length])
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
        self._builder.quantization(
            tensor,
            Quantization(
                scale=tuple(scale.tolist()),
                zero_point=tuple(points * scale.size if len(points) == 1 else points),
                axis=int(table["quantized_dimension"]) if scale.size > 1 else None,
            ),
        )


def _strings(raw: bytes, count: int) -> list[str] | None:
    """TFLite's string buffer: number of strings, their offsets, the end, then the bytes."""
    head = np.frombuffer(raw, "<i4", len(raw) // 4)
    if head.size < count + 2 or head[0] != count:
        return None
    ends = head[1 : count + 2].tolist()
    if any(not 0 <= a <= b <= len(raw) for a, b in pairwise(ends)):
        return None
    return [raw[a:b].decode("utf-8", "replace") for a, b in pairwise(ends)]
