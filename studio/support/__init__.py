"""May this target take this node? Verdicts with reason and source, partitions, problems.

What lives here: `Verdict`, `Reason`, `TargetVerdicts`; `judge(graph, target_ids)`; the operator tables'
reader, the rules (`rules/`, one place per target) and the predictions through conversion (`predict/`);
partitions; `lowered`, what a file has compiled already; `find_problems`; `merge`, which puts a tool's
answers over the rules, and `measured`, which puts a device's over both. What does not: running the real
partitioner (`backends` ask it, `jobs` join the two), rewriting graphs, drawing.

The way of a node: `gather` (distinct nodes as `OpNode`) → `predict` (what a converter makes of it) → the
target's rule → its fallback's rule → folding, quantisation groups, partitions (`judge`).

Why rules see an `OpNode` and not the graph: ten thousand nodes on thirty targets must take half a second,
so equal nodes are judged once; and a node that a converter will make is judged by the same code as one
that is in a file. Why conditions are code and lists are data: a list says that an operator is there, only
code can say of which rank, dtype and attribute; each condition cites the line that it was read from.
Why conditional and unknown are not merged into a guess: a false yes costs its reader a week.
"""

from studio.support.judge import judge
from studio.support.layout_tax import LayoutTax, layout_tax
from studio.support.matrix import OperatorRow, operator_matrix
from studio.support.problems import Problem, find_problems
from studio.support.verdict import (
    VERDICTS,
    Evidence,
    Partition,
    Reason,
    TargetVerdicts,
    Tier,
    Verdict,
)

__all__ = [
    "VERDICTS",
    "Evidence",
    "LayoutTax",
    "OperatorRow",
    "Partition",
    "Problem",
    "Reason",
    "TargetVerdicts",
    "Tier",
    "Verdict",
    "find_problems",
    "judge",
    "layout_tax",
    "operator_matrix",
]
