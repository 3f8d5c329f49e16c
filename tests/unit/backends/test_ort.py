"""ONNX Runtime: what runs is what is said to run; bad files and inputs are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from studio.backends.ort import LEVELS, OrtBackend
from studio.errors import InputError, ToolError
from tests.unit.recipes.recipe_projects import Silent, save_convolution


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_convolution(tmp_path / "m.onnx", batch="n")


def feeds(n: int = 1) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(0).normal(size=(n, 3, 16, 16)).astype(np.float32)}


def test_it_tells_inputs_outputs_and_who_ran_the_nodes(model: Path) -> None:
    loaded = OrtBackend().load(model)
    assert [(i.name, i.dtype, i.shape) for i in loaded.inputs] == [("x", "float32", ("n", 3, 16, 16))]
    assert [o.name for o in loaded.outputs] == ["scores"]
    assert loaded.target_ran == "ort/cpu"
    assert loaded.total_nodes and "CPUExecutionProvider" in loaded.evidence


def test_bound_inference_gives_what_run_gives(model: Path) -> None:
    loaded = OrtBackend().load(model, threads=1)
    expected = loaded.run(feeds(3))["scores"]
    loaded.bind(feeds(3))
    loaded.invoke()
    assert expected.shape == (3, 4)
    np.testing.assert_array_equal(loaded.run(feeds(3))["scores"], expected)


@pytest.mark.parametrize("level", list(LEVELS))
def test_ort_files_of_every_level_give_the_same_numbers(model: Path, tmp_path: Path, level: str) -> None:
    made = OrtBackend().convert(model, {"optimization": level}, tmp_path, Silent())
    np.testing.assert_allclose(
        OrtBackend().load(Path(made.path)).run(feeds())["scores"],
        OrtBackend().load(model).run(feeds())["scores"],
        rtol=1e-4,
        atol=1e-5,
    )


@pytest.mark.parametrize("content", [b"", b"this is no model", b"\x08\x07"])
def test_a_bad_file_is_an_input_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.onnx").write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.onnx") as caught:
        OrtBackend().load(tmp_path / "bad.onnx")
    assert caught.value.hint


def test_a_truncated_model_is_an_input_error(model: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.onnx").write_bytes(model.read_bytes()[:600])
    with pytest.raises(InputError, match=r"cut\.onnx"):
        OrtBackend().load(tmp_path / "cut.onnx")


def test_a_missing_input_is_named(model: Path) -> None:
    with pytest.raises(InputError, match="“x”"):
        OrtBackend().load(model).run({"y": np.zeros(1)})


def test_a_wrong_shape_is_explained(model: Path) -> None:
    with pytest.raises(ToolError) as caught:
        OrtBackend().load(model).run({"x": np.zeros((1, 4, 16, 16), np.float32)})
    assert caught.value.hint and caught.value.last_lines
