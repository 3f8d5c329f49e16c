"""NodeShapes: the static shapes and attributes of one node, for formulas over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from studio.graph.graph import AttributeValue, Graph


class Unknown(Exception):
    """A shape or attribute that a formula needs is not known."""


class NodeShapes:
    """Static shapes and attributes of one node; a missing or unknown shape raises `Unknown`."""

    def __init__(self, graph: Graph, node: int, dims: Callable[[int], tuple[int, ...] | None]) -> None:
        self._inputs = graph.inputs_of(node).tolist()
        self._outputs = graph.outputs_of(node).tolist()
        self._dims = dims
        self.attributes: Mapping[str, AttributeValue] = graph.node_attributes[node]
        self.values = graph.tensor_value

    def has_input(self, index: int) -> bool:
        return index < len(self._inputs) and self._inputs[index] >= 0

    @property
    def input_count(self) -> int:
        return len(self._inputs)

    def input(self, index: int) -> tuple[int, ...]:
        return self._shape(self._inputs, index)

    def inputs(self) -> list[tuple[int, ...]]:
        """The shapes of all inputs that are given."""
        return [self.input(i) for i in range(len(self._inputs)) if self._inputs[i] >= 0]

    def output(self, index: int = 0) -> tuple[int, ...]:
        return self._shape(self._outputs, index)

    def value(self, index: int) -> list[object] | None:
        """The constant values of an input."""
        return self.values.get(self._inputs[index]) if self.has_input(index) else None

    def number(self, name: str, default: int = 0) -> int:
        found = self.attributes.get(name, default)
        return int(found) if isinstance(found, (int, float)) else default

    def numbers(self, name: str) -> list[int]:
        """An attribute that is a list of whole numbers; empty when there is none."""
        found = self.attributes.get(name)
        if not isinstance(found, list):
            return []
        return [n for n in found if isinstance(n, int)]

    def _shape(self, ids: list[int], index: int) -> tuple[int, ...]:
        if index >= len(ids) or ids[index] < 0:
            raise Unknown
        shape = self._dims(ids[index])
        if shape is None:
            raise Unknown
        return shape
