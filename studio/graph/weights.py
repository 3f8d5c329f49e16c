"""Reads one constant's values from where they are, on demand.

`DataLocation.encoding` says how they are stored: "raw", "varint" (protobuf), "strided PLACE" (torch),
"gguf NAME" (blocks), "tflite-sparse SUBGRAPH/TENSOR", "onnx-sparse NAME", and what torch unpacks
(`torch_weights`). What nothing here decodes is refused in words.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.errors import InputError
from studio.graph.dtypes import BITS, element_count, numpy_dtype
from studio.graph.graph import DataLocation, Graph, TensorKind
from studio.graph.onnx_tensors import check_location, short
from studio.graph.stored_values import stored_values
from studio.graph.torch_types import MODULE_DATA, PICKLE_DATA

Array = npt.NDArray[Any]
_IN_MEMORY = 1 << 28
"""Bytes of decoded values that are kept in memory; more go to a temporary file."""


def read_tensor(graph: Graph, tensor: int) -> Array:
    """The values of a constant in its shape; large ones are a read-only map of the file, not a copy.

    2-, 4- and 6-bit types come one element to a byte; strings as objects; GGUF's blocks as float32; sparse
    tensors dense. Raises InputError when the tensor is no constant, its bytes are missing or too few, or
    nothing here can decode them.
    """
    name = short(graph.tensor_name[tensor] or f"#{tensor}")
    if graph.tensor_kind[tensor] != TensorKind.CONSTANT:
        raise InputError(f"“{name}” is not a constant: it has no values in the file.")
    dtype, shape = graph.tensor_dtype[tensor], graph.tensor_shape[tensor]
    count = element_count(shape)
    if shape is None or count < 0:
        raise InputError(f"The shape of constant “{name}” is not known.", hint="The file is damaged.")
    dims = tuple(int(d) for d in shape if isinstance(d, int))
    location = graph.tensor_data.get(tensor)
    try:
        if location is not None:
            return _located(graph, location, name, dtype, dims).reshape(dims)
        values = graph.tensor_value.get(tensor)
        if values is None:
            raise InputError(f"The values of constant “{name}” are not stored in a form the studio reads.")
        kind: Any = object if dtype == "string" else _plain_dtype(dtype)
        return np.array(values, dtype=kind).reshape(dims)
    except (KeyError, ValueError, OverflowError, TypeError, IndexError, AttributeError, MemoryError) as error:
        raise InputError(
            f"The values of constant “{name}” ({dtype or 'unknown type'}) cannot be decoded: {error}.",
            hint="The file is damaged, or uses a type the studio does not know.",
        ) from None
    except OSError as error:
        raise InputError(
            f"Cannot read the values of “{name}”: {error.strerror}.",
            hint="Check the file, and the free space.",
        ) from None


def _plain_dtype(dtype: str) -> np.dtype[Any]:
    """The type of decoded elements: packed integers are widened to a byte."""
    if BITS.get(dtype) in (2, 4) and "int" in dtype:
        return np.dtype("uint8" if dtype.startswith("uint") else "int8")
    return numpy_dtype(dtype)


def _located(graph: Graph, location: DataLocation, name: str, dtype: str, dims: tuple[int, ...]) -> Array:
    model, count = Path(graph.file_path), element_count(dims)
    path = check_location(model.parent, location, name) if location.path else model
    size = path.stat().st_size
    if location.offset < 0 or location.length < 0 or location.offset + location.length > size:
        raise ValueError("the file ends before its data does")
    kind, _, place = location.encoding.partition(" ")
    if count == 0:
        return np.zeros(0, np.float32 if kind == "gguf" else _plain_dtype(dtype))
    if kind == "gguf":
        return _from_blocks(path, location, place, count)
    if kind.startswith((MODULE_DATA, PICKLE_DATA)):
        return _by_torch(path, location.encoding)
    if kind == "onnx-sparse":
        from studio.graph.onnx_sparse import read_sparse

        return read_sparse(path, place, dtype, dims)
    if kind == "tflite-sparse":
        from studio.graph.sparse import densify_tflite
        from studio.graph.tflite_tensors import sparsity_of

        stored = location.length * 8 // BITS[dtype]
        return densify_tflite(stored_values(path, location, dtype, stored), sparsity_of(path, place), dims)
    if kind == "strided":
        from studio.graph.torch_weights import strided

        stored = location.length * 8 // BITS[dtype]
        return strided(stored_values(path, location, dtype, stored), place, dims)
    if kind not in ("raw", "varint"):
        raise ValueError(f"“{location.encoding}” is a packing the studio does not unpack")
    return stored_values(path, location, dtype, count)


def _from_blocks(path: Path, location: DataLocation, name: str, count: int) -> Array:
    from studio.graph.gguf_blocks import decode

    raw = np.memmap(path, np.uint8, mode="r", offset=location.offset, shape=(location.length,))
    values = _room_for(count)
    decode(raw, name, values)
    return values


def _room_for(count: int) -> npt.NDArray[np.float32]:
    """Zeros in memory, or in a temporary file that is gone with the array."""
    if count * 4 <= _IN_MEMORY:
        return np.zeros(count, np.float32)
    with tempfile.TemporaryFile() as file:
        left = count * 4
        block = bytes(1 << 24)
        while left > 0:  # written, not stretched: a full disk must be an error here, not a signal later
            left -= file.write(block[: min(left, len(block))])
        file.flush()
        return np.memmap(file, np.float32, mode="r+", shape=(count,))


def _by_torch(path: Path, encoding: str) -> Array:
    from studio.graph.torch_weights import from_module, from_pickle

    if encoding.startswith(MODULE_DATA):
        return from_module(path, encoding.removeprefix(MODULE_DATA))
    return from_pickle(path, encoding.removeprefix(PICKLE_DATA))
