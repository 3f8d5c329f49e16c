"""Graphs of an ONNX file that wait to be read, and the names that each of them sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Names:
    """Names visible in one graph: its own, then those of the graphs around it."""

    parent: Names | None = None
    ids: dict[str, int] = field(default_factory=dict)

    def find(self, name: str) -> int | None:
        names: Names | None = self
        while names is not None:
            if name in names.ids:
                return names.ids[name]
            names = names.parent
        return None


@dataclass
class Body:
    """A graph waiting to be read: If branch, loop body or local function."""

    proto: Any
    subgraph: int
    names: Names
    opsets: Mapping[str, int]
    scope_path: tuple[str, ...] = ()
