"""The sample project keeps its promises: small and accurate in int8 (its speed: bench_sample.py)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.paths import resources
from studio.project import Project
from studio.project.store import load_project
from studio.recipes.recipe import ConvertStep, VerifyStep
from studio.recipes.run import RecipeResult, run_recipe


class Silent:
    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None: ...
    def log(self, text: str) -> None: ...


@pytest.fixture
def sample(tmp_path: Path) -> Iterator[tuple[Project, RecipeResult]]:
    folder = tmp_path / "sample"
    shutil.copytree(resources() / "sample", folder)
    project = load_project(folder / "digits.studio")
    yield project, run_recipe(project, folder, Silent(), trusted=True, only=["verify-ort"])


def test_int8_is_a_third_of_the_size_and_as_accurate(
    sample: tuple[Project, RecipeResult],
) -> None:
    _, result = sample
    sizes = {step.step_id: step.artifact.size_bytes for step in result.steps}
    assert sizes["ort"] <= 0.35 * sizes["export"]
    assert sizes["quantize"] <= 0.35 * sizes["export"]
    figures = result.steps[-1].figures
    assert figures is not None and figures.samples == 400
    assert figures.reference_accuracy is not None and figures.accuracy is not None
    assert figures.reference_accuracy >= 0.97
    assert figures.reference_accuracy - figures.accuracy <= 0.01
    assert result.passed


def test_every_conversion_of_the_sample_is_verified() -> None:
    project = load_project(resources() / "sample" / "digits.studio")
    verified = {step.after for step in project.recipe.steps if isinstance(step, VerifyStep)}
    assert {step.id for step in project.recipe.steps if isinstance(step, ConvertStep)} == verified


def test_the_sample_is_small() -> None:
    folder = resources() / "sample"
    assert (folder / "mobilenet_digits.safetensors").stat().st_size < 2_000_000
    assert len(list((folder / "calibration").glob("*.png"))) == 200
