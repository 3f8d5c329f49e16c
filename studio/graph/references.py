"""References: how a node is named in a project, so that it is found again in the next export.

Indices change with every edit; names may be missing or doubled. A reference is a node's name where
that is its own, else the name of the first tensor that it makes.
"""

from __future__ import annotations

from studio.graph.graph import Graph


def reference_of(graph: Graph, node: int) -> str:
    """What `find_node` finds the node by; the same as an edit of a recipe takes."""
    name = graph.node_name[node]
    if name and graph.node_name.count(name) == 1:
        return name
    made = next((int(t) for t in graph.outputs_of(node) if t >= 0), -1)
    return graph.tensor_name[made] if made >= 0 else name


def find_node(graph: Graph, reference: str) -> int:
    """The node of that name, else the one that makes that tensor; −1 when there is none."""
    if reference in graph.node_name:
        return graph.node_name.index(reference)
    if reference in graph.tensor_name:
        return int(graph.producer_of[graph.tensor_name.index(reference)])
    return -1
