"""Arrays from `.npy` and `.npz` files of strangers: inputs, outputs and labels.

What lives here: the one reader that every room uses. It never unpickles, opens regular files only,
believes no header before the bytes are there, and refuses what no model takes (complex numbers,
dates, records). What does not: which array feeds which input.

Why not `numpy.load`: it waits for ever on a pipe, takes memory for whatever a header or a small
compressed member claims, gives bytes for members that are no arrays, and advises to unpickle.
"""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from studio.errors import InputError

Array = npt.NDArray[Any]
_LARGEST_BYTES = 4 << 30  # of one archive; a single .npy is mapped, so its size does not matter
_UNUSABLE = {"O": "Python objects", "c": "complex numbers", "M": "dates", "m": "durations", "V": "records"}


def load_array(path: Path) -> Array:
    """The array of a `.npy` file, mapped and not read. Raises InputError."""
    with _explained(path, ".npy", "numpy.save(path, array)"):
        _check_regular(path)
        with path.open("rb") as file:
            head = file.read(6)
            if head[:2] == b"PK":
                raise InputError(f"{path.name} is an .npz archive named .npy.", hint="Rename it to .npz.")
            if head != b"\x93NUMPY":
                raise ValueError("it does not begin as one")
            file.seek(0)
            shape, dtype = _header(file)
            _check_dtype(dtype, path.stem, path)
            if _bytes_of(shape, dtype) > path.stat().st_size - file.tell():
                raise ValueError("it ends before its last number")
        array: Array = np.load(path, mmap_mode="r" if _bytes_of(shape, dtype) else None, allow_pickle=False)
        return array


def load_arrays(path: Path) -> dict[str, Array]:
    """The arrays of an `.npz` file by name; that of a `.npy` file as `inputs`. Raises InputError."""
    if _begins_as_array(path):
        return {"inputs": load_array(path)}
    headers = array_headers(path)
    size = sum(_bytes_of(shape, np.dtype(dtype)) for shape, dtype in headers.values())
    if size > _LARGEST_BYTES:
        raise InputError(
            f"{path.name} unpacks to {size / 1e9:.1f} GB.", hint="Save fewer samples, or one .npy file."
        )
    found: dict[str, Array] = {}
    with _explained(path, ".npz", "numpy.savez(path, inputs=…, labels=…)"), zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            with archive.open(member) as file:
                found[member.removesuffix(".npy")] = np.lib.format.read_array(file, allow_pickle=False)
    return found


def array_headers(path: Path) -> dict[str, tuple[tuple[int, ...], str]]:
    """(shape, dtype) of each array of an `.npz` file, from their headers. Raises InputError."""
    found: dict[str, tuple[tuple[int, ...], str]] = {}
    with _explained(path, ".npz", "numpy.savez(path, inputs=…, labels=…)"):
        _check_regular(path)
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                with archive.open(member) as file:
                    shape, dtype = _header(file)
                    _check_dtype(dtype, name, path)
                    if _bytes_of(shape, dtype) > member.file_size:
                        raise ValueError(f"the array “{name}” ends before its last number")
                found[name] = (shape, dtype.str if dtype.kind == "U" else dtype.name)
    return found


def load_labels(path: Path) -> Array | None:
    """The labels of a `.npy` file, or the array `labels` of an `.npz` file. Raises InputError."""
    return load_arrays(path).get("labels") if path.suffix == ".npz" else load_array(path)


def whole_number_labels(labels: Array, count: int, path: Path) -> npt.NDArray[np.int64]:
    """The first `count` labels as `[count]`. Raises InputError when they are fewer, or no class numbers."""
    flat = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if flat.ndim != 1:
        raise InputError(
            f"The labels of {path.name} have {labels.ndim} axes.", hint="Give one class number per sample."
        )
    if len(flat) < count:
        raise InputError(
            f"{path.name} has {len(flat)} labels for {count} samples.", hint="Give one label per sample."
        )
    flat = flat[:count]
    if flat.dtype.kind not in "biuf" or not (np.isfinite(flat).all() and (flat == np.floor(flat)).all()):
        raise InputError(
            f"The labels of {path.name} are not whole numbers.", hint="Give one class number per sample."
        )
    return flat.astype(np.int64)


def _begins_as_array(path: Path) -> bool:
    with _explained(path, ".npz", "numpy.savez(path, inputs=…, labels=…)"):
        _check_regular(path)
        with path.open("rb") as file:
            return file.read(6) == b"\x93NUMPY"


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype from the head of a `.npy`; source: numpy.lib.format. Raises ValueError."""
    version = np.lib.format.read_magic(file)  # type: ignore[no-untyped-call, unused-ignore]
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)  # type: ignore[no-untyped-call, unused-ignore]
    if any(size < 0 for size in shape):
        raise ValueError("it has an axis of negative length")
    return shape, dtype


def _bytes_of(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    total = dtype.itemsize
    for size in shape:
        total *= size
    return total


def _check_dtype(dtype: np.dtype[Any], name: str, path: Path) -> None:
    if dtype.kind in _UNUSABLE:
        raise InputError(
            f"{path.name} is not a readable array file: “{name}” holds {_UNUSABLE[dtype.kind]}.",
            hint="Save plain numbers.",
        )


def _check_regular(path: Path) -> None:
    if path.is_dir():
        raise ValueError("it is a folder")
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("it is not a regular file")


@contextmanager
def _explained(path: Path, kind: str, call: str) -> Iterator[None]:
    """Turns what numpy and zipfile raise into one InputError."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # a damaged byte can raise a dozen classes, down to tokenize's own
        reason = getattr(error, "strerror", None) or (str(error) or "damaged").splitlines()[0][:200]
        raise InputError(
            f"{path.name} is not a readable {kind} file: {reason.rstrip('.')}.",
            hint=f"Save it again with {call}, without Python objects.",
        ) from None
