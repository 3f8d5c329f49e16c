"""Reads TorchScript `.pt` and `.ptl` archives: operators with modules as scopes and source lines.

`torch.jit.load` builds the graph; the model is not run. Torch does run a module's `__setstate__` while it
loads, in TorchScript's interpreter, so archives whose code names operators that write files are refused.
Calls of submodules and functions are inlined, each call anew, as they execute. Parameters become
constants named by module path; arguments that are constants become attributes named by the operator's schema;
lists of tensors become inputs. Shapes are known when the archive keeps its traced inputs or the caller gives
`input_shapes`. Weights are read again on demand.
"""

from __future__ import annotations

import re
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
from studio.graph.onnx_scopes import is_library_file
from studio.graph.onnx_tensors import short
from studio.graph.torch_archive import members_of, refuse_file_operators
from studio.graph.torch_types import MODULE_DATA, SCALAR_TYPES, dtype_of, result_dtype, values_of

_HIERARCHY = re.compile(r"([\w$]+)\(((?:[^()]|\([^()]*\))*)\)")
_TRACED_FRAME = re.compile(r"^(.+?)\((\d+)\): ", re.MULTILINE)
_SCRIPT_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)')
_FOLDED = frozenset({"prim::Constant", "prim::GetAttr"})
_MAX_DEPTH = 40
_SLOW_SECONDS = 0.25


def read_torchscript(path: Path, *, input_shapes: Mapping[str, Shape] | None = None) -> Graph:
    """The graph of a TorchScript archive. Raises InputError when torch cannot load it."""
    names = members_of(path)
    module = load_module(path, restore_shapes="traced_inputs.pkl" in names)
    reader = _Reader(module, "ptl" if "bytecode.pkl" in names else "pt")
    return reader.read(_forward_graph(module), dict(input_shapes or {}))


def load_module(path: Path, *, restore_shapes: bool = False) -> Any:
    """The loaded archive on the CPU. Raises InputError, which quotes torch's own first line."""
    import torch

    refuse_file_operators(path)
    try:
        return torch.jit.load(str(path), map_location="cpu", _restore_shapes=restore_shapes)
    except Exception as error:  # RuntimeError mostly; damaged archives also raise others
        text = str(error).strip()
        unknown = re.search(r"Unknown builtin op: ([\w:.]+)", text)
        if unknown:
            raise InputError(
                f"The archive calls {unknown.group(1)}, an operator this torch does not have.",
                hint="Install the package that defines it, or export the model without it.",
            ) from None
        line = next((x for x in text.splitlines() if x.strip()), type(error).__name__)
        raise InputError(
            f"torch cannot load the archive: {short(line.strip(), 160)}", hint="Save the model again."
        ) from None


def _forward_graph(module: Any) -> Any:
    import torch

    methods = list(getattr(module._c, "_method_names", list)())
    name = "forward" if "forward" in methods or not methods else methods[0]
    try:
        graph = module._c._get_method(name).graph.copy()
        torch._C._jit_pass_inline(graph)
    except Exception as error:  # torch raises RuntimeError for whatever it dislikes
        raise InputError(
            f"The archive's method “{short(name)}” has no readable graph: {short(str(error), 120)}",
            hint="Save a module with a forward method.",
        ) from None
    return graph


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
        inputs = self._traced_shapes(values[1:], shapes)
        for value in values[1:]:
            name = value.debugName().rpartition(".")[0] or value.debugName()
            self._ids[value.debugName()] = b.tensor(
                name, *self._type(value, inputs.get(value.debugName())), TensorKind.INPUT
            )
        self._resolve_attributes(graph, 0)
        self._propagate(graph)
        self._read_block(graph, main, 0)
        outputs = [t for v in graph.outputs() for t in self._tensors(v, main, 0)]
        b.close_subgraph(main, [self._ids[v.debugName()] for v in values[1:]], outputs)
        return b.finish()

    # shapes

    def _traced_shapes(self, values: list[Any], given: dict[str, Shape]) -> dict[str, Shape]:
        """Shapes of inputs by value: the caller's by name, else what the archive was traced with."""
        import torch

        result: dict[str, Shape] = {}
        traced: list[Any] = []
        try:
            traced = list(self.module._c._retrieve_traced_inputs().get("forward", []))
        except (RuntimeError, AttributeError):
            traced = []
        for index, value in enumerate(values):
            full = value.debugName()
            found = given.get(full) or given.get(full.rpartition(".")[0] or full)
            example = traced[index] if index < len(traced) else None
            dtype = torch.float32
            if isinstance(example, torch.Tensor):
                dtype = example.dtype
                found = found or tuple(example.shape)
            if found is None or not str(value.type()).startswith("Tensor"):
                continue
            result[full] = found
            if all(isinstance(d, int) for d in found):
                # An expanded scalar has the shape without its memory.
                value.inferTypeFrom(torch.zeros((), dtype=dtype).expand(tuple(found)))
        return result

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

    def _type(self, value: Any, known: Shape | None = None) -> tuple[str, Shape | None]:
        kind = value.type()
        if kind.kind() != "TensorType":
            return SCALAR_TYPES.get(str(kind), ""), () if str(kind) in SCALAR_TYPES else None
        scalar = kind.scalarType()
        sizes = kind.sizes()
        if sizes is None:
            symbols = kind.symbolic_sizes()
            sizes = [s if s >= 0 else None for s in symbols] if symbols is not None else None
        return dtype_of(scalar or ""), known or (tuple(sizes) if sizes is not None else None)

    # nodes

    def _read_block(self, block: Any, subgraph: int, depth: int) -> None:
        for node in block.nodes():
            kind = node.kind()
            if kind == "prim::GetAttr" and node.output().debugName() in self._objects:
                continue
            if kind == "prim::Constant":
                self._plain[node.output().debugName()] = _constant_of(node)
                continue
            if kind in ("prim::ListConstruct", "prim::TupleConstruct"):
                self._lists[node.output().debugName()] = list(node.inputs())
                continue
            self._read_node(node, kind, subgraph, depth)

    def _read_node(self, node: Any, kind: str, subgraph: int, depth: int) -> None:
        b = self.builder
        attributes: dict[str, AttributeValue] = {}
        inputs = self._arguments(node, attributes, subgraph, depth)
        outputs: list[int] = []
        for value in node.outputs():
            dtype, shape = self._type(value)
            if not dtype and not outputs and value.type().kind() == "TensorType":
                dtype = result_dtype(kind, [b.graph.tensor_dtype[t] if t >= 0 else "" for t in inputs])
            self._ids[value.debugName()] = b.tensor(value.debugName(), dtype, shape)
            outputs.append(self._ids[value.debugName()])
        path, types = _hierarchy(node.getModuleHierarchy())
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
                self._ids[value.debugName()] = b.tensor(
                    value.debugName(), *self._type(value), TensorKind.INPUT
                )
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
        return _origin(text, path, types)

    def _arguments(
        self, node: Any, attributes: dict[str, AttributeValue], subgraph: int, depth: int
    ) -> list[int]:
        """Tensor ids of a node's inputs; constant arguments go to `attributes` under their schema name."""
        names = _schema_names(node)
        inputs: list[int] = []
        for index, value in enumerate(node.inputs()):
            key = value.debugName()
            name, is_tensor = names[index] if index < len(names) else (f"argument {index}", False)
            if key in self._plain and not (is_tensor and self._plain[key] is None):
                constant = self._plain[key]
                if _is_tensor(constant):
                    inputs.append(self._constant(key, constant, ""))
                else:
                    attributes[name] = _attribute_of(constant)
                continue
            if key in self._plain:
                inputs.append(-1)
                continue
            plain = self._plain_list(key)
            if plain is not None and not is_tensor:
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
        self._ids[key] = self.builder.tensor(key, *self._type(value))
        return [self._ids[key]]

    def _constant(self, key: str, found: Any, path: str) -> int:
        """The id of a parameter, a literal tensor, a number, or an object such as packed weights."""
        if path and path in self._constants:
            return self._constants[path]
        b = self.builder
        if _is_tensor(found):
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


def _schema_names(node: Any) -> list[tuple[str, bool]]:
    """(name, whether it takes tensors) of each argument, from the operator's schema."""
    if node.kind().startswith("prim::"):
        return []
    import torch

    try:
        arguments = torch._C.parse_schema(node.schema()).arguments
    except RuntimeError:  # "no schema" of operators without one
        return []
    return [(a.name, "Tensor" in str(a.type)) for a in arguments]


def _constant_of(node: Any) -> Any:
    """The value of a prim::Constant, None for NoneType and for what has no Python form."""
    output = node.output()
    if output.type().kind() == "NoneType":
        return None
    try:
        return output.toIValue()
    except RuntimeError:
        return None


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _attribute_of(value: Any) -> AttributeValue:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, (int, float)) for v in value):
        return list(value)
    return short(str(value), 200)


def _hierarchy(text: str) -> tuple[list[str], list[str]]:
    """(path, classes) of `features(Sequential).0(Block).conv(Conv2d)`; SELF is the same module again."""
    found = [(n, t) for n, t in _HIERARCHY.findall(text[:4000]) if n not in ("SELF", "top")]
    return [name for name, _ in found], [kind for _, kind in found]


def _origin(text: str, path: list[str], types: list[str]) -> Provenance | None:
    """Module and the innermost line of the author's own code, from torch's description of a node's source."""
    frames = _TRACED_FRAME.findall(text) or _SCRIPT_FRAME.findall(text)
    own = [frame for frame in frames if not is_library_file(frame[0])]
    file, line = (own or frames or [("", "0")])[0]
    if not path and not file:
        return None
    return Provenance(
        module=".".join(path), module_type=types[-1] if types else "", file=file, line=int(line[:9])
    )
