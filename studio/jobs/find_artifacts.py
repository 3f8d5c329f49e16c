"""Finds what the cache already holds for a project: a reopened project shows its artifacts at once."""

from __future__ import annotations

from studio.jobs.job import ArtifactMade, Report
from studio.jobs.run_recipe import RunRecipe, project_of
from studio.recipes.run import RecipeResult, cached_results


class FindArtifacts(RunRecipe):
    """The same project as for running it; `only` and `force` mean nothing here."""


def run(spec: FindArtifacts, report: Report) -> RecipeResult:
    """The cached steps with their figures, each told as an `ArtifactMade` too. Runs nothing."""
    report.progress("looking for artifacts", 0)
    project, folder = project_of(spec)
    steps = cached_results(project, folder)
    for step in steps:
        report.emit(ArtifactMade(step_id=step.step_id, artifact=step.artifact, was_cached=True))
    return RecipeResult(steps=steps, passed=not any(s.failures for s in steps))
