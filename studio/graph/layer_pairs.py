"""Which tensor of one graph is the same layer's result as which tensor of another.

Matched nodes (`matching`) give the pairs. A converter folds normalisation, bias and activation into the
layer before them, and a quantiser puts a quantize and a dequantize behind it; so on each side the result is
taken behind such nodes, as long as they have no counterpart of their own and nobody else reads between.
Products in plain integers (ConvInteger, MatMulInteger) are scaled by nodes of their own, and a bias may be
added there: the quantiser keeps the float result's name for what comes out, so it is found by that.
"""

from __future__ import annotations

from dataclasses import dataclass

from studio.graph.graph import Graph, Ints, TensorKind
from studio.graph.matching import match_nodes
from studio.graph.op_family import op_family

_FOLDED = frozenset(
    {"batchnorm", "relu", "quantize", "dequantize", "identity", "cast", "hardswish", "dropout"}
)
_WITH_CONSTANT = frozenset({"add", "biasadd"})
_GRID = frozenset({"quantize", "dequantize"})
_LONGEST = 8  # nodes behind a layer that may belong to it
_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64", ""})


@dataclass(frozen=True, slots=True)
class LayerPair:
    """The nodes, and the tensors that hold their results."""

    node_a: int
    node_b: int
    tensor_a: int
    tensor_b: int


def layer_pairs(a: Graph, b: Graph) -> tuple[list[LayerPair], int]:
    """(pairs in the order of a, number of layers of a without a counterpart), of the main graphs.

    A layer is a node of a that computes a float activation; quantize and dequantize nodes are none.
    """
    to_b, to_a = match_nodes(a, b)
    pairs: list[LayerPair] = []
    unmatched = 0
    taken: set[tuple[int, int]] = set()
    names = {b.tensor_name[t]: t for node in b.nodes_in(0) for t in b.outputs_of(node).tolist() if t >= 0}
    for node in a.nodes_in(0):
        if not _is_layer(a, node):
            continue
        other = int(to_b[node])
        if other < 0 or int(b.node_subgraph[other]) != 0:
            unmatched += not _is_folded(a, node)
            continue
        for s, t in zip(a.outputs_of(node).tolist(), b.outputs_of(other).tolist()):
            if s < 0 or t < 0:
                continue
            place = (_result(a, s, to_b), _result(b, _scaled(a, s, b, t, names), to_a))
            if place not in taken:
                taken.add(place)
                pairs.append(LayerPair(node, other, *place))
    return pairs, unmatched


def _is_layer(graph: Graph, node: int) -> bool:
    outputs = [t for t in graph.outputs_of(node).tolist() if t >= 0]
    if not outputs or op_family(graph.node_op[node]) in _GRID:
        return False
    inputs = [t for t in graph.inputs_of(node).tolist() if t >= 0]
    is_constant = all(graph.tensor_kind[t] == TensorKind.CONSTANT for t in inputs)
    return graph.tensor_dtype[outputs[0]] in _FLOATS and not is_constant


def _is_folded(graph: Graph, node: int) -> bool:
    """Whether a node without a counterpart is one that converters fold into the layer before it."""
    family = op_family(graph.node_op[node])
    return family in _FOLDED or (family in _WITH_CONSTANT and _has_constant(graph, node))


def _has_constant(graph: Graph, node: int) -> bool:
    return any(t >= 0 and graph.tensor_kind[t] == TensorKind.CONSTANT for t in graph.inputs_of(node).tolist())


def _is_unscaled(graph: Graph, tensor: int) -> bool:
    """Integers whose scale is not known: no figures to compare, and a cast does not make them so."""
    return graph.tensor_dtype[tensor] not in _FLOATS and tensor not in graph.tensor_quantization


def _scaled(a: Graph, of_a: int, b: Graph, of_b: int, names: dict[str, int]) -> int:
    """b's tensor, or where that is unscaled integers the float one that is named like a's."""
    if not _is_unscaled(b, of_b):
        return of_b
    named = names.get(a.tensor_name[of_a], -1) if a.tensor_name[of_a] else -1
    return named if named >= 0 and b.tensor_dtype[named] in _FLOATS else of_b


def _result(graph: Graph, tensor: int, matched: Ints) -> int:
    """The tensor behind everything that belongs to the layer."""
    outputs = set(graph.main_outputs())
    for _ in range(_LONGEST):
        readers = graph.consumers_of(tensor).tolist()
        if len(readers) != 1 or tensor in outputs:
            break
        node, maker = int(readers[0]), int(graph.producer_of[tensor])
        is_on_grid = maker >= 0 and op_family(graph.node_op[maker]) == "quantize"
        if is_on_grid and tensor in graph.tensor_quantization:
            break  # its integers are the result; whoever reads them is to fuse with the quantize as ever
        if _is_unscaled(graph, tensor) and op_family(graph.node_op[node]) != "dequantize":
            break
        made = graph.outputs_of(node)
        if int(matched[node]) >= 0 or not _is_folded(graph, node) or len(made) != 1 or made[0] < 0:
            break
        tensor = int(made[0])
    return tensor
