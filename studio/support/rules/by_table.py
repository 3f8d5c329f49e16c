"""Rules for targets of which only a list is public: the row's status, its text as the condition.

PARTIAL never becomes *runs*: a builder exists, attributes or the vendor's compiler decide. What a
missing row means depends on the list: a complete registry refuses, an excerpt leaves it unknown.
"""

from __future__ import annotations

from studio.support.op_node import OpNode
from studio.support.ruling import Ruling, Setting, depends, refuses, takes, unknown
from studio.support.tables import Row, Status, load_table


class ByTable:
    """A rule from one table. `is_complete`: a missing row means refused; `device`: rows of one device."""

    def __init__(
        self,
        table: str,
        who: str,
        *,
        is_complete: bool,
        device: str = "",
        needs_static: bool = False,
        yes_runs: bool = False,
        condition: str = "",
    ) -> None:
        self.table = table
        self.who = who
        self.is_complete = is_complete
        self.device = device
        self.needs_static = needs_static
        self.yes_runs = yes_runs
        self.condition = condition

    def __call__(self, node: OpNode, setting: Setting) -> Ruling:
        lookup = load_table(self.table)
        row = lookup.find(node.op, node.domain, self.device)
        if row is None or row.status == Status.NO:
            if row is not None:
                return refuses(f"{self.who} does not take {node.op}.", lookup.cite(row))
            if self.is_complete:
                return refuses(f"{self.who} has no {node.op}.", lookup.cite_absence())
            return unknown(f"The list of {self.who} does not name {node.op}.", lookup.cite_absence())
        if self.needs_static and (found := dynamic(node, self.who, lookup.cite(row))):
            return found
        if row.status == Status.YES and self.yes_runs:
            return takes(f"{self.who} runs {node.op}.", lookup.cite(row))
        return depends(self._text(node, row), lookup.cite(row))

    def _text(self, node: OpNode, row: Row) -> str:
        parts = [part for part in (row.condition, self.condition) if part]
        return f"{self.who} has {node.op}; condition: {'; '.join(parts) or 'attributes are not documented'}."


def dynamic(node: OpNode, who: str, source: str) -> Ruling | None:
    """Refused because of a symbolic dim, unknown because of a missing shape, else None."""
    for index, tensor in enumerate((*node.inputs, *node.outputs)):
        if not tensor.dtype and tensor.shape is None:
            continue
        if tensor.shape is not None and any(isinstance(d, str) for d in tensor.shape):
            return refuses(
                f"Dynamic shape {tensor.shape_text()}: {who} needs numbers.", source, "freeze-dims"
            )
        if tensor.shape is None or None in tensor.shape:
            return unknown(f"The shape of tensor {index} is not in the file.", source)
    return None
