"""Recipes of the usual shape, edited as the wizard does; advice that never contradicts itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.errors import InputError
from studio.recipes.advice import Level, convert_advice, export_advice, quantize_advice
from studio.recipes.data_summary import describe_data
from studio.recipes.plan import check_order
from studio.recipes.recipe import (
    SOURCE,
    ConvertStep,
    Exporter,
    ExportStep,
    QuantizeScheme,
    QuantizeStep,
    Recipe,
    VerifyStep,
)
from studio.recipes.shape import (
    convert_step,
    final_steps,
    quantize_step,
    with_convert,
    with_export,
    with_quantize,
    with_verification,
)
from studio.recipes.source import DataSet
from studio.recipes.suggest import suggested_conversions, suggested_quantize
from studio.targets import TARGETS

EXPORT = ExportStep(id="export")
QUANTIZE = QuantizeStep(id="quantize", after="export")
ORT = ConvertStep(id="ort", after="source", format="ort")
PTE = ConvertStep(id="pte", after="source", format="pte")


def chain(recipe: Recipe) -> list[tuple[str, str]]:
    return [(step.id, step.after) for step in recipe.steps]


def test_steps_are_put_where_they_belong() -> None:
    recipe = with_convert(with_quantize(with_export(Recipe(), EXPORT), QUANTIZE), "ort", ORT)
    recipe = with_convert(recipe, "pte", PTE)
    assert chain(recipe) == [("export", SOURCE), ("quantize", "export"), ("ort", "quantize"), ("pte", SOURCE)]


def test_quantizing_later_goes_between_export_and_ort_and_can_be_taken_back() -> None:
    before = with_convert(with_convert(with_export(Recipe(), EXPORT), "ort", ORT), "pte", PTE)
    after = with_quantize(before, QUANTIZE)
    assert chain(after) == [("export", SOURCE), ("quantize", "export"), ("ort", "quantize"), ("pte", SOURCE)]
    assert with_quantize(after, None) == before


def test_a_conversion_goes_with_its_comparison() -> None:
    recipe = with_convert(with_export(Recipe(), EXPORT), "pte", PTE)
    verified = with_verification(recipe, samples=10, max_accuracy_loss=0.01, min_snr_db=None)
    assert chain(verified) == [
        ("export", SOURCE),
        ("verify-export", "export"),
        ("pte", SOURCE),
        ("verify-pte", "pte"),
    ]
    assert chain(with_convert(verified, "pte", None)) == [("export", SOURCE), ("verify-export", "export")]


def test_settings_of_a_step_are_changed_and_its_place_is_kept() -> None:
    recipe = with_quantize(with_export(Recipe(), EXPORT), QUANTIZE)
    changed = with_quantize(recipe, QuantizeStep(id="other", after="x", scheme=QuantizeScheme.FLOAT16))
    assert chain(changed) == chain(recipe)
    assert quantize_step(changed) == QuantizeStep(
        id="quantize", after="export", scheme=QuantizeScheme.FLOAT16
    )


actions = st.sampled_from(
    [
        lambda r: with_export(r, ExportStep(id="export", exporter=Exporter.DYNAMO)),
        lambda r: with_quantize(r, QUANTIZE),
        lambda r: with_quantize(r, None),
        lambda r: with_convert(r, "ort", ORT),
        lambda r: with_convert(r, "ort", None),
        lambda r: with_convert(r, "pte", PTE),
        lambda r: with_convert(r, "pte", None),
        lambda r: with_verification(r, samples=5, max_accuracy_loss=None, min_snr_db=20.0),
    ]
)


@given(st.lists(actions, max_size=12))
def test_any_sequence_of_edits_leaves_a_recipe_in_order(edits: list) -> None:  # type: ignore[type-arg]
    recipe = Recipe()
    for edit in edits:
        recipe = edit(recipe)
        check_order(recipe)
    recipe = with_verification(recipe, samples=5, max_accuracy_loss=None, min_snr_db=None)
    verified = {step.after for step in recipe.steps if isinstance(step, VerifyStep)}
    assert {step.id for step in final_steps(recipe)} <= verified


def test_every_target_has_advice_for_every_choice() -> None:
    ids = tuple(TARGETS)
    schemes = [None, *(QuantizeStep(id="q", after="e", scheme=s) for s in QuantizeScheme)]
    for advice in (
        export_advice(EXPORT, ids),
        convert_advice((ORT, PTE), ids),
        convert_advice((), ids),
        *(quantize_advice(s, ids, has_convolutions=True) for s in schemes),
    ):
        assert [a.target_id for a in advice] == list(ids)
        assert all(a.text.endswith(".") for a in advice)


@pytest.mark.parametrize("target", ["ort/nnapi", "ort/qnn"])
def test_a_free_batch_is_bad_for_targets_of_fixed_shape(target: str) -> None:
    assert export_advice(ExportStep(id="e", dynamic_batch=True), (target,))[0].level == Level.BAD
    assert export_advice(EXPORT, (target,))[0].level == Level.GOOD


def test_dynamic_quantization_is_bad_for_qnn_and_slow_for_convolutions() -> None:
    step = QuantizeStep(id="q", after="e", scheme=QuantizeScheme.DYNAMIC)
    assert quantize_advice(step, ("ort/qnn",))[0].level == Level.BAD
    assert quantize_advice(step, ("ort/cpu",), has_convolutions=True)[0].level == Level.WARN
    assert quantize_advice(step, ("ort/cpu",), has_convolutions=False)[0].level == Level.GOOD


def test_fused_ort_files_are_no_good_for_accelerators() -> None:
    step = ConvertStep(id="o", after="q", format="ort", optimization="extended")
    assert convert_advice((step,), ("ort/nnapi",))[0].level == Level.WARN
    assert convert_advice((step,), ("ort/cpu",))[0].level == Level.GOOD


def test_suggestions_suit_their_targets() -> None:
    ids = ("ort/cpu", "ort/nnapi", "litert/gpu", "executorch/xnnpack")
    files = suggested_conversions(ids, is_torch_source=True)
    assert [step.format for step in files] == ["ort", "tflite", "pte"]
    assert all(
        a.level not in (Level.BAD, Level.WARN) for a in convert_advice(files, ("ort/nnapi", "litert/gpu"))
    )
    assert [s.format for s in suggested_conversions(ids, is_torch_source=False)] == ["ort"]
    static = suggested_quantize(ids, has_data=True, has_convolutions=True)
    assert static is not None and static.scheme == QuantizeScheme.STATIC
    assert suggested_quantize(ids, has_data=False, has_convolutions=True) is None
    assert suggested_quantize(("executorch/xnnpack",), has_data=True, has_convolutions=True) is None


def test_a_data_set_is_described_without_reading_it(tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", inputs=np.zeros((5, 8, 8), np.uint8), labels=np.zeros(5))
    np.save(tmp_path / "d.npy", np.zeros((4, 3), np.float32))
    summary = describe_data(DataSet(path="d.npz"), tmp_path)
    assert (summary.count, summary.shape, summary.dtype, summary.has_labels) == (5, (8, 8), "uint8", True)
    assert describe_data(DataSet(path="d.npy"), tmp_path).count == 4
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no pictures"):
        describe_data(DataSet(path="empty"), tmp_path)
    (tmp_path / "bad.npz").write_bytes(b"PK")
    with pytest.raises(InputError, match="not a readable"):
        describe_data(DataSet(path="bad.npz"), tmp_path)


def test_convert_step_finds_by_format() -> None:
    assert convert_step(with_convert(Recipe(), "pte", PTE), "pte") is not None
    assert convert_step(Recipe(), "pte") is None


def test_a_project_without_torch_source_is_not_told_of_one() -> None:
    ids = ("litert/gpu", "executorch/xnnpack")
    for advice in (
        export_advice(EXPORT, ids, from_torch=False),
        quantize_advice(None, ids, from_torch=False),
    ):
        assert all("torch source" not in one.text for one in advice)
