"""Backend: what the studio needs of a tool chain. Heavy imports happen inside the methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from studio.backends.ask import ToolNode
from studio.records import Record

Array = npt.NDArray[np.generic]


class Report(Protocol):
    """Where a blocking function tells how far it is; a job forwards it as events."""

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None: ...
    def log(self, text: str) -> None: ...


class Availability(Record):
    """Is the tool chain here: its version, or why not and how to get it."""

    backend_id: str
    title: str
    is_available: bool
    version: str = ""
    reason: str = ""
    fix: str = ""
    targets: tuple[str, ...] = ()


class Converted(Record):
    """What a conversion made: the file, its format, and facts worth showing (counts, notes)."""

    path: str
    format: str
    notes: tuple[str, ...] = ()
    facts: dict[str, str | int | float | bool | None] = {}


class InputInfo(Record):
    """An input or output of a loaded model."""

    name: str
    dtype: str
    shape: tuple[int | str | None, ...]
    scale: float | None = None  # when the I/O itself is quantised
    zero_point: int | None = None


class LoadedModel(Protocol):
    """A model in its real runtime, ready to run.

    `placed`: which nodes the target got, where the runtime tells single nodes; `is_whole`: no node can
    run anywhere but on the target.
    """

    inputs: Sequence[InputInfo]
    outputs: Sequence[InputInfo]
    target_ran: str
    evidence: str
    delegated_nodes: int | None
    total_nodes: int | None
    placed: Sequence[ToolNode]
    is_whole: bool

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs by name for inputs by name; quantised I/O is converted from and to float."""
        ...

    def bind(self, feeds: Mapping[str, Array]) -> None:
        """Sets the inputs that `invoke` will use, outside the timed span."""
        ...

    def invoke(self) -> None:
        """One inference on the bound inputs: the timed span, nothing else in it."""
        ...


class Backend(Protocol):
    """A tool chain. Methods that a backend lacks raise UnsupportedError in words."""

    backend_id: str

    def probe(self) -> Availability:
        """Whether it is on this machine. Fast: looks for the package, does not import it."""
        ...

    def convert(self, source: Path, settings: Mapping[str, Any], out_dir: Path, report: Report) -> Converted:
        """Makes the backend's artifact in `out_dir`. Raises UnsupportedError or ToolError."""
        ...

    def load(self, path: Path, *, target: str, threads: int) -> LoadedModel:
        """The artifact in its runtime. `target_ran` says what really runs."""
        ...
