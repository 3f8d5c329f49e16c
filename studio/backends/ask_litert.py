"""Asks LiteRT's interpreter on this machine which nodes its XNNPACK delegate took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studio.backends.ask import ToolAnswer, ToolNode
from studio.backends.packages import package_version, require
from studio.backends.quiet import quiet
from studio.errors import ToolError


def ask(path: Path, target_id: str = "litert/cpu") -> ToolAnswer:
    """The answer for a `.tflite` file's main subgraph. Raises ToolError when it cannot be loaded."""
    require("ai_edge_litert", "Asking LiteRT", "litert")
    from ai_edge_litert.interpreter import Interpreter

    try:
        with quiet() as said:
            interpreter = Interpreter(model_path=str(path), num_threads=1)
            interpreter.allocate_tensors()
            details = interpreter._get_ops_details()
    except (ValueError, RuntimeError) as error:
        raise ToolError(
            f"LiteRT cannot load {path.name}.",
            hint="The last lines say which operator or version it lacks.",
            last_lines=tuple(str(error).splitlines()[-6:]),
        ) from None
    return ToolAnswer(
        tool="XNNPACK delegate",
        version=f"ai-edge-litert {package_version('ai-edge-litert')}",
        target_id=target_id,
        nodes=placed_nodes(details),
        partitions=sum(d["op_name"] == "DELEGATE" for d in details),
        notes=tuple(said.getvalue().splitlines()[-3:]),
    )


def placed_nodes(details: list[dict[str, Any]]) -> tuple[ToolNode, ...]:
    """The file's nodes and whether a delegate took them.

    The interpreter's list holds the original nodes and the DELEGATE nodes that replace some of them; a
    delegate holds what lies between its inputs and its outputs.
    """
    nodes = [d for d in details if d["op_name"] != "DELEGATE"]
    taken = _covered(nodes, [d for d in details if d["op_name"] == "DELEGATE"])
    return tuple(
        ToolNode(name=f"{d['op_name']}#{i}", op=d["op_name"], taken=i in taken, index=i)
        for i, d in enumerate(nodes)
    )


def _covered(nodes: list[dict[str, Any]], delegates: list[dict[str, Any]]) -> set[int]:
    """Indices of the nodes inside a delegate: backwards from its outputs until its inputs."""
    producer = {int(t): i for i, node in enumerate(nodes) for t in node["outputs"]}
    result: set[int] = set()
    for delegate in delegates:
        entries = {int(t) for t in delegate["inputs"]}
        waiting = [int(t) for t in delegate["outputs"]]
        while waiting:
            tensor = waiting.pop()
            node = producer.get(tensor)
            if node is None or tensor in entries or node in result:
                continue
            result.add(node)
            waiting += [int(t) for t in nodes[node]["inputs"] if t >= 0]
    return result
