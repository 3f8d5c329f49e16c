"""Writing: what stands in the way is left as it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from studio.errors import InputError
from studio.records import write_atomically


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/null")])
def test_only_files_are_replaced(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "taken"
    make(path)
    before = path.lstat()
    with pytest.raises(InputError, match="Cannot write"):
        write_atomically(path, b"x")
    assert path.lstat() == before
    assert [p.name for p in tmp_path.iterdir()] == ["taken"]
