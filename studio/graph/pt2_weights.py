"""Where the weights of an exported program are, inside the archive that holds it."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, Protocol

from studio.errors import InputError
from studio.graph.builder import MAX_VALUES
from studio.graph.dtypes import byte_count, element_count, numpy_dtype, unpack
from studio.graph.graph import DataLocation, Shape
from studio.graph.onnx_tensors import short
from studio.graph.pt2_schema import JSON_LIMIT, Weight, Weights, decode
from studio.graph.torch_archive import member_offset, read_member
from studio.graph.torch_types import PICKLE_DATA

Found = tuple[DataLocation | None, list[Any] | None]


class WeightFinder(Protocol):
    """Tells where a constant is, and its values when they are few."""

    def find(self, name: str, is_state: bool, dtype: str, shape: Shape | None) -> Found: ...


class PickledWeights:
    """Weights that torch.save wrote into two members: the state dict and the other constants.

    `path` is the archive's path relative to the model's folder, "" for the model file itself.
    """

    def __init__(self, archive: zipfile.ZipFile, state: str, constants: str, path: str = "") -> None:
        members = set(archive.namelist())
        self._path = path
        self._members = [name if name in members else "" for name in (constants, state)]

    def find(self, name: str, is_state: bool, dtype: str, shape: Shape | None) -> Found:
        """The place of a tensor in its pickle, which is not opened here."""
        member = self._members[is_state]
        if not member:
            return None, None
        encoding = f"{PICKLE_DATA}{member}#{name}"
        return DataLocation(path=self._path, offset=0, length=0, encoding=encoding), None


class StoredWeights:
    """Weights of torch 2.8 and newer: each storage is a member, stored as it is."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive, self._path = archive, path
        self._weights: dict[str, tuple[str, Weight]] = {}
        for member in archive.namelist():
            if not member.endswith(("_weights_config.json", "_constants_config.json")):
                continue
            folder = member.rpartition("/")[0]
            found = decode(read_member(archive, member, limit=JSON_LIMIT), Weights)
            for name, weight in found.config.items():
                self._weights[name] = (f"{folder}/{weight.path_name}", weight)

    def find(self, name: str, is_state: bool, dtype: str, shape: Shape | None) -> Found:
        """Where the bytes are, unless they are pickled; and the values of a small constant."""
        data = self._location(name, dtype, shape)
        if data is None or element_count(shape) > MAX_VALUES:
            return data, None
        return data, self._small_value(data, dtype, shape)

    def _location(self, name: str, dtype: str, shape: Shape | None) -> DataLocation | None:
        found = self._weights.get(name)
        size = byte_count(dtype, shape)
        if found is None or size < 0 or shape is None:
            return None
        member, weight = found
        meta = weight.tensor_meta
        if weight.use_pickle or meta is None:
            return None
        start, length = member_offset(self._archive, self._path, member)
        strides = [s.get("as_int") for s in meta.strides]
        skip = meta.storage_offset.get("as_int", 0)
        if not isinstance(skip, int) or skip < 0 or any(type(s) is not int for s in strides):
            raise InputError(f"Weight “{short(name)}” has no readable strides.", hint="Export it again.")
        if strides != _row_major(shape) and element_count(shape) > 1:
            place = f"strided {skip}:{','.join(map(str, strides))}"
            return DataLocation(path="", offset=start, length=length, encoding=place)
        count = element_count(shape)
        begin = start + (skip * size // count if count else 0)
        if begin + size > start + length:
            raise InputError(f"Weight “{short(name)}” is longer than its data.", hint="Export it again.")
        return DataLocation(path="", offset=begin, length=size)

    def _small_value(self, data: DataLocation, dtype: str, shape: Shape | None) -> list[Any] | None:
        from studio.graph.torch_weights import strided

        count = element_count(shape)
        itemsize = numpy_dtype(dtype).itemsize
        if data.encoding != "raw" and data.length > itemsize * 64 * MAX_VALUES:
            return None  # a small view of a large storage
        with self._path.open("rb") as file:
            file.seek(data.offset)
            raw = file.read(data.length)
        if len(raw) != data.length:
            raise InputError("A weight lies outside the file.", hint="The file is truncated.")
        if data.encoding == "raw":
            values = unpack(raw, dtype, count)
        else:
            dims = tuple(d for d in shape or () if isinstance(d, int))
            try:
                stored = unpack(raw, dtype, len(raw) // itemsize)
                values = strided(stored, data.encoding.partition(" ")[2], dims).reshape(-1)
            except ValueError as error:
                reason = f"A weight does not fit its data: {error}."
                raise InputError(reason, hint="Export it again.") from None
        return list((values if values.dtype.kind in "biuf" else values.astype("float32")).tolist())


def _row_major(shape: Shape) -> list[int]:
    result: list[int] = []
    step = 1
    for dim in reversed(shape):
        result.append(step)
        step *= max(dim, 1) if isinstance(dim, int) else 1
    return result[::-1]
