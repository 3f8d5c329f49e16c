"""Outputs of a run as arrays: stacked by sample, refused when they are not whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from studio.devices.stream import Output
from studio.errors import InputError
from studio.jobs.run_outputs import load_reference, sample_count, stack_outputs


def written(folder: Path, arrays: list[np.ndarray], name: str = "y") -> list[Output]:
    outputs = []
    for index, array in enumerate(arrays):
        array.tofile(folder / f"{name}-{index}.raw")
        outputs.append(
            Output(
                t_ns=0, name=name, dtype=array.dtype.name, shape=array.shape,
                path=f"/elsewhere/{name}-{index}.raw", index=index,
            )
        )  # fmt: skip
    return outputs


def test_a_batch_of_one_becomes_the_sample_axis(tmp_path: Path) -> None:
    outputs = written(tmp_path, [np.full((1, 3), i, np.float32) for i in range(4)])
    stacked = stack_outputs(list(reversed(outputs)), tmp_path)["y"]
    assert stacked.shape == (4, 3) and stacked[:, 0].tolist() == [0, 1, 2, 3]


def test_outputs_without_a_batch_are_stacked(tmp_path: Path) -> None:
    outputs = written(tmp_path, [np.arange(3, dtype=np.int64), np.arange(3, dtype=np.int64)])
    assert stack_outputs(outputs, tmp_path)["y"].shape == (2, 3)
    scalars = written(tmp_path, [np.array(1.5), np.array(2.5)], "s")
    assert stack_outputs(scalars, tmp_path)["s"].tolist() == [1.5, 2.5]


def test_what_is_missing_cut_or_changes_shape_is_told_by_name(tmp_path: Path) -> None:
    outputs = written(tmp_path, [np.zeros((1, 3), np.float32), np.zeros((1, 4), np.float32)])
    with pytest.raises(InputError, match="y changes its shape"):
        stack_outputs(outputs, tmp_path)
    (tmp_path / "y-0.raw").write_bytes(b"\0" * 8)
    with pytest.raises(InputError, match="y has 2 values"):
        stack_outputs(outputs, tmp_path)
    (tmp_path / "y-0.raw").unlink()
    with pytest.raises(InputError, match="y did not arrive"):
        stack_outputs(outputs, tmp_path)


def test_labels_are_no_output_and_no_sample(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", labels=np.zeros(9), x=np.zeros((4, 2)))
    assert list(load_reference(tmp_path / "x.npz")) == ["x"]
    assert sample_count(tmp_path / "x.npz") == 4
    with pytest.raises(InputError, match=r"absent\.npz"):
        sample_count(tmp_path / "absent.npz")
