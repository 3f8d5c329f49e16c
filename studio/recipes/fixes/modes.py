"""Modes: values of scalar inputs that choose between the branches of an If.

A model may compute one thing at 16000 Hz and another at 8000, as silero-vad does. What holds for one value
says nothing of the other branch, so each value is tried that the graph compares such an input with, and one
that it compares it with nowhere; of a bool, both.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from studio.recipes.fixes.protos import Array, array_of, attribute, dtype_of

_ORDERS = ("Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_PASSES = ("Identity", "Cast", "Squeeze", "Unsqueeze", "Reshape", "Not", "And", "Or", "Xor")
_MOST_MODES = 16

Mode = dict[str, int]
"""Value by input name."""


def modes(model: Any) -> tuple[Mode, ...]:
    """Each choice of values to try; one empty choice when no input decides on a branch."""
    chosen = {name: _values(model, name, dtype) for name, dtype in _scalars(model).items()}
    chosen = {name: values for name, values in chosen.items() if values}
    found = (dict(zip(chosen, values)) for values in itertools.product(*chosen.values()))
    return tuple(itertools.islice(found, _MOST_MODES))


def in_mode(feeds: Mapping[str, Array], mode: Mode) -> dict[str, Array]:
    """The inputs with the mode's values."""
    return {name: np.full_like(v, mode[name]) if name in mode else v for name, v in feeds.items()}


def mode_text(mode: Mode) -> str:
    """The mode in a message: `sr=16000`."""
    return ", ".join(f"{name}={value}" for name, value in mode.items())


def _scalars(model: Any) -> dict[str, np.dtype[Any]]:
    """The inputs of one whole number or bool."""
    constants = {t.name for t in model.graph.initializer}
    found = {}
    for value in model.graph.input:
        tensor = value.type.tensor_type
        dtype = dtype_of(tensor.elem_type)
        is_one = all(d.HasField("dim_value") and d.dim_value == 1 for d in tensor.shape.dim)
        if value.name not in constants and tensor.HasField("shape") and is_one and dtype.kind in "iub":
            found[value.name] = dtype
    return found


def _values(model: Any, name: str, dtype: np.dtype[Any]) -> list[int]:
    """What to try of an input, what it is compared with first; [] when it decides on no branch."""
    constants = {t.name: array_of(t) for t in model.graph.initializer if not t.dims or list(t.dims) == [1]}
    follows, compared, decides = {name}, set[int](), False
    for node in _nodes(model.graph, constants):
        inputs = [n for n in node.input if n]
        if not inputs:
            continue
        if node.op_type in _PASSES and inputs[0] in constants:
            constants.update((out, constants[inputs[0]]) for out in node.output)
        if not follows.intersection(inputs):
            continue
        decides |= node.op_type == "If"
        if node.op_type in _PASSES or node.op_type == "Equal" or node.op_type in _ORDERS:
            follows.update(node.output)
        if node.op_type == "Equal" or node.op_type in _ORDERS:
            for number in (int(constants[n].reshape(-1)[0]) for n in inputs if n in constants):
                compared.update((number,) if node.op_type == "Equal" else (number - 1, number, number + 1))
    if not decides:
        return []
    if dtype.kind == "b":
        return [0, 1]
    if not compared:  # cast to bool
        return [1, 0]
    limits = np.iinfo(dtype)
    others = (n for n in (max(compared) + 1, min(compared) - 1) if limits.min <= n <= limits.max)
    return [*(n for n in sorted(compared) if limits.min <= n <= limits.max), *itertools.islice(others, 1)]


def _nodes(graph: Any, constants: dict[str, Array]) -> Iterator[Any]:
    """The nodes of a graph and of its bodies in order; scalars that they hold are put into `constants`."""
    constants.update((t.name, array_of(t)) for t in graph.initializer if not t.dims or list(t.dims) == [1])
    for node in graph.node:
        if node.op_type == "Constant":
            value, number = attribute(node, "value"), attribute(node, "value_int")
            if number is not None:
                constants[node.output[0]] = np.asarray(number)
            elif value is not None and (not value.dims or list(value.dims) == [1]):
                constants[node.output[0]] = array_of(value)
        yield node
        for item in node.attribute:
            for body in [item.g] if item.HasField("g") else item.graphs:
                yield from _nodes(body, constants)
