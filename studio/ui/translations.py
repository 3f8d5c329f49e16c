"""Where the compiled translations of the window are."""

from __future__ import annotations

from pathlib import Path

from studio.paths import resources

LANGUAGES = {"en": "English", "zh_CN": "简体中文"}
"""code → the language's own name for itself."""


def qm_file(language: str) -> Path | None:
    """The compiled translation, None when there is none."""
    path = resources() / "translations" / f"studio_{language}.qm"
    return path if path.is_file() else None
