"""Reads TorchScript `.pt` and `.ptl` archives: operators with modules as scopes and source lines.

`torch.jit.load` builds the graph; the model is not run. Torch does run a module's `__setstate__` while it
loads, in TorchScript's interpreter, so archives whose code names operators that write files are refused.
Calls of submodules and functions are inlined, each call anew, as they execute. Parameters become
constants named by module path; arguments that are constants become attributes named by the operator's schema;
lists of tensors become inputs. Shapes are known when the archive keeps its traced inputs or the caller gives
`input_shapes`. Weights are read again on demand.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from studio.errors import InputError
from studio.graph.builder import MAX_VALUES, GraphBuilder
from studio.graph.graph import (
    AttributeValue,
    DataLocation,
    Graph,
    Provenance,
    Shape,
    SubgraphRef,
    TensorKind,
)
from studio.graph.onnx_tensors import short
from studio.graph.torch_archive import members_of
from studio.graph.torch_types import MODULE_DATA, dtype_of, result_dtype, values_of
from studio.graph.torchscript_module import forward_graph, load_module, traced_shapes
from studio.graph.torchscript_nodes import (
    attribute_of,
    called_method,
    constant_of,
    hierarchy,
    is_tensor,
    origin,
    schema_names,
    type_of,
)

_FOLDED = frozenset({"prim::Constant", "prim::GetAttr"})
_MAX_DEPTH = 40
_SLOW_SECONDS = 0.25


def read_torchscript(path: Path, *, input_shapes: Mapping[str, Shape] | None = None) -> Graph:
    """The graph of a TorchScript archive. Raises InputError when torch cannot load it."""
    names = members_of(path)
    module = load_module(path, restore_shapes="traced_inputs.pkl" in names)
    reader = _Reader(module, "ptl" if "bytecode.pkl" in names else "pt")
    return reader.read(forward_graph(module), dict(input_shapes or {}))


class _Reader:
    def __init__(self, module: Any, format_: str) -> None:
        self.module = module
        self.builder = GraphBuilder(format_)
        self._ids: dict[str, int] = {}  # value → tensor
        self._objects: dict[str, tuple[Any, str]] = {}  # value → module or attribute, and its path
        self._plain: dict[str, Any] = {}  # value → constant that is no tensor
        self._lists: dict[str, list[Any]] = {}  # value → the values of a list or tuple construct
        self._has_sources = True
        self._constants: dict[str, int] = {}  # parameter path → tensor

    def read(self, graph: Any, shapes: dict[str, Shape]) -> Graph:
        b = self.builder
        b.graph.producer = "torch"
        b.graph.name = str(getattr(self.module, "original_name", "") or "forward")
        values = list(graph.inputs())
        main = b.subgraph(b.graph.name)
        self._objects[values[0].debugName()] = (self.module, "")
        inputs = traced_shapes(self.module, values[1:], shapes)
        for value in values[1:]:
            name = value.debugName().rpartition(".")[0] or value.debugName()
            self._ids[value.debugName()] = b.tensor(
                name, *type_of(value, inputs.get(value.debugName())), TensorKind.INPUT
            )
        self._resolve_attributes(graph, 0)
        self._propagate(graph)
        self._read_block(graph, main, 0)
        outputs = [t for v in graph.outputs() for t in self._tensors(v, main, 0)]
        b.close_subgraph(main, [self._ids[v.debugName()] for v in values[1:]], outputs)
        return b.finish()

    # shapes

    def _resolve_attributes(self, block: Any, depth: int) -> None:
        """Follows GetAttr from `self`, and gives parameters their types."""
        import torch

        if depth > _MAX_DEPTH:
            raise InputError("The archive nests control flow too deeply.", hint="Simplify the model.")
        for node in block.nodes():
            if node.kind() == "prim::GetAttr":
                owner = self._objects.get(node.input().debugName())
                if owner is None:
                    continue
                name = node.s("name")
                found = getattr(owner[0], name, None)
                path = f"{owner[1]}.{name}" if owner[1] else name
                self._objects[node.output().debugName()] = (found, path)
                if isinstance(found, torch.Tensor):
                    node.output().inferTypeFrom(found)
            for inner in node.blocks():
                self._resolve_attributes(inner, depth + 1)

    def _propagate(self, graph: Any) -> None:
        import torch

        try:
            torch._C._jit_pass_propagate_shapes_on_graph(graph)
        except Exception as error:  # an operator without a shape function, or inputs that do not fit
            self.builder.note(f"Shapes could not be inferred: {short(str(error), 120)}")

    # nodes

    def _read_block(self, block: Any, subgraph: int, depth: int) -> None:
        for node in block.nodes():
            kind = node.kind()
            if kind == "prim::GetAttr" and node.output().debugName() in self._objects:
                continue
            if kind == "prim::Constant":
                self._plain[node.output().debugName()] = constant_of(node)
                continue
            if kind in ("prim::ListConstruct", "prim::TupleConstruct"):
                self._lists[node.output().debugName()] = list(node.inputs())
                continue
            self._read_node(node, kind, subgraph, depth)

    def _read_node(self, node: Any, kind: str, subgraph: int, depth: int) -> None:
        b = self.builder
        attributes: dict[str, AttributeValue] = {}
        inputs = self._arguments(node, attributes, subgraph, depth)
        attributes |= called_method(node)
        outputs: list[int] = []
        for value in node.outputs():
            dtype, shape = type_of(value)
            if not dtype and not outputs and value.type().kind() == "TensorType":
                dtype = result_dtype(kind, [b.graph.tensor_dtype[t] if t >= 0 else "" for t in inputs])
            self._ids[value.debugName()] = b.tensor(value.debugName(), dtype, shape)
            outputs.append(self._ids[value.debugName()])
        path, types = hierarchy(node.getModuleHierarchy())
        index = b.node(
            kind, inputs, outputs,
            attributes=attributes, scope=b.scope(path, types) if path else 0,
            subgraph=subgraph, provenance=self._provenance(node, path, types),
        )  # fmt: skip
        for number, inner in enumerate(node.blocks()):
            name = ("then", "else")[number] if kind == "prim::If" and number < 2 else f"body {number}".strip()
            name = "body" if kind == "prim::Loop" else name
            body = b.subgraph(name, parent_node=index, attribute=name)
            attributes[name] = SubgraphRef(subgraph=body)
            entries = []
            for value in inner.inputs():
                self._ids[value.debugName()] = b.tensor(value.debugName(), *type_of(value), TensorKind.INPUT)
                entries.append(self._ids[value.debugName()])
            self._read_block(inner, body, depth + 1)
            b.close_subgraph(body, entries, [t for v in inner.outputs() for t in self._tensors(v, body, 0)])

    def _provenance(self, node: Any, path: list[str], types: list[str]) -> Provenance | None:
        """Where a node comes from. Damaged debug records cost torch seconds a node: one such is enough."""
        text = ""
        if self._has_sources:
            started = time.monotonic()
            try:
                text = node.sourceRange()[:20_000].partition("Serialized")[0]
            except (RuntimeError, UnicodeDecodeError):
                self._has_sources = False
            if time.monotonic() - started > _SLOW_SECONDS:
                self._has_sources = False
            if not self._has_sources:
                self.builder.note("The archive's debug records are damaged: source lines are missing.")
        return origin(text, path, types)

    def _arguments(
        self, node: Any, attributes: dict[str, AttributeValue], subgraph: int, depth: int
    ) -> list[int]:
        """Tensor ids of a node's inputs; constant arguments go to `attributes` under their schema name."""
        names = schema_names(node)
        inputs: list[int] = []
        for index, value in enumerate(node.inputs()):
            key = value.debugName()
            name, takes_tensor = names[index] if index < len(names) else (f"argument {index}", False)
            if key in self._plain and not (takes_tensor and self._plain[key] is None):
                constant = self._plain[key]
                if is_tensor(constant):
                    inputs.append(self._constant(key, constant, ""))
                else:
                    attributes[name] = attribute_of(constant)
                continue
            if key in self._plain:
                inputs.append(-1)
                continue
            plain = self._plain_list(key)
            if plain is not None and not takes_tensor:
                attributes[name] = plain
                continue
            inputs += self._tensors(value, subgraph, 0)
        return inputs

    def _plain_list(self, key: str) -> AttributeValue:
        """The values of a list whose elements are all constants; None otherwise."""
        elements = self._lists.get(key)
        if elements is None:
            return None
        found = [self._plain.get(e.debugName()) for e in elements]
        if any(e.debugName() not in self._plain for e in elements):
            return None
        for kind in (int, float, str):
            if all(isinstance(x, kind) for x in found):
                return found  # type: ignore[return-value]
        if all(isinstance(x, (int, float)) for x in found):
            return [float(x) for x in found]  # type: ignore[arg-type]
        return None

    def _tensors(self, value: Any, subgraph: int, depth: int) -> list[int]:
        """Tensor ids that a value stands for: one, or those of a list or tuple of tensors."""
        key = value.debugName()
        if key in self._ids:
            return [self._ids[key]]
        if key in self._lists and depth < _MAX_DEPTH:
            return [t for e in self._lists[key] for t in self._tensors(e, subgraph, depth + 1)]
        if key in self._objects:
            found, path = self._objects[key]
            return [self._constant(key, found, path)]
        if key in self._plain:
            constant = self._plain[key]
            return [-1] if constant is None else [self._constant(key, constant, "")]
        self._ids[key] = self.builder.tensor(key, *type_of(value))
        return [self._ids[key]]

    def _constant(self, key: str, found: Any, path: str) -> int:
        """The id of a parameter, a literal tensor, a number, or an object such as packed weights."""
        if path and path in self._constants:
            return self._constants[path]
        b = self.builder
        if is_tensor(found):
            shape = tuple(found.shape)
            tensor = b.tensor(path or key, dtype_of(found.dtype), shape, TensorKind.CONSTANT)
            size = found.numel() * found.element_size()
            data = DataLocation(path="", offset=0, length=size, encoding=MODULE_DATA + path) if path else None
            small = found.numel() <= MAX_VALUES and not found.is_quantized
            b.constant(tensor, value=values_of(found) if small else None, data=data)
        elif isinstance(found, (bool, int, float, str)):
            dtype = {bool: "bool", int: "int64", float: "float64", str: "string"}[type(found)]
            tensor = b.tensor(path or key, dtype, (), TensorKind.CONSTANT)
            b.constant(tensor, value=[found])
        else:
            tensor = b.tensor(path or key, "", None, TensorKind.CONSTANT)
            b.constant(tensor)
        if path:
            self._constants[path] = tensor
        return tensor
