"""May this target take this node? Verdicts with reason and source, partitions, problems.

What lives here: `Verdict`, `Reason`, `TargetVerdicts`; `judge(graph, target_ids)`; the operator
tables' reader and the per-attribute rules (one place per target); partitions. What does not:
running the real partitioner (`backends` ask it, `jobs` join the two), and drawing.
"""

from studio.support.judge import judge
from studio.support.problems import Problem, find_problems
from studio.support.verdict import VERDICTS, Partition, Reason, TargetVerdicts, Tier, Verdict

__all__ = [
    "VERDICTS",
    "Partition",
    "Problem",
    "Reason",
    "TargetVerdicts",
    "Tier",
    "Verdict",
    "find_problems",
    "judge",
]
