"""Which nodes a LiteRT plug-in took, read from the file that `apply_plugin_main --cmd=partition` writes.

In it every partition is a DISPATCH_OP in the place of its operators and a subgraph at the end of the file
that holds them; what was not taken stays where it was. Operators keep their output tensors' names, which tell
them apart; their order is not kept. A composite that the plug-in does not know itself is replaced by the
operators of its decomposition first.
Source: google-ai-edge/LiteRT@f67457790 litert/compiler/plugin, PartitionModel; seen with 2.3.0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from studio.graph.graph import Graph, SubgraphRef

Key = tuple[str, tuple[str, ...]]
"""Operator and the names of its outputs."""

DISPATCH = "DISPATCH_OP"
_COMPOSITE = "STABLEHLO_COMPOSITE"
_LEFT = re.compile(
    r"LiteRT Op #\d+ '\w+' \(code=\d+\) is (?P<why>not supported in [^\n]+?)\.?\n"
    r"(?:\s+Inputs:\n(?:\s+\[\d+\][^\n]*\n)*)?\s+Outputs:\n(?P<outputs>(?:\s+\[\d+\] name=[^\n]*(?:\n|$))+)"
)
_REFUSED = re.compile(
    r"QNN op validation failed: '(?P<name>[^']+)' \(type=(?P<type>\w+)(?:, operation=(?P<operation>\w+))?\)"
)
_ERROR = re.compile(r"<E> (?:\[\d+\] )?(.+)")
_VERDICT = re.compile(r"<E> Failed to validate op (\S+) with error")
_NAME = re.compile(r'\[\d+\] name="(.*)"  tensor_idx=')


def taken_nodes(graph: Graph, parted: Graph) -> dict[int, tuple[bool | None, str]]:
    """Node of the main subgraph → taken, and why not where the file shows it.

    None where the file does not tell a node from a namesake. A composite is taken when all operators of
    its decomposition are.
    """
    calls = sum(op == DISPATCH for op in parted.node_op)
    of_main = sum(parted.node_op[n] == DISPATCH for n in parted.nodes_in(0))
    first = len(parted.subgraphs) - calls
    stayed = Counter(_keys(parted, (n for n in parted.nodes_in(0) if parted.node_op[n] != DISPATCH)))
    moved: Counter[Key] = Counter()
    for subgraph in range(first, first + of_main):  # partitions of the main subgraph are written first
        moved.update(_keys(parted, parted.nodes_in(subgraph)))
    return {node: _taken(graph, node, stayed, moved) for node in graph.nodes_in(0)}


def left_reasons(log: str) -> dict[tuple[str, ...], str]:
    """Names of an operator's outputs → why the plug-in left it, as Qualcomm's logs it; others give none.

    Either the plug-in has no translation of the operator, or the SDK's validator refused what it became.
    """
    said = _validator_words(log)
    refused = list(_REFUSED.finditer(log))
    found, before = {}, 0
    for match in _LEFT.finditer(log):
        why = match["why"]
        for at in (r for r in refused if before <= r.start() < match.start()):
            words = said.get(at["name"], "")
            why = f"its validator refuses {at['operation'] or at['type']}{': ' + words if words else ''}"
        found[tuple(_NAME.findall(match["outputs"]))] = why
        before = match.end()
    return found


def _validator_words(log: str) -> dict[str, str]:
    """Name of a QNN operator → what the validator said of it: its errors stand before its verdict."""
    found: dict[str, str] = {}
    errors: list[str] = []
    for line in log.splitlines():
        if match := _VERDICT.search(line):
            found[match[1]] = "; ".join(dict.fromkeys(errors))
            errors = []
        elif (error := _ERROR.search(line)) and "validateOpConfig" not in line:
            errors.append(error[1].rstrip("."))
    return found


def _taken(graph: Graph, node: int, stayed: Counter[Key], moved: Counter[Key]) -> tuple[bool | None, str]:
    (key,) = _keys(graph, (node,))
    if stayed[key] or moved[key]:
        return (None if stayed[key] and moved[key] else bool(moved[key])), ""
    body = graph.node_attributes[node].get("decomposition_subgraph_index")
    if graph.node_op[node] != _COMPOSITE or not isinstance(body, SubgraphRef):
        return None, ""
    inner = [k for k in _keys(graph, graph.nodes_in(body.subgraph)) if stayed[k] or moved[k]]
    if not inner or any(stayed[k] and moved[k] for k in inner):
        return None, ""
    left = sorted({op for op, _names in (k for k in inner if stayed[k])})
    return not left, f"{', '.join(left)} of its decomposition" if left else ""


def _keys(graph: Graph, nodes: Iterable[int]) -> list[Key]:
    return [(graph.node_op[n], tuple(graph.tensor_name[t] for t in graph.outputs_of(n))) for n in nodes]
