"""ETRecord: what ExecuTorch wrote down while it made a `.pte` file, read without executing anything.

It tells by debug handle which instruction came from which nodes of the edge-dialect program, the graph
before delegation. So a delegate opens as what it was made from, and every node knows its module and line.
Source: executorch/devtools/etrecord/_etrecord.py and exir/emit/_emitter.py (1.5). `read_etrecord` reads one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from studio.graph.builder import GraphBuilder
from studio.graph.edge_part import add_part, scope_parts
from studio.graph.flatbuffer import Table
from studio.graph.graph import Graph, Provenance, SubgraphRef
from studio.graph.restated import BEFORE_DELEGATION

Origin = tuple[int, Provenance | None]
"""Scope and provenance of a node."""


class DelegateMap(msgspec.Struct):
    """A delegate call's backend.

    The record also maps the backend's own identifiers, but not to handles of this graph: Vulkan, for one,
    counts its nodes anew (backends/vulkan/serialization/vulkan_graph_builder.py, process_node, 1.5).
    """

    name: str = ""


@dataclass(frozen=True, slots=True)
class MethodOrigins:
    """Where the instructions of one method came from, as nodes of the edge graph."""

    graph: Graph
    nodes_of: Mapping[int, list[int]]  # debug handle → nodes
    instructions: Mapping[int, list[int]]  # instruction → debug handles
    delegates: Mapping[int, DelegateMap]
    path: str  # of the record, relative to the model's folder; "" when it is not in it

    def of_instruction(self, builder: GraphBuilder, index: int, stored: Provenance | None) -> Origin:
        """Scope and provenance of a kernel call; `stored` is what the file itself says."""
        scope, found = self._origin(builder, self.instructions.get(index, []))
        return scope, found or stored

    def of_handle(self, builder: GraphBuilder, handle: int) -> Origin:
        """Scope and provenance of a delegate's own node that kept a debug handle."""
        return self._origin(builder, [handle])

    def add_body(self, builder: GraphBuilder, index: int, node: int) -> SubgraphRef | None:
        """The nodes that a delegate was made from as a subgraph of the builder; None when none are known."""
        handles = dict.fromkeys(self.instructions.get(index, []))
        nodes = sorted({n for handle in handles for n in self.nodes_of.get(handle, [])})
        if not nodes:
            return None
        body = builder.subgraph("before delegation", parent_node=node, attribute=BEFORE_DELEGATION)
        add_part(self.graph, nodes, builder, body, self.path)
        return SubgraphRef(subgraph=body)

    def _origin(self, builder: GraphBuilder, handles: Sequence[int]) -> Origin:
        nodes = [n for handle in dict.fromkeys(handles) for n in self.nodes_of.get(handle, [])]
        if not nodes:
            return 0, None
        graph, last = self.graph, nodes[-1]
        path, types = scope_parts(graph, int(graph.node_scope[last]))
        names = tuple(graph.node_name[n] for n in nodes[:64])
        known = graph.node_provenance.get(last, Provenance())
        return builder.scope(path, types) if path else 0, msgspec.structs.replace(known, original=names)


@dataclass(frozen=True, slots=True)
class EtRecord:
    """An opened record: the edge graph, whose first subgraphs are the methods, and the maps by method."""

    graph: Graph
    methods: Mapping[str, MethodOrigins]

    def method(self, name: str) -> MethodOrigins | None:
        return self.methods.get(name)

    def fits(self, plans: Sequence[Table]) -> bool:
        """Whether this is the record of a program: every method, instruction and delegate is the same."""
        for plan in plans:
            known = self.methods.get(plan["name"])
            if known is None:
                return False
            instructions = [i["instr_args"] for chain in plan["chains"] for i in chain["instructions"]]
            if max([*known.instructions, *known.delegates], default=-1) >= len(instructions):
                return False
            names = [delegate["id"] for delegate in plan["delegates"]]
            for index, call in enumerate(instructions):
                is_delegate = call is not None and call.kind == "DelegateCall"
                wanted = known.delegates.get(index)
                if is_delegate != (wanted is not None):
                    return False
                number = int(call["delegate_index"]) if call is not None and is_delegate else -1
                if wanted is not None and (number >= len(names) or names[number] != wanted.name):
                    return False
        return True


def as_list(value: int | list[int]) -> list[int]:
    """One handle or several, as a list."""
    return value if isinstance(value, list) else [value]
