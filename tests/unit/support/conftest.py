"""Small graphs for the rules: made with the readers' own builder, no file and no onnx needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from studio.graph.builder import GraphBuilder
from studio.graph.graph import Graph, Quantization, Shape, TensorKind


class Sketch:
    """A graph in the making: `input`, `constant`, `node`, `graph`."""

    def __init__(self, format_: str = "onnx", opset: int = 18) -> None:
        self.builder = GraphBuilder(format_)
        self.body = self.builder.subgraph("main")
        self.builder.graph.opsets[""] = opset
        self.inputs: list[int] = []
        self.count = 0

    def input(self, *shape: int | str | None, dtype: str = "float32") -> int:
        """A graph input."""
        self.inputs.append(self.builder.tensor(f"in{len(self.inputs)}", dtype, shape, TensorKind.INPUT))
        return self.inputs[-1]

    def constant(self, values: Sequence[Any] | None, *shape: int, dtype: str = "float32") -> int:
        """A constant; None = too large to keep its values."""
        tensor = self.builder.tensor(f"c{self.builder.tensor_count}", dtype, shape)
        self.builder.constant(tensor, value=list(values) if values is not None else None)
        return tensor

    def quantize(self, tensor: int, scale: float, zero_point: int = 0) -> int:
        """States a tensor's scale."""
        self.builder.quantization(tensor, Quantization(scale=(scale,), zero_point=(zero_point,)))
        return tensor

    def node(
        self,
        op: str,
        inputs: Sequence[int],
        shape: Shape | None,
        *,
        dtype: str = "float32",
        attributes: Mapping[str, Any] | None = None,
        domain: str = "",
        version: int = 0,
        outputs: int = 1,
    ) -> int:
        """The first output of a new node."""
        made = [self.builder.tensor(f"t{self.builder.tensor_count}", dtype, shape) for _ in range(outputs)]
        self.builder.node(
            op,
            list(inputs),
            made,
            name=f"n{self.count}",
            attributes=attributes,
            domain=domain,
            version=version,
        )
        self.count += 1
        return made[0]

    def graph(self, *outputs: int) -> Graph:
        """The finished graph."""
        self.builder.close_subgraph(self.body, self.inputs, list(outputs))
        return self.builder.finish()


@pytest.fixture
def sketch() -> Callable[..., Sketch]:
    """Makes a Sketch."""
    return Sketch
