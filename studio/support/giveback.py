"""Giving back: partitions that a runtime could take and does not, because they are too many or too small."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from studio.graph.cost import Costs
from studio.graph.graph import Graph, Ints
from studio.support.rules import RuleSet
from studio.support.verdict import VERDICTS, Reason, TargetVerdicts, Verdict

_FALLS_BACK = VERDICTS.index(Verdict.FALLS_BACK)
_UNKNOWN = VERDICTS.index(Verdict.UNKNOWN)
_TAKEN = (VERDICTS.index(Verdict.RUNS), VERDICTS.index(Verdict.CONDITIONAL))


def give_back(verdicts: TargetVerdicts, rules: RuleSet, graph: Graph, costs: Costs | None) -> TargetVerdicts:
    """The verdicts after the runtime has kept only the partitions it wants."""
    partitions = verdicts.partitions
    lost: list[int] = []
    if rules.not_alone:
        small = [
            i
            for i, p in enumerate(partitions)
            if len(p.nodes) == 1 and graph.node_op[p.nodes[0]] in rules.not_alone
        ]
        reason = Reason(
            text=f"{rules.engine} could take it, but a partition of this node alone is not worth it.",
            source="onnxruntime nnapi_builtin/builders/helper.cc#L288",
        )
        verdicts = _without(verdicts, small, reason)
        lost += small
    if rules.limit and len(verdicts.partitions) > rules.limit:
        order = sorted(range(len(verdicts.partitions)), key=lambda i: -len(verdicts.partitions[i].nodes))
        reason = Reason(
            text=f"{rules.engine} could take it, but takes only the largest of {len(order)} partitions.",
            source="tflite/delegates/utils.cc, GraphPartitionHelper; option max_delegated_partitions",
        )
        dropped = order[rules.limit :]
        verdicts = _without(verdicts, dropped, reason)
        lost += dropped
    if lost:
        verdicts.macs_share = macs_share(verdicts.partition_of, verdicts.codes, costs)
    return verdicts


def macs_share(partition_of: Ints, codes: npt.NDArray[np.uint8], costs: Costs | None) -> float | None:
    """MACs inside partitions over all MACs; None when there are none, or when something is unknown.

    A share of the known part would read like one of the whole: a network with dynamic convolutions and
    one known MatMul would keep “100 %”; and one whose convolutions have no verdict would keep “0 %”.
    """
    if costs is None or costs.unknown_macs:
        return None
    macs = np.maximum(costs.macs, 0).astype(np.float64)
    if np.any((codes == _UNKNOWN) & (macs > 0)):
        return None
    total = float(macs.sum())
    return float(macs[partition_of >= 0].sum()) / total if total > 0 else None


def _without(verdicts: TargetVerdicts, lost: Sequence[int], reason: Reason) -> TargetVerdicts:
    """The verdicts with the nodes of some partitions falling back for a reason."""
    if not lost:
        return verdicts
    stays = np.asarray([r.vanishes for r in verdicts.reasons], np.bool_)[verdicts.reason_of]
    gone = np.isin(verdicts.partition_of, np.asarray(lost)) & np.isin(verdicts.codes, _TAKEN) & ~stays
    codes, reason_of = verdicts.codes.copy(), verdicts.reason_of.copy()
    codes[gone] = _FALLS_BACK
    reason_of[gone] = len(verdicts.reasons)
    kept = [i for i in range(len(verdicts.partitions)) if i not in set(lost)]
    numbers = np.full(len(verdicts.partitions) + 1, -1, np.int32)
    numbers[kept] = np.arange(len(kept))
    return TargetVerdicts(
        target_id=verdicts.target_id,
        codes=codes,
        reason_of=reason_of,
        reasons=(*verdicts.reasons, reason),
        partitions=tuple(verdicts.partitions[i] for i in kept),
        partition_of=numbers[verdicts.partition_of],
        macs_share=verdicts.macs_share,
        is_inside=verdicts.is_inside,
    )
