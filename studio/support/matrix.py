"""The matrix: operators against targets, in each cell how many nodes have which verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from studio.graph.graph import Graph
from studio.support.verdict import VERDICTS, TargetVerdicts, Verdict

_TROUBLE = (Verdict.FAILS, Verdict.FALLS_BACK, Verdict.UNKNOWN)


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """One operator: its nodes, and per target the verdicts that occur."""

    op: str
    nodes: int
    cells: dict[str, dict[Verdict, int]]

    @property
    def trouble(self) -> int:
        """Verdicts that are neither yes nor conditional."""
        return sum(cell.get(verdict, 0) for cell in self.cells.values() for verdict in _TROUBLE)


def operator_matrix(graph: Graph, verdicts: Mapping[str, TargetVerdicts]) -> tuple[OperatorRow, ...]:
    """A row per operator: what has most trouble first, then what is most frequent."""
    places: dict[str, list[int]] = {}
    for node, op in enumerate(graph.node_op):
        places.setdefault(op, []).append(node)
    rows = [
        OperatorRow(op=op, nodes=len(nodes), cells={t: _cell(v, nodes) for t, v in verdicts.items()})
        for op, nodes in places.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.trouble, -row.nodes, row.op)))


def _cell(found: TargetVerdicts, nodes: list[int]) -> dict[Verdict, int]:
    counts = Counter(found.codes[np.array(nodes, np.int64)].tolist())
    return {verdict: counts[code] for code, verdict in enumerate(VERDICTS) if counts[code]}
