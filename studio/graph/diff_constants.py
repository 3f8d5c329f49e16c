"""Whether two constants are the same: by shape and type always, small ones by value, the rest when asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from studio.errors import StudioError
from studio.graph.graph import AttributeValue, Graph, TensorKind
from studio.graph.labels import shape_text

Difference = tuple[str, str, str]
"""(which constant, before, after)"""


class Constants:
    """Compares constants of two graphs; what could not be read is in `notes`."""

    def __init__(self, a: Graph, b: Graph, read: bool) -> None:
        self.a, self.b, self.read = a, b, read
        self.notes: list[str] = []
        self._is_constant = [(g.tensor_kind == TensorKind.CONSTANT).tolist() for g in (a, b)]

    def are_both(self, s: int, t: int) -> bool:
        """Whether tensor s of a and tensor t of b are constants."""
        return bool(self._is_constant[0][s] and self._is_constant[1][t])

    def changes(self, s: int, t: int) -> list[Difference]:
        """How constant t of b differs from constant s of a."""
        a, b = self.a, self.b
        name = f"constant {a.tensor_name[s][-80:]}"
        if a.tensor_shape[s] != b.tensor_shape[t]:
            return [(name, shape_text(a.tensor_shape[s]), shape_text(b.tensor_shape[t]))]
        if a.tensor_dtype[s] != b.tensor_dtype[t]:
            return [(name, a.tensor_dtype[s], b.tensor_dtype[t])]
        ours, theirs = a.tensor_value.get(s), b.tensor_value.get(t)
        if ours is not None and theirs is not None:
            if ours == theirs or _equal_with_nan(ours, theirs):
                return []
            return [(name, value_text(_listed(ours)), value_text(_listed(theirs)))]
        return self._read_both(s, t, name) if self.read else []

    def _read_both(self, s: int, t: int, name: str) -> list[Difference]:
        from studio.graph.weights import read_tensor

        try:
            first, second = read_tensor(self.a, s), read_tensor(self.b, t)
        except StudioError as error:
            self.notes.append(f"{name} was not compared: {error.message}")
            return []
        if first.tobytes() == second.tobytes():
            return []
        if first.dtype.kind in "fiu":
            far = np.nanmax(np.abs(first.astype(np.float64) - second.astype(np.float64)), initial=0.0)
            return [(name, "", f"differs by up to {float(far):.3g}")]
        return [(name, "", "differs")]


def _listed(values: list[Any]) -> AttributeValue:
    return values[0] if len(values) == 1 else list(values[:16])


def _equal_with_nan(ours: list[Any], theirs: list[Any]) -> bool:
    return len(ours) == len(theirs) and all(p == q or (p != p and q != q) for p, q in zip(ours, theirs))


def value_text(value: AttributeValue) -> str:
    """An attribute's value in at most 60 characters; “absent” when it is not there."""
    text = "absent" if value is None else str(value)
    return text if len(text) <= 60 else text[:59] + "…"
