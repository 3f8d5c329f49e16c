"""Shows a line of Python in the person's editor. The file comes from a model, so it is data: no shell."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from PySide6.QtCore import QProcess

from studio.errors import InputError
from studio.ui.preferences import Preferences

_KNOWN = (
    "code -g {file}:{line}",
    "codium -g {file}:{line}",
    "subl {file}:{line}",
    "pycharm --line {line} {file}",
    "zed {file}:{line}",
    "kate --line {line} {file}",
    "gedit {file} +{line}",
    "gnome-text-editor {file}",
    "notepad {file}",
)


def show_in_editor(preferences: Preferences, file: str, line: int, folder: Path | None) -> None:
    """Starts the editor and does not wait for it. Raises InputError when file or editor are not there."""
    path = _find(file, folder)
    command = _command(preferences)
    argv = [part.replace("{file}", str(path)).replace("{line}", str(line)) for part in shlex.split(command)]
    if not argv or shutil.which(argv[0]) is None:
        raise InputError(
            f"The editor “{argv[0] if argv else command}” was not found.", hint="Change it in the settings."
        )
    if not QProcess.startDetached(argv[0], argv[1:])[0]:
        raise InputError(f"{argv[0]} could not be started.", hint="Change the editor in the settings.")


def _find(file: str, folder: Path | None) -> Path:
    """The file itself, or one of that name in the project's folder (another checkout made the model)."""
    path = Path(file)
    candidates = [path] if path.is_absolute() else []
    if folder is not None:
        candidates += [folder / path, folder / path.name]
    found = next((c for c in candidates if c.suffix == ".py" and c.is_file()), None)
    if found is None:
        raise InputError(
            f"{file} is not on this computer.", hint="The model was exported elsewhere; open its project."
        )
    return found


def _command(preferences: Preferences) -> str:
    if preferences.editor.strip():
        return preferences.editor
    found = next((c for c in _KNOWN if shutil.which(c.split()[0])), "")
    if not found:
        raise InputError("No editor is known.", hint="Name one in the settings, e.g. code -g {file}:{line}")
    return found
