"""Arrays and labels of data sets, matched with a model's inputs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.array_file import load_array, whole_number_labels
from studio.backends.backend import Array, InputInfo
from studio.errors import InputError


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
        return whole_number_labels(load_array(path), len(files), path)
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
