"""Opsets of an ONNX file, and the version of an operator that is in force under one."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


def opsets_of(imports: Any, *, default: bool = True) -> dict[str, int]:
    """domain → version, the default domain as ""; opset 1 when the file names none."""
    found = {("" if o.domain == "ai.onnx" else str(o.domain)): int(o.version) for o in imports}
    return found if found or not default else {"": 1}


@lru_cache(4096)
def since_version(op: str, domain: str, opset: int) -> int:
    """The version of the definition in force at `opset`, as the onnx package says; 0 when it knows none."""
    import onnx

    try:
        return int(onnx.defs.get_schema(op, opset, domain).since_version)
    except Exception:  # SchemaError; its module moved between versions of onnx
        return 0
