"""judge(): the verdicts of a graph on any number of targets, by rule, without any tool chain.

Order: gather the distinct nodes → (predict what a converter makes of them, where the target speaks
another language) → the target's rule → its fallback's rule → groups, folding, partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from studio.errors import StudioError
from studio.graph.cost import Costs, node_costs
from studio.graph.graph import Graph
from studio.support.fix_reach import helpful
from studio.support.gather import Gathered, gather
from studio.support.giveback import give_back, macs_share
from studio.support.graph_reach import GraphReach, can_split
from studio.support.lowered import Lowered, counted_once
from studio.support.op_node import OpNode
from studio.support.partitions import Wiring, describe
from studio.support.predict import Lower, Lowering, lowering_for
from studio.support.problems import cut_sentences
from studio.support.rules import RuleSet, rule_for
from studio.support.ruling import Rule, Ruling, Setting, gone
from studio.support.soc import htp_arch_of
from studio.support.stand_in import stand_in
from studio.support.verdict import VERDICTS, Reason, TargetVerdicts, Verdict
from studio.targets import find_target

CODES = {verdict: index for index, verdict in enumerate(VERDICTS)}
CUTS_LIMIT = 20_000
"""Nodes × targets up to which `cuts` are filled here; `find_problems` works them out for any size."""
FOLDED = gone(
    "Computed once when the model is loaded: all its inputs are constants.",
    "constant folding at load (onnxruntime/core/optimizer/constant_folding.cc; XNNPACK and converters alike)",
)
_SPLIT = "split-unsupported"
_WORST = (Verdict.FAILS, Verdict.UNKNOWN, Verdict.FALLS_BACK, Verdict.CONDITIONAL, Verdict.RUNS)


def _lowered(lower: Lower, node: OpNode) -> Lowering:
    """What becomes of the node; unknown when its shapes or attributes are none that its operator has.

    Files of strangers hold such nodes, and one of them must not cost the verdicts of all others.
    """
    try:
        return lower(node)
    except (IndexError, ValueError, TypeError, OverflowError, ZeroDivisionError):
        return Lowering(
            f"{node.op} does not have the shapes and attributes of its operator.",
            "studio/support/judge.py",
            verdict=Verdict.UNKNOWN,
        )


def judge(
    graph: Graph,
    target_ids: Iterable[str],
    *,
    soc: str = "",
    android_level: int | None = None,
    costs: Costs | None = None,
) -> dict[str, TargetVerdicts]:
    """Verdicts, partitions and share of MACs per target, in the order asked.

    `android_level` is an Android API level (None: not stated), `soc` a name such as "SM8650". `costs` when
    the caller has them already. Raises InputError for a target id that does not exist.
    """
    wanted = list(dict.fromkeys(target_ids))
    for target_id in wanted:
        find_target(target_id)
    gathered = gather(graph)
    wiring = Wiring(graph, gathered.folded)
    if costs is None:
        costs = _costs(graph)
    if costs is not None:
        costs = counted_once(graph, costs)
    lowerings: dict[str, list[Lowering] | None] = {}
    reach = GraphReach(graph) if graph.format in ("onnx", "ort") else None
    result = {}
    for target_id in wanted:
        rules = rule_for(target_id)
        if rules.ir not in lowerings:
            lower = lowering_for(graph.format, rules.ir)
            lowerings[rules.ir] = None if lower is None else [_lowered(lower, n) for n in gathered.nodes]
        setting = Setting(
            target_id=target_id,
            soc=soc,
            htp_arch=htp_arch_of(soc),
            android_level=android_level or 0,
            graph_format=graph.format,
        )
        left = wiring.lowered.leaves(setting)
        asked = rules if left is None else _left_aside(rules, left)
        rulings = _rule(asked, gathered.nodes, lowerings[rules.ir], setting, reach)
        compiled = _of_calls(wiring.lowered, setting)
        verdicts = _verdicts(target_id, rules, gathered, wiring, rulings, compiled, costs)
        if graph.node_count * len(wanted) <= CUTS_LIMIT:
            verdicts.cuts = cut_sentences(graph, verdicts, wiring)
        result[target_id] = verdicts
    return result


def _costs(graph: Graph) -> Costs | None:
    try:
        return node_costs(graph)
    except (StudioError, ValueError, IndexError, OverflowError):
        return None  # a hostile graph: verdicts without MACs


def _left_aside(rules: RuleSet, left: Ruling) -> RuleSet:
    """How what a compiler left is judged: round what PyTorch's NNAPI converter took, the interpreter runs."""
    if rules.ir == "torchscript" and rules.fallback is None:
        cpu = rule_for("pytorch-mobile/cpu")
        rules = replace(rules, fallback=cpu.rule, fallback_name=cpu.engine)
    return replace(rules, rule=_always(left))


def _always(ruling: Ruling) -> Rule:
    """A rule that says the same of every node."""
    return lambda node, setting: ruling


def _of_calls(compiled: Lowered, setting: Setting) -> dict[int, Ruling]:
    """The rulings on the file's compiled calls; no fallback is asked, as none could run one."""
    found = {call: compiled.ruling(call, setting) for call in compiled.engines}
    return {call: ruling for call, ruling in found.items() if ruling is not None}


def _rule(
    rules: RuleSet,
    nodes: Sequence[OpNode],
    lowered: list[Lowering] | None,
    setting: Setting,
    reach: GraphReach | None,
) -> list[Ruling]:
    """The final ruling of every distinct node."""
    if lowered is None:
        rulings = [settle(rules, node, setting) for node in nodes]
    else:
        rulings = [_through(rules, made, setting) for made in lowered]
    if reach is None:
        return rulings
    lower = lowering_for(setting.graph_format, rules.ir)

    def of(node: OpNode) -> Verdict:
        ruling = (
            settle(rules, node, setting) if lower is None else _through(rules, _lowered(lower, node), setting)
        )
        return ruling.verdict

    return [_worth(reach.possible(helpful(n, r)), n, of) for n, r in zip(nodes, rulings)]


def _worth(ruling: Ruling, node: OpNode, verdict_of: Callable[[OpNode], Verdict]) -> Ruling:
    """The ruling without fixes whose outcome the target would not take either."""
    if not ruling.fixes:
        return ruling
    made = {fix: stand_in(fix, node) for fix in ruling.fixes}
    better = (Verdict.RUNS, Verdict.CONDITIONAL)
    kept = tuple(fix for fix, node in made.items() if node is None or verdict_of(node) in better)
    return ruling if kept == ruling.fixes else ruling._replace(fixes=kept)


def settle(rules: RuleSet, node: OpNode, setting: Setting) -> Ruling:
    """The accelerator's ruling, or what the fallback does with a node that it refuses."""
    ruling = rules.rule(node, setting)
    if ruling.verdict != Verdict.FALLS_BACK:
        return ruling
    if rules.fallback is None:
        return ruling._replace(verdict=Verdict.FAILS)
    instead = rules.fallback(node, setting)
    if instead.verdict in (Verdict.RUNS, Verdict.CONDITIONAL):
        text = f"{ruling.text} Runs on {rules.fallback_name} instead."
        if instead.verdict == Verdict.CONDITIONAL:
            text = f"{ruling.text} On {rules.fallback_name}: {instead.text}"
        return Ruling(Verdict.FALLS_BACK, text, ruling.source, ruling.fixes or instead.fixes)
    text = f"{ruling.text} {instead.text}"
    return Ruling(instead.verdict, text, f"{ruling.source}; {instead.source}", ruling.fixes or instead.fixes)


def _through(rules: RuleSet, made: Lowering, setting: Setting) -> Ruling:
    """The ruling on what a converter makes of a node: the worst of its parts, told with the conversion."""
    if made.verdict is not None:
        is_gone = made.verdict == Verdict.RUNS
        return Ruling(made.verdict, made.text, made.source, made.fixes, engine=not is_gone, vanishes=is_gone)
    rulings = [settle(rules, part, setting) for part in made.parts]
    worst = min(rulings, key=lambda r: (_WORST.index(r.verdict), r.engine))  # a part beside the engine cuts
    text = f"{made.text} {worst.text}".strip()
    verdict = worst.verdict
    if made.is_guess and verdict in (Verdict.FALLS_BACK, Verdict.FAILS):
        text = f"How it is decomposed is not known here. As it is: {worst.text}"
        return worst._replace(verdict=Verdict.UNKNOWN, text=text, source=f"{made.source}; {worst.source}")
    if made.is_sure or verdict != Verdict.RUNS:
        return worst._replace(text=text, source=f"{made.source}; {worst.source}".lstrip("; "))
    return worst._replace(verdict=Verdict.CONDITIONAL, text=text, source=f"{made.source}; {worst.source}")


def _verdicts(
    target_id: str,
    rules: RuleSet,
    gathered: Gathered,
    wiring: Wiring,
    rulings: Sequence[Ruling],
    compiled: dict[int, Ruling],
    costs: Costs | None,
) -> TargetVerdicts:
    """Columns from the rulings of the distinct nodes; then groups, folding, compiled calls, partitions."""
    table: dict[Ruling, int] = {}
    group_reason = np.asarray([table.setdefault(r, len(table)) for r in rulings] or [0], np.int32)
    reason_of = group_reason[gathered.group_of] if len(gathered.group_of) else np.zeros(0, np.int32)
    if gathered.folded.any():
        reason_of[gathered.folded] = table.setdefault(FOLDED, len(table))
    members = (gathered.qdq_owner >= 0) & (gathered.qdq_owner != np.arange(len(reason_of)))
    if rules.ir == "onnx" and members.any() and not target_id.endswith("/cpu"):
        reason_of[members] = reason_of[gathered.qdq_owner[members]]
    if compiled:
        of_call = np.full(len(reason_of) + 1, -1, np.int32)
        for call, ruling in compiled.items():
            of_call[call] = table.setdefault(ruling, len(table))
        own = of_call[wiring.lowered.call_of]  # −1 reads the last place, which is −1
        reason_of = np.where(own >= 0, own, reason_of)
    all_rulings = list(table)
    codes = np.asarray([CODES[r.verdict] for r in all_rulings] or [0], np.uint8)[reason_of]
    engine = np.asarray([r.engine for r in all_rulings] or [False], np.bool_)[reason_of]
    if any(_SPLIT in r.fixes for r in all_rulings):
        refused = np.isin(codes, (CODES[Verdict.FALLS_BACK], CODES[Verdict.FAILS]))
        if not can_split(gathered.graph, np.flatnonzero(refused).tolist()):
            all_rulings = [r._replace(fixes=tuple(f for f in r.fixes if f != _SPLIT)) for r in all_rulings]
    taken = engine & ((codes == CODES[Verdict.RUNS]) | (codes == CODES[Verdict.CONDITIONAL]))
    vanished = np.asarray([r.vanishes for r in all_rulings] or [False], np.bool_)[reason_of]
    vanished &= ~gathered.folded
    partition_of = wiring.phases(taken, rules.partitioning, vanished).copy()
    verdicts = TargetVerdicts(
        target_id=target_id,
        codes=codes,
        reason_of=reason_of.astype(np.int32),
        reasons=tuple(
            Reason(text=r.text, source=r.source, fixes=r.fixes, vanishes=r.vanishes) for r in all_rulings
        ),
        partitions=describe(wiring, partition_of, costs),
        partition_of=partition_of,
        macs_share=macs_share(partition_of, codes, costs),
        is_inside=wiring.lowered.inside,
    )
    return give_back(verdicts, rules, gathered.graph, costs)
