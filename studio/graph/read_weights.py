"""Reads files that hold weights and no graph, as a Graph without nodes: `.safetensors` and `.gguf`.

Formats: https://github.com/huggingface/safetensors#format (header limit 100 MB there as well);
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3), blocks in
`gguf_blocks`. Both state every size up front, and each is checked before anything is allocated.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import msgspec

from studio.errors import InputError
from studio.graph.builder import GraphBuilder, refuse_size
from studio.graph.dtypes import byte_count
from studio.graph.flatbuffer import broken
from studio.graph.gguf_blocks import BLOCKS
from studio.graph.graph import DataLocation, Graph, Shape
from studio.graph.mapped import map_file

_SAFETENSORS_HEADER = 100_000_000
_SAFETENSORS_DTYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
    "I16": "int16", "I8": "int8", "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8",
    "BOOL": "bool", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu",
    "C64": "complex64", "F4": "float4_e2m1fn", "F6_E2M3": "float6_e2m3fn", "F6_E3M2": "float6_e3m2fn",
}  # fmt: skip

_GGML_PLAIN = {0: "float32", 1: "float16", 24: "int8", 25: "int16", 26: "int32", 27: "int64", 28: "float64",
               30: "bfloat16"}  # fmt: skip


class _Entry(msgspec.Struct):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


def read_safetensors(path: Path) -> Graph:
    """The tensors of a safetensors file. Raises InputError when header and data do not fit."""
    data = map_file(path)
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8 or size > _SAFETENSORS_HEADER:
        raise broken("its header is longer than the file")
    try:
        header = msgspec.json.decode(data[8 : 8 + size], type=dict[str, msgspec.Raw])
        metadata = header.pop("__metadata__", None)
        builder = GraphBuilder("safetensors")
        if metadata is not None:
            found = msgspec.json.decode(metadata, type=dict[str, str])
            builder.graph.metadata = {k[:200]: v[:2000] for k, v in list(found.items())[:200]}
        base = 8 + size
        for name, raw in header.items():
            entry = msgspec.json.decode(raw, type=_Entry)
            _add_safetensor(builder, name, entry, base, len(data))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise broken(f"its header is not readable: {error}") from None
    return _finish(builder)


def _add_safetensor(builder: GraphBuilder, name: str, entry: _Entry, base: int, file_size: int) -> None:
    begin, end = entry.data_offsets
    dtype = _SAFETENSORS_DTYPES.get(entry.dtype, "")
    shape: Shape = tuple(entry.shape)
    if not 0 <= begin <= end or base + end > file_size or any(d < 0 for d in entry.shape):
        raise broken("a tensor lies outside the file")
    expected = byte_count(dtype, shape)
    if expected >= 0 and expected != end - begin:
        raise broken("a tensor's shape does not fit its data")
    tensor = builder.tensor(name, dtype or entry.dtype.lower(), shape)
    builder.set_bytes(tensor, end - begin)
    builder.constant(tensor, data=DataLocation(path="", offset=base + begin, length=end - begin))


def read_gguf(path: Path) -> Graph:
    """The tensors and metadata of a GGUF file. Raises InputError for a truncated or unknown version."""
    builder = GraphBuilder("gguf")
    _Gguf(map_file(path)).read_into(builder)
    return _finish(builder)


class _Gguf:
    """A cursor over the header."""

    _SCALARS = {
        0: "B",
        1: "b",
        2: "<H",
        3: "<h",
        4: "<I",
        5: "<i",
        6: "<f",
        7: "?",
        10: "<Q",
        11: "<q",
        12: "<d",
    }

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.at = 4

    def read_into(self, builder: GraphBuilder) -> None:
        version = self._scalar("<I")
        if version not in (2, 3):
            raise InputError(f"GGUF version {version} is not known here.", hint="Convert it to version 3.")
        tensors, entries = self._scalar("<Q"), self._scalar("<Q")
        if tensors > len(self.data) // 24 or entries > len(self.data) // 12:
            raise refuse_size("tensors or metadata entries")
        metadata = builder.graph.metadata
        metadata["gguf_version"] = str(version)
        alignment = 32
        for _ in range(entries):
            key = self._string()
            value = self._value(self._scalar("<I"), 0)
            if key == "general.alignment" and isinstance(value, int) and 0 < value <= 1 << 20:
                alignment = value
            metadata[key[:200]] = str(value)[:2000]
        found = [self._tensor() for _ in range(tensors)]
        base = -(-self.at // alignment) * alignment
        for name, dims, kind, offset in found:
            self._add(builder, name, dims, kind, base + offset)
        builder.graph.name = metadata.get("general.name", "")
        builder.graph.producer = metadata.get("general.architecture", "")

    def _tensor(self) -> tuple[str, list[int], int, int]:
        name = self._string()
        count = self._scalar("<I")
        if count > 16:
            raise broken("a tensor has too many dims")
        dims = [self._scalar("<Q") for _ in range(count)]
        return name, dims, self._scalar("<I"), self._scalar("<Q")

    def _add(self, builder: GraphBuilder, name: str, dims: list[int], kind: int, offset: int) -> None:
        """ggml counts dims from the fastest one; the shape is the other way round."""
        shape: Shape = tuple(reversed(dims))
        elements = 1
        for dim in dims:
            elements *= dim
        if kind in _GGML_PLAIN:
            dtype, encoding = _GGML_PLAIN[kind], "raw"
            size = byte_count(dtype, shape)
        elif kind in BLOCKS:
            dtype, block, block_bytes = BLOCKS[kind]
            encoding = f"gguf {dtype}"
            size = -(-elements // block) * block_bytes
        else:
            dtype, encoding, size = f"ggml type {kind}", f"ggml type {kind}", 0
        if size < 0 or offset + size > len(self.data):
            raise broken("a tensor lies outside the file")
        tensor = builder.tensor(name, dtype, shape)
        builder.set_bytes(tensor, size)
        builder.constant(tensor, data=DataLocation(path="", offset=offset, length=size, encoding=encoding))

    def _scalar(self, code: str) -> Any:
        try:
            value = struct.unpack_from(code, self.data, self.at)[0]
        except struct.error:
            raise broken("its header ends early") from None
        self.at += struct.calcsize(code)
        return value

    def _string(self) -> str:
        length = self._scalar("<Q")
        if self.at + length > len(self.data):
            raise broken("a text is longer than the file")
        raw = bytes(self.data[self.at : self.at + length])
        self.at += length
        return raw.decode("utf-8", "replace")

    def _value(self, kind: int, depth: int) -> Any:
        """A metadata value; of an array only its length, since vocabularies have 100,000 entries."""
        if kind in self._SCALARS:
            return self._scalar(self._SCALARS[kind])
        if kind == 8:
            return self._string()
        if kind != 9 or depth > 4:
            raise broken("a metadata value is of an unknown kind")
        inner, count = self._scalar("<I"), self._scalar("<Q")
        if inner in self._SCALARS:
            size = struct.calcsize(self._SCALARS[inner]) * count
            if self.at + size > len(self.data):
                raise broken("a list is longer than the file")
            self.at += size
        else:
            if count > len(self.data) // 8:
                raise broken("a list is longer than the file")
            for _ in range(count):
                self._value(inner, depth + 1)
        return f"{count} values"


def _finish(builder: GraphBuilder) -> Graph:
    builder.note("The file holds weights only: there is no graph to show or to run.")
    builder.subgraph("weights")
    return builder.finish()
