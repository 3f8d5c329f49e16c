"""`support FILE --target T`: what each target does with each node, why, says who, and what would fix it.

JSON: `{"targets": {T: {"counts": {verdict: n}, "partitions": n, "macs_share": x | null, "verdicts":
[{"node", "op", "verdict", "reason", "source", "tier", "fixes": [id]}]}}, "problems": [{"target",
"verdict", "op", "nodes": [name], "sentence", "source", "fixes", "macs_share", "partitions",
"partitions_if_fixed" | null}]}` with verdicts `runs`, `conditional`, `falls_back`, `fails`, `unknown`
and tiers `rule`, `tool`, `measured`. A problem is one reason with all its nodes, the dearest first.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from studio.cli import tables
from studio.cli.opening import is_project, open_model, open_project
from studio.cli.options import Parser, add_dims, add_phone, add_targets, dims_of, targets_of
from studio.cli.output import Output
from studio.graph import Graph
from studio.records import Record
from studio.support import Problem, TargetVerdicts, find_problems, judge
from studio.targets import DEFAULT_TARGETS

_PROBLEMS_SHOWN = 12
_NODES_SHOWN = 3
_SIGNS = {"runs": "✓", "conditional": "◆", "falls_back": "▲", "fails": "✕", "unknown": "?"}


class NodeVerdict(Record):
    """What one target does with one node."""

    node: str
    op: str
    verdict: str
    reason: str
    source: str
    tier: str
    fixes: tuple[str, ...]


class TargetSupport(Record):
    """One target's answer. `macs_share`: share of MACs kept on the accelerator, None = not known."""

    counts: dict[str, int]
    partitions: int
    macs_share: float | None
    verdicts: tuple[NodeVerdict, ...]


class ProblemLine(Record):
    """One reason with all its nodes, by name."""

    target: str
    verdict: str
    op: str
    nodes: tuple[str, ...]
    sentence: str
    source: str
    fixes: tuple[str, ...]
    macs_share: float
    partitions: int
    partitions_if_fixed: int | None


class SupportAnswer(Record):
    """What `support --json` prints."""

    targets: dict[str, TargetSupport]
    problems: tuple[ProblemLine, ...]


def parser() -> Parser:
    """The options of `support`."""
    result = Parser(
        "support",
        summary="Say what each target does with each node, and why. Unknown is never shown as yes or no.",
        example="deployment-studio support mobilenet.onnx --target ort/nnapi --target litert/gpu",
    )
    result.add_argument("file", help="a model, or a .studio project (then with its targets and SoC)")
    add_targets(result, text="a target id, a runtime (ort), or all; repeatable")
    add_phone(result)
    add_dims(result)
    result.add_argument("--nodes", action="store_true", help="list every node, not only the problems")
    return result


def run(options: Namespace, output: Output) -> int:
    """Says the verdicts; 0."""
    path, soc = Path(options.file), options.soc
    default: tuple[str, ...] = DEFAULT_TARGETS
    if is_project(path):
        opened = open_project(path)
        path, soc = opened.source_path, soc or opened.project.soc
        default = opened.project.targets or default
    target_ids = targets_of(options.target, default=default)
    graph = open_model(path, dims=dims_of(options.dim))
    verdicts = judge(graph, target_ids, soc=soc, android_level=options.android_level)
    problems = find_problems(graph, verdicts)
    if output.as_json:
        output.result(answer_of(graph, verdicts, problems))
    else:
        output.line(text_of(graph, verdicts, problems))
        if options.nodes:
            output.line(_nodes_text(graph, verdicts))
    return 0


def answer_of(
    graph: Graph, verdicts: dict[str, TargetVerdicts], problems: tuple[Problem, ...]
) -> SupportAnswer:
    """The contract's record."""
    return SupportAnswer(
        targets={target_id: _target(graph, found) for target_id, found in verdicts.items()},
        problems=tuple(
            ProblemLine(
                target=p.target_id,
                verdict=str(p.verdict),
                op=p.op,
                nodes=tuple(map(graph.label, p.nodes)),
                sentence=p.sentence,
                source=p.source,
                fixes=p.fixes,
                macs_share=p.macs_share,
                partitions=p.partitions,
                partitions_if_fixed=p.partitions_if_fixed,
            )
            for p in problems
        ),
    )


def _target(graph: Graph, found: TargetVerdicts) -> TargetSupport:
    nodes = []
    for node in range(graph.node_count):
        reason = found.reason(node)
        nodes.append(
            NodeVerdict(
                node=graph.label(node),
                op=graph.node_op[node],
                verdict=str(found.verdict(node)),
                reason=reason.text,
                source=reason.source,
                tier=str(reason.tier),
                fixes=reason.fixes,
            )
        )
    return TargetSupport(
        counts=found.counts(),
        partitions=len(found.partitions),
        macs_share=found.macs_share,
        verdicts=tuple(nodes),
    )


def text_of(graph: Graph, verdicts: dict[str, TargetVerdicts], problems: tuple[Problem, ...]) -> str:
    """A table per target and the dearest problems, for people."""
    rows = []
    for target_id, found in verdicts.items():
        counts = (str(n) if n else "–" for n in found.counts().values())
        rows.append((target_id, *counts, str(len(found.partitions)), tables.percent(found.macs_share, 0)))
    head = ("target", *(f"{_SIGNS[v]} {v.replace('_', ' ')}" for v in _SIGNS), "partitions", "MACs kept")
    lines = [tables.table(head, rows, right="lrrrrrrr")]
    for problem in problems[:_PROBLEMS_SHOWN]:
        lines.append("")
        lines.append(_problem_text(graph, problem))
    if len(problems) > _PROBLEMS_SHOWN:
        lines.append(f"\n… and {len(problems) - _PROBLEMS_SHOWN} more problems: --json has them all.")
    return "\n".join(lines)


def _problem_text(graph: Graph, problem: Problem) -> str:
    names = ", ".join(graph.label(n) for n in problem.nodes[:_NODES_SHOWN])
    more = len(problem.nodes) - _NODES_SHOWN
    sign, word = _SIGNS[str(problem.verdict)], str(problem.verdict).replace("_", " ")
    lines = [
        f"{sign} {problem.target_id}: {problem.op} ×{len(problem.nodes)} {word}"
        + (f", {tables.percent(problem.macs_share)} of MACs" if problem.macs_share else "")
        + _if_fixed(problem),
        f"    {problem.sentence}",
        f"    nodes: {names}" + (f" and {more} more" if more > 0 else ""),
        f"    source: {problem.source}",
    ]
    if problem.fixes:
        lines.append(f"    fixes: {', '.join(problem.fixes)}")
    return "\n".join(lines)


def _if_fixed(problem: Problem) -> str:
    if problem.partitions_if_fixed is None or problem.partitions_if_fixed == problem.partitions:
        return ""
    return f"; without it {problem.partitions} → {problem.partitions_if_fixed} partitions"


def _nodes_text(graph: Graph, verdicts: dict[str, TargetVerdicts]) -> str:
    rows = [
        (graph.label(node), graph.node_op[node], *(_SIGNS[str(v.verdict(node))] for v in verdicts.values()))
        for node in range(graph.node_count)
    ]
    return "\n" + tables.table(("node", "operator", *verdicts), rows)
