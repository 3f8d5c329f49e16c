"""Puts `resources/` into the wheel as `studio/resources`; everything else is said in pyproject.toml.

Why not a package-dir entry: it would move editable installs from a plain path to an import hook.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithResources(build_py):
    """build_py, then a copy of the data files; an editable install finds them in the checkout."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "studio" / "resources"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree("resources", target, ignore=shutil.ignore_patterns("__pycache__", "*.runs"))


setup(cmdclass={"build_py": BuildWithResources})
