"""Gathering: the distinct OpNodes of a graph and, for every node, which of them it is.

Why: verdicts of 10,000 nodes on thirty targets must take half a second; a real graph has some
hundred distinct (operator, attributes, tensors, neighbours) and each is judged once per target.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from studio.graph.graph import Graph, Ints, SubgraphRef, TensorKind
from studio.support.folding import fold
from studio.support.op_node import ABSENT, OpNode, OpTensor, QdqGroup
from studio.support.qdq import find_groups
from studio.support.versions import since_version

MAX_VALUES = 256
"""Longer constants carry no values: a rule that needs them says unknown."""
MAX_NEIGHBOURS = 8


@dataclass(slots=True, eq=False)
class Gathered:
    """`nodes[group_of[i]]` is node i as rules see it."""

    graph: Graph
    nodes: list[OpNode]
    group_of: Ints
    folded: np.ndarray[Any, np.dtype[np.bool_]]  # nodes that constant folding removes
    qdq_owner: Ints  # the node whose QDQ group this node belongs to, −1 = none


def gather(graph: Graph) -> Gathered:
    """The distinct nodes of a graph. Never raises on a hostile graph."""
    constant, values = fold(graph)
    owner, groups = find_groups(graph)
    tensors = _Tensors(graph, constant, values)
    producer = graph.producer_of.tolist()
    offsets, readers = (a.tolist() for a in graph.consumers)
    in_at, ins = graph.input_offsets.tolist(), graph.input_tensors.tolist()
    out_at, outs = graph.output_offsets.tolist(), graph.output_tensors.tolist()
    graph_outputs = {t for s in graph.subgraphs for t in s.outputs}
    subgraph = graph.node_subgraph.tolist() or [0] * graph.node_count
    versions = graph.node_version.tolist() or [0] * graph.node_count
    parents = {s.parent_node for s in graph.subgraphs}
    # local functions are inlined before anyone is asked: their nodes are not inside a body
    inlined = {i for i, s in enumerate(graph.subgraphs) if s.attribute == "function"}
    is_onnx = graph.format in ("onnx", "ort")
    ops, domains, attributes = graph.node_op, graph.node_domain, graph.node_attributes

    seen: dict[tuple[Any, ...], int] = {}
    nodes: list[OpNode] = []
    group_of = np.zeros(graph.node_count, np.int32)
    folded = np.zeros(graph.node_count, np.bool_)
    for i in range(graph.node_count):
        inputs = ins[in_at[i] : in_at[i + 1]]
        outputs = outs[out_at[i] : out_at[i + 1]]
        domain = "" if domains[i] == "ai.onnx" else domains[i]
        mine = attributes[i]
        key_of = repr(mine) if mine and ops[i] != "Constant" else ""
        makers = tuple(
            [ops[producer[t]] if t >= 0 and producer[t] >= 0 else "" for t in inputs[:MAX_NEIGHBOURS]]
        )
        first = outputs[0] if outputs else -1
        users: tuple[str, ...] = ()
        if first >= 0:
            reading = readers[offsets[first] : offsets[first + 1]][:MAX_NEIGHBOURS]
            users = tuple([ops[r] for r in reading]) + (("",) if first in graph_outputs else ())
        lead = inputs[0] if inputs else -1
        sole = lead >= 0 and offsets[lead + 1] - offsets[lead] == 1 and lead not in graph_outputs
        in_ids = tuple([tensors.key(t) for t in inputs])
        out_ids = tuple([tensors.key(t) for t in outputs])
        folded[i] = (
            bool(outputs)
            and all(t < 0 or t in constant for t in outputs)
            and (is_onnx or graph.format == "tflite")
        )
        quantized = None
        if i in groups:
            quantized = _group_keys(graph, tensors, groups[i])
        nested = subgraph[i] > 0 and subgraph[i] not in inlined
        distinct = len(set(inputs))
        distinct = distinct if distinct != len(inputs) else 0
        key = (
            ops[i],
            domain,
            versions[i],
            key_of,
            distinct,
            in_ids,
            out_ids,
            makers,
            users,
            quantized,
            sole,
            nested,
            i in parents,
        )
        found = seen.get(key)
        if found is None:
            found = seen[key] = len(nodes)
            opset = graph.opsets.get(domain, graph.opsets.get("ai.onnx", 0) if not domain else 0)
            version = versions[i]
            if is_onnx:
                version = since_version(ops[i], domain, opset) or version
            nodes.append(
                OpNode(
                    op=ops[i],
                    domain=domain,
                    version=version,
                    opset=opset,
                    attributes=mine,
                    inputs=tuple([tensors.get(t) for t in inputs]),
                    outputs=tuple([tensors.get(t) for t in outputs]),
                    producers=makers,
                    consumers=users,
                    is_sole_reader=sole,
                    distinct_inputs=distinct,
                    qdq=_group(graph, tensors, groups[i]) if i in groups else None,
                    in_subgraph=nested,
                    body=i in parents or _has_body(mine),
                )
            )
        group_of[i] = found
    return Gathered(graph, nodes, group_of, folded, owner)


def _has_body(attributes: Mapping[str, Any]) -> bool:
    return any(
        isinstance(v, SubgraphRef) or (isinstance(v, list) and v and isinstance(v[0], SubgraphRef))
        for v in attributes.values()
    )


class _Tensors:
    """Distinct tensors: a small key per tensor of the graph, and the OpTensor of it."""

    def __init__(self, graph: Graph, constant: set[int], values: dict[int, tuple[Any, ...]]) -> None:
        self._graph = graph
        self._constant = constant
        self._values = values
        self._keys: list[int] = [-1] * graph.tensor_count
        self._seen: dict[tuple[Any, ...], int] = {}
        self._made: list[OpTensor] = []
        self._kinds = graph.tensor_kind.tolist()
        inputs = [graph.tensor_shape[t] for t in graph.main_inputs() if 0 <= t < graph.tensor_count]
        self._is_dynamic = any(s is not None and not all(isinstance(d, int) for d in s) for s in inputs)

    def key(self, tensor: int) -> int:
        if not 0 <= tensor < len(self._keys):
            return -1
        known = self._keys[tensor]
        if known >= 0:
            return known
        graph = self._graph
        is_constant = tensor in self._constant
        values = self._values.get(tensor) if is_constant else None
        if values is not None and len(values) > MAX_VALUES:
            values = None
        quantization = graph.tensor_quantization.get(tensor)
        is_input = self._kinds[tensor] == TensorKind.INPUT
        shape = graph.tensor_shape[tensor]
        if self._is_dynamic and shape is not None and None in shape:
            # nameless, but the file's own inputs are dynamic: no runtime will find a number there
            shape = tuple(["?" if d is None else d for d in shape])
        scale = quantization.scale if quantization else ()
        zero_point = quantization.zero_point if quantization else ()
        axis = quantization.axis if quantization else None
        # repr tells 0 from −0 and finds NaN equal to itself, which a tuple of floats does not
        key = (
            graph.tensor_dtype[tensor],
            shape,
            is_constant,
            repr(values),
            scale,
            zero_point,
            axis,
            is_input,
        )
        found = self._seen.get(key)
        if found is None:
            found = self._seen[key] = len(self._made)
            self._made.append(
                OpTensor(
                    dtype=graph.tensor_dtype[tensor],
                    shape=shape,
                    is_constant=is_constant,
                    values=values,
                    scale=scale,
                    zero_point=zero_point,
                    axis=axis,
                    is_input=is_input,
                )
            )
        self._keys[tensor] = found
        return found

    def get(self, tensor: int) -> OpTensor:
        found = self.key(tensor)
        return self._made[found] if found >= 0 else ABSENT


def _group_keys(graph: Graph, tensors: _Tensors, group: tuple[list[int], list[int]]) -> tuple[Any, ...]:
    dequantizers, quantizers = group
    return (
        tuple(
            [
                tuple([tensors.key(t) for t in graph.inputs_of(d).tolist()]) if d >= 0 else ()
                for d in dequantizers
            ]
        ),
        tuple(
            [
                tuple(
                    [tensors.key(t) for t in graph.inputs_of(q).tolist()[1:] + graph.outputs_of(q).tolist()]
                )
                for q in quantizers
            ]
        ),
    )


def _group(graph: Graph, tensors: _Tensors, group: tuple[list[int], list[int]]) -> QdqGroup:
    dequantizers, quantizers = group
    return QdqGroup(
        inputs=tuple(
            _quantized(graph, tensors, d, graph.inputs_of(d)[0]) if d >= 0 else ABSENT for d in dequantizers
        ),
        outputs=tuple(_quantized(graph, tensors, q, graph.outputs_of(q)[0]) for q in quantizers),
    )


def _quantized(graph: Graph, tensors: _Tensors, node: int, tensor: int) -> OpTensor:
    """The quantised tensor of a Q or DQ node with the node's own scale and zero point."""
    plain = tensors.get(int(tensor))
    inputs = graph.inputs_of(node).tolist()
    scale = tensors.get(inputs[1]) if len(inputs) > 1 else ABSENT
    zero = tensors.get(inputs[2]) if len(inputs) > 2 else ABSENT
    many = scale.shape is not None and len(scale.shape) == 1 and scale.shape[0] != 1
    scales = scale.values or ((1.0, 1.0) if many else ())
    return OpTensor(
        dtype=plain.dtype,
        shape=plain.shape,
        is_constant=plain.is_constant,
        scale=tuple(float(s) for s in scales),
        zero_point=tuple(int(z) for z in zero.values or ()),
        axis=graph.node_attributes[node].get("axis", 1) if many else None,  # type: ignore[arg-type]
        is_input=plain.is_input,
    )
