"""Scopes and provenance of ONNX nodes: which torch module, which line of Python.

Sources, the better first: the metadata properties that torch's exporter writes
(`pkg.torch.onnx.name_scopes`, `…class_hierarchy`, `…stack_trace`; torch/onnx/_internal/exporter,
2.5 and newer), then path-like node names (`/features/features.0/conv/Conv`, older torch exporters,
tf2onnx, Paddle).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from studio.graph.graph import Provenance
from studio.graph.onnx_attributes import properties_of

_PREFIX = "pkg.torch.onnx."
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)')
_LIBRARY = re.compile(
    r"[/\\](?:site|dist)-packages[/\\](?:torch|torchao|executorch)[/\\]|[/\\]torch[/\\]nn[/\\]"
)
_MAX_TEXT = 20_000


def is_library_file(file: str) -> bool:
    """Whether a source file belongs to torch and not to the author of the model."""
    return bool(_LIBRARY.search(file))


def texts_of_list(text: str) -> list[str]:
    """The strings of a Python list literal such as `['', 'features']`, without evaluating it."""
    return [a or b for a, b in _QUOTED.findall(text[:_MAX_TEXT])]


def line_of_trace(trace: str) -> tuple[str, int]:
    """(file, line) of the innermost frame that is not torch's own; ("", 0) when there is none."""
    frames = _FRAME.findall(trace[:_MAX_TEXT])
    own = [frame for frame in frames if not is_library_file(frame[0])]
    if not own and not frames:
        return "", 0
    file, line = (own or frames)[-1]
    return file, int(line[:9])


def module_parts(paths: list[str]) -> list[str]:
    """Scope elements of nested absolute module paths: ["", "a", "a.b.c"] → ["a", "b.c"]."""
    parts: list[str] = []
    parent = ""
    for path in paths:
        if not path or path == parent:
            continue
        nested = parent and path.startswith(parent + ".")
        parts.append(path[len(parent) + 1 :] if nested else path)
        parent = path
    return parts


def scope_of(node: Any, name: str, *, is_torch: bool) -> tuple[list[str], list[str], Provenance | None]:
    """(scope path, class of each scope, provenance) of a NodeProto, by the better of its two sources."""
    found = from_metadata(properties_of(node.metadata_props)) if node.metadata_props else None
    if found is not None:
        return found
    path, provenance = from_name(name, is_torch=is_torch)
    return path, [], provenance


def from_metadata(props: Mapping[str, str]) -> tuple[list[str], list[str], Provenance] | None:
    """(scope path, class of each scope, provenance) from torch's properties; None when there are none."""
    names = texts_of_list(props.get(f"{_PREFIX}name_scopes", ""))
    trace = props.get(f"{_PREFIX}stack_trace", "")
    if not names and not trace:
        return None
    classes = texts_of_list(props.get(f"{_PREFIX}class_hierarchy", ""))
    modules = names[:-1]  # the last element is the operator itself
    parts: list[str] = []
    types: list[str] = []
    parent = ""
    for index, path in enumerate(modules):
        if not path or path == parent:
            continue
        parts += module_parts([parent, path])[-1:]
        types.append(classes[index].rpartition(".")[2] if index < len(classes) else "")
        parent = path
    module_type = classes[len(modules) - 1] if 0 < len(modules) <= len(classes) else ""
    file, line = line_of_trace(trace)
    original = tuple(x for x in (names[-1] if names else "", classes[-1] if classes else "") if x)
    return (
        parts,
        types,
        Provenance(module=parent, module_type=module_type, file=file, line=line, original=original),
    )


def from_name(name: str, *, is_torch: bool) -> tuple[list[str], Provenance | None]:
    """(scope path, provenance) from a path-like node name; ([], None) for a plain one."""
    if "/" not in name:
        return [], None
    names = [part for part in name.split("/", 80)[:-1] if part]
    if not is_torch or not name.startswith("/"):
        return names, None
    parts: list[str] = []
    module = ""
    last = ""
    for part in names:
        if last and part.startswith(last + "."):
            parts.append(part[len(last) + 1 :])
            module = module[: len(module) - len(last)] + part
        else:
            parts.append(part)
            module = f"{module}.{part}" if module else part
        last = part
    return parts, Provenance(module=module) if module else None
