"""Reads one exported program into a graph: operators, module stack, source lines, symbolic dims.

A program comes from a `.pt2` archive, or from the record that ExecuTorch keeps of a `.pte` file.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import msgspec

from studio.errors import InputError
from studio.graph.builder import GraphBuilder
from studio.graph.graph import AttributeValue, SubgraphRef, TensorKind
from studio.graph.onnx_tensors import short
from studio.graph.pt2_schema import GraphOf, Program, expression, names_in, origin_of, plain_value, type_of
from studio.graph.pt2_weights import WeightFinder

_PREFIX = re.compile(r"^(torch\.ops|executorch\.exir\.dialects\.(edge|backend)\.ops)\.")
_NUMBERS = re.compile(r"\d{1,9}")


@dataclass
class _Body:
    """A graph waiting to be read: a branch of cond, a body of scan."""

    graph: GraphOf
    subgraph: int
    ids: dict[str, int] = field(default_factory=dict)


class ProgramReader:
    """Adds one program to a builder. `handles` tells the debug handles that ExecuTorch gave a node."""

    def __init__(self, builder: GraphBuilder, program: Program, weights: WeightFinder) -> None:
        self.program = program
        self.builder = builder
        self.handles: dict[int, list[int]] = {}
        self._weights = weights
        self._bodies: deque[_Body] = deque()

    def read_into(self, subgraph: int) -> None:
        """Reads the main graph into a subgraph of the builder, and the bodies in it."""
        b, g = self.builder, self.builder.graph
        for symbol, limits in list(self.program.range_constraints.items())[:64]:
            low, high = limits.get("min_val"), limits.get("max_val")
            if low is not None or high is not None:
                g.metadata[f"range of {expression(symbol)}"] = f"{low} … {'∞' if high is None else high}"
        main = _Body(self.program.graph_module.graph, subgraph)
        inputs = self._read_inputs(main)
        self._read_nodes(main)
        outputs = [t for argument in self._user_outputs() for t in self._tensors(argument, main)]
        b.close_subgraph(main.subgraph, inputs, [t for t in outputs if t >= 0])
        while self._bodies:
            body = self._bodies.popleft()
            entries = [t for a in body.graph.inputs for t in self._placeholders(a, body)]
            self._read_nodes(body)
            exits = [t for a in body.graph.outputs for t in self._tensors(a, body) if t >= 0]
            b.close_subgraph(body.subgraph, entries, exits)

    def _user_outputs(self) -> list[dict[str, Any]]:
        """The outputs the caller sees: mutated buffers are outputs of the graph, but not of the program."""
        specs = self.program.graph_module.signature.output_specs
        found = [s["user_output"].get("arg", {}) for s in specs if isinstance(s.get("user_output"), dict)]
        return found or self.program.graph_module.graph.outputs

    # inputs and constants

    def _read_inputs(self, main: _Body) -> list[int]:
        inputs = []
        for spec in self.program.graph_module.signature.input_specs:
            kind, content = next(iter(spec.items()), ("", None))
            if not isinstance(content, dict):
                continue
            argument = content.get("arg", {})
            constant = (
                content.get(f"{kind}_name") if kind in ("parameter", "buffer", "tensor_constant") else None
            )
            if isinstance(constant, str) and isinstance(argument, dict):
                is_state = kind != "tensor_constant" and content.get("persistent") is not False
                self._constant(str(argument.get("name", "")), constant, is_state, main)
            elif kind == "user_input" and isinstance(argument, dict):
                inputs += self._placeholders(argument, main)
        return inputs

    def _placeholders(self, argument: dict[str, Any], body: _Body) -> list[int]:
        result = []
        for name, is_tensor in names_in(argument):
            dtype, shape = type_of(body.graph, name) if is_tensor else ("int64", ())
            body.ids[name] = self.builder.tensor(name, dtype, shape, TensorKind.INPUT)
            result.append(body.ids[name])
        return result

    def _constant(self, key: str, name: str, is_state: bool, body: _Body) -> None:
        dtype, shape = type_of(body.graph, key)
        body.ids[key] = tensor = self.builder.tensor(name, dtype, shape, TensorKind.CONSTANT)
        data, value = self._weights.find(name, is_state, dtype, shape)
        self.builder.constant(tensor, value=value, data=data)

    # nodes

    def _read_nodes(self, body: _Body) -> None:
        for node in body.graph.nodes:
            attributes: dict[str, AttributeValue] = {}
            graphs: list[tuple[str, dict[str, Any]]] = []
            inputs: list[int] = []
            for position, entry in enumerate(node.inputs):
                name, argument = str(entry.get("name") or f"argument {position}"), entry.get("arg")
                if isinstance(argument, dict):
                    inputs += self._argument(name, argument, body, attributes, graphs)
            outputs = [t for argument in node.outputs for t in self._results(argument, body)]
            path, types, provenance = origin_of(node.metadata)
            index = self.builder.node(
                _PREFIX.sub("", node.target), inputs, outputs,
                name=node.name or "", attributes=attributes, subgraph=body.subgraph,
                scope=self.builder.scope(path, types) if path else 0, provenance=provenance,
            )  # fmt: skip
            found = _NUMBERS.findall(node.metadata.get("debug_handle", "")[:2000])
            if found:
                self.handles[index] = [int(n) for n in found]
            for name, graph in graphs:
                self._body(name, graph, index, attributes)

    def _argument(
        self,
        name: str,
        argument: dict[str, Any],
        body: _Body,
        attributes: dict[str, AttributeValue],
        graphs: list[tuple[str, dict[str, Any]]],
    ) -> list[int]:
        """Tensor ids of one argument; what is no tensor goes to `attributes` or `graphs`."""
        kind, value = next(iter(argument.items()), ("as_none", True))
        if kind == "as_none":
            return [-1]
        if kind == "as_graph" and isinstance(value, dict):
            graphs.append((str(value.get("name", name)), value))
            return []
        if kind.startswith(("as_tensor", "as_optional_tensor", "as_sym", "as_nested")):
            found = self._tensors(argument, body)
            if kind == "as_sym_ints" and isinstance(value, list):
                attributes[name] = [
                    str(v.get("as_int", v.get("as_name"))) for v in value if isinstance(v, dict)
                ]
            elif not found:
                attributes[name] = value.get("as_int") if isinstance(value, dict) else None
            return found
        attributes[name] = plain_value(kind, value)
        return []

    def _tensors(self, argument: dict[str, Any], body: _Body) -> list[int]:
        """Ids of the tensors and symbolic numbers an argument names; −1 for an absent optional one."""
        result = []
        for name, is_tensor in names_in(argument):
            if not name:
                result.append(-1)
                continue
            if name not in body.ids:
                self.builder.note(f"Nothing makes “{short(name)}”.")
                dtype, shape = type_of(body.graph, name) if is_tensor else ("int64", ())
                body.ids[name] = self.builder.tensor(name, dtype, shape)
            result.append(body.ids[name])
        return result

    def _results(self, argument: dict[str, Any], body: _Body) -> list[int]:
        result = []
        for name, is_tensor in names_in(argument):
            if not name:
                result.append(-1)
                continue
            dtype, shape = type_of(body.graph, name) if is_tensor else ("int64", ())
            body.ids[name] = self.builder.tensor(name, dtype, shape)
            result.append(body.ids[name])
        return result

    def _body(
        self, name: str, value: dict[str, Any], node: int, attributes: dict[str, AttributeValue]
    ) -> None:
        try:
            graph = msgspec.convert(value.get("graph"), GraphOf)
        except msgspec.ValidationError as error:
            raise InputError(
                f"Body “{short(name)}” is not readable: {error}.", hint="Export it again."
            ) from None
        index = self.builder.subgraph(name, parent_node=node, attribute=name)
        attributes[name] = SubgraphRef(subgraph=index)
        self._bodies.append(_Body(graph, index))
