"""Data sets: the same preprocessing for all, one clear sentence for everything that is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from studio.backends.backend import InputInfo
from studio.errors import InputError
from studio.recipes.data import data_fingerprint, made_up_samples, open_samples
from studio.recipes.recipe import Preprocessing
from studio.recipes.source import DataSet

PICTURE = (InputInfo(name="x", dtype="float32", shape=(1, 3, 8, 8)),)
HOW = Preprocessing(height=8, width=8, mean=(0.5,), std=(0.25,))


def save_pictures(folder: Path, count: int = 3, size: tuple[int, int] = (10, 12)) -> Path:
    folder.mkdir()
    for i in range(count):
        Image.new("RGB", size, (i * 10, 0, 255)).save(folder / f"{i}.png")
    return folder


def test_pictures_are_resized_scaled_and_standardised(tmp_path: Path) -> None:
    save_pictures(tmp_path / "data")
    samples = open_samples(DataSet(path="data"), tmp_path, HOW, PICTURE, 10)
    feeds = list(samples)
    assert samples.count == 3
    assert feeds[0]["x"].shape == (1, 3, 8, 8)
    np.testing.assert_allclose(feeds[0]["x"][0, :, 0, 0], [(0 - 0.5) / 0.25, -2, 2], atol=1e-6)


def test_bgr_turns_the_channels_and_nhwc_the_axes(tmp_path: Path) -> None:
    save_pictures(tmp_path / "data", 1)
    how = Preprocessing(height=8, width=8, color="bgr", layout="NHWC")
    inputs = (InputInfo(name="x", dtype="float32", shape=(1, 8, 8, 3)),)
    feeds = open_samples(DataSet(path="data"), tmp_path, how, inputs, 1).feeds(0)
    np.testing.assert_allclose(feeds["x"][0, 0, 0], [1, 0, 0], atol=1e-6)


def test_a_model_that_takes_bytes_gets_the_pixels_as_they_are(tmp_path: Path) -> None:
    save_pictures(tmp_path / "data", 2)
    inputs = (InputInfo(name="x", dtype="uint8", shape=(1, 3, 8, 8)),)
    feeds = open_samples(DataSet(path="data"), tmp_path, HOW, inputs, 2).feeds(1)
    assert feeds["x"].dtype == np.uint8
    assert feeds["x"][0, 0, 0, 0] == 10


def test_integer_arrays_are_pictures_and_float_arrays_are_taken_as_they_are(tmp_path: Path) -> None:
    pixels = np.full((2, 8, 8, 3), 255, np.uint8)
    np.savez(tmp_path / "pixels.npz", inputs=pixels, labels=[1, 2])
    np.save(tmp_path / "ready.npy", np.full((2, 3, 8, 8), 0.125, np.float32))
    from_pixels = open_samples(DataSet(path="pixels.npz"), tmp_path, HOW, PICTURE, 9)
    ready = open_samples(DataSet(path="ready.npy"), tmp_path, HOW, PICTURE, 9)
    assert from_pixels.feeds(0)["x"][0, 0, 0, 0] == pytest.approx(2)
    assert from_pixels.labels is not None and from_pixels.labels.tolist() == [1, 2]
    assert ready.feeds(0)["x"][0, 0, 0, 0] == 0.125


def test_a_fixed_batch_is_filled_and_the_last_sample_repeated(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.arange(3, dtype=np.float32).reshape(3, 1))
    inputs = (InputInfo(name="x", dtype="float32", shape=(2, 1)),)
    samples = open_samples(DataSet(path="d.npy"), tmp_path, Preprocessing(), inputs, 9)
    assert [feeds["x"].ravel().tolist() for feeds in samples] == [[0, 1], [2, 2]]


def test_several_inputs_are_matched_by_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", a=np.zeros((2, 4), np.float32), b=np.ones((2, 5), np.int64))
    inputs = (
        InputInfo(name="b", dtype="int64", shape=("n", 5)),
        InputInfo(name="a", dtype="float32", shape=("n", 4)),
    )
    feeds = open_samples(DataSet(path="d.npz"), tmp_path, Preprocessing(), inputs, 9).feeds(0)
    assert {name: array.shape for name, array in feeds.items()} == {"b": (1, 5), "a": (1, 4)}


def test_labels_of_pictures_come_from_a_table(tmp_path: Path) -> None:
    save_pictures(tmp_path / "data")
    (tmp_path / "labels.csv").write_text("file,label\n0.png,7\n1.png,8\n2.png,9\n")
    samples = open_samples(DataSet(path="data", labels="labels.csv"), tmp_path, HOW, PICTURE, 2)
    assert samples.labels is not None and samples.labels.tolist() == [7, 8]


def _text(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "a.png").write_text("this is no picture")


def _empty_folder(folder: Path) -> None:
    (folder / "data").mkdir()


@pytest.mark.parametrize(
    ("make", "path", "says"),
    [
        (lambda f: None, "absent", "does not exist"),
        (_empty_folder, "data", "holds no pictures"),
        (_text, "data", "a.png cannot be read as a picture"),
        (lambda f: (f / "data.csv").write_text("1,2"), "data.csv", "neither a folder of images nor"),
        (lambda f: (f / "d.npy").write_bytes(b"\x93NUMPY rubbish"), "d.npy", "not a readable .npy"),
        (lambda f: (f / "d.npz").write_bytes(b"PK rubbish"), "d.npz", "not a readable .npz"),
        (lambda f: np.savez(f / "d.npz", wrong=[[1.0]], other=[2]), "d.npz", "holds wrong, other"),
        (lambda f: np.savez(f / "d.npz", inputs=np.zeros((0, 3, 8, 8))), "d.npz", "holds no samples"),
        (lambda f: np.save(f / "d.npy", np.zeros((4, 3, 9, 8), np.float32)), "d.npy", "1×3×9×8"),
        (
            lambda f: np.savez(f / "d.npz", inputs=np.zeros((3, 3, 8, 8), np.float32), labels=[1]),
            "d.npz",
            "1 labels for 3 samples",
        ),
        (lambda f: np.save(f / "d.npy", np.array([object()]), allow_pickle=True), "d.npy", "not a readable"),
    ],
)
def test_bad_data_is_named_in_one_sentence(tmp_path: Path, make: object, path: str, says: str) -> None:
    make(tmp_path)  # type: ignore[operator]
    with pytest.raises(InputError, match=says) as caught:
        list(open_samples(DataSet(path=path), tmp_path, HOW, PICTURE, 10))
    assert caught.value.hint


def test_a_picture_of_the_wrong_kind_is_named(tmp_path: Path) -> None:
    save_pictures(tmp_path / "data")
    with pytest.raises(InputError, match=r"0\.png gives shape 1×1×8×8"):
        open_samples(
            DataSet(path="data"), tmp_path, Preprocessing(height=8, width=8, color="gray"), PICTURE, 3
        ).feeds(0)


def test_fingerprint_follows_the_version_of_the_preprocessing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_pictures(tmp_path / "data")
    before = data_fingerprint(DataSet(path="data"), tmp_path, 10)
    monkeypatch.setattr("studio.recipes.data.PREPROCESSING_VERSION", 999)
    assert data_fingerprint(DataSet(path="data"), tmp_path, 10) != before


def test_fingerprint_follows_contents_and_not_the_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        save_pictures(tmp_path / name / "data")
    first, second = (data_fingerprint(DataSet(path="data"), tmp_path / n, 10) for n in ("a", "b"))
    assert first == second
    Image.new("RGB", (4, 4)).save(tmp_path / "b" / "data" / "1.png")
    assert data_fingerprint(DataSet(path="data"), tmp_path / "b", 10) != first
    assert data_fingerprint(DataSet(path="data"), tmp_path / "b", 1) == data_fingerprint(
        DataSet(path="data"), tmp_path / "a", 1
    )


def test_made_up_inputs_are_reproducible_and_fill_free_dims() -> None:
    inputs = (
        InputInfo(name="x", dtype="float32", shape=("n", 3, None)),
        InputInfo(name="mask", dtype="bool", shape=(1, "length")),
    )
    first, again = (made_up_samples(inputs, 2, {"length": 5}) for _ in range(2))
    feeds = first.feeds(1)
    assert feeds["x"].shape == (1, 3, 1) and feeds["mask"].shape == (1, 5)
    np.testing.assert_array_equal(feeds["x"], again.feeds(1)["x"])
    assert not first.is_real


def test_made_up_inputs_without_a_batch_keep_their_first_axis() -> None:
    inputs = (InputInfo(name="state", dtype="float32", shape=(2, "batch", 8)),)
    assert made_up_samples(inputs, 1).feeds(0)["state"].shape == (2, 1, 8)


def test_sixteen_bit_pictures_keep_their_greys_and_unknown_ranges_are_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    Image.fromarray(np.full((8, 8), 0x8000, np.uint16)).save(tmp_path / "data" / "a.png")
    inputs = (InputInfo(name="x", dtype="uint8", shape=(1, 3, 8, 8)),)
    feeds = open_samples(DataSet(path="data"), tmp_path, HOW, inputs, 1).feeds(0)
    assert set(feeds["x"].ravel().tolist()) == {0x80}
    Image.fromarray(np.zeros((8, 8), np.float32)).save(tmp_path / "data" / "a.tiff")
    with pytest.raises(InputError, match="range is not known"):
        open_samples(DataSet(path="data"), tmp_path, HOW, inputs, 2).feeds(1)


def test_pictures_whose_names_are_no_text_can_be_used(tmp_path: Path) -> None:
    save_pictures(tmp_path / "data", 1)
    try:
        (tmp_path / "data" / "0.png").rename(tmp_path / "data" / os.fsdecode(b"\xff.png"))
    except OSError:
        pytest.skip("this file system takes only text as names")
    samples = open_samples(DataSet(path="data"), tmp_path, HOW, PICTURE, 1)
    assert samples.feeds(0)["x"].shape == (1, 3, 8, 8)
    assert samples.name_of is not None and samples.name_of(0) == "The picture \\xff.png"
    assert len(data_fingerprint(DataSet(path="data"), tmp_path, 1)) == 64


def test_inputs_too_large_to_be_made_up_are_refused() -> None:
    inputs = (InputInfo(name="x", dtype="float32", shape=(1, 2**62, 2**62)),)
    with pytest.raises(InputError, match="too large to be made up"):
        made_up_samples(inputs, 1).feeds(0)
