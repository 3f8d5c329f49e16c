"""Plain values of ONNX attributes, and metadata properties as texts.

Kinds are numbered as in onnx.proto, AttributeProto.AttributeType; old files leave the kind out.
"""

from __future__ import annotations

from typing import Any

from studio.graph.graph import AttributeValue

TENSOR, GRAPH, GRAPHS, SPARSE_TENSOR = 4, 5, 10, 11


def plain_value(attribute: Any) -> AttributeValue:
    """Numbers and texts as they are, `@name` for an attribute of the function around, words for the rest.

    Tensors and graphs have no plain value.
    """
    kind = attribute.type
    if attribute.ref_attr_name:
        return f"@{attribute.ref_attr_name}"
    if kind == 2 or (kind == 0 and attribute.HasField("i")):
        return int(attribute.i)
    if kind == 7 or (kind == 0 and attribute.ints):
        return list(attribute.ints)
    if kind == 1 or (kind == 0 and attribute.HasField("f")):
        return float(attribute.f)
    if kind == 3 or (kind == 0 and attribute.HasField("s")):
        return str(attribute.s.decode("utf-8", "replace"))
    if kind == 6 or (kind == 0 and attribute.floats):
        return list(attribute.floats)
    if kind == 8 or (kind == 0 and attribute.strings):
        return [s.decode("utf-8", "replace") for s in attribute.strings]
    if kind == 9:
        return [t.name or f"tensor {i}" for i, t in enumerate(attribute.tensors)]
    if kind in (13, 14):
        return "type"
    if kind in (SPARSE_TENSOR, 12):
        return "sparse tensor"
    return None


def properties_of(entries: Any) -> dict[str, str]:
    """Metadata by key, without what is not text."""
    found = ((entry.key, entry.value) for entry in entries)
    return {key: value for key, value in found if isinstance(key, str) and isinstance(value, str)}
