"""ONNX tensors: types, shapes, small values, and where large payloads are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from studio.errors import InputError
from studio.graph.builder import MAX_VALUES, require_text
from studio.graph.dtypes import BITS, byte_count, element_count, numpy_dtype, unpack
from studio.graph.graph import DataLocation, Shape
from studio.graph.onnx_skeleton import SELF

DTYPES = {
    0: "", 1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64",
    8: "string", 9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64",
    15: "complex128", 16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2",
    20: "float8_e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4_e2m1fn", 24: "float8_e8m0fnu",
    25: "uint2", 26: "int2", 27: "float6_e2m3fn", 28: "float6_e3m2fn",
}  # fmt: skip
"""TensorProto.DataType → the studio's name (onnx.proto of 1.23)."""

_VALUE_FIELDS = {"float32": "float_data", "float64": "double_data", "int64": "int64_data"}


def dims_of(dims: Any) -> Shape:
    """The shape of a TensorProto's dims; a negative one is unknown."""
    return tuple(int(d) if d >= 0 else None for d in dims)


def type_of(type_proto: Any) -> tuple[str, Shape | None]:
    """(dtype, shape) of a TypeProto; sequences, maps and optionals have their kind as dtype."""
    kind = type_proto.WhichOneof("value")
    if kind == "tensor_type":
        tensor = type_proto.tensor_type
    elif kind == "sparse_tensor_type":
        tensor = type_proto.sparse_tensor_type
    elif kind is None:
        return "", None
    else:
        return kind.removesuffix("_type"), None
    dtype = DTYPES.get(tensor.elem_type, "")
    if not tensor.HasField("shape"):
        return dtype, None
    shape: list[int | str | None] = []
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value"):
            shape.append(dim.dim_value if dim.dim_value >= 0 else None)
        else:
            shape.append(_symbol(dim.dim_param))
    return dtype, tuple(shape)


def _symbol(name: object) -> str | None:
    """The name of a symbolic dim; None for "", "?" and names like unk__7 that inference makes up."""
    if not isinstance(name, str) or name in ("", "?") or name.startswith("unk__"):
        return None
    return name


def values_of(tensor: Any, dtype: str, shape: Shape) -> list[Any] | None:
    """The flat values of a small TensorProto, or None when they are not in it or do not fit its dims."""
    count = element_count(shape)
    if not 0 <= count <= MAX_VALUES:
        return None
    if dtype == "string":
        texts = [s.decode("utf-8", "replace") for s in tensor.string_data]
        return texts if len(texts) == count else None
    if dtype not in BITS or dtype.startswith("complex"):
        return None
    try:
        if tensor.raw_data:
            return list(unpack(tensor.raw_data, dtype, count).astype(_listable(dtype)).tolist())
        field = _VALUE_FIELDS.get(dtype)
        if field is not None:
            found = list(getattr(tensor, field))
            return found if len(found) == count else None
        if dtype in ("uint32", "uint64"):
            found = list(tensor.uint64_data)
            return found if len(found) == count else None
        return _from_int32(list(tensor.int32_data), dtype, count)
    except (ValueError, KeyError, OverflowError):
        return None


def _listable(dtype: str) -> Any:
    """float64 for the small float types, which Python lists should hold as plain floats."""
    small = dtype.startswith(("float8", "float6", "float4", "bfloat"))
    return np.float64 if small else unpack(b"\0" * 16, dtype, 1).dtype


def _from_int32(items: list[int], dtype: str, count: int) -> list[Any] | None:
    """Values that onnx stores as int32: small integers as they are, small floats by their bits."""
    bits = BITS[dtype]
    per_item = 8 // bits if bits in (2, 4) else 1  # packed into bytes, one byte to an int32
    if len(items) != -(-count // per_item):
        return None
    width = np.uint16 if bits == 16 else np.uint8
    if dtype == "int32":
        return items
    if bits == 6:
        codes = (np.array(items, np.int64) & 0x3F).astype(np.uint8)
        return list(codes.view(numpy_dtype(dtype)).astype(np.float64).tolist())
    raw = np.array(items, np.int64).astype(width).tobytes()
    return list(unpack(raw, dtype, count).astype(_listable(dtype)).tolist())


def location_of(tensor: Any) -> DataLocation | None:
    """Where the payload of an external (or cut out) TensorProto is; None for one that has it inline.

    Raises InputError when offset or length are no numbers.
    """
    if tensor.data_location != 1:
        return None
    entries = {entry.key: entry.value for entry in tensor.external_data}
    try:
        offset, length = int(entries.get("offset") or 0), int(entries.get("length") or -1)
    except (ValueError, TypeError):
        raise InputError(
            f"External data of tensor “{short(tensor.name)}” has no valid offset or length.",
            hint="Export the model again.",
        ) from None
    path = entries.get("location", "")
    require_text(path)
    encoding = "raw"
    if path == SELF:
        path = ""
        encoding = entries.get("encoding", "raw")
    elif not path:
        raise InputError(
            f"External data of tensor “{short(tensor.name)}” names no file.", hint="Export the model again."
        )
    if length < 0:
        length = byte_count(DTYPES.get(tensor.data_type, ""), dims_of(tensor.dims))
    return DataLocation(path=path, offset=offset, length=length, encoding=encoding)


def check_location(folder: Path, location: DataLocation, tensor_name: str) -> Path:
    """The external file of a tensor, which lies inside the model's folder and is long enough.

    Raises InputError naming tensor and file when it escapes the folder (also by a link), is missing, or ends
    before the tensor does.
    """
    what = f"Tensor “{short(tensor_name)}” keeps its data in “{short(location.path)}”"
    relative = Path(location.path.replace("\\", "/"))
    try:
        real_folder = folder.resolve()
        path = (real_folder / relative).resolve()
        inside = not relative.is_absolute() and ".." not in relative.parts
        if not inside or not path.is_relative_to(real_folder) or ":" in relative.parts[0]:
            raise InputError(
                f"{what}, which is outside the model's folder.",
                hint="Only open this model if you trust it, after moving the data file beside it.",
            )
        if not path.is_file():
            raise InputError(f"{what}, which is missing.", hint=f"Copy that file into {folder}.")
        size = path.stat().st_size
    except (OSError, ValueError, RuntimeError, IndexError):
        raise InputError(f"{what}, which cannot be read.", hint="Check the file's name and rights.") from None
    if location.offset < 0 or location.offset + max(location.length, 0) > size:
        raise InputError(
            f"{what}, which ends before the tensor does ({size} bytes).", hint="Copy the data file again."
        )
    return path


def short(name: str | bytes, limit: int = 80) -> str:
    """The name for a message: one line, not longer than `limit`."""
    if isinstance(name, bytes):
        name = name[: 4 * limit].decode("utf-8", "replace")
    text = name if len(name) <= limit else name[: limit - 1] + "…"
    return "".join(c if c.isprintable() else "�" for c in text)
