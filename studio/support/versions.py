"""Since-versions of ONNX operators: which definition of an operator a file of some opset uses.

Kernels are registered per definition, so `Conv` of opset 22 is another operator than that of 21.
From the table `onnx_ops` (dumped from the onnx package), since importing onnx takes longer than judging.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache

from studio.support.tables import load_table


@cache
def _history() -> dict[tuple[str, str], tuple[int, ...]]:
    rows = load_table("onnx_ops").table.rows
    return {(row.domain, row.op): tuple(kernel.since for kernel in row.kernels) for row in rows}


def since_version(op: str, domain: str, opset: int) -> int:
    """The version of the definition in force at `opset`; 0 when the operator or the opset is unknown."""
    history = _history().get((domain, op))
    if not history or opset <= 0:
        return 0
    index = bisect_right(history, opset)
    return history[index - 1] if index else 0


def newest_opset() -> int:
    """The highest since-version that the table knows in the default domain."""
    return max(v[-1] for (domain, _), v in _history().items() if domain == "")


def is_function(op: str, domain: str = "") -> bool:
    """Whether the standard gives the operator a body of simpler operators, which runtimes expand."""
    row = load_table("onnx_ops").find(op, domain)
    return row is not None and row.flags.get("function", False)


def is_onnx_operator(op: str, domain: str = "") -> bool:
    """Whether the ONNX standard defines the operator, in whatever version."""
    return (domain, op) in _history()
