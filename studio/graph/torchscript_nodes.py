"""What one TorchScript node says: argument names, types, constants, its modules and its source line."""

from __future__ import annotations

import re
from typing import Any

from studio.graph.graph import AttributeValue, Provenance, Shape
from studio.graph.onnx_scopes import is_library_file
from studio.graph.onnx_tensors import short
from studio.graph.torch_types import SCALAR_TYPES, dtype_of

_HIERARCHY = re.compile(r"([\w$]+)\(((?:[^()]|\([^()]*\))*)\)")
_TRACED_FRAME = re.compile(r"^(.+?)\((\d+)\): ", re.MULTILINE)
_SCRIPT_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)')


def type_of(value: Any, known: Shape | None = None) -> tuple[str, Shape | None]:
    """(dtype, shape) of a value, as far as its type says them."""
    kind = value.type()
    if kind.kind() != "TensorType":
        return SCALAR_TYPES.get(str(kind), ""), () if str(kind) in SCALAR_TYPES else None
    scalar = kind.scalarType()
    sizes = kind.sizes()
    if sizes is None:
        symbols = kind.symbolic_sizes()
        sizes = [s if s >= 0 else None for s in symbols] if symbols is not None else None
    return dtype_of(scalar or ""), known or (tuple(sizes) if sizes is not None else None)


def schema_names(node: Any) -> list[tuple[str, bool]]:
    """(name, whether it takes tensors) of each argument, from the operator's schema."""
    if node.kind().startswith("prim::"):
        return []
    import torch

    try:
        arguments = torch._C.parse_schema(node.schema()).arguments
    except RuntimeError:  # "no schema" of operators without one
        return []
    return [(a.name, "Tensor" in str(a.type)) for a in arguments]


def constant_of(node: Any) -> Any:
    """The value of a prim::Constant, None for NoneType and for what has no Python form."""
    output = node.output()
    if output.type().kind() == "NoneType":
        return None
    try:
        return output.toIValue()
    except RuntimeError:
        return None


def called_method(node: Any) -> dict[str, AttributeValue]:
    """Method and class of a call on an object that is not inlined: one of torch's own C++ classes mostly."""
    if node.kind() != "prim::CallMethod":
        return {}
    receiver = next(iter(node.inputs()), None)
    return {"method": node.s("name"), "class": short(str(receiver.type()), 200) if receiver else ""}


def is_tensor(value: Any) -> bool:
    """Whether a constant is a tensor."""
    import torch

    return isinstance(value, torch.Tensor)


def attribute_of(value: Any) -> AttributeValue:
    """A constant argument as an attribute; what has no form of its own becomes text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, (int, float)) for v in value):
        return list(value)
    return short(str(value), 200)


def hierarchy(text: str) -> tuple[list[str], list[str]]:
    """(path, classes) of `features(Sequential).0(Block).conv(Conv2d)`; SELF is the same module again."""
    found = [(n, t) for n, t in _HIERARCHY.findall(text[:4000]) if n not in ("SELF", "top")]
    return [name for name, _ in found], [kind for _, kind in found]


def origin(text: str, path: list[str], types: list[str]) -> Provenance | None:
    """Module and the innermost line of the author's own code, from torch's description of a node's source."""
    frames = _TRACED_FRAME.findall(text) or _SCRIPT_FRAME.findall(text)
    own = [frame for frame in frames if not is_library_file(frame[0])]
    file, line = (own or frames or [("", "0")])[0]
    if not path and not file:
        return None
    return Provenance(
        module=".".join(path), module_type=types[-1] if types else "", file=file, line=int(line[:9])
    )
