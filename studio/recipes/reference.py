"""The float original's outputs on real inputs: what every result is compared with, on every device.

What lives here: `prepare_reference`, which runs the source once per source and data and keeps
inputs, outputs and labels as `.npz` files in the artifact cache, so that verification, this
computer and phones all compare with the same numbers.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from studio.backends.backend import Array, InputInfo, Report
from studio.backends.explain import tool_error
from studio.backends.ort import OrtBackend
from studio.backends.packages import package_version
from studio.errors import InputError, ToolError
from studio.recipes.cache import Making, cached_or_made
from studio.recipes.data import Samples, data_fingerprint, made_up_samples, open_samples
from studio.recipes.fingerprint import digest, resolve, source_fingerprint
from studio.recipes.load_torch import load_torch
from studio.recipes.recipe import Preprocessing
from studio.recipes.source import DataSet, SourceModel
from studio.records import Record

MADE_UP_COUNT = 16
_LARGEST_BYTES = 1 << 30  # of all inputs and outputs together; beyond it fewer samples are taken


class Reference(Record):
    """Where inputs and the original's outputs are: arrays `[N, …]` by name, N = `samples`.

    `labels_path` is empty when there are none; `is_real` is False for made-up inputs.
    """

    inputs_path: str
    outputs_path: str
    labels_path: str
    samples: int
    origin: str
    is_real: bool


class HasSourceAndData(Protocol):
    """What a reference needs of a project."""

    @property
    def source(self) -> SourceModel: ...
    @property
    def calibration(self) -> DataSet | None: ...
    @property
    def evaluation(self) -> DataSet | None: ...
    @property
    def preprocessing(self) -> Preprocessing: ...


class SourceRunner(Protocol):
    """The float original, ready to run."""

    inputs: Sequence[InputInfo]

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]: ...


class TorchRunner:
    """A torch source in eval mode. Outputs are named in order: `output_0`, …"""

    def __init__(self, source: SourceModel, folder: Path, *, trusted: bool) -> None:
        self._loaded = load_torch(source, folder, trusted=trusted)
        self.inputs: Sequence[InputInfo] = [
            InputInfo(name=name, dtype=str(example.dtype).removeprefix("torch."), shape=shape)
            for name, shape, example in zip(
                self._loaded.input_names, self._loaded.input_shapes, self._loaded.examples
            )
        ]

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        import torch
        from torch.utils import _pytree

        args = [torch.from_numpy(np.ascontiguousarray(feeds[info.name])) for info in self.inputs]
        try:
            with torch.no_grad():
                made = self._loaded.call(*args)
        except Exception as error:
            raise tool_error(
                "The source model failed on its inputs.",
                f"{type(error).__name__}: {error}",
                tools=("torchscript",),
            ) from None
        leaves, _ = _pytree.tree_flatten(made)
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        return {f"output_{i}": tensor.detach().cpu().numpy() for i, tensor in enumerate(tensors)}


def open_source(source: SourceModel, folder: Path, *, trusted: bool) -> SourceRunner:
    """The float original in torch or ONNX Runtime. Raises InputError, UnsupportedError or ToolError."""
    path = resolve(folder, source.path)
    if path.suffix == ".onnx":
        return OrtBackend().load(path, target="ort/cpu", threads=1)
    return TorchRunner(source, folder, trusted=trusted)


def evaluation_data(project: HasSourceAndData) -> DataSet | None:
    """The data to compare on: evaluation data, else calibration data, else none."""
    return project.evaluation or project.calibration


def reference_key(project: HasSourceAndData, folder: Path, samples: int) -> str:
    """The hash of everything that the reference's numbers depend on."""
    data = evaluation_data(project)
    return digest(
        "reference-1",
        source_fingerprint(project.source, folder),
        data_fingerprint(data, folder, samples),
        project.preprocessing,
        samples if data else min(samples, MADE_UP_COUNT),
        {name: package_version(name) for name in ("torch", "onnxruntime")},
    )


def prepare_reference(
    project: HasSourceAndData, folder: Path, report: Report, *, samples: int, trusted: bool
) -> Reference:
    """The reference, from the cache or made now. Without data, made-up inputs are used and named so.

    Raises InputError for the project's faults, ToolError when the source cannot be run.
    """

    def make(out_dir: Path) -> Making:
        found = _run_source(project, folder, report, out_dir, samples, trusted)
        (out_dir / "reference.json").write_bytes(msgspec.json.encode(found))
        return Making(path=out_dir / "reference.json", format="reference")

    artifact, _ = cached_or_made(
        reference_key(project, folder, samples), make, made_by="reference", settings={"samples": samples}
    )
    home = Path(artifact.path).parent
    found = msgspec.json.decode(Path(artifact.path).read_bytes(), type=Reference)
    return msgspec.structs.replace(
        found,
        inputs_path=str(home / found.inputs_path),
        outputs_path=str(home / found.outputs_path),
        labels_path=str(home / found.labels_path) if found.labels_path else "",
    )


def _run_source(
    project: HasSourceAndData, folder: Path, report: Report, out_dir: Path, limit: int, trusted: bool
) -> Reference:
    report.progress("Loading the float original", 0, None)
    source = open_source(project.source, folder, trusted=trusted)
    samples = samples_of(project, folder, source.inputs, limit)
    try:
        inputs, outputs, count = run_all(source, samples, report, "Running the float original")
    except ToolError as error:
        if not samples.is_real:
            error.hint = (
                "The inputs were made up, since the project names no data: name real inputs. " + error.hint
            )
        raise
    save_arrays(out_dir / "inputs.npz", inputs)
    save_arrays(out_dir / "outputs.npz", outputs)
    labels = samples.labels
    if labels is not None:
        np.save(out_dir / "labels.npy", labels[:count])
    return Reference(
        inputs_path="inputs.npz",
        outputs_path="outputs.npz",
        labels_path="" if labels is None else "labels.npy",
        samples=count,
        origin=samples.origin,
        is_real=samples.is_real,
    )


def samples_of(project: HasSourceAndData, folder: Path, inputs: Sequence[InputInfo], limit: int) -> Samples:
    """The project's samples for a model with these inputs, made-up ones when it names no data."""
    data = evaluation_data(project)
    if data is None:
        return made_up_samples(inputs, min(limit, MADE_UP_COUNT))
    return open_samples(data, folder, project.preprocessing, inputs, limit)


def run_all(
    source: SourceRunner, samples: Samples, report: Report, stage: str
) -> tuple[dict[str, Array], dict[str, Array], int]:
    """Inputs and outputs of every sample, stacked `[N, …]` without batch axis, and N.

    N is smaller than asked for when all would take more than 1 GiB.
    """
    fed: dict[str, list[Array]] = {}
    made: dict[str, list[Array]] = {}
    size, done = samples.batch_size, 0
    budget = _LARGEST_BYTES
    for start in range(0, samples.count, size):
        report.progress(stage, start, samples.count, "samples")
        feeds = samples.feeds(start)
        rows = min(size, samples.count - start)
        outputs = source.run(feeds)
        for store, arrays in ((fed, feeds), (made, outputs)):
            for name, array in arrays.items():
                kept = split_rows(array, size)[:rows]
                store.setdefault(name, []).extend(kept)
                budget -= sum(row.nbytes for row in kept)
        done += rows
        if budget < 0:
            break
    report.progress(stage, done, done, "samples")
    return _stacked(fed, "inputs"), _stacked(made, "outputs"), done


def split_rows(array: Array, batch: int) -> list[Array]:
    """One array per sample; an array without the batch axis belongs to every sample of the call."""
    if array.ndim and array.shape[0] == batch:
        return list(array)
    return [array] * batch


def _stacked(rows: dict[str, list[Array]], what: str) -> dict[str, Array]:
    stacked = {}
    for name, arrays in rows.items():
        shapes = {array.shape for array in arrays}
        if len(shapes) > 1:
            raise InputError(
                f"The {what} “{name}” have different shapes for different samples: {sorted(shapes)[:3]}.",
                hint="Set height and width in the project's preprocessing, so that all samples are alike.",
            )
        stacked[name] = np.stack(arrays)
    return stacked


def save_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Writes arrays by name; not through numpy.savez, which reserves some names for itself."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)


def load_arrays(path: str) -> dict[str, npt.NDArray[Any]]:
    """The arrays of one of our own `.npz` files, in the order they were saved."""
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
