"""SourceModel and DataSet: what a recipe starts from. Paths are relative to the project's folder."""

from __future__ import annotations

from studio.recipes.recipe import InputSpec
from studio.records import Record


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
    """Real inputs. `path`: folder of images, `.npy`, or `.npz` (arrays `inputs`, optional `labels`).

    Images and integer arrays go through the project's Preprocessing; float arrays are taken as
    they are, already in the form that the model takes.
    """

    path: str
    labels: str = ""  # `.npy` or CSV (file,label) when not inside the `.npz`
