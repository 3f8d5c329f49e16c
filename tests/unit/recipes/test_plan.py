"""Keys and order: what changes a key, what does not, what is no recipe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from studio.errors import InputError
from studio.recipes.fingerprint import imported_files, source_fingerprint
from studio.recipes.plan import needed_steps, plan
from studio.recipes.recipe import ConvertStep, ExportStep, QuantizeStep, Recipe, Step, VerifyStep
from studio.recipes.source import DataSet, SourceModel
from tests.unit.recipes.recipe_projects import TinyProject, save_arrays, save_convolution

QUANTIZE = QuantizeStep(id="q", after="source", samples=8)
CONVERT = ConvertStep(id="o", after="q", format="ort")
VERIFY = VerifyStep(id="v", after="o", samples=8)


@pytest.fixture
def project(tmp_path: Path) -> TinyProject:
    save_convolution(tmp_path / "m.onnx")
    save_arrays(tmp_path / "d.npz")
    return TinyProject(
        source=SourceModel(path="m.onnx"),
        recipe=Recipe(steps=(QUANTIZE, CONVERT, VERIFY)),
        calibration=DataSet(path="d.npz"),
        evaluation=DataSet(path="d.npz"),
    )


def keys(project: TinyProject, folder: Path) -> list[str]:
    return [entry.key for entry in plan(project, folder)]


def with_step(project: TinyProject, index: int, **changes: object) -> TinyProject:
    steps = list(project.recipe.steps)
    steps[index] = msgspec.structs.replace(steps[index], **changes)
    return replace(project, recipe=Recipe(steps=tuple(steps)))


def test_a_setting_changes_its_own_key_and_those_after_it(project: TinyProject, tmp_path: Path) -> None:
    before = keys(project, tmp_path)
    changed = keys(with_step(project, 1, optimization="basic"), tmp_path)
    assert [a == b for a, b in zip(before, changed)] == [True, False, False]


def test_names_and_budgets_change_nothing(project: TinyProject, tmp_path: Path) -> None:
    renamed = with_step(with_step(project, 2, min_snr_db=30.0, id="check"), 0, id="q")
    assert keys(renamed, tmp_path) == keys(project, tmp_path)


def test_auto_optimization_has_the_key_of_what_it_means(project: TinyProject, tmp_path: Path) -> None:
    assert keys(with_step(project, 1, optimization="extended"), tmp_path) == keys(project, tmp_path)


def test_settings_that_a_scheme_ignores_change_nothing(project: TinyProject, tmp_path: Path) -> None:
    half = with_step(project, 0, scheme="float16")
    assert keys(with_step(half, 0, samples=99, calibration="entropy"), tmp_path) == keys(half, tmp_path)


def test_changed_model_or_data_changes_the_keys(project: TinyProject, tmp_path: Path) -> None:
    before = keys(project, tmp_path)
    save_convolution(tmp_path / "m.onnx", opset=17)
    other_model = keys(project, tmp_path)
    save_arrays(tmp_path / "d.npz", 10)
    assert not set(before) & set(other_model)
    assert not set(other_model) & set(keys(project, tmp_path))


def test_the_same_contents_elsewhere_have_the_same_keys(project: TinyProject, tmp_path: Path) -> None:
    before = keys(project, tmp_path)
    other = tmp_path / "elsewhere"
    other.mkdir()
    for name in ("m.onnx", "d.npz"):
        (other / name).write_bytes((tmp_path / name).read_bytes())
    assert keys(project, other) == before


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ((QUANTIZE, QUANTIZE), "two steps called"),
        ((CONVERT,), "comes after “q”, which is no earlier step"),
        ((CONVERT, QUANTIZE), "no earlier step"),
        (
            (VerifyStep(id="v", after="source"), ConvertStep(id="o", after="v", format="ort")),
            "only compares and makes no model",
        ),
    ],
)
def test_a_recipe_out_of_order_is_refused(
    project: TinyProject, tmp_path: Path, steps: tuple[Step, ...], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        plan(replace(project, recipe=Recipe(steps=steps)), tmp_path)


def test_only_takes_what_the_steps_work_on(project: TinyProject) -> None:
    recipe = Recipe(
        steps=(*project.recipe.steps, ExportStep(id="e"), ConvertStep(id="t", after="e", format="tflite"))
    )
    assert needed_steps(recipe, ["o"]) == {"q", "o"}
    assert needed_steps(recipe, ["v", "t"]) == {"q", "o", "v", "e", "t"}
    with pytest.raises(InputError, match="no step “x”"):
        needed_steps(recipe, ["x"])


def test_python_sources_are_followed_through_their_imports(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import torch\nfrom parts.block import Block\nimport other\n")
    (tmp_path / "other.py").write_text("from parts import helper\n")
    (tmp_path / "unrelated.py").write_text("x = 1\n")
    (tmp_path / "parts").mkdir()
    for name in ("__init__", "block", "helper"):
        (tmp_path / "parts" / f"{name}.py").write_text("")
    found = {file.relative_to(tmp_path).as_posix() for file in imported_files(tmp_path / "net.py")}
    assert found == {"net.py", "other.py", "parts/__init__.py", "parts/block.py", "parts/helper.py"}


def test_a_changed_import_changes_the_source(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import other\n")
    (tmp_path / "other.py").write_text("x = 1\n")
    source = SourceModel(path="net.py", factory="build")
    before = source_fingerprint(source, tmp_path)
    (tmp_path / "other.py").write_text("x = 2\n")
    assert source_fingerprint(source, tmp_path) != before


def _damaged(folder: Path) -> None:
    (folder / "m.onnx").write_bytes(b"\x08\x08not a model" * 9)


def _syntax_error(folder: Path) -> None:
    (folder / "m.py").write_text("def build(:\n")


@pytest.mark.parametrize(
    ("make", "path", "says"),
    [
        (lambda f: None, "gone.onnx", "does not exist"),
        (lambda f: (f / "m").mkdir(), "m", "is a folder"),
        (_damaged, "m.onnx", "not a readable ONNX"),
        (_syntax_error, "m.py", "not valid Python"),
    ],
)
def test_bad_sources_are_named(tmp_path: Path, make: Callable[[Path], None], path: str, says: str) -> None:
    make(tmp_path)
    with pytest.raises(InputError, match=says):
        source_fingerprint(SourceModel(path=path), tmp_path)


@pytest.mark.parametrize(("location", "says"), [("../w.bin", "outside its folder"), ("w.bin", "not there")])
def test_external_data_must_be_there_and_inside(tmp_path: Path, location: str, says: str) -> None:
    import onnx

    model = onnx.load(str(save_convolution(tmp_path / "m.onnx")))
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match=says):
        source_fingerprint(SourceModel(path="m.onnx"), tmp_path)
