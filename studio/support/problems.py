"""Problems: what a person should look at first, per target and reason, with what it costs.

A problem is one reason that keeps nodes off the accelerator (or leaves them uncertain): its nodes, the
MACs that leave, and how many partitions there would be without it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from studio.errors import StudioError
from studio.graph.cost import node_costs
from studio.graph.graph import Graph, Ints
from studio.records import Record
from studio.support.lowered import counted_once
from studio.support.partitions import Mask, Wiring
from studio.support.rules import rule_for
from studio.support.verdict import VERDICTS, TargetVerdicts, Tier, Verdict

MAX_CUT_REASONS = 8
"""So many reasons per target are tried as “if this were fixed”, those with most nodes first."""

_WEIGHT = {Verdict.FAILS: 3, Verdict.FALLS_BACK: 2, Verdict.UNKNOWN: 1, Verdict.CONDITIONAL: 0}


class Problem(Record):
    """One reason on one target. Node indices are of the graph that was judged."""

    target_id: str
    verdict: Verdict
    op: str
    nodes: tuple[int, ...]
    sentence: str
    source: str
    tier: Tier = Tier.RULE
    fixes: tuple[str, ...] = ()
    macs: int = 0  # of these nodes, as far as known
    macs_share: float | None = 0.0  # of the whole graph; None: these nodes' or the graph's are not all known
    partitions: int = 0  # now
    partitions_if_fixed: int | None = None  # None: not computed


def find_problems(graph: Graph, verdicts: Mapping[str, TargetVerdicts]) -> tuple[Problem, ...]:
    """Everything that is not a plain yes, what costs most first: verdict, then MACs, then partitions."""
    try:
        costs = counted_once(graph, node_costs(graph))
        counted, has_unknown = costs.macs, costs.unknown_macs > 0
    except (StudioError, ValueError, IndexError, OverflowError):
        counted, has_unknown = np.full(graph.node_count, -1, np.int64), True
    macs = np.maximum(counted, 0)
    total = float(macs.astype(np.float64).sum())
    found: list[Problem] = []
    for target_id, columns in verdicts.items():
        fixed = partitions_if_fixed(graph, columns)
        for (op, verdict, _), reasons in _alike(graph, columns).items():
            nodes = sorted(n for _, members in reasons for n in members)
            index = max(reasons, key=lambda r: len(r[1]))[0]
            reason = columns.reasons[index]
            cost = float(macs[nodes].astype(np.float64).sum())
            share: float | None = cost / total if total else 0.0
            if (cost and has_unknown) or bool((counted[nodes] < 0).any()):
                share = None
            found.append(
                Problem(
                    target_id=target_id,
                    verdict=verdict,
                    op=op,
                    nodes=tuple(nodes),
                    sentence=reason.text,
                    source=reason.source,
                    tier=reason.tier,
                    fixes=reason.fixes,
                    macs=int(min(cost, float(1 << 62))),
                    macs_share=share,
                    partitions=len(columns.partitions),
                    partitions_if_fixed=fixed.get(index),
                )
            )
    found.sort(key=_rank)
    return tuple(found)


def _rank(problem: Problem) -> tuple[float, ...]:
    saved = problem.partitions - (problem.partitions_if_fixed or problem.partitions)
    return (-_WEIGHT[problem.verdict], -problem.macs, -saved, -len(problem.nodes), problem.nodes[0])


def _nodes_by_reason(columns: TargetVerdicts) -> dict[int, Ints]:
    if not len(columns.reason_of):
        return {}
    order = np.argsort(columns.reason_of, kind="stable").astype(np.int32)
    reasons, starts = np.unique(columns.reason_of[order], return_index=True)
    return dict(zip(reasons.tolist(), np.split(order, starts[1:]), strict=True))


def _alike(
    graph: Graph, columns: TargetVerdicts
) -> dict[tuple[str, Verdict, str], list[tuple[int, list[int]]]]:
    """(operator, verdict, source) → its reasons and nodes: texts that differ only in a shape are one."""
    result: dict[tuple[str, Verdict, str], list[tuple[int, list[int]]]] = {}
    for index, nodes in _nodes_by_reason(columns).items():
        verdict = VERDICTS[int(columns.codes[nodes[0]])]
        if verdict == Verdict.RUNS:
            continue
        by_op: dict[str, list[int]] = {}
        for node in nodes.tolist():
            if not (len(columns.is_inside) and columns.is_inside[node]):
                by_op.setdefault(graph.node_op[node], []).append(node)
        for op, members in by_op.items():
            key = (op, verdict, columns.reasons[index].source)
            result.setdefault(key, []).append((index, members))
    return result


def partitions_if_fixed(
    graph: Graph, columns: TargetVerdicts, *, wiring: Wiring | None = None
) -> dict[int, int]:
    """Per reason that keeps nodes off: how many partitions there would be if those nodes were taken."""
    if len(columns.partitions) < 2:
        return {}
    loaded = np.asarray([not is_folded(r.source) for r in columns.reasons], np.bool_)[columns.reason_of]
    vanished = np.asarray([r.vanishes for r in columns.reasons], np.bool_)[columns.reason_of] & loaded
    wiring = wiring or Wiring(graph, ~loaded)
    if wiring.lowered.engines:
        return {}  # compiled calls stay apart whatever is changed around them
    taken: Mask = columns.partition_of >= 0
    style = rule_for(columns.target_id).partitioning
    off = {
        reason: nodes
        for reason, nodes in _nodes_by_reason(columns).items()
        if not taken[nodes].any() and loaded[nodes].all()
    }
    result = {}
    for reason in sorted(off, key=lambda r: -len(off[r]))[:MAX_CUT_REASONS]:
        flipped = taken.copy()
        flipped[off[reason]] = True
        result[reason] = int(wiring.phases(flipped, style, vanished).max(initial=-1)) + 1
    return result


def is_folded(source: str) -> bool:
    """Whether a reason is that of constant folding, which no tool sees."""
    return source.startswith("constant folding")


def cut_sentences(graph: Graph, columns: TargetVerdicts, wiring: Wiring) -> dict[str, str]:
    """Node label → “17 → 3 partitions” for nodes whose reason, if fixed, would join partitions."""
    now = len(columns.partitions)
    fixed = {r: n for r, n in partitions_if_fixed(graph, columns, wiring=wiring).items() if n < now}
    groups = _nodes_by_reason(columns)
    return {
        graph.label(node): f"{now} → {fixed[reason]} partitions if fixed"
        for reason in fixed
        for node in groups[reason].tolist()
    }
