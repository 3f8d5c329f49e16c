"""Where a project's files are. Every path in a project is relative to its folder and stays inside."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

from studio.errors import InputError
from studio.project.project import Project

SUFFIX = ".studio"


def runs_dir(project_path: Path) -> Path:
    """The folder of a project's run files, `NAME.runs` beside `NAME.studio`; may not exist yet."""
    return project_path.with_suffix(".runs")


def place_inside(folder: Path, relative: str, *, field: str) -> Path:
    """The absolute path of a project's file. Raises InputError when it leaves `folder`.

    Both by its text (absolute, drive, `..`, backslashes) and by what it resolves to: a link that
    leads out of the folder is refused too, since projects come from strangers.
    """
    check_relative(relative, field=field)
    root = folder.resolve()
    path = root.joinpath(*PurePosixPath(relative).parts)
    try:
        path.resolve().relative_to(root)
    except (ValueError, OSError, RuntimeError):
        raise InputError(
            f"$.{field}: “{relative}” leads out of the project's folder {root}.",
            hint="Copy the file into the folder; links to other places are not followed.",
        ) from None
    return path


def check_relative(relative: str, *, field: str) -> None:
    """Raises InputError when a path is not plainly relative and forward."""
    path = PurePosixPath(relative)
    if (
        path.is_absolute()
        or ".." in path.parts
        or "\\" in relative
        or "\0" in relative
        or PureWindowsPath(relative).drive
    ):
        raise InputError(
            f"$.{field}: “{relative}” is not a path inside the project's folder.",
            hint="Use a relative path with forward slashes, without “..”.",
        )


def relative_to_folder(path: Path, folder: Path) -> str:
    """The text that a project stores for a file. Raises InputError when it is outside `folder`."""
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        raise InputError(
            f"{path} is outside the project's folder {folder}.",
            hint="Copy it into that folder, or save the project beside it.",
        ) from None


def stored_paths(project: Project) -> dict[str, str]:
    """Every path that a project names, by field; empty ones left out."""
    found = {"source.path": project.source.path, "source.weights": project.source.weights}
    for name in ("calibration", "evaluation"):
        data = getattr(project, name)
        if data is not None:
            found[f"{name}.path"] = data.path
            found[f"{name}.labels"] = data.labels
    return {field: path for field, path in found.items() if path}
