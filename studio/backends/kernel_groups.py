"""Which nodes of a file a runtime's kernel computes: proven on the graph, or not said at all.

ONNX Runtime fuses, moves into its own layout and folds before it runs. The optimised graph keeps the
names of the tensors that are still made, so a kernel's nodes are what lies between its outputs and its
inputs in the source graph. A walk that leaves those bounds proves nothing, and the kernel then
belongs to no node. (Read in ONNX Runtime 1.32: nchwc_transformer.cc names a node `TENSOR_nchwc`.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from studio.graph import Graph, SubgraphRef, TensorKind

_NCHWC = "com.microsoft.nchwc"
_NCHWC_NAME = re.compile(r"(?P<tensor>.+)_nchwc(_token_\d+)?$")
_MOVES = frozenset({"ReorderInput", "ReorderOutput", "Cast", "Reshape", "Transpose"})
"""Operators that a runtime inserts and that leave every value as it is."""
_REARRANGES = _MOVES | {"QuantizeLinear", "DequantizeLinear"}
_ONE_TO_ONE = frozenset({"Conv", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"})
"""NCHWc kernels that hold exactly one node of their own name, in front of what was fused into them."""
_RENAMED = re.compile(r"_token_\d+$")
_MOST_NODES = 500  # of one kernel; beyond it the walk has lost its way
_DOUBLED = frozenset({"DequantizeLinear"})
"""Operators that each reader may compute anew inside its own kernel, though one kernel's result is kept."""
_RANDOM = frozenset({"RandomNormal", "RandomUniform", "Bernoulli", "Multinomial"})
_MOST_FUSED = 4  # nodes behind the one that an NCHWc kernel is: bias, normalisation, sum, activation
_SHAPE_OPS = frozenset({"Shape", "Size"})
_SUM_INPUT = 3  # of the NCHWc Conv: what is added to its result

INSERTED = "inserted by the runtime"
UNPROVEN = "fused; its nodes cannot be told with certainty"


class KernelGroups:
    """`nodes[k]`: the nodes of `source` that node k of the optimised graph `made` computes."""

    def __init__(self, source: Graph, made: Graph) -> None:
        self._source, self._made = source, made
        self.nodes: dict[int, tuple[int, ...]] = {}
        self.why: dict[int, str] = {}
        self.folded = _folded(source)
        self._root = _roots(source)
        self._meaning: dict[int, int] = {}  # tensor of made → the tensor of source that it stands for
        self._match(0, 0)

    def _match(self, source_graph: int, made_graph: int) -> None:
        """One body against its counterpart, then the bodies that hang on its nodes."""
        source, made = self._source, self._made
        tensors = {name: self._root[t] for name, t in _tensors_by_name(source, source_graph).items()}
        named: dict[str, list[int]] = {}
        for node in source.nodes_in(source_graph):
            named.setdefault(source.node_name[node], []).append(node)
        same = {name: nodes[0] for name, nodes in named.items() if name and len(nodes) == 1}
        kernels = list(made.nodes_in(made_graph))
        self._inputs(made_graph, tensors)
        for kernel in kernels:
            self._understand(kernel, tensors, same)
        for kernel in reversed(kernels):
            self._understand_inputs(kernel, same)
        for kernel in kernels:
            self._understand(kernel, tensors, same)
        marks = {self._meaning[t] for k in kernels for t in _real(made.outputs_of(k)) if t in self._meaning}
        for kernel in kernels:
            self._group(kernel, marks, same)
        self._bodies(kernels)

    def _inputs(self, made_graph: int, tensors: dict[str, int]) -> None:
        """Inputs of the graph, and what a body reads from outside, keep their names."""
        made = self._made
        for node in made.nodes_in(made_graph):
            for tensor in _real(made.inputs_of(node)):
                if tensor not in self._meaning and made.tensor_name[tensor] in tensors:
                    self._meaning[tensor] = tensors[made.tensor_name[tensor]]

    def _understand(self, kernel: int, tensors: dict[str, int], same: dict[str, int]) -> None:
        """Which tensors of the source a kernel's outputs stand for, as far as that is certain."""
        made, source = self._made, self._source
        outputs = _real(made.outputs_of(kernel))
        for tensor in outputs:
            name = made.tensor_name[tensor]
            if name in tensors:
                self._meaning[tensor] = tensors[name]
        if all(t in self._meaning for t in outputs) or not outputs:
            return
        op = made.node_op[kernel]
        inputs = _real(made.inputs_of(kernel))
        if op in _MOVES and made.node_name[kernel] not in same and inputs and inputs[0] in self._meaning:
            self._meaning[outputs[0]] = self._meaning[inputs[0]]
            return
        ordered = [
            made.outputs_of(k)[0] for k in made.consumers_of(outputs[0]) if made.node_op[k] == "ReorderOutput"
        ]
        if ordered and made.tensor_name[ordered[0]] in tensors:
            self._meaning[outputs[0]] = tensors[made.tensor_name[ordered[0]]]
            return
        is_own_layout = made.node_domain[kernel] == _NCHWC
        found = _NCHWC_NAME.match(made.node_name[kernel]) if is_own_layout else None
        if found is not None and found["tensor"] in tensors:
            meaning = self._after_fusion(kernel, tensors[found["tensor"]])
            if meaning >= 0:
                self._meaning[outputs[0]] = meaning
            return
        twin = same.get(_RENAMED.sub("", made.node_name[kernel]))
        if twin is not None and op.startswith("QLinear") and len(source.outputs_of(twin)):
            meaning = self._behind(int(source.outputs_of(twin)[0]), ("QuantizeLinear",))
            if meaning >= 0:
                self._meaning[outputs[0]] = meaning
        elif twin is not None and source.node_op[twin] == op:
            for ours, theirs in zip(made.outputs_of(kernel), source.outputs_of(twin)):
                if ours >= 0 and theirs >= 0:
                    self._meaning.setdefault(int(ours), self._root[theirs])

    def _understand_inputs(self, kernel: int, same: dict[str, int]) -> None:
        """What a kernel reads, from what it makes: through moves, and through the one node it must hold."""
        made, source = self._made, self._source
        inputs, outputs = made.inputs_of(kernel), _real(made.outputs_of(kernel))
        if not outputs or outputs[0] not in self._meaning or not len(inputs) or inputs[0] < 0:
            return
        op, tensor = made.node_op[kernel], self._meaning[outputs[0]]
        if op in _MOVES and made.node_name[kernel] not in same:
            self._meaning.setdefault(int(inputs[0]), tensor)
        elif made.node_domain[kernel] == _NCHWC and op in _ONE_TO_ONE:
            for _ in range(_MOST_FUSED):
                node = int(source.producer_of[tensor])
                if node < 0:
                    return
                reads = [self._root[t] for t in _real(source.inputs_of(node))]
                if source.node_op[node] == op:
                    self._meaning.setdefault(int(inputs[0]), self._root[reads[0]])
                    return
                known = {self._meaning.get(int(t), -1) for t in inputs if t >= 0}
                ways = [t for t in reads if source.tensor_kind[t] != TensorKind.CONSTANT and t not in known]
                ways = [t for t in ways if int(source.producer_of[t]) not in self.folded]
                if len(ways) != 1:
                    return
                tensor = ways[0]

    def _after_fusion(self, kernel: int, tensor: int) -> int:
        """The tensor that an NCHWc kernel ends with, −1 when unsure: it is named before a sum and an
        activation join it."""
        made, source = self._made, self._source
        inputs = made.inputs_of(kernel)
        if made.node_op[kernel] == "Conv" and len(inputs) > _SUM_INPUT and inputs[_SUM_INPUT] >= 0:
            tensor = self._behind(tensor, ("Add", "Sum"))
        activation = made.node_attributes[kernel].get("activation")
        maker = int(source.producer_of[tensor]) if tensor >= 0 else -1
        if activation and maker >= 0 and source.node_op[maker] != activation:
            tensor = self._behind(tensor, (str(activation),))
        return tensor

    def _behind(self, tensor: int, ops: tuple[str, ...]) -> int:
        """The output of the only reader of a tensor when it is one of `ops`, else −1; Identity is passed."""
        source = self._source
        for _ in range(_MOST_FUSED):
            readers = source.consumers_of(tensor)
            if len(readers) != 1 or not len(source.outputs_of(int(readers[0]))):
                return -1
            tensor = int(source.outputs_of(int(readers[0]))[0])
            if source.node_op[readers[0]] in ops:
                return self._root[tensor]
            if source.node_op[readers[0]] != "Identity":
                return -1
        return -1

    def _group(self, kernel: int, marks: set[int], same: dict[str, int]) -> None:
        made, source = self._made, self._source
        outputs = [self._meaning[t] for t in _real(made.outputs_of(kernel)) if t in self._meaning]
        inputs = {self._meaning[t] for t in _real(made.inputs_of(kernel)) if t in self._meaning}
        twin = same.get(made.node_name[kernel])
        is_twin = twin is not None and source.node_op[twin] == made.node_op[kernel]
        if (
            is_twin
            and twin is not None
            and outputs == [self._root[t] for t in _real(source.outputs_of(twin))]
        ):
            self.nodes[kernel] = (twin,)
            return
        if not is_twin and (made.node_op[kernel] in _MOVES or set(outputs) <= inputs):
            self.why[kernel] = INSERTED if made.node_op[kernel] in _REARRANGES else UNPROVEN
            return
        found = self._between(outputs, inputs, marks)
        if not found and is_twin and twin is not None:
            found = [twin]
        if found:
            self.nodes[kernel] = tuple(sorted(found))
        else:
            self.why[kernel] = INSERTED if made.node_op[kernel] in _REARRANGES else UNPROVEN

    def _between(self, outputs: list[int], inputs: set[int], marks: set[int]) -> list[int]:
        """The source nodes between these tensors; none when the way back does not end at `inputs`."""
        source = self._source
        found: dict[int, None] = {}
        own = set(outputs)
        stack = [t for t in outputs if t not in inputs]
        while stack:
            tensor = stack.pop()
            maker = int(source.producer_of[tensor])
            is_foreign = tensor in marks and tensor not in own and source.node_op[maker] not in _DOUBLED
            if maker < 0 or is_foreign or len(found) >= _MOST_NODES:
                return []
            if maker in found:
                continue
            found[maker] = None
            stack += [
                t
                for t in (self._root[t] for t in _real(source.inputs_of(maker)))
                if t not in inputs
                and source.tensor_kind[t] != TensorKind.CONSTANT
                and int(source.producer_of[t]) not in self.folded
            ]
        return list(found)

    def _bodies(self, kernels: Iterable[int]) -> None:
        for kernel in kernels:
            nodes = self.nodes.get(kernel, ())
            if len(nodes) != 1 or self._source.node_op[nodes[0]] != self._made.node_op[kernel]:
                continue
            ours = self._source.node_attributes[nodes[0]]
            for name, value in self._made.node_attributes[kernel].items():
                theirs = ours.get(name)
                if isinstance(value, SubgraphRef) and isinstance(theirs, SubgraphRef):
                    self._match(theirs.subgraph, value.subgraph)


def _real(tensors: Iterable[int]) -> list[int]:
    return [int(t) for t in tensors if t >= 0]


def _tensors_by_name(graph: Graph, subgraph: int) -> dict[str, int]:
    """Tensors that nodes of a body make or read, by name. What the body makes wins over what it reads."""
    found: dict[str, int] = {}
    for node in graph.nodes_in(subgraph):
        for tensor in _real(graph.inputs_of(node)):
            found.setdefault(graph.tensor_name[tensor], tensor)
    for node in graph.nodes_in(subgraph):
        for tensor in _real(graph.outputs_of(node)):
            found[graph.tensor_name[tensor]] = tensor
    return found


def _roots(graph: Graph) -> list[int]:
    """For every tensor the one that it is by another name: the input of the Identity nodes that made it."""
    found = list(range(graph.tensor_count))
    for node in range(graph.node_count):
        if graph.node_op[node] == "Identity":
            inputs, outputs = graph.inputs_of(node), graph.outputs_of(node)
            if len(inputs) == len(outputs) == 1 and inputs[0] >= 0 and outputs[0] >= 0:
                found[outputs[0]] = found[inputs[0]]
    return found


def _folded(graph: Graph) -> frozenset[int]:
    """Nodes that depend on constants and on shapes only: a runtime may compute them once, at load."""
    found: set[int] = set()
    for node in range(graph.node_count):
        inputs = _real(graph.inputs_of(node))
        if graph.node_op[node] in _RANDOM:
            continue
        if graph.node_op[node] in _SHAPE_OPS or all(
            graph.tensor_kind[t] == TensorKind.CONSTANT or int(graph.producer_of[t]) in found for t in inputs
        ):
            found.add(node)
    return frozenset(found)
