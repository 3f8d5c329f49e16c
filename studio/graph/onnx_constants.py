"""Constants of an ONNX graph: initializers and Constant nodes, their values or where their bytes are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studio.errors import InputError
from studio.graph.builder import GraphBuilder
from studio.graph.graph import AttributeValue, DataLocation, Shape, TensorKind
from studio.graph.onnx_sparse import sparse_location
from studio.graph.onnx_tensors import DTYPES, check_location, dims_of, location_of, values_of


class Constants:
    """Adds constants to a builder; checks each external file once as far as its largest tensor."""

    def __init__(self, builder: GraphBuilder, folder: Path, *, check_external: bool) -> None:
        self._builder = builder
        self._folder = folder
        self._check_external = check_external
        self._checked: dict[str, int] = {}

    def add(self, tensor: Any, name: str, into: int = -1) -> int:
        """The id of a constant made from a TensorProto; `into` is the output of a Constant node."""
        b = self._builder
        dtype, shape = DTYPES.get(tensor.data_type, ""), dims_of(tensor.dims)
        if into < 0:
            into = b.tensor(name, dtype, shape, TensorKind.CONSTANT)
        else:
            b.graph.tensor_dtype[into], b.graph.tensor_shape[into] = dtype, shape
        location = location_of(tensor)
        value = values_of(tensor, dtype, shape) if location is None else None
        if location is not None and location.path:
            self._check(location, tensor.name)
        b.constant(into, value=value, data=location)
        if dtype == "string":
            b.set_bytes(into, sum(len(s) for s in tensor.string_data))
        return into

    def add_sparse_initializer(self, sparse: Any) -> int:
        """The id of a sparse constant; it bears the name of its values."""
        b, name = self._builder, sparse.values.name
        dtype = DTYPES.get(sparse.values.data_type, "")
        made = b.tensor(name, dtype, dims_of(sparse.dims), TensorKind.CONSTANT)
        b.constant(made, data=sparse_location(name) if b.graph.format == "onnx" else None)
        return made

    def add_sparse(self, sparse: Any, into: int) -> int:
        """The id of the output of a Constant node that gives a sparse tensor."""
        b = self._builder
        b.graph.tensor_dtype[into] = DTYPES.get(sparse.values.data_type, "")
        b.graph.tensor_shape[into] = dims_of(sparse.dims)
        is_file = b.graph.format == "onnx"
        b.constant(into, data=sparse_location(f"={b.graph.tensor_name[into]}") if is_file else None)
        return into

    def set_plain(self, output: int, attribute: str, value: AttributeValue) -> None:
        """Constants given as plain attributes (`value_float`, `value_ints`, …) instead of a tensor."""
        b = self._builder
        kinds = {"int": "int64", "float": "float32", "string": "string"}
        base = attribute.removeprefix("value_").removesuffix("s")
        if attribute.startswith("value_") and base in kinds:
            shape: Shape = (len(value),) if isinstance(value, list) else ()
            b.graph.tensor_dtype[output], b.graph.tensor_shape[output] = kinds[base], shape
            b.constant(output, value=list(value) if isinstance(value, list) else [value])
        elif attribute in ("value", "sparse_value"):
            b.set_kind(output, TensorKind.CONSTANT)

    def _check(self, location: DataLocation, name: str) -> None:
        """Refuses (or notes) external data that is outside the folder, missing or too short."""
        end = location.offset + max(location.length, 0)
        if location.offset >= 0 and end <= self._checked.get(location.path, -1):
            return
        try:
            file = check_location(self._folder, location, name)
        except InputError as error:
            if self._check_external:
                raise
            self._builder.note(error.message)
            return
        self._checked[location.path] = file.stat().st_size
