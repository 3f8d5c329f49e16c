"""What a data set holds, at a glance: for forms and reports, without reading its samples."""

from __future__ import annotations

from pathlib import Path

from studio.array_file import array_headers, load_array
from studio.errors import InputError
from studio.recipes.fingerprint import resolve
from studio.recipes.images import IMAGE_SUFFIXES, image_files, picture_size
from studio.recipes.source import DataSet
from studio.records import Record


class DataSummary(Record):
    """What a data set holds, seen without reading its samples. `shape` is of one sample, empty = unknown."""

    kind: str  # "pictures" or "arrays"
    count: int
    shape: tuple[int, ...] = ()
    dtype: str = ""
    has_labels: bool = False


def describe_data(data: DataSet, folder: Path) -> DataSummary:
    """What is there: names and headers are read, samples are not. Raises InputError as `open_samples`."""
    path = resolve(folder, data.path)
    has_labels = bool(data.labels) and resolve(folder, data.labels).exists()
    if path.is_dir():
        files = image_files(path)
        if not files:
            raise InputError(
                f"The folder {path} holds no pictures.", hint=f"Known kinds: {', '.join(IMAGE_SUFFIXES)}."
            )
        return DataSummary(
            kind="pictures", count=len(files), shape=picture_size(files[0]), has_labels=has_labels
        )
    if path.suffix == ".npy":
        array = load_array(path)
        count = len(array) if array.ndim else 0
        return DataSummary(
            kind="arrays", count=count, shape=array.shape[1:], dtype=array.dtype.name, has_labels=has_labels
        )
    if path.suffix == ".npz":
        headers = array_headers(path)
        names = [name for name in headers if name != "labels"]
        name = "inputs" if "inputs" in headers else (names[0] if names else "")
        if not name or not headers[name][0]:
            raise InputError(f"{path.name} holds no samples.", hint="Save an array named “inputs”.")
        shape, dtype = headers[name]
        has_labels = has_labels or "labels" in headers
        return DataSummary(kind="arrays", count=shape[0], shape=shape[1:], dtype=dtype, has_labels=has_labels)
    raise InputError(
        f"{path.name} is neither a folder of images nor a .npy or .npz file.",
        hint="Name a folder of pictures, or save arrays with numpy.savez(path, inputs=…, labels=…).",
    )
