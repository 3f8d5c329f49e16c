"""The sample project, copied to where a person may change it."""

from __future__ import annotations

import shutil
from pathlib import Path

from studio.errors import InputError
from studio.paths import data_dir, resources
from studio.project.trust import trust_folder


def sample_folder() -> Path:
    """A copy of the sample in the data folder; made once, kept with what was changed in it.

    Raises InputError when it cannot be copied.
    """
    folder = data_dir() / "sample"
    if (folder / "digits.studio").is_file():
        return folder
    aside = data_dir() / "sample.partial"
    try:
        shutil.rmtree(aside, ignore_errors=True)
        shutil.copytree(resources() / "sample", aside, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.rmtree(folder, ignore_errors=True)
        aside.rename(folder)
        trust_folder(folder)  # it is our own Python, fresh from our own resources
    except OSError as error:
        raise InputError(
            f"Cannot copy the sample to {folder}: {error.strerror}.", hint="Free some space."
        ) from None
    return folder
