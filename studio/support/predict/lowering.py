"""Lowering: what a converter makes of one node, and how two converters follow each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from studio.support.op_node import OpNode
from studio.support.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Lowering:
    """`parts` to be judged by the target's rule, or a `verdict` of its own (folded, fused, unknown).

    `is_sure` False: a prediction that a converter may still do otherwise, so a yes stays conditional.
    """

    text: str
    source: str
    parts: tuple[OpNode, ...] = ()
    verdict: Verdict | None = None
    fixes: tuple[str, ...] = ()
    is_sure: bool = True
    is_guess: bool = False  # passed on as it is, since nothing is known of it: neither yes nor no is certain


Lower = Callable[[OpNode], Lowering]


def becomes(source: str, *parts: OpNode, sure: bool = True, text: str = "") -> Lowering:
    """The node becomes these parts."""
    names = " → ".join(part.op.removeprefix("aten.").removesuffix(".default") for part in parts)
    return Lowering(text or f"Becomes {names}.", source, parts, is_sure=sure)


def vanishes(text: str, source: str) -> Lowering:
    """Nothing is left of the node: folded into weights, fused into a neighbour, or removed."""
    return Lowering(text, source, verdict=Verdict.RUNS)


def not_known(text: str, source: str) -> Lowering:
    """The mapping is not known here."""
    return Lowering(text, source, verdict=Verdict.UNKNOWN)


def then(first: Lower, second: Lower) -> Lower:
    """Both conversions, one after the other."""

    def lower(node: OpNode) -> Lowering:
        made = first(node)
        if made.verdict is not None:
            return made
        results = [second(part) for part in made.parts]
        parts: list[OpNode] = []
        for result in results:
            if result.verdict is None:
                parts += result.parts
            elif result.verdict != Verdict.RUNS:
                return replace(result, is_sure=False)
        if not parts:
            return results[0] if results else made
        names = " → ".join(p.op for p in parts)
        return Lowering(
            f"Becomes {names}.",
            "; ".join(dict.fromkeys(s for s in (made.source, *(r.source for r in results)) if s)),
            tuple(parts),
            is_sure=made.is_sure and all(r.is_sure for r in results),
            is_guess=made.is_guess or any(r.is_guess for r in results),
        )

    return lower
