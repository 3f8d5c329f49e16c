"""The fate of a graph's nodes in a run: of the file that ran, and of a graph that the file was made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

from studio.backends.ask import ToolAnswer, ToolNode
from studio.graph.graph import Graph
from studio.graph.matching import match_nodes as match_graphs
from studio.graph.op_family import op_family
from studio.jobs.ask_tool import match_nodes
from studio.measure.evidence import RunEvidence, Share
from studio.support.converted import converted_parts, taken_of

Fate = dict[int, bool]
"""Node → whether the target took it."""


def fate_of(graph: Graph, run_: RunEvidence) -> Fate:
    """What became of each node of the file that ran."""
    if run_.share is Share.ALL or run_.share is Share.NONE:
        return dict.fromkeys(range(graph.node_count), run_.share is Share.ALL)
    if run_.share is Share.FILE:
        return _by_file(graph)
    if run_.share is not Share.NODES:
        return {}
    main = list(graph.nodes_in(0))
    if any(not n.op for n in run_.nodes):  # phones name operators outside of the delegate only
        is_same_file = all(
            0 <= n.index < len(main) and n.op in ("", graph.node_op[main[n.index]]) for n in run_.nodes
        )
        return {main[n.index]: n.is_taken for n in run_.nodes} if is_same_file else {}
    nodes = tuple(ToolNode(name=n.name, op=n.op, taken=n.is_taken, index=n.index) for n in run_.nodes)
    answer = ToolAnswer(tool="", version="", target_id=run_.hello.target, nodes=nodes)
    return {node: taken for node, (taken, _) in match_nodes(graph, answer).items()}


def _by_file(graph: Graph) -> Fate:
    """A `.pte` file: calls of delegates and what is in them was taken, kernel calls were not."""
    delegates = {n for n in range(graph.node_count) if graph.node_domain[n] == "delegate"}
    inside = {i for i, body in enumerate(graph.subgraphs) if body.parent_node in delegates}
    return {n: n in delegates or int(graph.node_subgraph[n]) in inside for n in range(graph.node_count)}


def trace(graph: Graph, artifact: Graph, fate: Fate) -> Fate:
    """The fate of the nodes that the artifact's came from; taken only where all its parts were."""
    if graph.format == "pt2" and artifact.format == "tflite":
        parts_of = converted_parts(graph, artifact)
        sure = {n: taken for n, parts in parts_of.items() if (taken := taken_of(parts, fate)) is not None}
        return _matched(graph, artifact, fate) | sure
    return _matched(graph, artifact, fate)


def _matched(graph: Graph, artifact: Graph, fate: Fate) -> Fate:
    """The fate of nodes that kept name, origin or output; of all that match when every node had the same."""
    if len(set(fate.values())) == 1:
        taken = next(iter(fate.values()))
        to_artifact, _ = match_graphs(graph, artifact)
        return {n: taken for n, other in enumerate(to_artifact.tolist()) if other in fate}
    parts: dict[Hashable, list[bool]] = defaultdict(list)
    for node, taken in fate.items():
        for key in _keys(artifact, node):
            parts[key].append(taken)
    found = {}
    for node in range(graph.node_count):
        answers = next((parts[key] for key in _keys(graph, node) if key in parts), None)
        if answers is not None:
            found[node] = all(answers)
    return found


def _keys(graph: Graph, node: int) -> list[Hashable]:
    """What a node keeps through a conversion, the surest first."""
    family = op_family(graph.node_op[node])
    keys: list[Hashable] = []
    if graph.node_name[node]:
        keys.append(("name", graph.node_name[node], family))
    origin = graph.node_provenance.get(node)
    if origin is not None and (origin.original or (origin.file and origin.line)):
        keys.append(("origin", origin.original or (origin.module, origin.file, origin.line)))
    outputs = graph.outputs_of(node).tolist()
    name = graph.tensor_name[outputs[0]] if outputs and outputs[0] >= 0 else ""
    if name and not name.lstrip("%").isdigit():
        keys.append(("output", name, family))
    return keys
