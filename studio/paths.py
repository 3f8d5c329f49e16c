"""The only file that knows where resources, settings, caches and job folders are, and the program itself.

Every folder can be moved by an environment variable, which is how tests keep to `tmp_path`:
`DEPLOYMENT_STUDIO_CACHE`, `DEPLOYMENT_STUDIO_CONFIG`, `DEPLOYMENT_STUDIO_DATA`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs

from studio.errors import InputError

PACKAGE_HOME = Path(__file__).resolve().parents[1]
"""Where `python -m studio…` is to be started: it imports from the working directory, never a stranger's."""

_APP = "deployment-studio"


def own_process(name: str, module: str) -> tuple[str, ...]:
    """The argv that starts another process of this program: a module of it, or `--name` of the frozen app."""
    if getattr(sys, "frozen", False):
        return (sys.executable, f"--{name}")
    return (sys.executable, "-m", module)


def _folder(variable: str, default: str) -> Path:
    path = Path(os.environ.get(variable) or default)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"Cannot create {path}: {error.strerror}.", hint=f"Set {variable} to a writable folder."
        ) from None
    return path


def resources() -> Path:
    """The folder of data files: beside the package when installed, at the root in a checkout."""
    frozen = getattr(sys, "_MEIPASS", None)
    here = Path(__file__).resolve().parent
    for candidate in (
        Path(frozen) / "resources" if frozen else None,
        here / "resources",
        here.parent / "resources",
    ):
        if candidate is not None and candidate.is_dir():
            return candidate
    raise InputError("The resources folder is missing.", hint="Reinstall deployment-studio.")


def cache_dir() -> Path:
    """Artifacts, opened graphs and layouts; may be deleted at any time."""
    return _folder("DEPLOYMENT_STUDIO_CACHE", platformdirs.user_cache_dir(_APP, appauthor=False))


def artifacts_dir() -> Path:
    """Where artifacts live, one folder per step key."""
    path = cache_dir() / "artifacts"
    path.mkdir(exist_ok=True)
    return path


def graphs_dir() -> Path:
    """Opened graphs, layouts and verdicts, by hash."""
    path = cache_dir() / "graphs"
    path.mkdir(exist_ok=True)
    return path


def config_dir() -> Path:
    """Trust decisions, tool folders, recent files, window geometry."""
    return _folder("DEPLOYMENT_STUDIO_CONFIG", platformdirs.user_config_dir(_APP, appauthor=False))


def data_dir() -> Path:
    """Recovery files of unsaved projects, and runs of model files that have no project."""
    return _folder("DEPLOYMENT_STUDIO_DATA", platformdirs.user_data_dir(_APP, appauthor=False))
