"""new: a project from a model, wherever the model is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from studio.cli.main import main
from studio.project.store import load_project
from tests.unit.cli.tiny_models import conv_net


def test_a_model_beside_the_project_is_named_not_copied(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = conv_net(tmp_path / "net.onnx")
    project = tmp_path / "net.studio"
    assert main(["new", str(project), "--model", str(model), "--target", "ort/cpu", "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert answer["copied"] == []
    assert [s["id"] for s in answer["steps"]] == ["ort", "verify-ort"]
    assert load_project(project).source.path == "net.onnx"


def test_a_model_elsewhere_is_copied_in_with_its_external_data(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    import onnx

    (tmp_path / "there").mkdir()
    onnx.save(
        onnx.load(conv_net(tmp_path / "net.onnx")), tmp_path / "there" / "net.onnx",
        save_as_external_data=True, location="net.data", size_threshold=0,
    )  # fmt: skip
    project = tmp_path / "here" / "p.studio"
    assert main(["new", str(project), "--model", str(tmp_path / "there" / "net.onnx"), "--json"]) == 0
    copied = json.loads(capfd.readouterr().out)["copied"]
    assert sorted(Path(c).name for c in copied) == ["net.data", "net.onnx"]
    assert {p.name for p in project.parent.iterdir()} == {"p.studio", "net.onnx", "net.data"}


def test_data_and_preprocessing_become_settings(tmp_path: Path) -> None:
    model = conv_net(tmp_path / "net.onnx")
    np.savez(tmp_path / "data.npz", inputs=np.zeros((4, 3, 16, 16), "f"), labels=np.zeros(4, "i8"))
    project = tmp_path / "p.studio"
    arguments = ["new", str(project), "--model", str(model), "--calibration", str(tmp_path / "data.npz")]
    more = ["--evaluation", str(tmp_path / "data.npz"), "--size", "16x20", "--mean", "0.1,0.2,0.3"]
    assert main([*arguments, *more, "--color", "bgr"]) == 0
    made = load_project(project)
    assert made.calibration and made.calibration.path == "data.npz"
    assert made.evaluation and made.evaluation.path == "data.npz"
    assert (made.preprocessing.height, made.preprocessing.width) == (16, 20)
    assert made.preprocessing.mean == (0.1, 0.2, 0.3)
    assert made.recipe.steps[0].id == "quantize"


def test_nothing_is_overwritten(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = conv_net(tmp_path / "net.onnx")
    project = tmp_path / "p.studio"
    project.write_text("mine")
    assert main(["new", str(project), "--model", str(model)]) == 2
    assert project.read_text() == "mine"
    other = tmp_path / "here"
    other.mkdir()
    (other / "net.onnx").write_text("also mine")
    assert main(["new", str(other / "p.studio"), "--model", str(model)]) == 2
    assert "differs" in capfd.readouterr().err
    assert (other / "net.onnx").read_text() == "also mine"
    assert not (other / "p.studio").exists()


def test_python_needs_a_function_and_is_not_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "net.py"
    source.write_text("raise SystemExit('executed')\n")
    project = tmp_path / "p.studio"
    assert main(["new", str(project), "--model", str(source)]) == 2
    assert "net.py:FUNCTION" in capfd.readouterr().err
    arguments = ["--model", f"{source}:build", "--input", "image:float32:1,3,8,W"]
    assert main(["new", str(project), *arguments]) == 0
    made = load_project(project).source
    assert (made.path, made.factory) == ("net.py", "build")
    assert made.inputs[0].shape == (1, 3, 8, "W")


@pytest.mark.parametrize(
    "option",
    [("--input", "image:float32"), ("--size", "16"), ("--mean", "a,b"), ("--target", "ort/moon")],
)
def test_wrong_options_name_themselves(
    tmp_path: Path, option: tuple[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    model = conv_net(tmp_path / "net.onnx")
    assert main(["new", str(tmp_path / "p.studio"), "--model", str(model), *option]) == 2
    assert option[1] in capfd.readouterr().err
    assert not (tmp_path / "p.studio").exists()
