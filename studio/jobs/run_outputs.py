"""The outputs of a run as arrays: from raw files and their records, and the float original's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.array_file import load_arrays, load_labels, whole_number_labels
from studio.devices.stream import Output
from studio.errors import InputError

Array = npt.NDArray[Any]


def stack_outputs(outputs: Sequence[Output], folder: Path) -> dict[str, Array]:
    """Arrays [N, …] by output name, N samples in order; a leading batch axis of 1 becomes N.

    Raises InputError when a file is short or an output changes its shape from sample to sample.
    """
    by_name: dict[str, list[Array]] = {}
    for output in sorted(outputs, key=lambda o: o.index):
        try:
            raw = np.fromfile(folder / Path(output.path).name, np.dtype(output.dtype).newbyteorder("<"))
        except OSError:
            raise InputError(f"Output {output.name} did not arrive.", hint="Run again.") from None
        if raw.size != int(np.prod(output.shape)):
            raise InputError(
                f"The file of output {output.name} has {raw.size} values, not {list(output.shape)}.",
                hint="Run again.",
            )
        by_name.setdefault(output.name, []).append(raw.reshape(output.shape))
    stacked = {}
    for name, arrays in by_name.items():
        if len({a.shape for a in arrays}) > 1:
            raise InputError(f"Output {name} changes its shape from sample to sample.", hint="")
        has_batch_axis = arrays[0].ndim > 0 and arrays[0].shape[0] == 1
        stacked[name] = np.concatenate(arrays) if has_batch_axis else np.stack(arrays)
    return stacked


def load_reference(path: Path) -> dict[str, Array]:
    """The arrays of an `.npz` of outputs. Raises InputError."""
    return {name: a for name, a in load_arrays(path).items() if name != "labels"}


def labels_of(labels_path: str, inputs_path: str, count: int) -> npt.NDArray[np.int64] | None:
    """Class numbers [count] from `labels_path` (`.npy`, or `.npz` with `labels`) or the inputs' `labels`.

    Raises InputError when they are too few or no class numbers.
    """
    path = Path(labels_path or inputs_path)
    if not labels_path and path.suffix != ".npz":
        return None
    labels = load_labels(path)
    return None if labels is None else whole_number_labels(labels, count, path)


def sample_count(path: Path) -> int:
    """How many samples an `.npz` of inputs holds: the length of its first array."""
    arrays = [a for name, a in load_arrays(path).items() if name != "labels"]
    return len(arrays[0]) if arrays and arrays[0].ndim else 1
