"""Project: the record that `NAME.studio` holds. Paths are relative to the project's folder.

Why TOML: one setting per line and no trailing commas, so that git merges two people's edits of
different settings; comments survive nowhere, as in JSON, and `[[recipe.steps]]` reads like a list.
"""

from __future__ import annotations

from studio.devices.device import RunSettings
from studio.recipes.recipe import Preprocessing, Recipe
from studio.recipes.source import DataSet, SourceModel
from studio.records import Record

__all__ = ["SCHEMA", "Bookmark", "DataSet", "Project", "SourceModel"]

SCHEMA = 1


class Bookmark(Record):
    """A named place in a graph."""

    name: str
    node: str
    stage: str = "source"


class Project(Record, kw_only=True):
    """What is saved. An edit is a function Project → Project, so undo is a list."""

    schema: int = SCHEMA
    name: str
    source: SourceModel
    targets: tuple[str, ...] = ()
    recipe: Recipe = Recipe()
    calibration: DataSet | None = None
    evaluation: DataSet | None = None
    preprocessing: Preprocessing = Preprocessing()
    devices: tuple[str, ...] = ("this-computer",)
    run_settings: RunSettings = RunSettings(target="ort/cpu")
    bookmarks: tuple[Bookmark, ...] = ()
    soc: str = ""  # for targets that need one, e.g. "SM8650"
    notes: str = ""
