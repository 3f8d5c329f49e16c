"""Kernel and Trace: what a runtime's own profiler said of one file, whichever runtime was asked.

One file per runtime (`profile_*.py`), each with a blocking `profile(...)`. They run in a worker: they
load and run the model for real, and a runtime may crash.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from studio.backends.backend import Array
from studio.errors import UnsupportedError
from studio.graph import Graph

PROFILERS: dict[str, str] = {
    "ort": "studio.backends.profile_ort:profile",
    "executorch": "studio.backends.profile_executorch:profile",
    "litert": "studio.backends.profile_litert:profile",
}
"""runtime → "module:function" with the signature of `Profiler`."""


@dataclass(slots=True)
class Kernel:
    """One thing that ran: `nodes` are those of the file that it computes, the one it is named for first.

    Empty `nodes`: it belongs to no node of the file, and `why` says so. `is_inside`: it ran inside a
    node that is listed too (a branch, a loop's body), so its time is part of that node's time.
    `times_ns`: one entry per profiled inference, all executions within it added up; empty where the
    profiler tells only the mean of all, `mean_ns`.
    """

    name: str
    op: str
    nodes: tuple[int, ...] = ()
    why: str = ""
    is_inside: bool = False
    times_ns: list[int] = field(default_factory=list)
    mean_ns: float = 0.0


@dataclass(frozen=True, slots=True)
class Trace:
    """What was profiled. `whole_ns`: each profiled inference from outside, the profiler's cost included.

    `folded`: nodes of the file that are computed once, at load.
    """

    kernels: list[Kernel]
    whole_ns: list[int]
    target_ran: str
    evidence: str
    folded: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """What to profile: `feeds` are one inference's inputs; `folder` is for the profiler's own files."""

    path: Path
    graph: Graph
    target: str
    threads: int
    feeds: Mapping[str, Array]
    runs: int
    warmup_runs: int
    folder: Path
    should_stop: Callable[[], bool]


class Profiler(Protocol):
    """The function of a `profile_*.py`."""

    def __call__(self, asked: Asked) -> Trace: ...


def profiler_of(runtime: str) -> Profiler:
    """The profiler of a runtime. Raises UnsupportedError for one that cannot time its nodes."""
    address = PROFILERS.get(runtime)
    if address is None:
        raise UnsupportedError(
            f"{runtime} does not tell the time of single nodes.",
            hint=f"Runtimes that do: {', '.join(PROFILERS)}.",
        )
    module, _, name = address.partition(":")
    found: Profiler = getattr(importlib.import_module(module), name)
    return found
