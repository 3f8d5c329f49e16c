"""Values of ONNX's sparse constants: found again in the file by name, and made dense."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.graph.dtypes import element_count, numpy_dtype
from studio.graph.graph import DataLocation
from studio.graph.mapped import map_file
from studio.graph.onnx_calls import bodies_of
from studio.graph.onnx_skeleton import read_skeleton
from studio.graph.onnx_tensors import DTYPES, check_location, dims_of, location_of, values_of
from studio.graph.sparse import densify_coordinates
from studio.graph.stored_values import stored_values

Array = npt.NDArray[Any]

ENCODING = "onnx-sparse "
"""DataLocation encoding; the constant's name follows, or `=` and what a Constant node makes."""


def sparse_location(name: str) -> DataLocation:
    """Where a sparse constant is: somewhere in the model file, by its name."""
    return DataLocation(path="", offset=0, length=0, encoding=ENCODING + name)


def read_sparse(path: Path, name: str, dtype: str, dims: tuple[int, ...]) -> Array:
    """The dense values of the sparse constant of that name. Raises ValueError when they do not fit."""
    import onnx

    model = onnx.ModelProto()
    try:
        model.ParseFromString(read_skeleton(map_file(path)).data)
    except Exception as error:  # protobuf's own classes
        raise ValueError(str(error)) from None
    graphs = [model.graph, *model.functions]
    found = next((s for graph in graphs for known, s in _sparse_in(graph) if known == name), None)
    if found is None:
        raise ValueError("it is no longer in the file")
    values, indices = _values(path, found.values), _values(path, found.indices)
    if values.dtype == object:
        raise ValueError("sparse texts are not read")
    return densify_coordinates(values.reshape(-1), indices, dims)


def _sparse_in(graph: Any) -> Iterator[tuple[str, Any]]:
    """(name, SparseTensorProto) of a graph or function and of the bodies inside it."""
    for sparse in getattr(graph, "sparse_initializer", ()):
        yield sparse.values.name, sparse
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == 11 and node.output:
                yield f"={node.output[0]}", attribute.sparse_tensor
        for body in bodies_of(node):
            yield from _sparse_in(body)


def _values(path: Path, tensor: Any) -> Array:
    """The values of a TensorProto of the file's skeleton, small and inline or large and located."""
    dtype, shape = DTYPES.get(tensor.data_type, ""), dims_of(tensor.dims)
    location = location_of(tensor)
    if location is None:
        values = values_of(tensor, dtype, shape)
        if values is None:
            raise ValueError("its values do not fit its dims")
        return np.array(values, numpy_dtype(dtype)).reshape([d for d in shape if isinstance(d, int)])
    place = check_location(path.parent, location, tensor.name) if location.path else path
    found = stored_values(place, location, dtype, element_count(shape))
    return found.reshape([d for d in shape if isinstance(d, int)])
