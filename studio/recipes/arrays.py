"""Arrays and labels of data sets, read without pickle and matched with a model's inputs."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.backends.backend import Array, InputInfo
from studio.errors import InputError


def load_array(path: Path) -> Array:
    """The array of a `.npy` file, mapped and not read. Raises InputError."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
    except (OSError, ValueError, EOFError) as error:
        raise InputError(
            f"{path.name} is not a readable .npy file: {str(error).splitlines()[0]}.",
            hint="Save it again with numpy.save, without Python objects.",
        ) from None


def load_arrays(path: Path) -> dict[str, Array]:
    """The arrays of an `.npz` file by name. Raises InputError."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, KeyError) as error:
        raise InputError(
            f"{path.name} is not a readable .npz file: {(str(error) or 'damaged').splitlines()[0]}.",
            hint="Save it again with numpy.savez(path, inputs=…, labels=…), without Python objects.",
        ) from None


def array_headers(path: Path) -> dict[str, tuple[tuple[int, ...], str]]:
    """(shape, dtype) of each array of an `.npz` file, from their headers. Raises InputError."""
    found = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as file:
                    version = np.lib.format.read_magic(file)
                    read = (
                        np.lib.format.read_array_header_1_0
                        if version == (1, 0)
                        else (np.lib.format.read_array_header_2_0)
                    )
                    shape, _, dtype = read(file)
                    found[name.removesuffix(".npy")] = (shape, dtype.name)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, KeyError) as error:
        raise InputError(
            f"{path.name} is not a readable .npz file: {(str(error) or 'damaged').splitlines()[0]}.",
            hint="Save it again with numpy.savez(path, inputs=…, labels=…), without Python objects.",
        ) from None
    return found


def match_inputs(arrays: dict[str, Array], inputs: Sequence[InputInfo], path: Path) -> dict[str, Array]:
    """The array of each model input: by name, or `inputs` for a model with one input."""
    if all(info.name in arrays for info in inputs):
        return {info.name: arrays[info.name] for info in inputs}
    if len(inputs) == 1 and "inputs" in arrays:
        return {inputs[0].name: arrays["inputs"]}
    candidates = [name for name in arrays if name != "labels"]
    if len(inputs) == 1 and len(candidates) == 1:
        return {inputs[0].name: arrays[candidates[0]]}
    raise InputError(
        f"{path.name} holds {', '.join(arrays) or 'nothing'}, but the model's inputs are "
        f"{', '.join(info.name for info in inputs)}.",
        hint="Save one array per input under its name"
        + (", or one array named “inputs”." if len(inputs) == 1 else "."),
    )


def labels_for_files(path: Path, files: Sequence[Path]) -> npt.NDArray[np.int64]:
    """Labels in the order of the files, from a CSV `file,label` or from a `.npy` in that order."""
    if path.suffix == ".npy":
        labels = load_array(path)
        if len(labels) < len(files):
            raise InputError(
                f"{path.name} has {len(labels)} labels for {len(files)} pictures.",
                hint="Give one label per picture.",
            )
        return np.asarray(labels[: len(files)]).astype(np.int64)
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = {row[0].strip(): row[1].strip() for row in csv.reader(file) if len(row) >= 2}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"Cannot read the labels {path}: {error}.", hint="Give a CSV: file,label.") from None
    found = []
    for name in files:
        text: Any = rows.get(name.as_posix(), rows.get(name.name))
        if text is None or not str(text).lstrip("-").isdigit():
            raise InputError(
                f"{path.name} has no whole-number label for {name.as_posix()}.",
                hint="Give a CSV with one line per picture: file,label.",
            )
        found.append(int(text))
    return np.asarray(found, np.int64)
