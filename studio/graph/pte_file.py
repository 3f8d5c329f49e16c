"""The parts of a `.pte` file that its methods share: segments, constants, delegates' blobs.

Source: executorch/schema/program.fbs, extended_header.h (1.5).
"""

from __future__ import annotations

import struct
from typing import Any

from studio.graph.builder import MAX_VALUES, GraphBuilder
from studio.graph.dtypes import byte_count, element_count, unpack
from studio.graph.flatbuffer import FlatBuffer, Table, broken, load_schema
from studio.graph.graph import DataLocation, Shape
from studio.graph.vulkan_blob import VulkanBlob
from studio.graph.xnnpack_blob import Span, XnnpackBlob

_BLOBS = {"XnnpackBackend": XnnpackBlob, "VulkanBackend": VulkanBlob}


class PteFile:
    """An ExecuTorch program and where its data is. Raises InputError when it points outside itself."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.program = FlatBuffer(data, load_schema("executorch")).root()
        self._segments = self._read_segments()
        self._named = self._read_named()
        self._constants = self._read_constants()

    def _read_segments(self) -> list[Span]:
        """(offset, length) of each segment behind the flatbuffer."""
        base = 0
        if len(self.data) >= 32 and bytes(self.data[8:12]) == b"eh00":
            base = int(struct.unpack_from("<Q", self.data, 24)[0])
        result = []
        for segment in self.program["segments"]:
            offset, size = base + int(segment["offset"]), int(segment["size"])
            if offset + size > len(self.data):
                raise broken("a segment lies outside the file")
            result.append((offset, size))
        return result

    def _segment(self, index: int) -> Span:
        if index >= len(self._segments):
            raise broken("a segment is missing")
        return self._segments[index]

    def _read_named(self) -> dict[str, Span]:
        return {entry["key"]: self._segment(entry["segment_index"]) for entry in self.program["named_data"]}

    def _read_constants(self) -> list[Span]:
        """Where constant buffer n is, and how many bytes are left from there."""
        table = self.program["constant_segment"]
        if table is not None and table["offsets"].size:
            start, size = self._segment(table["segment_index"])
            return [(start + offset, max(size - offset, 0)) for offset in table["offsets"].tolist()]
        return [buffer.span("storage") for buffer in self.program["constant_buffer"]]

    def fill(self, builder: GraphBuilder, tensor: int, index: int, dtype: str, shape: Shape) -> None:
        """Makes a tensor the constant of that buffer, with its values when they are few."""
        span = self._constants[index] if 0 < index < len(self._constants) else None
        size = byte_count(dtype, shape)
        if span is None or size < 0:
            builder.constant(tensor)
            return
        if size > span[1]:
            raise broken("a constant is longer than its data")
        count = element_count(shape)
        value = None
        if count <= MAX_VALUES:
            found = unpack(bytes(self.data[span[0] : span[0] + size]), dtype, count)
            value = (found if found.dtype.kind in "biuf" else found.astype("float32")).tolist()
        builder.constant(tensor, value=value, data=DataLocation(path="", offset=span[0], length=size))

    def delegate_blob(self, delegate: Table) -> tuple[Any, str]:
        """The opened blob of a delegate, or None and why not."""
        reference, kind = delegate["processed"], _BLOBS.get(delegate["id"])
        if kind is None:
            return None, f"The inside of {delegate['id']} delegates is the vendor's own format."
        if reference is None:
            return None, f"A {delegate['id']} delegate has no data."
        index = int(reference["index"])
        if int(reference["location"]) == 1:
            span = self._segment(index)
        else:
            inline = self.program["backend_delegate_data"]
            if index >= len(inline):
                raise broken("a delegate's data is missing")
            span = inline[index].span("data")
        return kind(self.data, span, self._named), ""
