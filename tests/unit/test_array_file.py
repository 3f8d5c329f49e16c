"""Array files of strangers: read without trusting a byte, refused in one sentence."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from studio.array_file import array_headers, load_array, load_arrays, whole_number_labels
from studio.artifact import hash_file
from studio.errors import InputError


class _Code:
    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch executed",)


def _header(shape: tuple[int, ...], descr: str = "<f4") -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": descr})
    return file.getvalue()


def _archive(path: Path, content: bytes, member: str = "x.npy") -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)


def _encrypted(path: Path) -> None:
    _archive(path, _header((1,)) + b"\0" * 4)
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.find(b"PK\1\2") + 8] |= 1
    path.write_bytes(data)


def _scrambled(path: Path) -> None:
    np.savez(path, x=np.arange(64))
    data = bytearray(path.read_bytes())
    data[60:110] = b"(" * 50
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("pipe.npy", lambda p: os.mkfifo(p)),
        ("pipe.npz", lambda p: os.mkfifo(p)),
        ("zeros.npz", lambda p: p.symlink_to("/dev/zero")),
        ("loop.npz", lambda p: p.symlink_to(p.name)),
        ("folder.npz", lambda p: p.mkdir()),
        ("empty.npz", lambda p: p.write_bytes(b"")),
        ("text.npz", lambda p: p.write_text("hello")),
        ("code.npy", lambda p: p.write_bytes(pickle.dumps(_Code()))),
        ("code.npz", lambda p: np.savez(p, x=np.array([_Code()], object))),
        ("member.npz", lambda p: _archive(p, b"hello")),
        ("text-member.npz", lambda p: _archive(p, b"hello", "notes.txt")),
        ("short-member.npz", lambda p: _archive(p, _header((1 << 40,)))),
        ("short.npy", lambda p: p.write_bytes(_header((1 << 40,)))),
        ("negative.npy", lambda p: p.write_bytes(_header((-1, 4)))),
        ("encrypted.npz", _encrypted),
        ("scrambled.npz", _scrambled),
        ("complex.npy", lambda p: np.save(p, np.zeros(3, np.complex64))),
        ("dates.npz", lambda p: np.savez(p, x=np.zeros(3, "M8[s]"))),
        ("records.npy", lambda p: np.save(p, np.zeros(3, [("a", "f4")]))),
    ],
)
@pytest.mark.parametrize("load", [load_array, load_arrays, array_headers])
def test_what_is_no_plain_array_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, make: Callable[[Path], object], load: object
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / name)
    with pytest.raises(InputError, match=name) as caught:
        load(tmp_path / name)  # type: ignore[operator]
    assert caught.value.hint
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "executed").exists()


def test_an_archive_that_unpacks_to_too_much_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.array_file._LARGEST_BYTES", 1 << 20)
    np.savez_compressed(tmp_path / "bomb.npz", x=np.zeros(1 << 18))
    with pytest.raises(InputError, match=r"bomb\.npz unpacks to"):
        load_arrays(tmp_path / "bomb.npz")


def test_the_kind_of_a_file_is_told_by_its_content(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(3))
    (tmp_path / "a.npz").write_bytes((tmp_path / "a.npy").read_bytes())
    assert load_arrays(tmp_path / "a.npz")["inputs"].tolist() == [0, 1, 2]
    np.savez(tmp_path / "b.npz", x=np.arange(3))
    (tmp_path / "b.npy").write_bytes((tmp_path / "b.npz").read_bytes())
    with pytest.raises(InputError, match=r"b\.npy is an \.npz archive") as caught:
        load_array(tmp_path / "b.npy")
    assert "Rename" in caught.value.hint


@pytest.mark.parametrize(
    "labels",
    [
        np.float32(1),
        np.ones((3, 4)),
        np.array(["a", "b", "c"]),
        np.array([1, np.nan, 2]),
        np.array([0.5, 1, 2]),
        np.arange(2),
    ],
)
def test_labels_that_are_no_class_numbers_are_refused(labels: object) -> None:
    with pytest.raises(InputError, match=r"labels\.npy"):
        whole_number_labels(np.asarray(labels), 3, Path("labels.npy"))


def test_labels_may_be_a_column_and_more_than_needed() -> None:
    assert whole_number_labels(np.arange(5.0)[:, None], 3, Path("l.npy")).tolist() == [0, 1, 2]


@pytest.mark.parametrize("make", [lambda p: os.mkfifo(p), lambda p: p.symlink_to("/dev/zero")])
def test_only_regular_files_are_hashed(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "endless")
    with pytest.raises(InputError, match="not a regular file"):
        hash_file(tmp_path / "endless")
