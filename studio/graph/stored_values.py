"""Elements as they stand in a file: raw bytes of whole elements, packed small types, protobuf varints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.graph.dtypes import BITS, numpy_dtype, unpack
from studio.graph.graph import DataLocation

Array = npt.NDArray[Any]


def stored_values(path: Path, location: DataLocation, dtype: str, count: int) -> Array:
    """`count` elements of a raw or varint location. Raises ValueError when there are fewer."""
    if BITS.get(dtype) is None:
        raise ValueError("the type has no fixed size")
    if location.encoding == "varint" or BITS[dtype] < 8:
        with path.open("rb") as file:
            file.seek(location.offset)
            raw = file.read(location.length)
        decode = _from_varints if location.encoding == "varint" else unpack
        return decode(raw, dtype, count)
    kind = numpy_dtype(dtype)
    if location.length < count * kind.itemsize:
        raise ValueError(f"{location.length} bytes cannot hold {count} elements")
    return np.memmap(path, kind, mode="r", offset=location.offset, shape=(count,))


def _from_varints(raw: bytes, dtype: str, count: int) -> Array:
    """Elements of a packed protobuf integer field, which onnx also uses for the bits of small types."""
    data = np.frombuffer(raw, np.uint8)
    ends = np.flatnonzero(data < 0x80)
    starts = np.concatenate(([0], ends[:-1] + 1)) if ends.size else ends
    lengths = ends - starts + 1
    if not ends.size or int(ends[-1]) != data.size - 1 or int(lengths.max()) > 10:
        raise ValueError("the packed integers are damaged")
    values = np.zeros(ends.size, np.uint64)
    for place in range(int(lengths.max())):
        has = lengths > place
        part = (data[starts[has] + place] & 0x7F).astype(np.uint64)
        values[has] |= part << np.uint64(7 * place)
    bits = BITS[dtype]
    if bits >= 32 or bits == 6:
        if ends.size != count:
            raise ValueError(f"{ends.size} values where the shape says {count}")
        if bits == 6:
            return (values & np.uint64(0x3F)).astype(np.uint8).view(numpy_dtype(dtype))
        return values.astype(np.uint32).view(dtype) if bits == 32 else values.view(dtype)
    packed = values.astype(np.uint16 if bits == 16 else np.uint8)
    return unpack(packed.tobytes(), dtype, count)
