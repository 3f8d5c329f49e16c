"""Recipes on a small ONNX model, with the real ONNX Runtime: made, compared, kept, refused."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from studio.errors import InputError, StudioError, UnsupportedError
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.recipe import (
    Calibration,
    ConvertStep,
    ExportStep,
    QuantizeScheme,
    QuantizeStep,
    Recipe,
    Step,
    VerifyStep,
)
from studio.recipes.reference import load_arrays, prepare_reference
from studio.recipes.run import RecipeResult, cached_results, run_recipe
from studio.recipes.source import DataSet, SourceModel
from studio.recipes.steps.quantized_nodes import count_reduced_nodes
from tests.unit.recipes.recipe_projects import Silent, TinyProject, save_arrays, save_convolution


@pytest.fixture
def project(tmp_path: Path) -> TinyProject:
    save_convolution(tmp_path / "m.onnx")
    save_arrays(tmp_path / "d.npz")
    return TinyProject(
        source=SourceModel(path="m.onnx"), calibration=DataSet(path="d.npz"), evaluation=DataSet(path="d.npz")
    )


def run(project: TinyProject, folder: Path, *steps: Step, force: bool = False) -> RecipeResult:
    return run_recipe(replace(project, recipe=Recipe(steps=steps)), folder, Silent(), force=force)


QUANTIZE = QuantizeStep(id="q", after="source", samples=8)
CONVERT = ConvertStep(id="o", after="q", format="ort")
VERIFY = VerifyStep(id="v", after="o", samples=12)


def test_all_steps_and_a_second_run_from_the_cache(project: TinyProject, tmp_path: Path) -> None:
    first = run(project, tmp_path, QUANTIZE, CONVERT, VERIFY)
    assert [(s.step_id, s.artifact.format, s.was_cached) for s in first.steps] == [
        ("q", "onnx", False),
        ("o", "ort", False),
        ("v", "verification", False),
    ]
    figures = first.steps[2].figures
    assert figures is not None and figures.samples == 12
    assert figures.snr_db is not None and 15 < figures.snr_db < 80
    assert figures.reference_accuracy is not None
    started = time.monotonic()
    second = run(project, tmp_path, QUANTIZE, CONVERT, VERIFY)
    assert time.monotonic() - started < 1
    assert all(step.was_cached for step in second.steps)
    assert [s.artifact for s in second.steps] == [s.artifact for s in first.steps]


def test_force_makes_every_step_anew(project: TinyProject, tmp_path: Path) -> None:
    run(project, tmp_path, QUANTIZE)
    assert not run(project, tmp_path, QUANTIZE, force=True).steps[0].was_cached


@pytest.mark.parametrize("calibration", list(Calibration))
def test_static_quantization_counts_its_nodes(
    project: TinyProject, tmp_path: Path, calibration: Calibration
) -> None:
    step = QuantizeStep(id="q", after="source", samples=7, calibration=calibration)
    artifact = run(project, tmp_path, step).steps[0].artifact
    assert artifact.facts["quantized_nodes"] == artifact.facts["total_nodes"]
    assert any(node.op_type == "QuantizeLinear" for node in onnx.load(artifact.path).graph.node)


@pytest.mark.parametrize("scheme", [QuantizeScheme.DYNAMIC, QuantizeScheme.FLOAT16])
def test_other_schemes_make_it_smaller_and_stay_close(
    project: TinyProject, tmp_path: Path, scheme: QuantizeScheme
) -> None:
    made = run(
        project, tmp_path, QuantizeStep(id="q", after="source", scheme=scheme), VerifyStep(id="v", after="q")
    )
    assert count_reduced_nodes(Path(made.steps[0].artifact.path))[0] > 0
    assert made.steps[1].figures is not None
    assert (made.steps[1].figures.snr_db or 0) > 20


def test_kept_nodes_stay_in_float(project: TinyProject, tmp_path: Path) -> None:
    whole = run(project, tmp_path, QUANTIZE).steps[0].artifact.facts["quantized_nodes"]
    step = QuantizeStep(id="q", after="source", samples=8, keep_float=("gemm",))
    assert run(project, tmp_path, step).steps[0].artifact.facts["quantized_nodes"] < whole  # type: ignore[operator]


def test_quantization_that_changes_nothing_fails(project: TinyProject, tmp_path: Path) -> None:
    names = ("conv", "relu", "pool", "flatten", "gemm")
    with pytest.raises(UnsupportedError, match="changed nothing"):
        run(project, tmp_path, QuantizeStep(id="q", after="source", samples=8, keep_float=names))


def test_unknown_nodes_to_keep_are_named(project: TinyProject, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not have: conv_7"):
        run(project, tmp_path, QuantizeStep(id="q", after="source", keep_float=("conv_7",)))


def test_an_old_opset_is_raised_and_said(project: TinyProject, tmp_path: Path) -> None:
    save_convolution(tmp_path / "m.onnx", opset=11)
    made = run(project, tmp_path, QUANTIZE, VerifyStep(id="v", after="q"))
    assert any("opset 11 to 13" in note for note in made.steps[0].artifact.notes)


def test_modules_of_nodes_survive_quantization(project: TinyProject, tmp_path: Path) -> None:
    path = run(project, tmp_path, QUANTIZE).steps[0].artifact.path
    conv = next(node for node in onnx.load(path).graph.node if node.op_type == "Conv")
    assert conv.metadata_props[0].key == "pkg.torch.onnx.name_scopes"


def test_a_broken_budget_is_an_answer_and_not_an_error(project: TinyProject, tmp_path: Path) -> None:
    strict = VerifyStep(id="v", after="q", min_snr_db=120.0)
    result = run(project, tmp_path, QUANTIZE, strict)
    assert not result.passed
    assert "budget asks for 120.0 dB" in result.steps[1].failures[0]
    relaxed = run(project, tmp_path, QUANTIZE, VerifyStep(id="v", after="q", min_snr_db=5.0))
    assert relaxed.passed and relaxed.steps[1].was_cached  # the budget is not part of the key


def test_an_accuracy_budget_without_labels_cannot_pass(project: TinyProject, tmp_path: Path) -> None:
    save_arrays(tmp_path / "d.npz", labels=False)
    result = run(project, tmp_path, VerifyStep(id="v", after="source", max_accuracy_loss=0.01))
    assert "no labels" in result.steps[0].failures[0]


def test_without_data_the_comparison_says_that_inputs_were_made_up(
    project: TinyProject, tmp_path: Path
) -> None:
    bare = replace(project, calibration=None, evaluation=None)
    step = run(
        bare, tmp_path, ConvertStep(id="o", after="source", format="ort"), VerifyStep(id="v", after="o")
    ).steps[1]
    assert step.verification is not None and not step.verification.is_real
    assert "made-up" in step.artifact.notes[0]
    assert step.verification.figures.cosine > 0.9999


def test_onnx_passes_through_export_unchanged(project: TinyProject, tmp_path: Path) -> None:
    made = run(project, tmp_path, ExportStep(id="e")).steps[0].artifact
    assert Path(made.path).read_bytes() == (tmp_path / "m.onnx").read_bytes()
    assert "unchanged" in made.notes[0]


@pytest.mark.parametrize(
    ("steps", "kind", "says"),
    [
        ((QuantizeStep(id="q", after="source"),), InputError, "needs calibration data"),
        (
            (ConvertStep(id="c", after="source", format="tflite"),),
            UnsupportedError,
            "from a torch source",
        ),
        ((ConvertStep(id="c", after="source", format="pte"),), UnsupportedError, "from a torch source"),
        ((ConvertStep(id="c", after="source", format="xyz"),), InputError, "no tool chain here makes"),
        (
            (ConvertStep(id="c", after="source", format="ort", optimization="fast"),),
            InputError,
            "no optimization level “fast”",
        ),
        (
            (
                ConvertStep(id="c", after="source", format="ort"),
                QuantizeStep(id="q", after="c", scheme=QuantizeScheme.DYNAMIC),
            ),
            UnsupportedError,
            "quantizes ONNX, but its input is .ort",
        ),
    ],
)
def test_what_cannot_be_made_is_refused_in_words(
    project: TinyProject, tmp_path: Path, steps: tuple[Step, ...], kind: type[StudioError], says: str
) -> None:
    with pytest.raises(kind, match=says) as caught:
        run(replace(project, calibration=None), tmp_path, *steps)
    assert caught.value.hint
    assert caught.value.message.startswith("Step “")


def test_calibration_data_of_another_shape_is_refused(project: TinyProject, tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", inputs=np.zeros((4, 3, 9, 9), np.float32))
    with pytest.raises(InputError, match="1×3×9×9"):
        run(project, tmp_path, QUANTIZE)


def test_what_an_earlier_step_made_stays_when_a_later_one_fails(project: TinyProject, tmp_path: Path) -> None:
    steps = (QUANTIZE, ConvertStep(id="c", after="q", format="tflite"))
    with pytest.raises(UnsupportedError):
        run(project, tmp_path, *steps)
    found = cached_results(replace(project, recipe=Recipe(steps=steps)), tmp_path)
    assert [result.step_id for result in found] == ["q"]


def test_a_fixed_batch_is_compared_sample_by_sample(project: TinyProject, tmp_path: Path) -> None:
    save_convolution(tmp_path / "m.onnx", batch=5)
    result = run(project, tmp_path, VerifyStep(id="v", after="source", samples=12))
    figures = result.steps[0].figures
    assert figures is not None and figures.samples == 12 and figures.is_equal


def test_reference_keeps_inputs_outputs_and_labels_for_devices(project: TinyProject, tmp_path: Path) -> None:
    reference = prepare_reference(project, tmp_path, Silent(), samples=6, trusted=False)
    assert load_arrays(reference.inputs_path)["x"].shape == (6, 3, 16, 16)
    assert load_arrays(reference.outputs_path)["scores"].shape == (6, 4)
    assert np.load(reference.labels_path).shape == (6,)
    assert reference.is_real and reference.samples == 6


def test_python_does_not_run_before_the_folder_is_trusted(project: TinyProject, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("raise SystemExit('ran')\n")
    python = replace(project, source=SourceModel(path="net.py", factory="build"))
    with pytest.raises(InputError, match="not trusted"):
        run(python, tmp_path, ExportStep(id="e"))


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_rewrites_read_only_regular_onnx_files(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "endless.onnx")
    with pytest.raises(InputError, match="not a regular file"):
        OnnxEdit.load(tmp_path / "endless.onnx")
    (tmp_path / "net.tflite").write_bytes(b"\0\0\0\0TFL3" + b"\0" * 40)
    with pytest.raises(InputError, match="TensorFlow Lite, not ONNX"):
        OnnxEdit.load(tmp_path / "net.tflite")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_calibration_data_without_a_range_are_the_users_to_mend(tmp_path: Path, value: float) -> None:
    save_convolution(tmp_path / "net.onnx")
    shape = [d.dim_value for d in onnx.load(tmp_path / "net.onnx").graph.input[0].type.tensor_type.shape.dim]
    np.save(tmp_path / "bad.npy", np.full((3, *shape[1:]), value, np.float32))
    step = QuantizeStep(id="q", after="source", scheme=QuantizeScheme.STATIC)
    project = TinyProject(
        source=SourceModel(path="net.onnx"),
        recipe=Recipe(steps=(step,)),
        calibration=DataSet(path="bad.npy"),
    )
    with pytest.raises(InputError, match="NaN or infinity"):
        run_recipe(project, tmp_path, Silent())
