"""OpNode: one node as rules see it, without a graph around it.

Rules judge OpNodes so that thousands of equal nodes are judged once, and so that a node that does
not exist yet (what a converter will make of an ONNX node) is judged by the same code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from studio.graph.graph import Shape


@dataclass(frozen=True, slots=True)
class OpTensor:
    """A tensor: `values` only for small constants, scale and zero point only when quantised."""

    dtype: str = ""
    shape: Shape | None = None
    is_constant: bool = False
    values: tuple[Any, ...] | None = None
    scale: tuple[float, ...] = ()
    zero_point: tuple[int, ...] = ()
    axis: int | None = None
    is_input: bool = False  # an input of the whole graph

    @property
    def rank(self) -> int | None:
        """Number of dims, None when unknown."""
        return None if self.shape is None else len(self.shape)

    @property
    def is_static(self) -> bool:
        """Whether every dim is a number."""
        return self.shape is not None and all(isinstance(d, int) for d in self.shape)

    @property
    def symbol(self) -> str:
        """The first dim that is not a number, as text; empty when all are."""
        for dim in self.shape or ():
            if not isinstance(dim, int):
                return str(dim) if dim is not None else "?"
        return ""

    @property
    def is_quantized(self) -> bool:
        return bool(self.scale)

    @property
    def is_per_channel(self) -> bool:
        return len(self.scale) > 1

    def dim(self, index: int) -> int | None:
        """A dim as a number, None when it is symbolic or there is no such dim."""
        if self.shape is None or not -len(self.shape) <= index < len(self.shape):
            return None
        dim = self.shape[index]
        return dim if isinstance(dim, int) else None

    def shape_text(self) -> str:
        """The shape for people: `1×3×N×?`."""
        if self.shape is None:
            return "unknown shape"
        return "×".join("?" if d is None else str(d) for d in self.shape) or "scalar"


ABSENT = OpTensor()
"""Stands for an optional input that is left out; `OpNode.has` tells it from a real one."""


@dataclass(frozen=True, slots=True)
class QdqGroup:
    """The quantised types around a node that stands between DequantizeLinear and QuantizeLinear.

    `inputs[i]` is the quantised tensor behind input i (ABSENT when that input is not dequantised).
    """

    inputs: tuple[OpTensor, ...]
    outputs: tuple[OpTensor, ...]


@dataclass(frozen=True, slots=True)
class OpNode:
    """One operator with its attributes and tensors."""

    op: str
    domain: str = ""
    version: int = 0  # since-version of the operator (ONNX) or op version (TFLite); 0 unknown
    opset: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[OpTensor, ...] = ()
    outputs: tuple[OpTensor, ...] = ()
    producers: tuple[str, ...] = ()  # operator that makes each input, empty = none
    consumers: tuple[str, ...] = ()  # operators that read output 0; "" = it is a graph output
    is_sole_reader: bool = False  # nothing else reads input 0
    distinct_inputs: int = 0  # how many different tensors, where one is given twice; 0 = all differ
    qdq: QdqGroup | None = None
    in_subgraph: bool = False  # inside an If branch or a Loop body
    body: bool = False  # has bodies of its own (If, Loop, Scan, a local function's call)

    @property
    def is_call(self) -> bool:
        """Whether the node calls a function of its own file, which runtimes inline."""
        return "function" in self.attributes and self.body

    def has(self, index: int) -> bool:
        """Whether input `index` is given."""
        return index < len(self.inputs) and self.inputs[index] is not ABSENT

    def input(self, index: int) -> OpTensor:
        """Input `index`, ABSENT when left out."""
        return self.inputs[index] if index < len(self.inputs) else ABSENT

    def output(self, index: int = 0) -> OpTensor:
        """Output `index`, ABSENT when there is none."""
        return self.outputs[index] if index < len(self.outputs) else ABSENT

    def integer(self, name: str, default: int) -> int:
        """An integer attribute; the default also when the file holds something else."""
        value = self.attributes.get(name, default)
        return int(value) if isinstance(value, (int, float)) and isfinite(value) else default

    def number(self, name: str, default: float) -> float:
        value = self.attributes.get(name, default)
        return float(value) if isinstance(value, (int, float)) else default

    def text(self, name: str, default: str) -> str:
        value = self.attributes.get(name, default)
        return value if isinstance(value, str) else default

    def ints(self, name: str) -> tuple[int, ...] | None:
        """An attribute that is a list of integers, None when absent."""
        value = self.attributes.get(name)
        if isinstance(value, (list, tuple)) and all(isinstance(v, (int, float)) for v in value):
            return _whole(tuple(value))
        return None

    def ints_of(self, input_index: int, attribute: str = "") -> tuple[int, ...] | None:
        """Integers given as a constant input or, in older opsets, as an attribute."""
        if self.has(input_index):
            values = self.inputs[input_index].values
            return _whole(values)
        return self.ints(attribute) if attribute else None


def _whole(values: tuple[Any, ...] | None) -> tuple[int, ...] | None:
    """The values as integers; None when one is no finite number, as in a damaged file."""
    if values is None or not all(isinstance(v, (int, float)) and isfinite(v) for v in values):
        return None
    return tuple(int(v) for v in values)
