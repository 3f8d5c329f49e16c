"""Reads flatbuffers by a schema, with every offset checked: a broken file ends in InputError.

`Table` is lazy: a field is decoded when asked for. Schemas are data (`resources/schemas/*.json`,
written by `packaging/schemas/make_schemas.py`), so one small reader serves TFLite, ORT, ExecuTorch and
the blobs inside them. Format: https://flatbuffers.dev/internals/.

Why not the generated classes of each package: they trust their input (a bad offset is a traceback or
a read of something else), and three packages would have to be there to look at three formats.
"""

from __future__ import annotations

import json
import struct
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from studio import paths
from studio.errors import InputError
from studio.graph.builder import refuse_size

MAX_TABLES = 16_000_000
"""Tables decoded from one file. Offsets may be shared, so the file's size alone is no bound."""

_SCALARS = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "<h", "uint16": "<H", "int32": "<i", "uint32": "<I",
    "int64": "<q", "uint64": "<Q", "float32": "<f", "float64": "<d",
}  # fmt: skip

Fields = dict[str, tuple[int, str, Any]]


class Schema:
    """Tables, structs, unions and enums of one flatbuffer type."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.root: str = data["root"]
        self.tables: dict[str, Fields] = data["tables"]
        self.structs: dict[str, list[tuple[str, int, str]]] = data["structs"]
        self.unions: dict[str, dict[str, str]] = data["unions"]
        self.enums: dict[str, dict[str, str]] = data["enums"]

    def enum(self, name: str, value: int) -> str:
        """The name of an enum's value, or the number as text when this schema does not know it."""
        return self.enums[name].get(str(value), str(value))


@lru_cache
def load_schema(name: str) -> Schema:
    """The schema of that name from the resources."""
    return Schema(json.loads((paths.resources() / "schemas" / f"{name}.json").read_text()))


def broken(what: str = "it points outside itself") -> InputError:
    """The error for a flatbuffer that does not hold together."""
    return InputError(f"The file is truncated or damaged ({what}).", hint="Copy or convert it again.")


class FlatBuffer:
    """The bytes of one flatbuffer and how many tables were decoded from them."""

    def __init__(self, data: memoryview, schema: Schema) -> None:
        self.data = data
        self.schema = schema
        self.size = len(data)
        self._tables = 0

    def root(self) -> Table:
        """The root table."""
        return self.table(self.uint32(0), self.schema.root)

    def table(self, position: int, kind: str) -> Table:
        self._tables += 1
        if self._tables > MAX_TABLES:
            raise refuse_size("tables")
        return Table(self, position, kind)

    def uint32(self, position: int) -> int:
        return int(self.scalar(position, "<I"))

    def scalar(self, position: int, code: str) -> Any:
        if position < 0:
            raise broken()
        try:
            return struct.unpack_from(code, self.data, position)[0]
        except struct.error:
            raise broken() from None

    def vector(self, position: int, item_size: int) -> tuple[int, int]:
        """(first byte, number of items) of the vector that the offset at `position` points to."""
        at = position + self.uint32(position)
        count = self.uint32(at)
        if at + 4 + count * item_size > self.size:
            raise broken("a list is longer than the file")
        return at + 4, count

    def string(self, position: int) -> str:
        start, count = self.vector(position, 1)
        return bytes(self.data[start : start + count]).decode("utf-8", "replace")


class Table:
    """One table. `table["field"]` is its value or the schema's default."""

    __slots__ = ("_fields", "_length", "_vtable", "buffer", "kind", "position")

    def __init__(self, buffer: FlatBuffer, position: int, kind: str) -> None:
        self.buffer = buffer
        self.position = position
        self.kind = kind
        self._fields = buffer.schema.tables[kind]
        self._vtable = position - int(buffer.scalar(position, "<i"))
        self._length = int(buffer.scalar(self._vtable, "<H"))

    def fields(self) -> list[str]:
        """The names of all fields that the schema knows."""
        return list(self._fields)

    def has(self, name: str) -> bool:
        """Whether the field is stored (and not its default)."""
        return self._place(self._fields[name][0]) is not None

    def __getitem__(self, name: str) -> Any:
        slot, kind, default = self._fields[name]
        place = self._place(slot)
        code = _SCALARS.get(kind)
        if code is not None:
            return default if place is None else self.buffer.scalar(place, code)
        if kind == "string":
            return "" if place is None else self.buffer.string(place)
        family, _, inner = kind.partition(":")
        if family == "union":
            return self._union(slot, inner)
        if place is None:
            return None if family == "table" else np.zeros(0, inner) if family == "array" else []
        if family == "table":
            return self.buffer.table(place + self.buffer.uint32(place), inner)
        if family == "tables":
            return self._tables(place, inner)
        if family == "array":
            return self._array(place, np.dtype(inner))
        if family == "strings":
            start, count = self.buffer.vector(place, 4)
            return [self.buffer.string(start + 4 * i) for i in range(count)]
        if family == "structs":
            return self._structs(place, inner)
        raise broken(f"field {name} has an unknown type")

    def span(self, name: str) -> tuple[int, int]:
        """(offset, length) of a byte array in the file, without reading it; (0, 0) when absent."""
        place = self._place(self._fields[name][0])
        return (0, 0) if place is None else self.buffer.vector(place, 1)

    def _place(self, slot: int) -> int | None:
        at = 4 + 2 * slot
        if at + 2 > self._length:
            return None
        offset = self.buffer.scalar(self._vtable + at, "<H")
        return self.position + offset if offset else None

    def _tables(self, place: int, kind: str) -> list[Table]:
        start, count = self.buffer.vector(place, 4)
        return [
            self.buffer.table(start + 4 * i + self.buffer.uint32(start + 4 * i), kind) for i in range(count)
        ]

    def _array(self, place: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        start, count = self.buffer.vector(place, dtype.itemsize)
        return np.frombuffer(self.buffer.data, dtype.newbyteorder("<"), count, start)

    def _structs(self, place: int, kind: str) -> npt.NDArray[Any]:
        members = self.buffer.schema.structs[kind]
        dtype = np.dtype([(name, np.dtype(type_).newbyteorder("<")) for name, _, type_ in members])
        return self._array_of(place, dtype)

    def _array_of(self, place: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        start, count = self.buffer.vector(place, dtype.itemsize)
        return np.frombuffer(self.buffer.data, dtype, count, start)

    def _union(self, slot: int, kind: str) -> Table | None:
        type_at, value_at = self._place(slot), self._place(slot + 1)
        if type_at is None or value_at is None:
            return None
        number = self.buffer.scalar(type_at, "B")
        name = self.buffer.schema.unions[kind].get(str(number))
        if name is None or name not in self.buffer.schema.tables:
            return None
        return self.buffer.table(value_at + self.buffer.uint32(value_at), name)
