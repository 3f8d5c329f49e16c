"""Questions about ONNX protos that need no graph around them: attributes, labels, constants, captures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.errors import InputError, UnsupportedError

Array = npt.NDArray[Any]
_IR_OF_CONSTANTS = 4


def attribute(node: Any, name: str, default: Any = None) -> Any:
    """An attribute's value as Python has it; bytes become text."""
    from onnx import helper

    for item in node.attribute:
        if item.name == name:
            value = helper.get_attribute_value(item)
            return value.decode() if isinstance(value, bytes) else value
    return default


def attributes(node: Any, *without: str) -> dict[str, Any]:
    """All attributes but those named, ready for `make`."""
    from onnx import helper

    return {a.name: helper.get_attribute_value(a) for a in node.attribute if a.name not in without}


def dtype_of(element_type: int) -> np.dtype[Any]:
    """The numpy type of a TensorProto type; float32 where it is not known."""
    from onnx import helper

    return np.dtype(helper.tensor_dtype_to_np_dtype(element_type)) if element_type else np.dtype(np.float32)


def is_meant(node: Any, references: Collection[str]) -> bool:
    """Whether one of the references is the node's name or a tensor that it makes.

    Tensor names are unique in a graph; node names may be missing or doubled.
    """
    return (bool(node.name) and node.name in references) or any(
        out in references for out in node.output if out
    )


def is_standard(node: Any) -> bool:
    """Whether its operator is of ONNX's own domain."""
    return node.domain in ("", "ai.onnx")


def label(node: Any) -> str:
    """What to call a node in a message."""
    return node.name or f"{node.op_type}→{node.output[0] if node.output else '?'}"


def keep_lines(old: Any, new: Any) -> None:
    """Gives nodes of `new` the metadata of the nodes of `old` that they stand for, lines of Python above all.

    The maker of a tensor inherits from its maker before; a node in between from what reads it.
    """
    before = {out: n.metadata_props for n in old.graph.node for out in n.output if out}
    wanted: dict[str, Any] = {}
    for node in reversed(new.graph.node):
        if not node.metadata_props:
            known = next((before[out] for out in node.output if before.get(out)), None)
            found = known or next((wanted[out] for out in node.output if out in wanted), None)
            if found:
                node.metadata_props.extend(found)
        for name in node.input:
            if name and name not in before and node.metadata_props:
                wanted.setdefault(name, list(node.metadata_props))


def nothing_to_do(what: str) -> UnsupportedError:
    """The refusal of a fix that finds no place."""
    return UnsupportedError(f"There is nothing to fix: {what}.", hint="The file was left as it is.")


def array_of(tensor: Any) -> Array:
    """The value of a TensorProto. Raises InputError when its bytes are not what its type and dims say."""
    from onnx import numpy_helper

    try:
        return np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError, KeyError, OverflowError, MemoryError) as error:
        raise InputError(
            f"The constant {tensor.name or '?'} is damaged: {error}", hint="Export the model again."
        ) from None


def raise_ir(model: Any) -> None:
    """Before IR version 4 every initializer had to be an input too; from 4 on it is plainly a constant.

    Source: onnx/docs/IR.md, "Graphs". Raising the version lets rewrites add constants.
    """
    if model.ir_version >= _IR_OF_CONSTANTS:
        return
    model.ir_version = _IR_OF_CONSTANTS
    constants = {t.name for t in model.graph.initializer}
    inputs = [copy_of(v) for v in model.graph.input if v.name not in constants]
    del model.graph.input[:]
    model.graph.input.extend(inputs)


def names_in(graph: Any) -> set[str]:
    """Every name of a graph and of its bodies: a new name must not hide one of a body's."""
    names = {t.name for t in graph.initializer} | {v.name for v in [*graph.input, *graph.output]}
    names |= {t.values.name for t in graph.sparse_initializer}
    for node in graph.node:
        names.update([node.name, *node.input, *node.output])
        for item in node.attribute:
            for body in [item.g] if item.HasField("g") else item.graphs:
                names |= names_in(body)
    return names


def needed_by(nodes: Sequence[Any], outputs: Iterable[str]) -> set[str]:
    """Every tensor that the outputs depend on, in whatever order the nodes stand."""
    maker = {out: node for node in nodes for out in node.output if out}
    needed: set[str] = set()
    waiting = list(outputs)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            node = maker.get(name)
            if node is not None:
                waiting.extend(n for n in (*node.input, *captured(node)) if n)
    return needed


def copy_of(proto: Any) -> Any:
    """A proto of its own with the same content."""
    copied = type(proto)()
    copied.CopyFrom(proto)
    return copied


def captured(node: Any) -> set[str]:
    """Names of outer tensors that a node's subgraphs read."""
    found: set[str] = set()
    for item in node.attribute:
        for graph in [item.g] if item.HasField("g") else item.graphs:
            made = {v.name for v in graph.input} | {t.name for t in graph.initializer}
            for inner in graph.node:
                found.update(name for name in inner.input if name and name not in made)
                found.update(name for name in captured(inner) if name not in made)
                made.update(inner.output)
            found.update(o.name for o in graph.output if o.name not in made)
    return found
