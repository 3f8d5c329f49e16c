"""Which node of one graph is which node of another: by name, provenance, tensor names and neighbourhood.

From the surest to the weakest, each step working on what the ones before left: equal names, equal
provenance, equal output tensors, then places between matched nodes where only one pair fits, then the
order of operators between anchors. A match needs operators of one family (`op_family`), so that a
quantised or converted node still is the same node.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable

import numpy as np
import numpy.typing as npt

from studio.graph.graph import Graph, TensorKind
from studio.graph.op_family import PASSING, op_family

Ints = npt.NDArray[np.int32]
_Signature = Callable[[int, int], Hashable]

_WINDOW = 2000  # nodes of a gap that are aligned at once


def match_nodes(a: Graph, b: Graph) -> tuple[Ints, Ints]:
    """(node of b for every node of a, node of a for every node of b); −1 = none."""
    return _Matcher(a, b).run()


class _Matcher:
    def __init__(self, a: Graph, b: Graph) -> None:
        self.graphs = (a, b)
        self.to_b = np.full(a.node_count, -1, np.int32)
        self.to_a = np.full(b.node_count, -1, np.int32)
        self.families = tuple([op_family(op) for op in g.node_op] for g in (a, b))

    def run(self) -> tuple[Ints, Ints]:
        self._by_key(lambda g, n: g.node_name[n] or None)
        self._by_key(_provenance)
        self._by_key(_output_names)
        for forward in (True, False):
            hashes = [_structure(g, f, forward) for g, f in zip(self.graphs, self.families)]
            self._by_key(lambda g, n, known=hashes: known[g is not self.graphs[0]][n])  # type: ignore[misc]
        self._by_neighbours()
        for signature in (self._weighted, self._signature):
            self._by_order(signature)
            self._by_neighbours()
        return self.to_b, self.to_a

    def _match(self, i: int, j: int) -> None:
        self.to_b[i] = j
        self.to_a[j] = i

    def _by_key(self, key: Callable[[Graph, int], Hashable]) -> None:
        """Matches nodes whose key and family are in both graphs, in file order when there are as many."""
        tables: list[dict[Hashable, list[int]]] = []
        for side, (graph, taken) in enumerate(zip(self.graphs, (self.to_b, self.to_a))):
            table: dict[Hashable, list[int]] = defaultdict(list)
            for node in np.flatnonzero(taken < 0).tolist():
                value = key(graph, node)
                if value is not None:
                    table[value, self.families[side][node]].append(node)
            tables.append(table)
        for value, ours in tables[0].items():
            theirs = tables[1].get(value, [])
            if len(ours) == len(theirs):
                for i, j in zip(ours, theirs):
                    self._match(i, j)

    def _by_neighbours(self) -> None:
        """Follows matched nodes to their consumers and producers while those are unambiguous."""
        after = tuple(self._neighbours(side, forward=True) for side in (0, 1))
        before = tuple(self._neighbours(side, forward=False) for side in (0, 1))
        queue = [int(i) for i in np.flatnonzero(self.to_b >= 0)]
        while queue:
            i = queue.pop()
            j = int(self.to_b[i])
            for near in (after, before):
                for pair in self._pairs(near[0](i), near[1](j)):
                    self._match(*pair)
                    queue.append(pair[0])

    def _pairs(self, ours: list[int], theirs: list[int]) -> list[tuple[int, int]]:
        """Unmatched neighbours that are the only ones of their family on both sides."""
        result = []
        free = [j for j in theirs if self.to_a[j] < 0]
        mine = [i for i in ours if self.to_b[i] < 0]
        for i in mine:
            family = self.families[0][i]
            same = [j for j in free if self.families[1][j] == family]
            if len(same) == 1 and sum(self.families[0][k] == family for k in mine) == 1:
                result.append((i, same[0]))
        return result

    def _neighbours(self, side: int, *, forward: bool) -> Callable[[int], list[int]]:
        """A function that gives a node's neighbours, and those behind unmatched passing nodes."""
        graph = self.graphs[side]
        taken = (self.to_b, self.to_a)[side]
        families = self.families[side]
        source, target, _ = graph.edges
        if not forward:
            source, target = target, source
        order = np.argsort(source, kind="stable")
        offsets = np.searchsorted(source[order], np.arange(graph.node_count + 1)).tolist()
        others = target[order].tolist()

        def near(node: int) -> list[int]:
            found: dict[int, None] = {}
            stack = [node]
            seen = {node}
            while stack and len(found) < 16:
                for other in _slice(others, offsets, stack.pop()):
                    if other in seen:
                        continue
                    seen.add(other)
                    found[other] = None
                    if taken[other] < 0 and families[other] in PASSING:
                        stack.append(other)
            return list(found)

        return near

    def _by_order(self, signature: _Signature) -> None:
        """Aligns the operators between anchors: matched nodes that come in the same order in both graphs."""
        anchors = _increasing([(int(i), int(self.to_b[i])) for i in np.flatnonzero(self.to_b >= 0)])
        ends = (len(self.to_b), len(self.to_a))
        last = (-1, -1)
        for anchor in [*anchors, ends]:
            self._align(range(last[0] + 1, anchor[0]), range(last[1] + 1, anchor[1]), signature)
            last = anchor

    def _align(self, ours: range, theirs: range, signature: _Signature) -> None:
        mine = [i for i in ours if self.to_b[i] < 0]
        free = [j for j in theirs if self.to_a[j] < 0]
        first = [(i, s) for i in mine if (s := signature(0, i)) is not None]
        second = [(j, s) for j in free if (s := signature(1, j)) is not None]
        a = b = 0
        while a < len(first) and b < len(second):  # a window at a time: alignment is quadratic
            pairs = longest_common(
                [s for _, s in first[a : a + _WINDOW]], [s for _, s in second[b : b + _WINDOW]]
            )
            for k, m in pairs:
                self._match(first[a + k][0], second[b + m][0])
            if not pairs:
                return
            a, b = a + pairs[-1][0] + 1, b + pairs[-1][1] + 1

    def _weighted(self, side: int, node: int) -> Hashable:
        """Family and weight sizes of a node with weights: the surest marks along a graph without names."""
        sizes = _weights(self.graphs[side], node)
        return (self.families[side][node], sizes) if sizes else None

    def _signature(self, side: int, node: int) -> Hashable:
        """What must be equal for two nodes to be aligned: family and rank of the first output."""
        graph = self.graphs[side]
        outputs = graph.outputs_of(node)
        shape = graph.tensor_shape[outputs[0]] if len(outputs) and outputs[0] >= 0 else None
        return self.families[side][node], -1 if shape is None else len(shape)


def longest_common(first: list[Hashable], second: list[Hashable]) -> list[tuple[int, int]]:
    """Places (in first, in second) of a longest common subsequence, in order.

    Bit-parallel: a row of the table is one whole number (H. Hyyrö, “Bit-parallel LCS-length computation
    revisited”, 2004), so that thousands of operators take milliseconds. Not `difflib`: it prefers long
    unbroken runs, and a converter that puts a node between any two leaves none.
    """
    places: dict[Hashable, int] = defaultdict(int)
    for i, value in enumerate(first):
        places[value] |= 1 << i
    full = (1 << len(first)) - 1
    row, rows = full, []
    for value in second:
        hit = row & places.get(value, 0)
        row = ((row + hit) | (row - hit)) & full
        rows.append(row)
    i, j = len(first) - 1, len(second) - 1
    pairs: list[tuple[int, int]] = []
    while i >= 0 and j >= 0:
        if first[i] == second[j]:
            pairs.append((i, j))
            i, j = i - 1, j - 1
        elif rows[j] >> i & 1:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]


def _sizes(graph: Graph, tensor: int) -> tuple[int, ...]:
    """The known dims above 1 of a tensor, sorted."""
    shape = graph.tensor_shape[tensor] if tensor >= 0 else None
    return tuple(sorted(d for d in shape or () if isinstance(d, int) and d > 1))


def _weights(graph: Graph, node: int) -> tuple[int, ...]:
    """The sizes of a node's constant of most dims, behind a dequantize node as well."""
    best: tuple[int, ...] = ()
    for tensor in graph.inputs_of(node).tolist():
        while tensor >= 0 and (maker := int(graph.producer_of[tensor])) >= 0:
            inputs = graph.inputs_of(maker)
            if op_family(graph.node_op[maker]) != "dequantize" or not len(inputs):
                break
            tensor = int(inputs[0])
        if tensor < 0:
            continue
        maker = int(graph.producer_of[tensor])
        if graph.tensor_kind[tensor] == TensorKind.CONSTANT or (
            maker >= 0 and graph.node_op[maker] == "Constant"
        ):
            best = max(best, _sizes(graph, tensor), key=len)
    return best


def _slice(others: list[int], offsets: list[int], node: int) -> list[int]:
    """At most 64 neighbours of a node: one with more tells nothing."""
    return others[offsets[node] : min(offsets[node + 1], offsets[node] + 64)]


def _provenance(graph: Graph, node: int) -> Hashable:
    found = graph.node_provenance.get(node)
    if found is None:
        return None
    if found.original:
        return found.original
    return (found.module, found.file, found.line) if found.file and found.line else None


def _output_names(graph: Graph, node: int) -> Hashable:
    """The name of the first output, unless it is a bare number that exporters hand out anew."""
    for tensor in graph.outputs_of(node).tolist():
        if tensor >= 0:
            name = graph.tensor_name[tensor]
            return None if name.lstrip("%").isdigit() or not name else name
    return None


def _structure(graph: Graph, families: list[str], forward: bool) -> list[int]:
    """A number per node that is equal where everything above it (below it, backwards) is built alike.

    Numbers mean something within one process only.
    """
    n = graph.node_count
    source, target, _ = graph.edges
    if not forward:
        source, target = target, source
    order = np.lexsort((source, target)) if not forward else np.argsort(target, kind="stable")
    offsets = np.searchsorted(target[order], np.arange(n + 1)).tolist()
    others = source[order].tolist()
    result = [0] * n
    for node in range(n) if forward else range(n - 1, -1, -1):
        near = [result[k] for k in others[offsets[node] : min(offsets[node + 1], offsets[node] + 64)]]
        result[node] = hash((families[node], *(near if forward else sorted(near))))
    return result


def _increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs (sorted by their first) whose seconds increase."""
    tails: list[int] = []
    at: list[int] = []
    before = [-1] * len(pairs)
    for k, (_, second) in enumerate(pairs):
        place = bisect_left(tails, second)
        if place == len(tails):
            tails.append(second)
            at.append(k)
        else:
            tails[place] = second
            at[place] = k
        before[k] = at[place - 1] if place else -1
    result = []
    k = at[-1] if at else -1
    while k >= 0:
        result.append(pairs[k])
        k = before[k]
    return result[::-1]
