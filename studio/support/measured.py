"""Measured verdicts: what runs on devices said, over what rules and tools say.

A run on the chosen SoC stands over both. A run on another SoC, or on a simulated phone, is kept beside the
verdicts and never over them. When no SoC is chosen, runs on real devices count as long as they agree: a node
that one SoC takes and another leaves keeps its verdict, and both runs are shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from studio.graph.cost import Costs
from studio.graph.graph import Graph
from studio.support.merge import with_answers
from studio.support.verdict import Evidence, TargetVerdicts, Tier


def with_evidence(
    graph: Graph, verdicts: TargetVerdicts, evidence: Sequence[Evidence], *, costs: Costs | None = None
) -> TargetVerdicts:
    """The verdicts with what `evidence` (the newest last) says; every piece of it is kept to be shown."""
    said: dict[int, dict[str, tuple[bool, Evidence]]] = {}
    for piece in evidence:
        if not piece.applies:
            continue
        for is_taken, nodes in ((True, piece.taken), (False, piece.left)):
            for node in nodes:
                said.setdefault(node, {})[piece.soc.casefold()] = (is_taken, piece)
    answers: dict[tuple[str, str], dict[int, tuple[bool, str]]] = {}
    for node, by_soc in said.items():
        if len({is_taken for is_taken, _ in by_soc.values()}) > 1:
            continue
        is_taken, piece = list(by_soc.values())[-1]
        answers.setdefault((piece.source, piece.file), {})[node] = (is_taken, _why(is_taken, piece))
    for (source, _), given in answers.items():
        verdicts = with_answers(graph, verdicts, given, source=source, tier=Tier.MEASURED, costs=costs)
    verdicts.evidence = tuple(evidence)
    return verdicts


def _why(is_taken: bool, piece: Evidence) -> str:
    """A sentence only where there is more to say than yes or no."""
    if is_taken:
        return f"It ran on this target, as part of {piece.file}." if piece.file else ""
    if piece.file:
        return f"{piece.words or 'another one ran it'} ({piece.file})."
    return f"{piece.words}." if piece.words else ""
