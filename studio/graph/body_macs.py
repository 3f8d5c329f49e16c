"""MACs of nodes with bodies: If, Loop, Scan, calls, delegates. How often a body runs must be known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph, SubgraphRef, TensorKind

Longs = npt.NDArray[np.int64]

LIMIT = 1 << 62
"""Counts from here on are called unknown."""


def total_of(values: Longs) -> int:
    """Sum of the known values, as a Python int that cannot overflow."""
    return sum(values[values > 0].tolist())


def add_bodies(graph: Graph, macs: Longs) -> None:
    """Gives nodes with bodies the MACs of what they run. Bodies that call themselves stay unknown."""
    if len(graph.subgraphs) < 2:
        return
    bodies: dict[int, list[int]] = {}
    for node, attributes in enumerate(graph.node_attributes):
        for value in attributes.values():
            if isinstance(value, SubgraphRef):
                bodies.setdefault(node, []).append(value.subgraph)
            elif isinstance(value, list):
                bodies.setdefault(node, []).extend(v.subgraph for v in value if isinstance(v, SubgraphRef))
    bodies = {node: found for node, found in bodies.items() if found}
    callers: dict[int, list[int]] = {}
    for node in bodies:
        callers.setdefault(int(graph.node_subgraph[node]), []).append(node)
    order = np.argsort(graph.node_subgraph, kind="stable")
    starts = np.searchsorted(graph.node_subgraph[order], np.arange(len(graph.subgraphs) + 1))
    totals: dict[int, int] = {}
    open_: set[int] = set()
    stack = [(0, False)]
    while stack:
        subgraph, is_ready = stack.pop()
        if subgraph in totals or subgraph >= len(graph.subgraphs):
            continue
        if not is_ready:
            open_.add(subgraph)
            stack.append((subgraph, True))
            inner = {s for node in callers.get(subgraph, ()) for s in bodies[node]}
            stack += [(s, False) for s in inner if s not in totals and s not in open_]
            continue
        for node in callers.get(subgraph, ()):
            macs[node] = _body_macs(graph, node, [totals.get(s, -1) for s in bodies[node]])
        own = macs[order[starts[subgraph] : starts[subgraph + 1]]]
        total = total_of(own)
        totals[subgraph] = -1 if (own < 0).any() or total >= LIMIT else total
        open_.discard(subgraph)


_RUN_ONCE = frozenset({
    "If", "IF", "CALL", "CALL_ONCE", "STABLEHLO_COMPOSITE", "prim::If", "higher_order.cond",
    "higher_order.invoke_subgraph", "higher_order.wrap", "higher_order.wrap_with_set_grad_enabled",
    "higher_order.wrap_with_autocast",
})  # fmt: skip


def _body_macs(graph: Graph, node: int, inner: list[int]) -> int:
    op, attributes = graph.node_op[node], graph.node_attributes[node]
    if graph.node_domain[node] == "delegate":  # its bodies tell the same work in several ways
        return max(inner)
    if min(inner) < 0:
        return -1
    most = max(inner)
    if op in _RUN_ONCE or "function" in attributes:
        return most
    if op == "Loop":
        trips = graph.inputs_of(node)[:1].tolist()
        known = graph.tensor_value.get(trips[0]) if trips and trips[0] >= 0 else None
        return _bounded(most * int(known[0])) if known and (not most or _never_stops(graph, node)) else -1
    if op == "Scan":
        count = attributes.get("num_scan_inputs")
        scanned = graph.inputs_of(node).tolist()
        shape = graph.tensor_shape[scanned[-1]] if scanned and scanned[-1] >= 0 else None
        axes = attributes.get("scan_input_axes")
        if not isinstance(count, int) or not shape or (isinstance(axes, list) and any(axes)):
            return -1
        return _bounded(most * shape[0]) if isinstance(shape[0], int) else -1
    return 0 if most == 0 and op in ("WHILE", "SequenceMap", "prim::Loop", "higher_order.while_loop") else -1


def _never_stops(graph: Graph, node: int) -> bool:
    """Whether a Loop runs all its trips: its body hands the condition on as it came, or says a constant."""
    body = graph.node_attributes[node].get("body")
    if not isinstance(body, SubgraphRef):
        return False
    inside = graph.subgraphs[body.subgraph]
    if len(inside.inputs) < 2 or not inside.outputs:
        return False
    tensor = inside.outputs[0]
    for _ in range(8):
        if tensor == inside.inputs[1]:
            return True
        if graph.tensor_kind[tensor] == TensorKind.CONSTANT:
            return graph.tensor_value.get(tensor) in ([True], [1])
        producer = int(graph.producer_of[tensor])
        if producer < 0 or graph.node_op[producer] not in ("Identity", "Cast"):
            return False
        tensor = int(graph.inputs_of(producer)[0])
    return False


def _bounded(value: int) -> int:
    return value if 0 <= value < LIMIT else -1
