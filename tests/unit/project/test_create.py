from __future__ import annotations

import pytest

from studio.project import Project, SourceModel
from studio.project.create import default_recipe
from studio.project.store import check_project
from studio.recipes.recipe import ConvertStep, QuantizeStep
from studio.targets import TARGETS


@pytest.mark.parametrize("source_format", ["onnx", "pt2", "pt", "python"])
@pytest.mark.parametrize("has_calibration", [False, True])
def test_default_recipes_are_in_order_for_every_target(source_format: str, has_calibration: bool) -> None:
    for targets in ((), tuple(TARGETS), *((t,) for t in TARGETS)):
        recipe = default_recipe(source_format, targets, has_calibration=has_calibration)
        check_project(Project(name="p", source=SourceModel(path="m"), targets=targets, recipe=recipe))
        quantizes = [s for s in recipe.steps if isinstance(s, QuantizeStep)]
        assert bool(quantizes) == has_calibration


def test_from_onnx_only_onnx_runtime_is_reached() -> None:
    recipe = default_recipe("onnx", ("litert/gpu", "executorch/xnnpack", "ort/cpu"), has_calibration=False)
    assert [s.format for s in recipe.steps if isinstance(s, ConvertStep)] == ["ort"]


def test_from_torch_every_wanted_runtime_gets_its_file() -> None:
    recipe = default_recipe("pt2", ("litert/gpu", "executorch/xnnpack", "ort/cpu"), has_calibration=True)
    assert [s.format for s in recipe.steps if isinstance(s, ConvertStep)] == ["ort", "tflite", "pte"]
