"""Project: the record that `NAME.studio` holds. Paths are relative to the project's folder.

Why TOML: one setting per line and no trailing commas, so that git merges two people's edits of
different settings; comments survive nowhere, as in JSON, and `[[recipe.steps]]` reads like a list.
"""

from __future__ import annotations

from studio.devices.device import RunSettings
from studio.recipes.recipe import InputSpec, Preprocessing, Recipe
from studio.records import Record

SCHEMA = 1


class SourceModel(Record):
    """The model we start from.

    `path`: `.onnx`, `.pt2`, TorchScript `.pt`, or a Python file (then `factory` names a function
    without arguments that returns a `torch.nn.Module`, and `weights` its state dict, `.safetensors`
    or `.pt`). Python runs only after the folder is trusted.
    """

    path: str
    factory: str = ""
    weights: str = ""
    sha256: str = ""
    inputs: tuple[InputSpec, ...] = ()


class DataSet(Record):
    """Real inputs. `path`: folder of images, `.npy`, or `.npz` (arrays `inputs`, optional `labels`)."""

    path: str
    labels: str = ""  # `.npy` or CSV (file,label) when not inside the `.npz`


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
