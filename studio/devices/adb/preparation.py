"""What a run needs on the phone: model, its external data, inputs, and the job file of the runner."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.artifact import hash_file
from studio.devices.adb.cache import PushFile
from studio.devices.device import RunMode, RunRequest
from studio.devices.run_inputs import RunInputs, read_inputs
from studio.errors import UnsupportedError
from studio.graph.formats import open_graph
from studio.graph.graph import Graph

MODEL = "model"
TRACE, OPTIMIZED = "trace.json", "optimized.onnx"

_ONNX_TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
    "float16": 10, "float64": 11, "uint32": 12, "uint64": 13,
}  # fmt: skip
"""numpy name → ONNXTensorElementDataType (onnxruntime_c_api.h)."""


@dataclass(frozen=True, slots=True)
class GraphInput:
    """An input as the graph declares it."""

    name: str
    dtype: str
    shape: tuple[int | str | None, ...]
    scale: float | None = None


@dataclass(frozen=True, slots=True)
class Preparation:
    """Files by the name they have in the run's folder; and what the inputs are, in words."""

    files: dict[str, PushFile]
    inputs: str


def prepare_file(request: RunRequest) -> Preparation:
    """Only the model, for a runner that makes its own inputs."""
    name = f"{MODEL}.{request.artifact_format}"
    return Preparation({name: push_file(Path(request.artifact_path))}, "made by the runner")


def prepare(request: RunRequest, scratch: Path) -> Preparation:
    """Reads the model's interface and writes its inputs as raw files into `scratch`.

    Raises InputError for a broken model or inputs that do not fit, UnsupportedError for types that
    the runner cannot feed.
    """
    path = Path(request.artifact_path)
    graph = open_graph(path)
    inputs = read_inputs(request, _declared(graph))
    name = f"{MODEL}.{request.artifact_format}"
    files = {name: push_file(path)}
    for extra in sorted({d.path for d in graph.tensor_data.values() if d.path}):
        files[extra] = push_file(path.parent / extra)  # the reader has confined it to this folder
    settings = request.settings
    lines = [
        f"model {name}",
        f"threads {settings.threads}",
        f"warmup {settings.warmup_runs}",
        f"runs {settings.runs}",
        f"seconds {settings.seconds}",
        f"mode {settings.mode}",
        f"interval_ns {int(settings.interval_ms * 1e6) if settings.mode is RunMode.CADENCE else 0}",
        f"samples {inputs.count}",
    ]
    if request.outputs_dir:
        lines.append("outputs_file outputs.bin")
    if request.profile_dir:
        lines.append(f"profile {settings.runs}")
        if request.artifact_format == "onnx":  # a .ort file is optimised already
            lines.append(f"optimized {OPTIMIZED}")
    for number, (input_name, array) in enumerate(inputs.arrays.items()):
        raw = scratch / f"input-{number}.raw"
        shape = _write(array, inputs, raw, input_name)
        files[raw.name] = push_file(raw)
        dims = " ".join(map(str, shape))
        kind = _ONNX_TYPES[array.dtype.name]
        lines.append(" ".join(f"input {_hex(input_name)} {kind} {len(shape)} {dims} {raw.name}".split()))
    lines += [f"output {_hex(graph.tensor_name[t])}" for t in graph.main_outputs()]
    job = scratch / "job.txt"
    job.write_text("\n".join(lines) + "\n")
    files[job.name] = push_file(job)
    return Preparation(files=files, inputs=inputs.description)


def push_file(path: Path, *, is_program: bool = False) -> PushFile:
    """The file with its hash and size."""
    return PushFile(
        path=str(path), sha256=hash_file(path), size_bytes=path.stat().st_size, is_program=is_program
    )


def _declared(graph: Graph) -> list[GraphInput]:
    return [
        GraphInput(graph.tensor_name[t], graph.tensor_dtype[t], graph.tensor_shape[t] or ())
        for t in graph.main_inputs()
    ]


def _write(array: npt.NDArray[Any], inputs: RunInputs, path: Path, name: str) -> tuple[int, ...]:
    """Writes all samples one after the other; returns the shape of one."""
    if array.dtype.name not in _ONNX_TYPES:
        raise UnsupportedError(
            f"Input {name} is of type {array.dtype.name}, which the phone's runner cannot feed.",
            hint="Give it a numeric type.",
        )
    data = array[: inputs.count] if inputs.is_stacked else array
    data = np.ascontiguousarray(data)
    data.astype(data.dtype.newbyteorder("<"), copy=False).tofile(path)
    shape: tuple[int, ...] = inputs.sample(0)[name].shape
    return shape


def _hex(name: str) -> str:
    return name.encode().hex()
