"""Merging: a stronger tier's answers over the rules' verdicts. Measured beats tool, tool beats rule."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from studio.graph.cost import Costs
from studio.graph.graph import Graph
from studio.support.giveback import macs_share
from studio.support.lowered import counted_once
from studio.support.partitions import Wiring, describe
from studio.support.problems import cut_sentences, is_folded
from studio.support.rules import rule_for
from studio.support.verdict import VERDICTS, Reason, TargetVerdicts, Tier, Verdict

_STRENGTH = {Tier.RULE: 0, Tier.TOOL: 1, Tier.MEASURED: 2}
_TAKEN = {Tier.TOOL: "The tool takes it.", Tier.MEASURED: "It ran on this target."}
_LEFT = {Tier.TOOL: "The tool does not take it", Tier.MEASURED: "It did not run on this target"}
_CODES = {verdict: index for index, verdict in enumerate(VERDICTS)}


def with_answers(
    graph: Graph,
    verdicts: TargetVerdicts,
    answers: Mapping[int, tuple[bool, str]],
    *,
    source: str,
    tier: Tier = Tier.TOOL,
    costs: Costs | None = None,
) -> TargetVerdicts:
    """The verdicts with `answers` (node → taken, why) put over those of the same or a weaker tier.

    A node that is not taken falls back where the target has a fallback that the rules believe in, and
    fails otherwise. Partitions are formed anew.
    """
    rules = rule_for(verdicts.target_id)
    if costs is not None:
        costs = counted_once(graph, costs)
    codes, reason_of = verdicts.codes.copy(), verdicts.reason_of.copy()
    reasons = list(verdicts.reasons)
    places: dict[Reason, int] = {}
    on = verdicts.partition_of >= 0
    for node, (taken, why) in answers.items():
        if not 0 <= node < len(codes):
            continue
        old = reasons[int(reason_of[node])]
        if _STRENGTH[old.tier] > _STRENGTH[tier] or is_folded(old.source):
            continue
        before = VERDICTS[int(codes[node])]
        if taken:
            verdict, text = Verdict.RUNS, why or _TAKEN[tier]
        else:
            stays = before in (Verdict.FAILS, Verdict.UNKNOWN)
            verdict = (
                Verdict.FALLS_BACK
                if rules.fallback is not None and before != Verdict.FAILS
                else Verdict.FAILS
            )
            text = f"{_LEFT[tier]}{': ' + why.rstrip('.') if why else ''}."
            if stays and old.text:
                text = f"{text} {old.text}"
            elif old.tier == Tier.RULE and before == Verdict.FALLS_BACK:
                text = f"{text} By rule: {old.text}"
        reason = Reason(text=text, source=source, tier=tier, fixes=() if taken else old.fixes)
        place = places.get(reason)
        if place is None:
            place = places[reason] = len(reasons)
            reasons.append(reason)
        codes[node], reason_of[node] = _CODES[verdict], place
        on[node] = taken
    folded = np.asarray([is_folded(r.source) for r in reasons], np.bool_)[reason_of]
    wiring = Wiring(graph, folded)
    vanished = np.asarray([r.vanishes for r in reasons], np.bool_)[reason_of] & ~folded
    partition_of = wiring.phases(on & ~folded, rules.partitioning, vanished).copy()
    merged = TargetVerdicts(
        target_id=verdicts.target_id,
        codes=codes,
        reason_of=reason_of,
        reasons=tuple(reasons),
        partitions=describe(wiring, partition_of, costs),
        partition_of=partition_of,
        macs_share=macs_share(partition_of, codes, costs),
        evidence=verdicts.evidence,
        is_inside=verdicts.is_inside,
    )
    merged.cuts = cut_sentences(graph, merged, wiring)
    return merged
