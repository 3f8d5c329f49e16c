"""The outputs of a run as arrays: from raw files and their records, and the float original's."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from studio.devices.stream import Output
from studio.errors import InputError

if TYPE_CHECKING:
    from studio.jobs.deploy import Deploy

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
    return {name: a for name, a in _arrays(path).items() if name != "labels"}


def load_labels(spec: Deploy) -> Array | None:
    """Class numbers [N] from `labels_path` (`.npy`, or `.npz` with `labels`) or the inputs' `labels`."""
    if spec.labels_path.endswith(".npy"):
        try:
            labels: Array = np.load(spec.labels_path, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InputError(f"Cannot read the labels {spec.labels_path}: {error}", hint="") from None
        return labels
    path = spec.labels_path or spec.inputs_path
    return _arrays(Path(path)).get("labels") if path else None


def sample_count(path: Path) -> int:
    """How many samples an `.npz` of inputs holds: the length of its first array."""
    arrays = [a for name, a in _arrays(path).items() if name != "labels"]
    return len(arrays[0]) if arrays and arrays[0].ndim else 1


def _arrays(path: Path) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile, AttributeError) as error:
        raise InputError(f"Cannot read {path}: {error}", hint="Give an .npz file.") from None
