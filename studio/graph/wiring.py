"""Wiring: whether a node that was matched still reads what it read before."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph, TensorKind
from studio.graph.op_family import op_family

Ints = npt.NDArray[np.int32]

_FARTHEST = 64  # unmatched nodes that are looked through behind one input
_ANY_ORDER = frozenset({"add", "mul", "max", "maximum", "min", "minimum", "and", "or", "xor", "equal", "sum"})


class Wiring:
    """Compares where the inputs of matched nodes come from, looking through what was added and removed."""

    def __init__(self, a: Graph, b: Graph, match_a: Ints, match_b: Ints) -> None:
        self._graphs = (a, b)
        self._match = (match_a, match_b)
        self._is_constant = [(g.tensor_kind == TensorKind.CONSTANT).tolist() for g in (a, b)]
        names = [[g.tensor_name[t] for t in g.main_inputs()] for g in (a, b)]
        own = [[n for n in mine if n not in other] for mine, other in (names, names[::-1])]
        # inputs that another tool renamed are taken in their order
        self._input_as = dict(zip(own[1], own[0]))

    def changes(self, node: int, other: int) -> list[tuple[int, str, str]]:
        """(input, source before, source after) of every input that is fed from somewhere else.

        An input counts as moved only when both ends are known and share nothing, so that a node put
        in between, a fusion or another order of operands in another format is no such change.
        """
        a, b = self._graphs
        ours = [self._ends(0, t) for t in self._activations(0, node)]
        theirs = [self._ends(1, t) for t in self._activations(1, other)]
        family = op_family(a.node_op[node])
        if a.node_op[node] != b.node_op[other] or len(ours) != len(theirs) or family in _ANY_ORDER:
            ours, theirs = [set().union(*ours)], [set().union(*theirs)]
        return [
            (k, self._words(before), self._words(after))
            for k, (before, after) in enumerate(zip(ours, theirs))
            if before and after and not before & after
        ]

    def _ends(self, side: int, tensor: int) -> set[tuple[int, str]]:
        """The nearest matched makers behind a tensor, each as its node in b, and graph inputs by name."""
        graph, match = self._graphs[side], self._match[side]
        found: set[tuple[int, str]] = set()
        stack, seen = [tensor], {tensor}
        while stack and len(seen) < _FARTHEST:
            at = stack.pop()
            maker = int(graph.producer_of[at])
            if maker < 0:
                if graph.tensor_kind[at] == TensorKind.INPUT:
                    name = graph.tensor_name[at]
                    found.add((-1, self._input_as.get(name, name) if side else name))
            elif match[maker] >= 0:
                found.add((int(match[maker]) if side == 0 else maker, ""))
            else:
                fresh = [t for t in self._activations(side, maker) if t not in seen]
                seen.update(fresh)
                stack += fresh
        return set() if stack else found  # too far away: nothing is claimed

    def _activations(self, side: int, node: int) -> list[int]:
        """A node's inputs that are no constants."""
        is_constant = self._is_constant[side]
        return [t for t in self._graphs[side].inputs_of(node).tolist() if t >= 0 and not is_constant[t]]

    def _words(self, ends: set[tuple[int, str]]) -> str:
        b = self._graphs[1]
        return ", ".join(sorted(name or b.label(node)[-80:] for node, name in ends)[:4])
