"""The JSON of an exported program: what torch.export writes, as records, and its small values.

Format: torch/_export/serde/schema.py (8.20). An argument is a dict of one key that says its kind.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from studio.errors import InputError
from studio.graph.graph import AttributeValue, Provenance, Shape
from studio.graph.onnx_scopes import line_of_trace, module_parts
from studio.graph.onnx_tensors import short

JSON_LIMIT = 512 * 1024 * 1024

DTYPES = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64",
    10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16", 29: "float8_e4m3fn",
    30: "float8_e5m2", 31: "float8_e4m3fnuz", 32: "float8_e5m2fnuz", 33: "float8_e8m0fnu", 34: "uint32",
    35: "uint64",
}  # fmt: skip
"""torch/_export/serde/schema.py: ScalarType."""

_SYMBOL = re.compile(r"Symbol\('(\w+)'[^()]*\)")
_INTEGER = re.compile(r"Integer\((-?\d+)\)")


class Node(msgspec.Struct):
    """A call, with its provenance as metadata."""

    target: str
    inputs: list[dict[str, Any]] = []
    outputs: list[dict[str, Any]] = []
    metadata: dict[str, str] = {}
    name: str | None = None


class Meta(msgspec.Struct):
    """A tensor's type."""

    dtype: int
    sizes: list[dict[str, Any]]
    strides: list[dict[str, Any]] = []
    storage_offset: dict[str, Any] = {}


class GraphOf(msgspec.Struct):
    """A graph, or a body of one."""

    inputs: list[dict[str, Any]] = []
    outputs: list[dict[str, Any]] = []
    nodes: list[Node] = []
    tensor_values: dict[str, Meta] = {}


class Signature(msgspec.Struct):
    """What the graph's inputs and outputs are to the program."""

    input_specs: list[dict[str, Any]] = []
    output_specs: list[dict[str, Any]] = []


class GraphModule(msgspec.Struct):
    """The main graph and its signature."""

    graph: GraphOf
    signature: Signature


class Program(msgspec.Struct):
    """One exported program."""

    graph_module: GraphModule
    opset_version: dict[str, int] = {}
    range_constraints: dict[str, dict[str, Any]] = {}
    torch_version: str = ""


class Weight(msgspec.Struct):
    """Where a weight is, and how it lies in its storage."""

    path_name: str
    use_pickle: bool = False
    tensor_meta: Meta | None = None


class Weights(msgspec.Struct):
    """The file beside the weights that names them."""

    config: dict[str, Weight] = {}


def decode(raw: bytes, kind: Any) -> Any:
    """The JSON as a record of that kind. Raises InputError saying what is wrong in it."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"The exported program is not readable: {short(str(error), 160)}.", hint="Export it again."
        ) from None


def type_of(graph: GraphOf, name: str) -> tuple[str, Shape | None]:
    """(dtype, shape) of a tensor by its name."""
    meta = graph.tensor_values.get(name)
    if meta is None:
        return "", None
    return DTYPES.get(meta.dtype, ""), tuple(dim_of(size) for size in meta.sizes)


def names_in(argument: object) -> list[tuple[str, bool]]:
    """(name, is a tensor) of everything an argument refers to; an absent optional tensor is ("", True)."""
    kind, value = next(iter(argument.items()), ("", None)) if isinstance(argument, dict) else ("", None)
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


def dim_of(size: dict[str, Any]) -> int | str | None:
    """A dim: a number, or its expression shortened."""
    if isinstance(size.get("as_int"), int):
        return int(size["as_int"])
    symbolic = size.get("as_expr")
    text = symbolic.get("expr_str") if isinstance(symbolic, dict) else None
    return expression(text) if isinstance(text, str) else None


def expression(text: str) -> str:
    """sympy's srepr shortened: Symbol('s0', integer=True) → s0."""
    return _INTEGER.sub(r"\1", _SYMBOL.sub(r"\1", text[:2000]))[:200]


def plain_value(kind: str, value: Any) -> AttributeValue:
    """An argument that is no tensor, as an attribute."""
    if kind == "as_scalar_type":
        return DTYPES.get(value, str(value))
    if kind == "as_device" and isinstance(value, dict):
        return str(value.get("type"))
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list) and all(isinstance(v, (bool, int, float, str)) for v in value):
        return value
    return short(str(value), 200)


def origin_of(metadata: dict[str, str]) -> tuple[list[str], list[str], Provenance | None]:
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
