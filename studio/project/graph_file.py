"""The file whose graph stands for a project: its source, or the export when the source is Python."""

from __future__ import annotations

from pathlib import Path

from studio.errors import InputError
from studio.project.places import place_inside
from studio.project.project import Project
from studio.recipes.run import cached_results


def graph_file(project: Project, folder: Path) -> Path:
    """The file to open. Nothing is run: Python that was not exported yet is an InputError."""
    path = place_inside(folder, project.source.path, field="source.path")
    if path.suffix != ".py":
        return path
    for step in cached_results(project, folder):
        if step.kind == "export":
            return Path(step.artifact.path)
    raise InputError(
        f"{path.name} is Python, which has no graph before it is exported.",
        hint="Run the recipe first: deployment-studio run PROJECT --trust",
    )
