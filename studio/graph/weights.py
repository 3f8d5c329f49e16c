"""Reads one constant's values from where they are, on demand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.errors import InputError
from studio.graph.dtypes import BITS, element_count, numpy_dtype, unpack
from studio.graph.graph import DataLocation, Graph, TensorKind
from studio.graph.onnx_tensors import check_location, short
from studio.graph.torch_types import MODULE_DATA, dtype_of

Array = npt.NDArray[Any]


def read_tensor(graph: Graph, tensor: int) -> Array:
    """The values of a constant in its shape; large ones are a read-only map of the file, not a copy.

    2- and 4-bit types come one element to a byte; strings as objects. Raises InputError when the tensor is no
    constant, its bytes are missing or too few, or nothing here can decode them.
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
            return _located(graph, location, name, dtype, count).reshape(dims)
        values = graph.tensor_value.get(tensor)
        if values is None:
            raise InputError(f"The values of constant “{name}” are not stored in a form the studio reads.")
        kind: Any = object if dtype == "string" else _plain_dtype(dtype)
        return np.array(values, dtype=kind).reshape(dims)
    except (KeyError, ValueError, OverflowError, TypeError) as error:
        raise InputError(
            f"The values of constant “{name}” ({dtype or 'unknown type'}) cannot be decoded: {error}.",
            hint="The file is damaged, or uses a type the studio does not know.",
        ) from None
    except OSError as error:
        raise InputError(
            f"Cannot read the values of “{name}”: {error.strerror}.", hint="Check the file."
        ) from None


def _plain_dtype(dtype: str) -> np.dtype[Any]:
    """The type of decoded elements: packed integers are widened to a byte."""
    if BITS.get(dtype) in (2, 4) and "int" in dtype:
        return np.dtype("uint8" if dtype.startswith("uint") else "int8")
    return numpy_dtype(dtype)


def _located(graph: Graph, location: DataLocation, name: str, dtype: str, count: int) -> Array:
    model = Path(graph.file_path)
    path = check_location(model.parent, location, name) if location.path else model
    size = path.stat().st_size
    if location.offset < 0 or location.length < 0 or location.offset + location.length > size:
        raise ValueError("the file ends before its data does")
    if count == 0:
        return np.zeros(0, _plain_dtype(dtype))
    if location.encoding.startswith(MODULE_DATA):
        return _from_module(model, location.encoding.removeprefix(MODULE_DATA))
    if location.encoding == "varint":
        with path.open("rb") as file:
            file.seek(location.offset)
            return _from_varints(file.read(location.length), dtype, count)
    if location.encoding != "raw":
        raise ValueError(f"“{location.encoding}” is a packing the studio does not unpack")
    if BITS.get(dtype) is None:
        raise ValueError("the type has no fixed size")
    if BITS[dtype] < 8:
        with path.open("rb") as file:
            file.seek(location.offset)
            return unpack(file.read(location.length), dtype, count)
    kind = numpy_dtype(dtype)
    if location.length < count * kind.itemsize:
        raise ValueError(f"{location.length} bytes cannot hold {count} elements")
    return np.memmap(path, kind, mode="r", offset=location.offset, shape=(count,))


def _from_module(path: Path, name: str) -> Array:
    """A parameter of a TorchScript archive by its path in the module tree."""
    from studio.graph.read_torchscript import load_module

    found = load_module(path)
    for part in name.split("."):
        found = getattr(found, part)
    found = found.detach().contiguous()
    if found.is_quantized:
        found = found.int_repr()
    try:
        plain: Array = found.numpy()
        return plain
    except TypeError:  # bfloat16 and float8: numpy has no such type, ml_dtypes does
        import torch

        bits = found.view(torch.uint16 if found.element_size() == 2 else torch.uint8).numpy()
        small: Array = bits.view(numpy_dtype(dtype_of(found.dtype)))
        return small


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
    if bits >= 32:
        if ends.size != count:
            raise ValueError(f"{ends.size} values where the shape says {count}")
        return values.astype(np.uint32).view(dtype) if bits == 32 else values.view(dtype)
    packed = values.astype(np.uint16 if bits == 16 else np.uint8)
    return unpack(packed.tobytes(), dtype, count)
