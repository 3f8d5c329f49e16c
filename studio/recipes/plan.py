"""The order of steps, the key of each, and what is cached already.

A key is the hash of the kind, the settings that matter, the key of the input, the data where the
step reads data, and the versions of the tools. Names of steps and budgets are left out: renaming a
step or changing what counts as good enough makes nothing anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from studio.artifact import Artifact
from studio.backends.packages import package_version
from studio.errors import InputError
from studio.recipes.cache import Value, find_cached
from studio.recipes.data import data_fingerprint
from studio.recipes.fingerprint import digest, source_fingerprint
from studio.recipes.recipe import (
    SOURCE,
    ConvertStep,
    EditStep,
    ExportStep,
    FixStep,
    QuantizeScheme,
    QuantizeStep,
    Recipe,
    Step,
    VerifyStep,
)
from studio.recipes.reference import reference_key
from studio.recipes.steps.context import RecipeInput
from studio.recipes.steps.convert import FROM_TORCH, optimization_level
from studio.records import Record, to_json

STEP_VERSION = 1
"""Raised when the code of a step changes what it makes: older artifacts are then made anew."""

_TOOLS: dict[str, tuple[str, ...]] = {
    "export": ("torch", "onnx", "onnxscript"),
    "edit": ("onnx",),
    "fix": ("onnx", "onnxruntime"),
    "quantize": ("onnxruntime", "onnx"),
    "ort": ("onnxruntime",),
    "tflite": ("torch", "litert-torch", "ai-edge-litert"),
    "pte": ("torch", "executorch", "torchao"),
    "verify": ("onnxruntime", "ai-edge-litert", "executorch"),
}


class PlannedStep(Record):
    """A step, its key, its tools, and its artifact when that is cached."""

    step: Step
    key: str
    settings: dict[str, Value]
    tool_versions: dict[str, str]
    cached: Artifact | None = None


def plan(project: RecipeInput, folder: Path, *, only: Iterable[str] | None = None) -> tuple[PlannedStep, ...]:
    """Every step that has to be there for the steps `only` (None = all), in order.

    Reads files, runs nothing. Raises InputError when the recipe is not in order or a file is missing.
    """
    steps = check_order(project.recipe)
    wanted = needed_steps(project.recipe, only)
    keys = {SOURCE: source_fingerprint(project.source, folder)}
    planned = []
    for step in project.recipe.steps:
        settings = settings_of(step, steps)
        tools = tool_versions(step)
        keys[step.id] = digest(
            STEP_VERSION,
            kind_of(step),
            settings,
            keys[_input_of(step, steps)],
            _data_key(step, project, folder),
            tools,
        )
        if step.id in wanted:
            planned.append(
                PlannedStep(
                    step=step, key=keys[step.id], settings=settings, tool_versions=tools,
                    cached=find_cached(keys[step.id]),
                )
            )  # fmt: skip
    return tuple(planned)


def check_order(recipe: Recipe) -> dict[str, Step]:
    """The steps by id. Raises InputError for a double id, or an `after` that is no earlier step."""
    seen: dict[str, Step] = {}
    for step in recipe.steps:
        if step.id in seen or step.id in ("", SOURCE):
            raise InputError(
                f"The recipe has two steps called “{step.id}”.", hint="Give each step its own id."
            )
        if step.after != SOURCE and step.after not in seen:
            raise InputError(
                f"The step “{step.id}” comes after “{step.after}”, which is no earlier step.",
                hint=f"Choose one of: {', '.join((SOURCE, *seen))}.",
            )
        if isinstance(seen.get(step.after), VerifyStep):
            raise InputError(
                f"The step “{step.id}” comes after “{step.after}”, which only compares and makes no model.",
                hint=f"Let it come after “{seen[step.after].after}”.",
            )
        seen[step.id] = step
    return seen


def needed_steps(recipe: Recipe, only: Iterable[str] | None) -> set[str]:
    """Ids of the steps asked for and of all that they work on. Raises InputError for an unknown id."""
    steps = {step.id: step for step in recipe.steps}
    if only is None:
        return set(steps)
    wanted: set[str] = set()
    for name in only:
        if name not in steps:
            raise InputError(
                f"The recipe has no step “{name}”.", hint=f"Its steps: {', '.join(steps) or 'none'}."
            )
        while name != SOURCE and name not in wanted:
            wanted.add(name)
            name = steps[name].after
    return wanted


def kind_of(step: Step) -> str:
    """ "export", "edit", "fix", "quantize", "convert" or "verify"."""
    return str(type(step).__struct_config__.tag)


def tool_versions(step: Step) -> dict[str, str]:
    """Versions of the packages that a step's result depends on, by distribution name."""
    kind = step.format if isinstance(step, ConvertStep) else kind_of(step)
    found = {name: package_version(name) for name in _TOOLS.get(kind, ())}
    return {name: version for name, version in found.items() if version}


def _input_of(step: Step, steps: dict[str, Step]) -> str:
    """What a step really reads: `.tflite` and `.pte` are made from the source, not from its export."""
    if (
        isinstance(step, ConvertStep)
        and step.format in FROM_TORCH
        and isinstance(steps.get(step.after), ExportStep)
    ):
        return SOURCE
    return step.after


def settings_of(step: Step, steps: dict[str, Step]) -> dict[str, Value]:
    """The settings that change what a step makes, flat."""
    fields: dict[str, Any] = msgspec.to_builtins(step)
    for name in ("kind", "id", "after", "max_accuracy_loss", "min_snr_db"):
        fields.pop(name, None)
    if isinstance(step, ConvertStep) and step.format == "ort":
        fields = {"format": step.format, "optimization": optimization_level(step), "integers": "exact"}
    elif isinstance(step, ConvertStep):
        fields = {"format": step.format, "target": step.target}
        if step.etrecord and step.format == "pte":
            fields["etrecord"] = True
    elif isinstance(step, QuantizeStep):
        if step.scheme != QuantizeScheme.STATIC:
            del fields["calibration"], fields["samples"]
        if step.scheme == QuantizeScheme.FLOAT16:
            del fields["per_channel"]
        fields["keep_float"] = ", ".join(sorted(step.keep_float))
    elif isinstance(step, EditStep):
        fields["edits"] = to_json(step.edits)
    elif isinstance(step, FixStep):
        fields["dims"] = ", ".join(f"{name}={size}" for name, size in sorted(step.dims.items()))
        fields["nodes"] = ", ".join(sorted(step.nodes))
    elif isinstance(step, VerifyStep):
        made_by = steps.get(step.after)
        fields["target"] = made_by.target if isinstance(made_by, ConvertStep) else ""
    return fields


def _data_key(step: Step, project: RecipeInput, folder: Path) -> str:
    """The hash of the data that a step reads, empty for steps that read none."""
    if isinstance(step, VerifyStep):
        return reference_key(project, folder, step.samples)
    if isinstance(step, QuantizeStep) and step.scheme == QuantizeScheme.STATIC:
        return digest(data_fingerprint(project.calibration, folder, step.samples), project.preprocessing)
    return ""
