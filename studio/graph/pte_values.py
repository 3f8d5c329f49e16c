"""The numbered values of one method of a `.pte`, as tensors: each write of a value makes another tensor."""

from __future__ import annotations

from typing import Any

from studio.graph.builder import GraphBuilder
from studio.graph.flatbuffer import Table, broken
from studio.graph.graph import Shape, TensorKind
from studio.graph.pte_file import PteFile

_DTYPES = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64",
    9: "complex64", 10: "complex128", 11: "bool", 12: "int8", 13: "uint8", 14: "int32", 15: "bfloat16",
    23: "float8_e5m2", 24: "float8_e4m3fn", 25: "float8_e5m2fnuz", 26: "float8_e4m3fnuz", 27: "uint16",
    28: "uint32", 29: "uint64",
}  # fmt: skip
"""c10::ScalarType, which program.fbs stores."""


class PteValues:
    """The values of a method while it is read; `written` are those that inputs or instructions made."""

    def __init__(self, file: PteFile, builder: GraphBuilder, plan: Table) -> None:
        self.file, self.builder = file, builder
        self._values = [value["val"] for value in plan["values"]]
        self._ids: dict[int, int] = {}
        self.written: set[int] = set()

    def value(self, number: int) -> Table | None:
        """The value as the file has it, None = of no known kind. Raises InputError when it is not there."""
        if not 0 <= number < len(self._values):
            raise broken("an instruction names a value that is not there")
        found: Table | None = self._values[number]
        return found

    def read(self, number: int) -> list[int]:
        """The tensor that a read of a value gets now, as a list of one."""
        return [self.tensor(number)]

    def write(self, number: int) -> int:
        """The tensor of a value from this write on."""
        if number in self.written or number in self._ids:
            self._ids[number] = self._new(number, is_constant=False)
        self.written.add(number)
        return self.tensor(number)

    def tensor(self, number: int) -> int:
        """The tensor of a value as last written; a value that nobody wrote may be a constant."""
        if number not in self._ids:
            self._ids[number] = self._new(number, is_constant=True)
        return self._ids[number]

    def _new(self, number: int, *, is_constant: bool) -> int:
        b, value = self.builder, self.value(number)
        if value is None or value.kind != "Tensor":
            dtype = {"Int": "int64", "Bool": "bool", "Double": "float64"}.get(value.kind if value else "", "")
            return b.tensor(f"value {number}", dtype, () if dtype else None)
        shape: Shape = tuple(d if d >= 0 else None for d in value["sizes"].tolist())
        dtype = _DTYPES.get(int(value["scalar_type"]), "")
        extra = value["extra_tensor_info"]
        name = (extra["fully_qualified_name"] if extra is not None else "") or f"value {number}"
        tensor = b.tensor(name, dtype, shape)
        index = int(value["data_buffer_idx"])
        if is_constant and index and value["allocation_info"] is None:
            self.file.fill(b, tensor, index, dtype, shape)
        return tensor

    def plain(self, number: int) -> Any:
        """A value that is no tensor, as an attribute."""
        value = self.value(number)
        if value is None or value.kind == "Null":
            return None
        if value.kind in ("DoubleList", "BoolList"):
            return value["items"].tolist()
        field = {"Int": "int_val", "Bool": "bool_val", "Double": "double_val", "String": "string_val"}.get(
            value.kind
        )
        return value[field] if field else value.kind

    def is_constant(self, number: int) -> bool:
        """Whether a value is a constant's."""
        return self.builder.kind_of(self.tensor(number)) is TensorKind.CONSTANT
