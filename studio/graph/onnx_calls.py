"""How large an ONNX model becomes when its local functions are inlined at every call.

Functions that call two others each double at every level: forty of them, a file of 4 KB, are 10¹² nodes.
Our own reader draws a function once; onnx and ONNX Runtime inline, and would not come back.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from studio.errors import InputError
from studio.graph.mapped import map_file
from studio.graph.onnx_skeleton import has_functions, read_skeleton

MAX_INLINED_NODES = 200_000
"""ONNX Runtime 1.32 needs 1 s for 16,384 nodes of nested functions and 25 s for 131,072: with the square."""

_DEEPEST = 100


def refuse_expansion(model: Any, name: str) -> None:
    """Raises InputError when a ModelProto is too large for a runtime once its functions are inlined."""
    if expanded_nodes(model, MAX_INLINED_NODES) > MAX_INLINED_NODES:
        raise InputError(
            f"The local functions of {name} call each other so often that inlining them makes more than "
            f"{MAX_INLINED_NODES:,} nodes.",
            hint="Call fewer functions from functions, or inline them where the model is exported.",
        )


def refuse_expansion_of(path: Path) -> None:
    """As `refuse_expansion`, for a file; one that is no ONNX model, or has no functions, passes at once."""
    import onnx

    try:
        data = map_file(path)
        if not has_functions(data):
            return
        model = onnx.ModelProto()
        model.ParseFromString(read_skeleton(data).data)
    except Exception:  # not readable here: the runtime says so in its own words
        return
    refuse_expansion(model, path.name)


def expanded_nodes(model: Any, limit: int) -> int:
    """Nodes of a model with a function's nodes at each of its calls; over `limit` for endless ones.

    0 for a model without functions. Each function is counted once, whatever the number of its calls.
    """
    functions = {(f.domain, f.name, getattr(f, "overload", "")): f for f in model.functions}
    if not functions:
        return 0
    sizes: dict[tuple[str, str, str], int] = {}
    open_: set[tuple[str, str, str]] = set()

    def size_of(key: tuple[str, str, str]) -> int:
        if key in sizes:
            return sizes[key]
        if key in open_ or len(open_) > _DEEPEST:
            return limit + 1
        open_.add(key)
        sizes[key] = count(functions[key].node)
        open_.discard(key)
        return sizes[key]

    def count(nodes: Any) -> int:
        total = 0
        for node in nodes:
            key = (node.domain, node.op_type, getattr(node, "overload", ""))
            total += 1 + (size_of(key) if key in functions else 0)
            total += sum(count(body.node) for body in bodies_of(node))
            if total > limit:
                break
        return total

    return count(model.graph.node)


def bodies_of(node: Any) -> Iterator[Any]:
    """The graphs in a node's attributes."""
    for attribute in node.attribute:
        if attribute.type == 5:
            yield attribute.g
        elif attribute.type == 10:
            yield from attribute.graphs
