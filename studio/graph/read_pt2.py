"""Reads `.pt2` files (torch.export programs): operators, module stack, source lines, symbolic dims.

The archive's JSON is read directly, without torch: nothing is executed or unpickled, it opens in
milliseconds, and operators this torch does not have are drawn all the same. Layouts: `models/*.json` with raw
weights beside it (torch 2.8 and newer), and `serialized_exported_program.json` (older; its weights are a
pickle and stay unread). Format: torch/_export/serde/schema.py (8.20), torch/export/pt2_archive/constants.py.
"""

from __future__ import annotations

import re
import zipfile
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from studio.errors import InputError
from studio.graph.builder import MAX_VALUES, GraphBuilder
from studio.graph.dtypes import byte_count, unpack
from studio.graph.graph import (
    AttributeValue,
    DataLocation,
    Graph,
    Provenance,
    Shape,
    SubgraphRef,
    TensorKind,
)
from studio.graph.onnx_scopes import line_of_trace, module_parts
from studio.graph.onnx_tensors import short
from studio.graph.torch_archive import member_offset, read_member

_JSON_LIMIT = 512 * 1024 * 1024

_DTYPES = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64",
    10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16", 29: "float8_e4m3fn",
    30: "float8_e5m2", 31: "float8_e4m3fnuz", 32: "float8_e5m2fnuz", 33: "float8_e8m0fnu", 34: "uint32",
    35: "uint64",
}  # fmt: skip
"""torch/_export/serde/schema.py: ScalarType."""

_SYMBOL = re.compile(r"Symbol\('(\w+)'[^()]*\)")
_INTEGER = re.compile(r"Integer\((-?\d+)\)")


class _Node(msgspec.Struct):
    target: str
    inputs: list[dict[str, Any]] = []
    outputs: list[dict[str, Any]] = []
    metadata: dict[str, str] = {}
    name: str | None = None


class _Meta(msgspec.Struct):
    dtype: int
    sizes: list[dict[str, Any]]
    strides: list[dict[str, Any]] = []
    storage_offset: dict[str, Any] = {}


class _Graph(msgspec.Struct):
    inputs: list[dict[str, Any]] = []
    outputs: list[dict[str, Any]] = []
    nodes: list[_Node] = []
    tensor_values: dict[str, _Meta] = {}


class _Signature(msgspec.Struct):
    input_specs: list[dict[str, Any]] = []
    output_specs: list[dict[str, Any]] = []


class _GraphModule(msgspec.Struct):
    graph: _Graph
    signature: _Signature


class _Program(msgspec.Struct):
    graph_module: _GraphModule
    opset_version: dict[str, int] = {}
    range_constraints: dict[str, dict[str, Any]] = {}
    torch_version: str = ""


class _Weight(msgspec.Struct):
    path_name: str
    use_pickle: bool = False
    tensor_meta: _Meta | None = None


class _Weights(msgspec.Struct):
    config: dict[str, _Weight] = {}


@dataclass
class _Body:
    """A graph waiting to be read: a branch of cond, a body of scan."""

    graph: _Graph
    subgraph: int
    ids: dict[str, int] = field(default_factory=dict)


def read_pt2(path: Path) -> Graph:
    """The graph of an exported program. Raises InputError when the archive is damaged or holds none."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        models = [n for n in names if re.search(r"(^|/)models/[^/]+\.json$", n)]
        old = [n for n in names if n.rpartition("/")[2] == "serialized_exported_program.json"]
        if not models and not old:
            raise InputError("The archive holds no exported program.", hint="Save it with torch.export.save.")
        program = _decode(read_member(archive, (models or old)[0], limit=_JSON_LIMIT), _Program)
        reader = _Reader(path, archive, program)
        if len(models) > 1:
            reader.builder.note(f"The archive holds {len(models)} programs; the first is shown.")
        if models:
            reader.read_weights([n for n in names if re.search(r"_(weights|constants)_config\.json$", n)])
        else:
            reader.builder.note(
                "This older archive keeps its weights as a pickle; their values are not read."
            )
        return reader.read()


def _decode(raw: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"The exported program is not readable: {short(str(error), 160)}.", hint="Export it again."
        ) from None


class _Reader:
    def __init__(self, path: Path, archive: zipfile.ZipFile, program: _Program) -> None:
        self.path, self.archive, self.program = path, archive, program
        self.builder = GraphBuilder("pt2")
        self._weights: dict[str, tuple[str, _Weight]] = {}
        self._bodies: deque[_Body] = deque()

    def read_weights(self, configs: list[str]) -> None:
        """Notes where the weights' members are."""
        for config in configs:
            folder = config.rpartition("/")[0]
            found = _decode(read_member(self.archive, config, limit=_JSON_LIMIT), _Weights)
            for name, weight in found.config.items():
                self._weights[name] = (f"{folder}/{weight.path_name}", weight)

    def read(self) -> Graph:
        b, g = self.builder, self.builder.graph
        g.producer = f"torch {self.program.torch_version}".strip()
        g.opsets = dict(self.program.opset_version)
        g.name = "main"
        for symbol, limits in list(self.program.range_constraints.items())[:64]:
            low, high = limits.get("min_val"), limits.get("max_val")
            if low is not None or high is not None:
                g.metadata[f"range of {_expression(symbol)}"] = f"{low} … {'∞' if high is None else high}"
        main = _Body(self.program.graph_module.graph, b.subgraph("main"))
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
        return b.finish()

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
                self._constant(str(argument.get("name", "")), constant, main)
            elif kind == "user_input" and isinstance(argument, dict):
                inputs += self._placeholders(argument, main)
        return inputs

    def _placeholders(self, argument: dict[str, Any], body: _Body) -> list[int]:
        result = []
        for name, is_tensor in _names(argument):
            dtype, shape = self._type(name, body) if is_tensor else ("int64", ())
            body.ids[name] = self.builder.tensor(name, dtype, shape, TensorKind.INPUT)
            result.append(body.ids[name])
        return result

    def _constant(self, key: str, name: str, body: _Body) -> None:
        b = self.builder
        dtype, shape = self._type(key, body)
        body.ids[key] = tensor = b.tensor(name, dtype, shape, TensorKind.CONSTANT)
        data = self._location(name, dtype, shape)
        value = None
        if data is not None and 0 <= data.length <= 8 * MAX_VALUES and data.encoding == "raw":
            value = self._small_value(data, dtype, shape)
        b.constant(tensor, value=value, data=data)

    def _location(self, name: str, dtype: str, shape: Shape | None) -> DataLocation | None:
        """Where a weight's bytes are: its member is stored as it is, unless it is pickled or strided."""
        found = self._weights.get(name)
        size = byte_count(dtype, shape)
        if found is None or size < 0 or shape is None:
            return None
        member, weight = found
        meta = weight.tensor_meta
        if weight.use_pickle or meta is None:
            return None
        start, length = member_offset(self.archive, self.path, member)
        strides = [s.get("as_int") for s in meta.strides]
        skip = meta.storage_offset.get("as_int", 0)
        if strides != _row_major(shape) or not isinstance(skip, int) or skip < 0:
            return DataLocation(path="", offset=start, length=length, encoding="torch-strided")
        count = 1
        for dim in shape:
            count *= dim if isinstance(dim, int) else 0
        begin = start + (skip * size // count if count else 0)
        if begin + size > start + length:
            raise InputError(f"Weight “{short(name)}” is longer than its data.", hint="Export it again.")
        return DataLocation(path="", offset=begin, length=size)

    def _small_value(self, data: DataLocation, dtype: str, shape: Shape | None) -> list[Any] | None:
        count = 1
        for dim in shape or ():
            count *= dim if isinstance(dim, int) else 0
        if count > MAX_VALUES:
            return None
        with self.path.open("rb") as file:
            file.seek(data.offset)
            raw = file.read(data.length)
        if len(raw) != data.length:
            raise InputError("A weight lies outside the file.", hint="The file is truncated.")
        values = unpack(raw, dtype, count)
        return list((values if values.dtype.kind in "biuf" else values.astype("float32")).tolist())

    def _type(self, name: str, body: _Body) -> tuple[str, Shape | None]:
        meta = body.graph.tensor_values.get(name)
        if meta is None:
            return "", None
        return _DTYPES.get(meta.dtype, ""), tuple(_dim(size) for size in meta.sizes)

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
            path, types, provenance = _origin(node.metadata)
            index = self.builder.node(
                node.target.removeprefix("torch.ops."), inputs, outputs,
                name=node.name or "", attributes=attributes, subgraph=body.subgraph,
                scope=self.builder.scope(path, types) if path else 0, provenance=provenance,
            )  # fmt: skip
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
        attributes[name] = _plain(kind, value)
        return []

    def _tensors(self, argument: dict[str, Any], body: _Body) -> list[int]:
        """Ids of the tensors and symbolic numbers an argument names; −1 for an absent optional one."""
        result = []
        for name, is_tensor in _names(argument):
            if not name:
                result.append(-1)
                continue
            if name not in body.ids:
                self.builder.note(f"Nothing makes “{short(name)}”.")
                dtype, shape = self._type(name, body) if is_tensor else ("int64", ())
                body.ids[name] = self.builder.tensor(name, dtype, shape)
            result.append(body.ids[name])
        return result

    def _results(self, argument: dict[str, Any], body: _Body) -> list[int]:
        result = []
        for name, is_tensor in _names(argument):
            if not name:
                result.append(-1)
                continue
            dtype, shape = self._type(name, body) if is_tensor else ("int64", ())
            body.ids[name] = self.builder.tensor(name, dtype, shape)
            result.append(body.ids[name])
        return result

    def _body(
        self, name: str, value: dict[str, Any], node: int, attributes: dict[str, AttributeValue]
    ) -> None:
        try:
            graph = msgspec.convert(value.get("graph"), _Graph)
        except msgspec.ValidationError as error:
            raise InputError(
                f"Body “{short(name)}” is not readable: {error}.", hint="Export it again."
            ) from None
        index = self.builder.subgraph(name, parent_node=node, attribute=name)
        attributes[name] = SubgraphRef(subgraph=index)
        self._bodies.append(_Body(graph, index))


def _names(argument: dict[str, Any]) -> list[tuple[str, bool]]:
    """(name, is a tensor) of everything an argument refers to; an absent optional tensor is ("", True)."""
    kind, value = next(iter(argument.items()), ("", None))
    is_tensor = not kind.startswith("as_sym")
    items = value if isinstance(value, list) else [value]
    result: list[tuple[str, bool]] = []
    for item in items:
        if isinstance(item, list):  # nested tensors
            result += [(str(i["name"]), True) for i in item if isinstance(i, dict) and "name" in i]
        if not isinstance(item, dict):
            continue
        inner = item.get("as_tensor") if isinstance(item.get("as_tensor"), dict) else item
        name = inner.get("name", inner.get("as_name")) if isinstance(inner, dict) else None
        if isinstance(name, str) and kind.startswith(
            ("as_tensor", "as_optional_tensor", "as_sym", "as_nested")
        ):
            result.append((name, is_tensor))
        elif "as_none" in item:
            result.append(("", True))
    return result


def _dim(size: dict[str, Any]) -> int | str | None:
    if isinstance(size.get("as_int"), int):
        return int(size["as_int"])
    expression = size.get("as_expr")
    text = expression.get("expr_str") if isinstance(expression, dict) else None
    return _expression(text) if isinstance(text, str) else None


def _expression(text: str) -> str:
    """sympy's srepr shortened: Symbol('s0', integer=True) → s0."""
    return _INTEGER.sub(r"\1", _SYMBOL.sub(r"\1", text[:2000]))[:200]


def _row_major(shape: Shape) -> list[int]:
    result: list[int] = []
    step = 1
    for dim in reversed(shape):
        result.append(step)
        step *= max(dim, 1) if isinstance(dim, int) else 1
    return result[::-1]


def _plain(kind: str, value: Any) -> AttributeValue:
    if kind == "as_scalar_type":
        return _DTYPES.get(value, str(value))
    if kind == "as_device" and isinstance(value, dict):
        return str(value.get("type"))
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list) and all(isinstance(v, (bool, int, float, str)) for v in value):
        return value
    return short(str(value), 200)


def _origin(metadata: dict[str, str]) -> tuple[list[str], list[str], Provenance | None]:
    """(scope path, classes, provenance) from `nn_module_stack` ("key,path,class;…") and `stack_trace`."""
    paths: list[str] = []
    types: list[str] = []
    for entry in metadata.get("nn_module_stack", "")[:8000].split(";"):
        parts = entry.split(",")
        if len(parts) < 3:
            continue
        path = parts[1].removeprefix("L['self']").removeprefix(".")
        if path and (not paths or path != paths[-1]):
            paths.append(path)
            types.append(parts[2].rpartition(".")[2])
    file, line = line_of_trace(metadata.get("stack_trace", ""))
    if not paths and not file:
        return [], [], None
    return (
        module_parts(paths),
        types,
        Provenance(
            module=paths[-1] if paths else "", module_type=types[-1] if types else "", file=file, line=line
        ),
    )
