"""What every test gets: a home, caches and settings of its own, and Qt without a screen.

The variables are set twice: once for the whole session, so that session fixtures and imports are
covered, and once per test, so that no test finds what another one left.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["QT_ACCESSIBILITY"] = "0"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # two torch threads on a busy machine are slower than one
os.environ.pop("DEPLOYMENT_STUDIO_DEBUG", None)

# A gate must give the same answer twice: CI draws the same examples, a developer's runs explore.
settings.register_profile(
    "house", deadline=None, database=None, print_blob=True, derandomize=bool(os.environ.get("CI"))
)
settings.load_profile("house")


def _home_variables(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "DEPLOYMENT_STUDIO_CACHE": str(home / "studio-cache"),
        "DEPLOYMENT_STUDIO_CONFIG": str(home / "studio-config"),
        "DEPLOYMENT_STUDIO_DATA": str(home / "studio-data"),
    }


_session_home = tempfile.TemporaryDirectory(prefix="studio-tests-", ignore_cleanup_errors=True)
os.environ.update(_home_variables(Path(_session_home.name)))


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A fresh home folder for this test; `tmp_path` stays empty."""
    home = tmp_path_factory.mktemp("home")
    for name, value in _home_variables(home).items():
        monkeypatch.setenv(name, value)
    yield home
