"""Inputs of a run: made from declared shapes, or real ones that must fit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from studio.devices.device import RunRequest, RunSettings, check_run_settings
from studio.devices.run_inputs import make_inputs, read_inputs
from studio.errors import InputError


@dataclass(frozen=True)
class Declared:
    name: str
    dtype: str = "float32"
    shape: tuple[int | str | None, ...] = (1, 3)
    scale: float | None = None


def request_of(path: Path, samples: int = 0) -> RunRequest:
    return RunRequest(
        artifact_path="m", artifact_format="onnx", artifact_sha256="", settings=RunSettings(target="ort/cpu"),
        inputs_path=str(path), input_samples=samples,
    )  # fmt: skip


def test_open_dimensions_are_given_or_assumed_and_said() -> None:
    made = make_inputs([Declared("x", shape=("N", 3, None, "?", -1))], {"N": 2, "x:3": 5})
    assert made.arrays["x"].shape == (2, 3, 1, 5, 1)
    assert made.open_dims == ("x:2", "x:4")
    assert "assumed x:2=1, x:4=1" in made.description and made.is_made_up


def test_made_inputs_are_the_same_every_time_and_of_the_right_kind() -> None:
    declared = [
        Declared("f"), Declared("h", "float16"), Declared("i", "int64"), Declared("b", "bool"),
        Declared("q", "int8", scale=0.1),
    ]  # fmt: skip
    first, second = make_inputs(declared, {}), make_inputs(declared, {})
    for name in first.arrays:
        np.testing.assert_array_equal(first.arrays[name], second.arrays[name])
    assert first.arrays["h"].dtype == np.float16
    assert first.arrays["i"].tolist() == [[1, 1, 1]] and first.arrays["b"].all()
    assert first.arrays["q"].dtype == np.float32  # the backend quantises
    assert ((first.arrays["f"] >= 0) & (first.arrays["f"] < 1)).all()


def test_an_unknown_dimension_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="called Q") as raised:
        make_inputs([Declared("x", shape=("N", 3))], {"Q": 2})
    assert "N" in raised.value.hint


@pytest.mark.parametrize(
    "declared", [Declared("x", "string"), Declared("x", "nonsense"), Declared("x", shape=(1 << 40,))]
)
def test_what_cannot_be_made_up_is_refused(declared: Declared) -> None:
    with pytest.raises(InputError, match="x"):
        make_inputs([declared], {})


def test_samples_keep_a_batch_of_one(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.arange(12).reshape(4, 3), labels=np.arange(4))
    inputs = read_inputs(request_of(tmp_path / "x.npz", 4), [Declared("x")])
    assert inputs.count == 4
    sample = inputs.sample(2)["x"]
    assert sample.shape == (1, 3) and sample.tolist() == [[6.0, 7.0, 8.0]] and sample.dtype == np.float32


@pytest.mark.parametrize("name", ["x", "inputs", "serving_default_x:0"])
def test_the_only_input_takes_the_only_array(tmp_path: Path, name: str) -> None:
    np.savez(tmp_path / "x.npz", **{name: np.ones((1, 3))})
    assert "x" in read_inputs(request_of(tmp_path / "x.npz"), [Declared("x")]).arrays


def test_renamed_inputs_are_taken_in_order_and_mixed_names_are_not(tmp_path: Path) -> None:
    declared = [Declared("a"), Declared("b")]
    np.savez(tmp_path / "in.npz", p=np.zeros((1, 3)), q=np.ones((1, 3)))
    assert read_inputs(request_of(tmp_path / "in.npz"), declared).arrays["b"].all()
    np.savez(tmp_path / "mixed.npz", a=np.zeros((1, 3)), q=np.ones((1, 3)))
    with pytest.raises(InputError, match="the input b"):
        read_inputs(request_of(tmp_path / "mixed.npz"), declared)


def test_too_few_samples_and_broken_files_are_told(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.ones((2, 3)))
    with pytest.raises(InputError, match="fewer than 5"):
        read_inputs(request_of(tmp_path / "x.npz", 5), [Declared("x")])
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 cut")
    with pytest.raises(InputError, match=r"bad\.npz"):
        read_inputs(request_of(tmp_path / "bad.npz"), [Declared("x")])
    with pytest.raises(InputError, match=r"absent\.npz"):
        read_inputs(request_of(tmp_path / "absent.npz"), [Declared("x")])


def test_a_pickle_in_an_npz_is_not_opened(tmp_path: Path) -> None:
    np.savez(tmp_path / "evil.npz", x=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match=r"evil\.npz"):
        read_inputs(request_of(tmp_path / "evil.npz"), [Declared("x")])


def test_a_sample_has_the_rank_of_the_model_with_or_without_a_batch_axis(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, image=np.arange(24.0).reshape(4, 2, 3), batch=np.zeros((4, 3)), scale=np.arange(4.0))
    declared = [
        Declared("image", shape=(2, 3)), Declared("batch", shape=("N", 3)), Declared("scale", shape=()),
    ]  # fmt: skip
    sample = read_inputs(request_of(path, samples=4), declared).sample(2)
    assert sample["image"].tolist() == [[12, 13, 14], [15, 16, 17]]
    assert sample["batch"].shape == (1, 3)
    assert sample["scale"].shape == () and sample["scale"] == 2.0


def test_an_input_whose_shape_is_not_declared_keeps_its_batch_axis(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, x=np.zeros(4))
    script = [Declared("x", dtype="", shape=())]  # as TorchScript declares it: not at all
    assert read_inputs(request_of(path, samples=4), script).sample(1)["x"].shape == (1,)


def test_a_run_of_more_inferences_than_a_file_can_hold_is_refused_with_the_reason() -> None:
    check_run_settings(RunSettings(target="ort/cpu", runs=10_000_000), field="--")
    with pytest.raises(InputError, match=r"--runs: 1000000000 is out of range") as raised:
        check_run_settings(RunSettings(target="ort/cpu", runs=10**9), field="--")
    assert raised.value.hint == "From 1 to 10,000,000. Each inference is kept; for a longer run give seconds."
