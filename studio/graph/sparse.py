"""Sparse constants as dense arrays: TFLite's traversal order with blocks, ONNX's coordinates.

Sources: tensorflow/lite/schema/schema.fbs (SparsityParameters) and
tensorflow/lite/tools/optimize/sparsity/format_converter.cc; onnx.proto (SparseTensorProto).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.graph.flatbuffer import Table, broken

Array = npt.NDArray[Any]
Longs = npt.NDArray[np.int64]

MAX_DENSE = 1 << 31
"""Elements of a dense array; more than any weight has."""


def densify_tflite(values: Array, table: Table, shape: Sequence[int]) -> Array:
    """The dense array [*shape] of a TFLite tensor whose stored values are `values`.

    Levels are walked in traversal order: first the dims, then the blocks; a level of blocks is the inner part
    of the dim that `block_map` names. Raises ValueError or InputError when they do not fit.
    """
    order = table["traversal_order"].tolist()
    blocks = table["block_map"].tolist()
    levels = table["dim_metadata"]
    rank = len(shape)
    if sorted(order) != list(range(rank + len(blocks))) or len(levels) != len(order):
        raise ValueError("its traversal order is damaged")
    if any(not 0 <= dim < rank for dim in blocks) or _product(shape) > MAX_DENSE:
        raise ValueError("its block map is damaged")
    sizes = _block_sizes(order, blocks, levels)
    coordinates = np.zeros((1, len(order)), np.int64)
    places = np.zeros(1, np.int64)
    for place, level in enumerate(levels):
        parents, positions, places = _expand(level, places, min(MAX_DENSE, _product(shape)))
        coordinates = coordinates[parents]
        coordinates[:, order[place]] = positions
    index = coordinates[:, :rank].copy()
    for number, dim in enumerate(blocks):
        index[:, dim] = index[:, dim] * sizes[number] + coordinates[:, rank + number]
    if len(index) > values.size:
        raise ValueError(f"{values.size} values where the pattern has {len(index)} places")
    if (index < 0).any() or (index >= np.array(shape, np.int64)).any():
        raise ValueError("a place lies outside its shape")
    dense = np.zeros(shape, values.dtype)
    dense[tuple(index.T)] = values[: len(index)]
    return dense


def _block_sizes(order: list[int], blocks: list[int], levels: list[Table]) -> list[int]:
    """The size of each block; blocks are always stored dense."""
    rank = len(order) - len(blocks)
    result = []
    for number in range(len(blocks)):
        level = levels[order.index(rank + number)]
        if int(level["format"]) != 0:
            raise ValueError("a block that is itself sparse")
        result.append(int(level["dense_size"]))
    return result


def _expand(level: Table, places: Longs, most: int) -> tuple[Longs, Longs, Longs]:
    """(parent of each child, its position in the level, where its values go on) for a level's children."""
    if int(level["format"]) == 0:
        size = int(level["dense_size"])
        if size < 0 or len(places) * size > most:
            raise ValueError("it has more places than its shape")
        positions = np.tile(np.arange(size), len(places))
        parents = np.repeat(np.arange(len(places)), size)
        return parents, positions, places[parents] * size + positions
    segments, indices = _indices(level["array_segments"]), _indices(level["array_indices"])
    if len(places) and (int(places.max()) + 1 >= len(segments)):
        raise ValueError("a segment is missing")
    begins, ends = segments[places], segments[places + 1]
    counts = ends - begins
    if (counts < 0).any() or (begins < 0).any() or int(counts.sum()) > most:
        raise ValueError("its segments are damaged")
    if len(ends) and int(ends.max(initial=0)) > len(indices):
        raise ValueError("a segment ends behind its indices")
    parents = np.repeat(np.arange(len(places)), counts)
    within = np.arange(len(parents)) - np.repeat(np.cumsum(counts) - counts, counts)
    found = begins[parents] + within
    return parents, indices[found], found


def _indices(table: Table | None) -> Longs:
    if table is None:
        raise broken("a sparse tensor has no indices")
    return np.asarray(table["values"], np.int64)


def densify_coordinates(values: Array, indices: Array, shape: Sequence[int]) -> Array:
    """The dense array of ONNX's form: one linear index or one index per dim for each value."""
    if _product(shape) > MAX_DENSE:
        raise ValueError("it would be too large as a dense tensor")
    places = indices.astype(np.int64)
    if places.ndim == 2:
        if places.shape[1] != len(shape) or (places < 0).any() or (places >= np.array(shape)).any():
            raise ValueError("a place lies outside its shape")
        places = np.ravel_multi_index(tuple(places.T), tuple(shape)) if places.size else places.reshape(-1)
    if places.shape != (values.size,) or (places < 0).any() or (places >= _product(shape)).any():
        raise ValueError("a place lies outside its shape")
    dense = np.zeros(_product(shape), values.dtype)
    dense[places] = values
    return dense.reshape(shape)


def _product(shape: Sequence[int]) -> int:
    result = 1
    for dim in shape:
        result *= dim
    return result
