"""Real inputs for calibration, verification and devices: a folder of images, `.npy` or `.npz`.

What lives here: `Samples`, which turns item i of a data set into the model's inputs, one at a time,
so that memory does not grow with their number; `open_samples`, `made_up_samples`. The same
preprocessing serves every user of the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio.array_file import load_array, load_arrays, load_labels, whole_number_labels
from studio.backends.backend import Array, InputInfo
from studio.backends.packages import package_version
from studio.errors import InputError
from studio.recipes.arrays import labels_for_files, match_inputs
from studio.recipes.fingerprint import digest, file_hash, resolve
from studio.recipes.images import (
    IMAGE_SUFFIXES,
    PREPROCESSING_VERSION,
    image_files,
    preprocess,
    read_image,
    readable,
)
from studio.recipes.recipe import Preprocessing
from studio.recipes.source import DataSet

_MOST_MADE_UP = 1 << 28  # numbers of one made-up input


@dataclass(frozen=True)
class Samples:
    """`count` samples; `read(i)` gives one sample without batch axis per input name.

    `origin` says in words where they come from; `is_real` is False for made-up inputs.
    """

    count: int
    read: Callable[[int], Mapping[str, Array]]
    inputs: Sequence[InputInfo]
    origin: str
    labels: npt.NDArray[np.int64] | None = None
    is_real: bool = True
    name_of: Callable[[int], str] | None = None  # “sample 3 of data.npz” when None

    @cached_property
    def has_batch_axis(self) -> bool:
        """Whether the model's inputs have one axis more than a sample: the batch."""
        first = self.read(0)
        return any(np.ndim(first[info.name]) == len(info.shape) - 1 for info in self.inputs)

    @cached_property
    def batch_size(self) -> int:
        """How many samples one call takes: the fixed size of the batch axis, 1 when it is free or absent."""
        size = self.inputs[0].shape[0] if self.has_batch_axis and self.inputs[0].shape else 1
        return size if isinstance(size, int) and size > 0 else 1

    def feeds(self, i: int) -> dict[str, Array]:
        """Inputs for one call: sample i with a batch axis, or samples i … i + batch − 1 of a fixed batch.

        The last sample is repeated where a fixed batch cannot be filled. Raises InputError naming
        the sample when its shape is not the model's.
        """
        rows = [self.read(min(i + k, self.count - 1)) for k in range(self.batch_size)]
        made = {}
        for info in self.inputs:
            parts = [np.asarray(row[info.name]) for row in rows]
            has_batch_axis = len(info.shape) == parts[0].ndim + 1
            array = np.stack(parts) if has_batch_axis else parts[0]
            _check_shape(array, info, self.name_of(i) if self.name_of else f"Sample {i} of {self.origin}")
            made[info.name] = array.astype(info.dtype) if info.dtype not in ("", "str") else array
        return made

    def __iter__(self) -> Iterator[dict[str, Array]]:
        for i in range(0, self.count, self.batch_size):
            yield self.feeds(i)


def open_samples(
    data: DataSet, folder: Path, preprocessing: Preprocessing, inputs: Sequence[InputInfo], limit: int
) -> Samples:
    """At most `limit` samples of a data set for a model with these inputs.

    Raises InputError when the data is missing, empty, unreadable or of another kind.
    """
    path = resolve(folder, data.path)
    if not inputs:
        raise InputError("The model has no inputs, so no data can be fed.", hint="Check the model file.")
    if path.is_dir():
        return _from_images(path, data, folder, preprocessing, inputs, limit)
    if path.suffix == ".npy":
        return _from_arrays({"inputs": load_array(path)}, path, data, folder, preprocessing, inputs, limit)
    if path.suffix == ".npz":
        return _from_arrays(load_arrays(path), path, data, folder, preprocessing, inputs, limit)
    raise InputError(
        f"{path.name} is neither a folder of images nor a .npy or .npz file.",
        hint="Name a folder of pictures, or save arrays with numpy.savez(path, inputs=…, labels=…).",
    )


def data_fingerprint(data: DataSet | None, folder: Path, limit: int) -> str:
    """The hash of what `open_samples` would give: contents, and whose code makes inputs of them.

    Empty text for no data. Pillow resizes pictures, so its version counts for folders of pictures.
    """
    if data is None:
        return ""
    path = resolve(folder, data.path)
    files = image_files(path)[:limit] if path.is_dir() else [path]
    if data.labels:
        files = [*files, resolve(folder, data.labels)]
    code = [PREPROCESSING_VERSION, package_version("pillow") if path.is_dir() else ""]
    return digest([[readable(Path(file.name)), file_hash(file)] for file in files], code)


def made_up_samples(
    inputs: Sequence[InputInfo], count: int, dims: Mapping[str, int] | None = None
) -> Samples:
    """Reproducible random inputs (seed = index) from declared shapes; free dims are `dims` or 1.

    Floats are uniform in 0..1, integers 0 or 1, booleans true.
    """

    has_batch_axis = all(_first(info) in (1, None) or isinstance(_first(info), str) for info in inputs)

    def read(i: int) -> dict[str, Array]:
        random = np.random.default_rng(i)
        return {info.name: _made_up(random, info, dims or {}, has_batch_axis) for info in inputs}

    return Samples(
        count=count, read=read, inputs=tuple(inputs), origin="made-up random inputs", is_real=False
    )


def _first(info: InputInfo) -> int | str | None:
    return info.shape[0] if info.shape else 0


def _made_up(
    random: np.random.Generator, info: InputInfo, dims: Mapping[str, int], has_batch_axis: bool
) -> Array:
    shape = tuple(dim if isinstance(dim, int) else dims.get(dim or "", 1) for dim in info.shape)
    if has_batch_axis:  # Samples.feeds adds it
        shape = shape[1:]
    if info.dtype == "bool":
        return np.ones(shape, np.bool_)
    if info.dtype in ("", "str", "bfloat16"):
        raise InputError(
            f"Inputs of type {info.dtype or 'unknown'} cannot be made up (input “{info.name}”).",
            hint="Name a data set in the project.",
        )
    if math.prod(shape) > _MOST_MADE_UP:
        raise InputError(
            f"Input “{info.name}” of shape {_words(shape)} is too large to be made up.",
            hint="Name a data set in the project, or give its dims smaller sizes.",
        )
    if np.issubdtype(np.dtype(info.dtype), np.integer):
        return random.integers(0, 2, shape).astype(info.dtype)
    return random.random(shape).astype(info.dtype)


def _from_images(
    path: Path, data: DataSet, folder: Path, how: Preprocessing, inputs: Sequence[InputInfo], limit: int
) -> Samples:
    files = image_files(path)[:limit]
    if not files:
        raise InputError(
            f"The folder {path} holds no pictures.", hint=f"Known kinds: {', '.join(IMAGE_SUFFIXES)}."
        )
    info = _only_input(inputs, "A folder of pictures")

    def read(i: int) -> dict[str, Array]:
        return {
            info.name: preprocess(read_image(files[i], how), how, info, name=readable(Path(files[i].name)))
        }

    labels = None
    if data.labels:
        labels = labels_for_files(resolve(folder, data.labels), [f.relative_to(path) for f in files])
    return Samples(
        count=len(files),
        read=read,
        inputs=tuple(inputs),
        origin=f"pictures of {path.name}",
        labels=labels,
        name_of=lambda i: f"The picture {readable(Path(files[i].name))}",
    )


def _from_arrays(
    arrays: dict[str, Array],
    path: Path,
    data: DataSet,
    folder: Path,
    how: Preprocessing,
    inputs: Sequence[InputInfo],
    limit: int,
) -> Samples:
    by_input = match_inputs(arrays, inputs, path)
    lengths = {name: len(array) if array.ndim else 0 for name, array in by_input.items()}
    if min(lengths.values()) == 0:
        raise InputError(f"{path.name} holds no samples.", hint="The first axis of an array is the sample.")
    if len(set(lengths.values())) > 1:
        raise InputError(
            f"The arrays of {path.name} have different numbers of samples: {lengths}.",
            hint="Give every input the same first axis.",
        )
    count = min(limit, next(iter(lengths.values())))
    labels, labels_path = arrays.get("labels"), path
    if data.labels:
        labels_path = resolve(folder, data.labels)
        labels = load_labels(labels_path)
    infos = {info.name: info for info in inputs}

    def read(i: int) -> dict[str, Array]:
        return {
            name: _item(np.asarray(array[i]), how, infos[name], f"sample {i} of {path.name}")
            for name, array in by_input.items()
        }

    return Samples(
        count=count,
        read=read,
        inputs=tuple(inputs),
        origin=path.name,
        labels=None if labels is None else whole_number_labels(labels, count, labels_path),
    )


def _item(value: Array, how: Preprocessing, info: InputInfo, name: str) -> Array:
    """Pictures (integers for a model that takes floats) are preprocessed; all else is taken as it is."""
    takes_float = info.dtype.startswith("float")
    if (
        takes_float
        and np.issubdtype(value.dtype, np.integer)
        and value.ndim in (2, 3)
        and len(info.shape) == 4
    ):
        return preprocess(value[:, :, None] if value.ndim == 2 else value, how, info, name=name)
    return value


def _only_input(inputs: Sequence[InputInfo], what: str) -> InputInfo:
    if len(inputs) != 1:
        raise InputError(
            f"{what} feeds one input, but the model has {len(inputs)}: {', '.join(i.name for i in inputs)}.",
            hint="Save a .npz with one array per input name.",
        )
    return inputs[0]


def _check_shape(array: Array, info: InputInfo, name: str) -> None:
    wanted = info.shape
    fits = len(wanted) == array.ndim and all(
        not isinstance(dim, int) or dim == have for dim, have in zip(wanted, array.shape)
    )
    if not fits:
        raise InputError(
            f"{name} gives shape {_words(array.shape)}, but the model's input "
            f"“{info.name}” takes {_words(wanted)}.",
            hint="Set height, width, colour and layout in the project's preprocessing, or use other data.",
        )


def _words(shape: Sequence[object]) -> str:
    return "×".join("?" if dim is None else str(dim) for dim in shape) or "a single number"
