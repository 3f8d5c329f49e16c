"""Which body of one graph faces a body of another, once it is known which node is which."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph
from studio.graph.scopes import bodies_of

Ints = npt.NDArray[np.int32]


def facing_body(a: Graph, b: Graph, match: Ints, subgraph: int) -> int:
    """The subgraph of b that faces a subgraph of a; `match` has b's node for each of a's, −1 = none.

    It is where most of the body's nodes are in b; without any, the body at the same place of the node it
    hangs on; when that node is gone as well, what faces the graph around it. The main graphs face each other.
    """
    if len(b.subgraphs) < 2:
        return 0
    seen: set[int] = set()
    while subgraph and subgraph not in seen:
        seen.add(subgraph)
        partners = match[a.node_subgraph == subgraph]
        partners = partners[partners >= 0]
        if len(partners):
            return int(np.bincount(b.node_subgraph[partners]).argmax())
        parent = a.subgraphs[subgraph].parent_node
        if parent < 0:
            return 0
        if match[parent] >= 0:
            theirs = bodies_of(b, int(match[parent]))
            attribute = a.subgraphs[subgraph].attribute
            same = [body for body in theirs if b.subgraphs[body].attribute == attribute]
            place = bodies_of(a, parent).index(subgraph)
            if same or place < len(theirs):
                return same[0] if same else theirs[place]
        subgraph = int(a.node_subgraph[parent])
    return 0
