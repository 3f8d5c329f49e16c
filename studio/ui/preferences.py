"""Preferences: what a person set for this computer; kept in the config folder, never in a project.

What is a setting of the model or of the runs belongs to the project. Window geometry is QSettings'.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from studio.errors import StudioError
from studio.paths import config_dir
from studio.records import Record, from_json, to_json, write_atomically
from studio.ui.theme import ThemeChoice

_MOST_RECENT = 12


class Preferences(Record):
    """All of them. `language`: "system", "en" or "zh_CN". `editor`: a command with {file} and {line}."""

    theme: ThemeChoice = ThemeChoice.SYSTEM
    language: str = "system"
    editor: str = ""
    adb: str = ""
    tool_folders: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()


def _file() -> Path:
    return config_dir() / "preferences.json"


def load_preferences() -> Preferences:
    """The saved preferences; the defaults when there are none or the file is damaged."""
    try:
        return from_json(_file().read_bytes(), Preferences, where=str(_file()))
    except (OSError, StudioError):
        return Preferences()


def save_preferences(preferences: Preferences) -> None:
    """Writes them. Raises InputError when the config folder cannot be written."""
    write_atomically(_file(), to_json(preferences, indent=2).encode() + b"\n")


def with_recent(preferences: Preferences, path: Path) -> Preferences:
    """The preferences with `path` first among the recent files."""
    text = str(path)
    recent = (text, *(p for p in preferences.recent if p != text))[:_MOST_RECENT]
    return replace(preferences, recent=recent)


def existing_recent(preferences: Preferences) -> Sequence[Path]:
    """The recent files that are still there, newest first."""
    return [Path(p) for p in preferences.recent if Path(p).exists()]


def worker_environment(preferences: Preferences) -> dict[str, str]:
    """Variables that make workers find the configured tools: PATH is put before, ADB is named."""
    result = {}
    folders = [f for f in preferences.tool_folders if f]
    if folders:
        result["PATH"] = os.pathsep.join([*folders, os.environ.get("PATH", "")])
    if preferences.adb:
        result["DEPLOYMENT_STUDIO_ADB"] = preferences.adb
    return result
