"""Which fixes a graph as a whole rules out, whatever its nodes ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from studio.graph.graph import Graph
from studio.support.fix_reach import TAIL_OPERATORS
from studio.support.ruling import Ruling

_MADE_TYPES = {
    "float16", "float32", "float64", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64",
}  # fmt: skip
"""Types of which a proof can make inputs; with others no fix can be proven without the user's own."""
_UNREAD_TYPES = {
    "bfloat16", "int4", "uint4", "int2", "uint2", "float4e2m1", "float8e4m3fn", "float8e4m3fnuz",
    "float8e5m2", "float8e5m2fnuz", "float8e8m0",
}  # fmt: skip
"""Types that ONNX Runtime does not give back to numpy, so that nothing can be compared."""
_RANDOM = {
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Multinomial",
    "Bernoulli",
}
"""Operators of which two runs differ, so that nothing can be compared."""


class GraphReach:
    """Answers for one graph; nothing is looked at before it is asked."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def possible(self, ruling: Ruling) -> Ruling:
        """The ruling without fixes that this graph rules out."""
        if not ruling.fixes:
            return ruling
        kept = tuple(fix for fix in ruling.fixes if self._allows(fix))
        return ruling if kept == ruling.fixes else ruling._replace(fixes=kept)

    def _allows(self, fix: str) -> bool:
        if not self._is_provable:
            return False
        if fix == "freeze-dims":
            return self._has_open_inputs
        if fix == "cut-tail":
            return self._has_network
        if fix == "dynamic-quantize-to-static":
            return not self._returns_dynamic_scales
        if fix == "split-concat":
            return self._returns_concat
        return True

    @cached_property
    def _is_provable(self) -> bool:
        """Whether inputs of the graph's types can be made, its outputs be read, and two runs be compared."""
        if not _RANDOM.isdisjoint(self._graph.node_op):
            return False
        dtype = self._graph.tensor_dtype
        outputs = {dtype[t] for t in self._graph.main_outputs()}
        return all(dtype[t] in _MADE_TYPES for t in self._graph.main_inputs()) and not outputs & _UNREAD_TYPES

    @cached_property
    def _has_open_inputs(self) -> bool:
        shapes = (self._graph.tensor_shape[t] for t in self._graph.main_inputs())
        return any(not isinstance(dim, int) or dim <= 0 for shape in shapes for dim in shape or ())

    @cached_property
    def _has_network(self) -> bool:
        """Whether anything is computed that does not depend on a selecting operator."""
        graph = self._graph
        main = set(graph.nodes_in(0)) if graph.subgraphs else set(range(graph.node_count))
        tail = downstream(graph, (n for n in main if graph.node_op[n] in TAIL_OPERATORS))
        return any(graph.node_op[n] != "Constant" for n in main - tail)

    @cached_property
    def _returns_dynamic_scales(self) -> bool:
        """Whether the graph returns what is quantised with the range of the input, or that range itself."""
        graph = self._graph
        makers = {int(graph.producer_of[t]) for t in graph.main_outputs()}
        return any(node >= 0 and graph.node_op[node] == "DynamicQuantizeLinear" for node in makers)

    @cached_property
    def _returns_concat(self) -> bool:
        """Whether a Concat, or a quantised one, is an output of the graph."""
        graph = self._graph
        for tensor in graph.main_outputs():
            node = int(graph.producer_of[tensor])
            for op in ("DequantizeLinear", "QuantizeLinear"):
                if node >= 0 and graph.node_op[node] == op:
                    first = int(graph.inputs_of(node)[0]) if len(graph.inputs_of(node)) else -1
                    node = int(graph.producer_of[first]) if first >= 0 else -1
            if node >= 0 and graph.node_op[node] == "Concat":
                return True
        return False


def can_split(graph: Graph, refused: Iterable[int]) -> bool:
    """Whether the refused nodes of the main graph are a tail or a head of at most half of it."""
    main = set(graph.nodes_in(0)) if graph.subgraphs else set(range(graph.node_count))
    wanted = [n for n in refused if n in main]
    if not wanted:
        return False
    tail, head = downstream(graph, wanted) & main, upstream(graph, wanted) & main
    cut = tail if len(tail) <= len(head) else head
    if len(cut) > len(main) // 2:
        return False
    first = main - cut if cut is tail else cut
    return any(graph.node_op[n] != "Constant" for n in first)


def downstream(graph: Graph, start: Iterable[int]) -> set[int]:
    """The nodes given and all that depend on them, through what bodies read too."""
    return _reached(start, lambda n: _readers(graph, n))


def upstream(graph: Graph, start: Iterable[int]) -> set[int]:
    """The nodes given and all that they depend on, through what bodies read too."""
    inside: dict[int, list[int]] = {}
    for body, subgraph in enumerate(graph.subgraphs):
        if subgraph.parent_node >= 0:
            inside.setdefault(subgraph.parent_node, []).extend(graph.nodes_in(body))
    return _reached(start, lambda n: [*_makers(graph, n), *inside.get(n, ())])


def _reached(start: Iterable[int], following: Callable[[int], list[int]]) -> set[int]:
    reached: set[int] = set()
    waiting = list(start)
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting.extend(following(node))
    return reached


def _readers(graph: Graph, node: int) -> list[int]:
    """Who reads what a node makes; for a reader inside a body also the node that the body hangs on."""
    found: list[int] = []
    for tensor in graph.outputs_of(node).tolist():
        if tensor >= 0:
            found.extend(graph.consumers_of(tensor).tolist())
    owners = [graph.subgraphs[int(graph.node_subgraph[n])].parent_node for n in found if graph.subgraphs]
    return [*found, *(owner for owner in owners if owner >= 0)]


def _makers(graph: Graph, node: int) -> list[int]:
    return [
        int(graph.producer_of[t])
        for t in graph.inputs_of(node).tolist()
        if t >= 0 and graph.producer_of[t] >= 0
    ]
