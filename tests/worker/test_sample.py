"""The sample project keeps its promises: small, accurate, and not slower in int8."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from studio.backends.ort import OrtBackend
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


def test_int8_takes_no_longer_than_float_here(sample: tuple[Project, RecipeResult]) -> None:
    """Interleaved medians; int8 takes about half of the time, so a busy machine does not flip it."""
    _, result = sample
    paths = {step.step_id: Path(step.artifact.path) for step in result.steps}
    models = [OrtBackend().load(paths[name], threads=1) for name in ("export", "ort")]
    for loaded in models:
        loaded.bind({"image": np.zeros((1, 1, 32, 32), np.float32)})
        for _ in range(20):
            loaded.invoke()
    times: list[list[int]] = [[], []]
    for _ in range(150):
        for loaded, taken in zip(models, times):
            start = time.perf_counter_ns()
            loaded.invoke()
            taken.append(time.perf_counter_ns() - start)
    assert np.median(times[1]) <= np.median(times[0])


def test_every_conversion_of_the_sample_is_verified() -> None:
    project = load_project(resources() / "sample" / "digits.studio")
    verified = {step.after for step in project.recipe.steps if isinstance(step, VerifyStep)}
    assert {step.id for step in project.recipe.steps if isinstance(step, ConvertStep)} == verified


def test_the_sample_is_small() -> None:
    folder = resources() / "sample"
    assert (folder / "mobilenet_digits.safetensors").stat().st_size < 2_000_000
    assert len(list((folder / "calibration").glob("*.png"))) == 200
