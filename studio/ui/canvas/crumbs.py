"""The bread crumb of a selection: graph, subgraphs, scopes, and what a press on each does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from studio.graph import Graph
from studio.graph.scopes import scope_tree
from studio.ui.canvas.hud import Crumb
from studio.ui.canvas.labels import clean, scope_chain, scope_title

LONGEST = 40


def crumbs_for(
    graph: Graph,
    subgraph: int,
    node: int,
    scope: int,
    *,
    show_subgraph: Callable[[int], None],
    show_scope: Callable[[int], None],
) -> tuple[Crumb, ...]:
    """Crumbs for a selected node, else a selected scope; −1 = none. Empty in the main graph's root."""
    crumbs: list[Crumb] = []
    bodies = subgraph_chain(graph, subgraph)
    if bodies:
        crumbs.append(Crumb(clean(graph.name, LONGEST) or graph.format, partial(show_subgraph, 0)))
    for body in bodies:
        name = clean(graph.subgraphs[body].name, LONGEST) or f"#{body}"
        crumbs.append(Crumb(name, partial(show_subgraph, body)))
    tree = scope_tree(graph)
    if node >= 0:
        scope = int(tree.node_scope[node])
        around = int(graph.node_subgraph[node]) if len(graph.node_subgraph) else 0
        for body in subgraph_chain(graph, around):
            if body not in bodies:  # drawn in place, as a frame
                frame = tree.size + body
                name, owner = scope_title(graph, frame)
                title = f"{owner} · {name}" if owner else name
                crumbs.append(Crumb(title, partial(show_scope, frame)))
    crumbs += [
        Crumb(scope_title(graph, each)[0], partial(show_scope, each)) for each in scope_chain(graph, scope)
    ]
    return tuple(crumbs)


def subgraph_chain(graph: Graph, subgraph: int) -> list[int]:
    """The bodies from the outermost to this one, the main graph left out."""
    chain: list[int] = []
    while 0 < subgraph < len(graph.subgraphs) and subgraph not in chain:
        chain.append(subgraph)
        parent = graph.subgraphs[subgraph].parent_node
        subgraph = int(graph.node_subgraph[parent]) if 0 <= parent < len(graph.node_subgraph) else 0
    return chain[::-1]
