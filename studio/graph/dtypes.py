"""Data types by the name the studio shows: numpy's names plus the small ones numpy lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Shape

BITS: dict[str, int] = {
    "bool": 8, "int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32,
    "int64": 64, "uint64": 64, "float16": 16, "bfloat16": 16, "float32": 32, "float64": 64,
    "complex64": 64, "complex128": 128, "int4": 4, "uint4": 4, "int2": 2, "uint2": 2,
    "float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6,
    "float8_e4m3fn": 8, "float8_e4m3fnuz": 8, "float8_e5m2": 8, "float8_e5m2fnuz": 8, "float8_e8m0fnu": 8,
}  # fmt: skip
"""Bits of one element. Other types (string, sequences, quantised GGUF blocks) have no fixed size."""

_NUMPY = {
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
}  # fmt: skip


def element_count(shape: Shape | None) -> int:
    """How many elements a static shape has; −1 when a dim or the rank is unknown."""
    if shape is None:
        return -1
    count = 1
    for dim in shape:
        if not isinstance(dim, int):
            return -1
        count *= dim
    return count if count < 1 << 62 else -1


def byte_count(dtype: str, shape: Shape | None) -> int:
    """Bytes of a packed tensor (two int4 to a byte); −1 when shape or type does not tell."""
    count = element_count(shape)
    bits = BITS.get(dtype)
    if count < 0 or bits is None:
        return -1
    size = (count * bits + 7) // 8
    return size if size < 1 << 62 else -1


def is_float(dtype: str) -> bool:
    """Whether values of this type are real numbers stored as floating point."""
    return dtype.startswith(("float", "bfloat"))


def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """The numpy type of one element; small floats come from ml_dtypes. Raises KeyError when none fits."""
    if dtype in _NUMPY:
        return np.dtype(dtype).newbyteorder("<")
    import ml_dtypes

    found = getattr(ml_dtypes, dtype, None)
    if found is None:
        raise KeyError(dtype)
    result: np.dtype[Any] = np.dtype(found)
    return result


def unpack(raw: bytes | memoryview, dtype: str, count: int) -> npt.NDArray[Any]:
    """`count` elements of raw little-endian bytes; packed 2-, 4- and 6-bit types come one to an element.

    Low bits first (ONNX IR spec, “int4”; TFLite packs alike). int4 → int8, uint4 → uint8,
    float4 and float6 → ml_dtypes' own types. Raises ValueError when there are too few bytes.
    """
    bits = BITS[dtype]
    if len(raw) < (count * bits + 7) // 8:
        raise ValueError(f"{len(raw)} bytes cannot hold {count} elements of {dtype}")
    if bits in (2, 4):
        packed = np.frombuffer(raw, np.uint8)
        per_byte = 8 // bits
        shifts = np.arange(per_byte, dtype=np.uint8) * bits
        values = ((packed[:, None] >> shifts) & ((1 << bits) - 1)).reshape(-1)[:count]
        if dtype.startswith("int"):
            sign = 1 << (bits - 1)
            return ((values.astype(np.int8) ^ sign) - sign).astype(np.int8)
        return values if dtype.startswith("uint") else values.view(numpy_dtype(dtype))
    if bits == 6:
        codes = np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little")[: 6 * count].reshape(-1, 6)
        return np.packbits(codes, axis=-1, bitorder="little").reshape(-1).view(numpy_dtype(dtype))
    return np.frombuffer(raw, numpy_dtype(dtype), count=count)
