"""A graph is changed in ways that are known, and the diff must say exactly those."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio.graph import Graph
from studio.graph.diff import ChangeKind, diff_graphs
from studio.graph.matching import longest_common, match_nodes

MakeGraph = Callable[..., Graph]
OPS = ("Conv", "Neg", "Exp", "Erf", "Sin", "Cos", "Tanh", "Sigmoid", "Softmax", "Abs", "Ceil", "Floor")
KINDS = ("add", "remove", "attribute", "shape", "dtype", "weights", "rewire")


@dataclass
class Net:
    """Nodes in a row that read one or two of the nodes before them, and what was done to them."""

    sources: list[list[int]]
    named: bool
    ops: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.ops = [OPS[k % len(OPS)] for k in range(len(self.sources))]

    def graph(self, make_graph: MakeGraph) -> Graph:
        """The nodes as a Graph; source −1 is the graph's input, every node has a weight of its own."""
        n = len(self.sources)
        rows = [
            (op, [*("x" if s < 0 else f"t{s}" for s in sources), f"w{k}"], [f"t{k}"])
            for k, (op, sources) in enumerate(zip(self.ops, self.sources))
        ]
        constants = [f"w{k}" for k in range(n)]
        shapes: dict[str, tuple[int, ...]] = {f"t{k}": (1, 8 + k) for k in range(n)}
        shapes |= {f"w{k}": (4, 1) for k in range(n)}
        graph = make_graph(
            rows,
            inputs=["x"],
            outputs=[f"t{n - 1}"],
            constants=constants,
            shapes=shapes,
            names=[f"node{k}" for k in range(n)] if self.named else None,
            attributes=[{"alpha": k} for k in range(n)],
        )
        for k in range(n):
            graph.tensor_value[graph.tensor_name.index(f"w{k}")] = [float(k)] * 4
        if not self.named:
            graph.tensor_name = [str(t) for t in range(graph.tensor_count)]
        return graph


def mutate(graph: Graph, make_graph: MakeGraph, kind: str, node: int) -> tuple[Graph, set[tuple[str, int]]]:
    """The graph with one change, and what the diff must say: (kind, node of the old graph or −1)."""
    changed = copy.deepcopy(graph)
    output = int(graph.outputs_of(node)[0])
    weight = int(graph.inputs_of(node)[-1])
    if kind == "attribute":
        changed.node_attributes[node]["alpha"] = -5
    elif kind == "shape":
        changed.tensor_shape[output] = (1, 7777)
    elif kind == "dtype":
        changed.tensor_dtype[output] = "float16"
    elif kind == "weights":
        changed.tensor_value[weight] = [9.5, 9.5, 9.5, 9.5]
    elif kind == "add":
        return _with_one_more(graph, make_graph, node), {("added", -1)}
    elif kind == "remove":
        return _without(graph, make_graph, node), {("removed", node)}
    elif kind == "rewire":
        changed.input_tensors = graph.input_tensors.copy()
        place = int(graph.input_offsets[node])
        old = int(graph.input_tensors[place])
        others = [t for t in _activations_before(graph, node) if t not in _all_inputs(graph, node)]
        if not others:
            return graph, set()
        assert old not in others
        changed.input_tensors[place] = others[0]
        for name in ("producer_of", "edges"):  # which are kept once they were asked for
            changed.__dict__.pop(name, None)
        return _rebuilt(changed, make_graph), {("inputs", node)}
    return changed, {(kind, node)}


def _all_inputs(graph: Graph, node: int) -> list[int]:
    return [int(t) for t in graph.inputs_of(node)]


def _activations_before(graph: Graph, node: int) -> list[int]:
    return [graph.main_inputs()[0], *(int(graph.outputs_of(k)[0]) for k in range(node))]


def _rows(graph: Graph) -> list[tuple[str, list[str], list[str]]]:
    name = graph.tensor_name
    return [
        (
            graph.node_op[k],
            [name[t] for t in graph.inputs_of(k).tolist()],
            [name[t] for t in graph.outputs_of(k).tolist()],
        )
        for k in range(graph.node_count)
    ]


def _rebuilt(
    graph: Graph,
    make_graph: MakeGraph,
    rows: list[tuple[str, list[str], list[str]]] | None = None,
    names: list[str] | None = None,
    attributes: list[dict[str, object]] | None = None,
) -> Graph:
    """The same tensors with these nodes."""
    rows = _rows(graph) if rows is None else rows
    by_name = {n: t for t, n in enumerate(graph.tensor_name)}
    made = make_graph(
        rows,
        inputs=[graph.tensor_name[t] for t in graph.main_inputs()],
        outputs=[rows[-1][2][0]],
        constants=[n for t, n in enumerate(graph.tensor_name) if t in graph.tensor_value],
        shapes={n: graph.tensor_shape[t] for n, t in by_name.items() if graph.tensor_shape[t] is not None},
        names=list(graph.node_name) if names is None else names,
        attributes=[dict(a) for a in graph.node_attributes] if attributes is None else attributes,
    )
    made.tensor_value = {
        t: graph.tensor_value[by_name[n]]
        for t, n in enumerate(made.tensor_name)
        if n in by_name and by_name[n] in graph.tensor_value
    }
    return made


def _with_one_more(graph: Graph, make_graph: MakeGraph, node: int) -> Graph:
    """A Round behind `node`, read by all that read it."""
    rows, out = _rows(graph), graph.tensor_name[int(graph.outputs_of(node)[0])]
    rows = [(op, ["991" if t == out else t for t in ins], outs) for op, ins, outs in rows]
    rows.insert(node + 1, ("Round", [out], ["991"]))
    names = [
        *graph.node_name[: node + 1],
        "extra" if graph.node_name[0] else "",
        *graph.node_name[node + 1 :],
    ]
    attributes = [dict(a) for a in graph.node_attributes]
    attributes.insert(node + 1, {})
    return _rebuilt(graph, make_graph, rows, names, attributes)


def _without(graph: Graph, make_graph: MakeGraph, node: int) -> Graph:
    """Those that read `node` read what it read first."""
    rows = _rows(graph)
    _, ins, outs = rows.pop(node)
    rows = [(op, [ins[0] if t == outs[0] else t for t in i], o) for op, i, o in rows]
    names = [n for k, n in enumerate(graph.node_name) if k != node]
    return _rebuilt(
        graph, make_graph, rows, names, [a for k, a in enumerate(graph.node_attributes) if k != node]
    )


@st.composite
def nets(draw: st.DrawFn) -> Net:
    """Up to ten nodes, all of different operators, so that they can be told apart without names."""
    size = draw(st.integers(2, 10))
    sources = [
        sorted({draw(st.integers(-1, k - 1)) for _ in range(draw(st.integers(1, 2)))} | {k - 1})
        for k in range(size)
    ]
    return Net(sources, draw(st.booleans()))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(net=nets(), kind=st.sampled_from(KINDS), at=st.integers(0, 9))
def test_one_known_change_is_said_and_nothing_else(
    make_graph: MakeGraph, net: Net, kind: str, at: int
) -> None:
    graph = net.graph(make_graph)
    node = at % graph.node_count
    if kind == "remove" and (graph.node_count < 3 or node == graph.node_count - 1):
        kind = "attribute"  # the last node makes the graph's output
    changed, expected = mutate(graph, make_graph, kind, node)
    found = {(str(c.kind), c.node_a) for c in diff_graphs(graph, changed).changes}
    assert found == expected


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=25), st.lists(st.integers(0, 4), max_size=25))
def test_the_alignment_is_a_longest_common_subsequence(first: list[int], second: list[int]) -> None:
    pairs = longest_common(first, second)
    assert all(first[i] == second[j] for i, j in pairs)
    assert all(p[0] < q[0] and p[1] < q[1] for p, q in pairwise(pairs))
    table = np.zeros((len(first) + 1, len(second) + 1), int)
    for i, x in enumerate(first):
        for j, y in enumerate(second):
            table[i + 1, j + 1] = table[i, j] + 1 if x == y else max(table[i, j + 1], table[i + 1, j])
    assert len(pairs) == table[-1, -1]


@pytest.mark.parametrize("form", ["fused", "qoperator"])
def test_a_converted_graph_without_any_name_is_matched_block_by_block(
    make_graph: MakeGraph, form: str
) -> None:
    """Conv, BatchNormalization, Relu, twelve times: fused into Conv, or QLinearConv between transposes."""
    rows, shapes = [], {}
    for k in range(12):
        wide = 8 * (k % 3 + 1)
        rows += [
            ("Conv", [f"t{k}", f"w{k}"], [f"a{k}"]),
            ("BatchNormalization", [f"a{k}", f"s{k}"], [f"b{k}"]),
            ("Relu", [f"b{k}"], [f"t{k + 1}"]),
        ]
        shapes |= {f"w{k}": (wide, 8, 3, 3), f"s{k}": (wide,)}
    constants = list(shapes)
    a = make_graph(rows, inputs=["t0"], outputs=["t12"], constants=constants, shapes=shapes)
    made, blocks = [], []
    for k in range(12):
        if form == "fused":
            blocks.append(len(made))
            made.append(("FusedConv", [f"t{k}", f"w{k}"], [f"t{k + 1}"]))
        else:
            made.append(("Transpose", [f"t{k}"], [f"n{k}"]))
            blocks.append(len(made))
            made.append(("QLinearConv", [f"n{k}", "q", f"w{k}"], [f"m{k}"]))
            made.append(("Transpose", [f"m{k}"], [f"t{k + 1}"]))
    b = make_graph(made, inputs=["t0"], outputs=["t12"], constants=[*constants, "q"], shapes=shapes)
    for graph in (a, b):
        graph.tensor_name = [str(t) for t in range(graph.tensor_count)]
    matched, _ = match_nodes(a, b)
    assert matched[::3].tolist() == blocks


def test_a_rewired_input_names_both_sources(make_graph: MakeGraph) -> None:
    rows = [("Neg", ["x"], ["a"]), ("Exp", ["x"], ["b"]), ("Sub", ["a", "b"], ["c"]), ("Abs", ["c"], ["d"])]
    names = ["neg", "exp", "sub", "abs"]
    a = make_graph(rows, inputs=["x"], outputs=["d"], names=names)
    rows[2] = ("Sub", ["b", "a"], ["c"])
    b = make_graph(rows, inputs=["x"], outputs=["d"], names=names)
    found = [(c.kind, c.what, c.before, c.after) for c in diff_graphs(a, b).changes]
    assert found == [
        (ChangeKind.INPUTS, "input 0", "neg", "exp"),
        (ChangeKind.INPUTS, "input 1", "exp", "neg"),
    ]
