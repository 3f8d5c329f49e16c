"""A new project from a model file: what it is, what it is for, and a recipe that makes it run there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from studio.artifact import hash_file
from studio.devices.device import RunSettings
from studio.errors import InputError
from studio.project.project import DataSet, Project, SourceModel
from studio.recipes.recipe import (
    SOURCE,
    ConvertStep,
    ExportStep,
    InputSpec,
    QuantizeStep,
    Recipe,
    Step,
    VerifyStep,
)
from studio.targets import DEFAULT_TARGETS, TARGETS, find_target

_TORCH_FORMATS = frozenset({"python", "pt2", "pt"})


def new_project(
    model_path: Path,
    targets: tuple[str, ...] = DEFAULT_TARGETS,
    *,
    name: str = "",
    factory: str = "",
    weights: str = "",
    inputs: tuple[InputSpec, ...] = (),
    calibration: DataSet | None = None,
    evaluation: DataSet | None = None,
) -> Project:
    """A project for the model, with the default recipe; its folder is the model's folder.

    `factory` (and `weights`, relative to that folder) make a Python file a source. Nothing is
    written or executed. Raises InputError when the file is no model that recipes can start from.
    """
    source_format = source_format_of(model_path)
    if source_format == "python" and not factory:
        raise InputError(
            f"{model_path.name} is Python; which function makes the model?",
            hint=f"Name it: {model_path.name}:FUNCTION",
        )
    source = SourceModel(
        path=model_path.name, factory=factory, weights=weights, sha256=hash_file(model_path), inputs=inputs
    )
    for target_id in targets:
        find_target(target_id)
    targets = tuple(dict.fromkeys(targets))
    return Project(
        name=name or model_path.stem,
        source=source,
        targets=targets,
        recipe=default_recipe(source_format, targets, has_calibration=calibration is not None),
        calibration=calibration,
        evaluation=evaluation,
        run_settings=RunSettings(target=_first_run_target(targets)),
    )


def source_format_of(model_path: Path) -> str:
    """One of “python”, “onnx”, “pt2”, “pt” (TorchScript). Raises InputError for any other format."""
    if model_path.suffix == ".py":
        if not model_path.is_file():
            raise InputError(f"There is no file {model_path}.", hint="Check the path.")
        return "python"
    from studio.graph import detect_format

    found = detect_format(model_path)
    if found == "onnx" or found in _TORCH_FORMATS:
        return found
    raise InputError(
        f"{model_path} is {found}: recipes start from ONNX, .pt2, TorchScript or Python.",
        hint="Look at it with: deployment-studio inspect FILE; run it with: deployment-studio bench FILE",
    )


def default_recipe(source_format: str, target_ids: tuple[str, ...], *, has_calibration: bool) -> Recipe:
    """The steps that make one verified file per runtime wanted.

    Static int8 only when there is calibration data; never dynamic, which made convolutional
    networks 5–12 times slower (our own trials, 2026-11). From ONNX only ONNX Runtime is reached
    by default: other runtimes are made from the torch source.
    """
    runtimes = dict.fromkeys(TARGETS[t].runtime for t in target_ids)
    is_torch = source_format in _TORCH_FORMATS
    steps: list[Step] = []
    if "ort" in runtimes or not is_torch or has_calibration:
        last = SOURCE
        if is_torch:
            steps.append(ExportStep(id="export"))
            last = "export"
        if has_calibration:
            steps.append(QuantizeStep(id="quantize", after=last))
            last = "quantize"
        steps.append(ConvertStep(id="ort", after=last, format="ort"))
        steps.append(VerifyStep(id="verify-ort", after="ort"))
    if is_torch:
        for runtime, file_format in (("litert", "tflite"), ("executorch", "pte")):
            if runtime in runtimes:
                target = _lowering_target(runtime, target_ids)
                steps.append(ConvertStep(id=file_format, after=SOURCE, format=file_format, target=target))
                steps.append(VerifyStep(id=f"verify-{file_format}", after=file_format))
    return Recipe(steps=tuple(steps))


def _lowering_target(runtime: str, target_ids: tuple[str, ...]) -> str:
    """The first wanted target of a runtime; ExecuTorch is lowered for what can be run here."""
    wanted = [t for t in target_ids if TARGETS[t].runtime == runtime]
    if runtime == "executorch":
        return "executorch/portable" if wanted == ["executorch/portable"] else "executorch/xnnpack"
    return wanted[0]


def _first_run_target(target_ids: tuple[str, ...]) -> str:
    """What to run first: a wanted target that every computer has, else ONNX Runtime's CPU."""
    return next((t for t in target_ids if not TARGETS[t].is_accelerator), "ort/cpu")


def copy_into(files: Iterable[Path], root: Path, folder: Path) -> tuple[Path, ...]:
    """Copies files of `root` into a project's folder, keeping their places below it; what was copied.

    A file that is there already with the same content is left; one with another content is never
    overwritten. Raises InputError before anything is copied.
    """
    wanted: list[tuple[Path, Path]] = []
    for file in files:
        target = folder / file.resolve().relative_to(root.resolve())
        if not target.exists():
            wanted.append((file, target))
        elif hash_file(target) != hash_file(file):
            raise InputError(
                f"{target} is there already and differs from {file}.",
                hint="Choose another folder for the project.",
            )
    for file, target in wanted:
        partial = target.with_name(f".{target.name}.partial")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, partial)
            os.replace(partial, target)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise InputError(
                f"Cannot copy {file} to {target}: {error.strerror}.", hint="Free some space."
            ) from None
    return tuple(target for _, target in wanted)
