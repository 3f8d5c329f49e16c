"""Reads `.onnx` files: all opsets, subgraphs, local functions, external data; weights stay on disk.

Tensor ids follow ONNX's naming rules: a body of If, Loop or Scan sees the names of the graphs around
it, a local function sees only its own. A local function is one subgraph however many nodes call it
(inlining could grow without bound); each call carries the attribute `function`.
Node versions are the operator's `since_version` under the file's opset, 0 for unknown operators.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from studio.errors import InputError
from studio.graph.builder import GraphBuilder, require_text
from studio.graph.graph import (
    AttributeValue,
    Graph,
    Provenance,
    SubgraphRef,
    TensorKind,
    TensorRef,
)
from studio.graph.mapped import map_file
from studio.graph.onnx_attributes import GRAPH, GRAPHS, SPARSE_TENSOR, TENSOR, plain_value, properties_of
from studio.graph.onnx_bodies import Body, Names
from studio.graph.onnx_constants import Constants
from studio.graph.onnx_inference import fix_dims, with_shapes
from studio.graph.onnx_opsets import opsets_of, since_version
from studio.graph.onnx_quantization import record_quantization
from studio.graph.onnx_scopes import scope_of
from studio.graph.onnx_skeleton import read_skeleton
from studio.graph.onnx_tensors import short, type_of


def read_onnx(
    path: Path,
    *,
    check_external: bool = True,
    infer: bool = True,
    dims: Mapping[str, int] | None = None,
) -> Graph:
    """The graph of an ONNX file.

    `dims`: sizes for symbolic dims (`{"batch": 1}`) or for unnamed ones by place (`{"images:0": 1}`);
    shapes are inferred anew from them.
    `infer`: fill in missing shapes by `onnx.shape_inference`; its failure is a note.
    `check_external`: raise InputError when external data is missing or outside the folder; otherwise note it.
    Raises InputError when the file is damaged.
    """
    skeleton = read_skeleton(map_file(path))
    model = _parse(skeleton.data)
    reader = _Reader(path.parent, check_external=check_external)
    if skeleton.has_training:
        reader.builder.note("Training information in the file is ignored.")
    if dims:
        fix_dims(model.graph, dims)
    if infer or dims:
        model = with_shapes(model, reader.builder)
    return reader.read(model)


def read_model(model: Any, folder: Path, *, format_: str) -> Graph:
    """The graph of a ModelProto that another reader made; its external data is checked against `folder`."""
    return _Reader(folder, check_external=True, format_=format_).read(model)


def _parse(data: bytes) -> Any:
    import onnx

    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception as error:  # protobuf has its own error classes per implementation
        raise InputError(
            f"The ONNX file is damaged: {short(str(error), 120)}.", hint="Copy or export the file again."
        ) from None
    return model


class _Reader:
    def __init__(self, folder: Path, *, check_external: bool, format_: str = "onnx") -> None:
        self.builder = GraphBuilder(format_)
        self._constants = Constants(self.builder, folder, check_external=check_external)
        self._bodies: deque[Body] = deque()
        self._functions: dict[tuple[str, str, str], int] = {}
        self._is_torch = False

    def read(self, model: Any) -> Graph:
        try:
            return self._read(model)
        except UnicodeDecodeError:
            raise InputError(
                "A name in the ONNX file is not valid UTF-8.", hint="The file is damaged."
            ) from None

    def _read(self, model: Any) -> Graph:
        b = self.builder
        g = b.graph
        g.name = model.graph.name
        g.producer = f"{model.producer_name} {model.producer_version}".strip()
        g.metadata = properties_of(model.metadata_props)
        g.metadata["ir_version"] = str(model.ir_version)
        g.opsets = opsets_of(model.opset_import)
        self._is_torch = model.producer_name == "pytorch"
        main = b.subgraph(g.name)
        self._bodies.append(Body(model.graph, main, Names(), g.opsets))
        functions: list[Body] = []
        for proto in model.functions:
            index = b.subgraph(f"{proto.domain}::{proto.name}" if proto.domain else proto.name)
            self._functions[proto.domain, proto.name, getattr(proto, "overload", "")] = index
            opsets = {**g.opsets, **opsets_of(proto.opset_import, default=False)}
            functions.append(Body(proto, index, Names(), opsets))
        self._read_bodies()
        for body in functions:
            self._read_function(body)
            self._read_bodies()
        record_quantization(b)
        return b.finish()

    # graphs

    def _read_bodies(self) -> None:
        while self._bodies:
            self._read_graph(self._bodies.popleft())

    def _read_graph(self, body: Body) -> None:
        b, proto, names = self.builder, body.proto, body.names
        types = {info.name: info.type for info in proto.value_info}
        types.update({info.name: info.type for info in proto.output})
        inputs = []
        initial = {t.name for t in proto.initializer}
        for info in proto.input:
            if info.name in initial or info.name in names.ids:
                if info.name not in initial:
                    b.note(f"Two inputs are named “{short(info.name)}”.")
                continue
            names.ids[info.name] = b.tensor(info.name, *type_of(info.type), TensorKind.INPUT)
            inputs.append(names.ids[info.name])
        for tensor in proto.initializer:
            if tensor.name in names.ids:
                b.note(f"Two constants are named “{short(tensor.name)}”.")
            names.ids[tensor.name] = self._constants.add(tensor, tensor.name)
        for sparse in proto.sparse_initializer:
            names.ids[sparse.values.name] = self._constants.add_sparse_initializer(sparse)
        self._read_nodes(proto.node, body, types)
        outputs = []
        for info in proto.output:
            found = names.find(info.name)
            if found is None:
                b.note(f"Nothing makes the output “{short(info.name)}”.")
                found = names.ids[info.name] = b.tensor(info.name, *type_of(info.type))
            outputs.append(found)
        b.close_subgraph(body.subgraph, inputs, outputs)

    def _read_function(self, body: Body) -> None:
        b, proto, names = self.builder, body.proto, body.names
        types = {info.name: info.type for info in getattr(proto, "value_info", ())}
        for name in proto.input:
            found = types.get(name)
            dtype, shape = type_of(found) if found is not None else ("", None)
            names.ids.setdefault(name, b.tensor(name, dtype, shape, TensorKind.INPUT))
        self._read_nodes(proto.node, body, types)
        for name in proto.output:
            if name not in names.ids:
                b.note(f"Nothing makes the output “{short(name)}”.")
                names.ids[name] = b.tensor(name)
        b.close_subgraph(
            body.subgraph, [names.ids[n] for n in proto.input], [names.ids[n] for n in proto.output]
        )

    def _read_nodes(self, nodes: Any, body: Body, types: Mapping[str, Any]) -> None:
        b, names = self.builder, body.names
        nodes = list(nodes)
        produced: list[list[int]] = []
        for node in nodes:  # outputs first: a body, or a file out of order, may use a later name
            made = []
            for name in node.output:
                if not name:
                    made.append(-1)
                    continue
                if name in names.ids:
                    b.note(f"More than one node makes “{short(name)}”.")
                found = types.get(name)
                dtype, shape = type_of(found) if found is not None else ("", None)
                made.append(b.tensor(name, dtype, shape))
                names.ids[name] = made[-1]
            produced.append(made)
        for node, outputs in zip(nodes, produced):
            self._read_node(node, outputs, body)

    def _read_node(self, node: Any, outputs: list[int], body: Body) -> None:
        b, names = self.builder, body.names
        inputs = []
        for name in node.input:
            if not name:
                inputs.append(-1)
                continue
            found = names.find(name)
            if found is None:
                b.note(f"Nothing makes “{short(name)}”, an input of {short(node.op_type)}.")
                found = names.ids[name] = b.tensor(name)
            inputs.append(found)
        domain = "" if node.domain == "ai.onnx" else node.domain
        op, name = node.op_type, node.name
        require_text(op, name, domain)
        scope_path, scope, provenance = self._scope_of(node, name, body)
        attributes: dict[str, AttributeValue] = {}
        version = since_version(op, domain, body.opsets.get(domain, 0))
        index = b.node(
            op, inputs, outputs,
            domain=domain, name=name, attributes=attributes, version=version,
            scope=scope, subgraph=body.subgraph, provenance=provenance,
        )  # fmt: skip
        is_constant = op == "Constant" and not domain and len(outputs) == 1 and outputs[0] >= 0
        for attribute in node.attribute:
            require_text(attribute.name)
            value = self._attribute(attribute, index, body, scope_path, outputs[0] if is_constant else -1)
            attributes[attribute.name] = value
            if is_constant:
                self._constants.set_plain(outputs[0], attribute.name, value)
        function = self._functions.get((node.domain, op, getattr(node, "overload", "")))
        if function is not None:
            attributes["function"] = SubgraphRef(subgraph=function)
            self._adopt(function, index)

    def _scope_of(self, node: Any, name: str, body: Body) -> tuple[tuple[str, ...], int, Provenance | None]:
        path, types, provenance = scope_of(node, name, is_torch=self._is_torch)
        if not path:
            return body.scope_path, self.builder.scope(body.scope_path) if body.scope_path else 0, provenance
        return tuple(path), self.builder.scope(path, types), provenance

    def _adopt(self, subgraph: int, node: int) -> None:
        """The first caller of a function is the node its subgraph hangs on."""
        known = self.builder.graph.subgraphs[subgraph]
        if known.parent_node < 0:
            self.builder.graph.subgraphs[subgraph] = msgspec.structs.replace(
                known, parent_node=node, attribute="function"
            )

    # attributes and constants

    def _attribute(
        self, attribute: Any, node: int, body: Body, scope_path: tuple[str, ...], constant_output: int
    ) -> AttributeValue:
        kind = attribute.type
        if attribute.ref_attr_name:
            return plain_value(attribute)
        if kind == TENSOR:
            if constant_output >= 0:
                return TensorRef(tensor=self._constants.add(attribute.t, "", into=constant_output))
            return TensorRef(tensor=self._constants.add(attribute.t, attribute.t.name or attribute.name))
        if kind == GRAPH:
            return self._body(attribute.g, node, attribute.name, body, scope_path)
        if kind == GRAPHS:
            return [self._body(g, node, attribute.name, body, scope_path) for g in attribute.graphs]
        if kind == SPARSE_TENSOR and constant_output >= 0:
            return TensorRef(tensor=self._constants.add_sparse(attribute.sparse_tensor, constant_output))
        return plain_value(attribute)

    def _body(
        self, proto: Any, node: int, attribute: str, body: Body, scope_path: tuple[str, ...]
    ) -> SubgraphRef:
        index = self.builder.subgraph(proto.name or attribute, parent_node=node, attribute=attribute)
        self._bodies.append(Body(proto, index, Names(body.names), body.opsets, scope_path))
        return SubgraphRef(subgraph=index)
