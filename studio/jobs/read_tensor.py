"""Reads one constant of an opened graph: statistics for the inspector, or an `.npy` file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.errors import InputError
from studio.graph.store import load_graph
from studio.graph.tensor_statistics import TensorStatistics, statistics_of
from studio.graph.weights import read_tensor
from studio.jobs.job import Report
from studio.records import Record, write_atomically


class ReadTensor(Record):
    """Which constant of the packed graph; with `export_path` it is also written there as `.npy`."""

    graph_path: str
    tensor: int
    export_path: str = ""


class TensorRead(Record):
    """The statistics, and where the `.npy` is when one was asked for."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    statistics: TensorStatistics
    export_path: str = ""


def run(spec: ReadTensor, report: Report) -> TensorRead:
    """The statistics of a constant. Raises InputError when it has no readable values."""
    graph = load_graph(Path(spec.graph_path))
    if not 0 <= spec.tensor < graph.tensor_count:
        raise InputError(f"The graph has no tensor {spec.tensor}.", hint="Open the model again.")
    report.progress("reading", 0, 2)
    values = read_tensor(graph, spec.tensor)
    if spec.export_path:
        _export(values, Path(spec.export_path))
    report.progress("counting", 1, 2)
    return TensorRead(
        name=graph.tensor_name[spec.tensor],
        dtype=graph.tensor_dtype[spec.tensor],
        shape=tuple(values.shape),
        statistics=statistics_of(values),
        export_path=spec.export_path,
    )


def _export(values: npt.NDArray[Any], path: Path) -> None:
    """Writes an `.npy` that plain numpy reads: types it does not know (bfloat16, float8) as float32."""
    if values.dtype == object:
        raise InputError("Text constants cannot be written as .npy.", hint="Copy them from the inspector.")
    if values.dtype.type.__module__ != "numpy":
        values = values.astype(np.float32)
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=False)
    write_atomically(path, buffer.getvalue())
