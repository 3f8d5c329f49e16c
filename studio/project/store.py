"""Loading and saving `NAME.studio`: bytes → dict → migrate → Record, and back in one atomic step."""

from __future__ import annotations

from pathlib import Path

import msgspec

from studio.devices.device import check_run_settings
from studio.errors import InputError
from studio.project.migrate import migrate, schema_of
from studio.project.places import check_relative, place_inside, stored_paths
from studio.project.project import SCHEMA, Project
from studio.project.toml import read_toml, write_toml
from studio.recipes.recipe import ExportStep, Preprocessing, QuantizeStep, Step, VerifyStep
from studio.records import write_atomically
from studio.targets import find_target

_MOST_SAMPLES = 1_000_000
_LONGEST_SIDE = 16_384  # pixels
_LARGEST_NUMBER = 1e6  # of scale, mean and std
_LARGEST_BYTES = 4 << 20  # a project is a page of settings; more is another kind of file


def load_project(path: Path) -> Project:
    """The project of a file. Executes nothing and changes nothing.

    Raises InputError naming the file and the field (`$.run_settings.threads`) when it cannot be
    read, is of a newer schema, has an unknown or wrong field, or a path that leaves its folder.
    """
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder.", hint="Choose the .studio file inside it.")
        if path.exists() and not path.is_file():  # reading a pipe or a device may never end
            raise InputError(f"{path} is not a regular file.", hint="Choose a .studio file.")
        size = path.stat().st_size
        if size > _LARGEST_BYTES:
            raise InputError(f"{path} is too large to be a project ({size:,} bytes).", hint="Choose another.")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Check the path.") from None
    project = parse_project(data, where=str(path))
    for field, relative in stored_paths(project).items():
        place_inside(path.parent, relative, field=field)  # links that lead out, which text cannot show
    return project


def parse_project(data: bytes, *, where: str) -> Project:
    """The project of a file's bytes. Raises InputError as `load_project` does."""
    tables = migrate(read_toml(data, where=where), where=where)
    try:
        project = msgspec.convert(tables, Project)
    except msgspec.ValidationError as error:
        raise InputError(f"{where}: {error}.", hint="Correct that field or restore a copy.") from None
    try:
        check_project(project)
    except InputError as error:
        raise InputError(f"{where}: {error.message}", hint=error.hint) from None
    return project


def check_project(project: Project) -> None:
    """Raises InputError for what types cannot say: paths, target ids, steps, sensible numbers."""
    if project.schema != SCHEMA:
        raise InputError(f"$.schema: {project.schema} is not {SCHEMA}.", hint="Do not edit this field.")
    if not project.source.path:
        raise InputError("$.source.path is empty.", hint="Name the model file.")
    for field, path in stored_paths(project).items():
        check_relative(path, field=field)
    for i, target_id in enumerate(project.targets):
        try:
            find_target(target_id)
        except InputError as error:
            raise InputError(f"$.targets[{i}]: {error.message}", hint=error.hint) from None
    seen = {"source"}
    for i, step in enumerate(project.recipe.steps):
        if step.after not in seen:
            raise InputError(
                f"$.recipe.steps[{i}].after: no earlier step is called “{step.after}”.",
                hint=f"Known here: {', '.join(sorted(seen))}.",
            )
        if not step.id or step.id in seen:
            raise InputError(
                f"$.recipe.steps[{i}].id: “{step.id}” is empty or taken.", hint="Give each step its own id."
            )
        seen.add(step.id)
        _check_step(step, field=f"$.recipe.steps[{i}]")
    _check_preprocessing(project.preprocessing)
    check_run_settings(project.run_settings, field="$.run_settings.")


def _check_step(step: Step, *, field: str) -> None:
    if isinstance(step, QuantizeStep | VerifyStep):
        _check_range(step.samples, 1, _MOST_SAMPLES, field=f"{field}.samples")
    elif isinstance(step, ExportStep):
        _check_range(step.opset, 1, 100, field=f"{field}.opset")


def _check_preprocessing(how: Preprocessing) -> None:
    for name in ("height", "width"):
        _check_range(getattr(how, name), 0, _LONGEST_SIDE, field=f"$.preprocessing.{name}")
    for name in ("mean", "std"):
        for i, value in enumerate(getattr(how, name)):
            _check_range(abs(value), 0, _LARGEST_NUMBER, field=f"$.preprocessing.{name}[{i}]")
    if not all(how.std):
        raise InputError("$.preprocessing.std: 0 would divide by zero.", hint="Leave std out, or give 1.")
    _check_range(abs(how.scale), 0, _LARGEST_NUMBER, field="$.preprocessing.scale")


def _check_range(value: float, least: float, most: float, *, field: str) -> None:
    if not least <= value <= most:  # NaN fails as well
        raise InputError(f"{field}: {value} is out of range.", hint=f"From {least:g} to {most:g}.")


def dump_project(project: Project) -> bytes:
    """The bytes of a project file; the same project always gives the same bytes."""
    return write_toml(project).encode()


def save_project(project: Project, path: Path) -> None:
    """Writes the file aside and renames it once; a file of an older schema is kept as a backup.

    Raises InputError when the project is not valid or the folder cannot be written.
    """
    check_project(project)
    _back_up_older(path)
    write_atomically(path, dump_project(project))


def _back_up_older(path: Path) -> None:
    """Keeps `NAME.studio.schema-N` when the file about to be replaced has an older schema N."""
    try:
        data = path.read_bytes()
        found = schema_of(read_toml(data, where=str(path)), where=str(path))
    except (OSError, InputError):
        return  # nothing there, or nothing that was a project
    backup = path.with_name(f"{path.name}.schema-{found}")
    if found < SCHEMA and not backup.exists():
        write_atomically(backup, data)
