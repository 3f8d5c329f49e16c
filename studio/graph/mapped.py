"""The bytes of a model file, without reading all of a large one."""

from __future__ import annotations

import mmap
from pathlib import Path

_READ_BELOW = 32 * 1024 * 1024


def map_file(path: Path) -> memoryview:
    """A read-only view of the file: read when small, mapped when large; freed with its last slice.

    Small files are read because a map of a file that somebody truncates meanwhile kills the process.
    """
    with path.open("rb") as file:
        if path.stat().st_size < _READ_BELOW:
            return memoryview(file.read())
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
