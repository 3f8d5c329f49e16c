"""What `support --json` prints.

JSON: `{"targets": {T: {"counts": {verdict: n}, "partitions": n, "macs_share": x | null, "verdicts":
[{"node", "op", "verdict", "reason", "source", "tier", "fixes": [id], "partition": n | null, "cut"}],
"partition_list": [{"nodes": [name], "macs" | null, "weight_bytes", "in_bytes", "out_bytes"}], "layout":
{"held", "held_bytes", "inserted", "inserted_bytes", "unknown_sizes", "source"}, "evidence": [{"source",
"soc", "is_simulated", "applies", "file", "words", "taken": [name], "left": [name], "delegated" | null,
"total" | null, "refused"}]}}, "problems": [{"target", "verdict", "op", "nodes": [name], "sentence",
"source", "tier", "fixes", "macs_share", "partitions", "partitions_if_fixed" | null}], "operators": [{"op",
"nodes", "targets": {T: {verdict: n}}}], "tools": {T: tool}, "notes"}` with verdicts `runs`, `conditional`,
`falls_back`, `fails`, `unknown` and tiers `rule`, `tool`, `measured`. A problem is one reason with all its
nodes, the dearest first. Evidence is what runs on devices said, the newest last; `applies`: it stands over
rules and tools. Counts, partitions and problems take a delegate call of the file as one node; `verdicts` has
what is inside of it too.
"""

from __future__ import annotations

from studio.graph import Graph
from studio.records import Record
from studio.support import Problem, TargetVerdicts, layout_tax, operator_matrix


class NodeVerdict(Record):
    """What one target does with one node."""

    node: str
    op: str
    verdict: str
    reason: str
    source: str
    tier: str
    fixes: tuple[str, ...]
    partition: int | None = None  # None: in none
    cut: str = ""  # "17 → 3 partitions if fixed"


class PartitionLine(Record):
    """One partition. `macs`: None when some node's are not known; bytes count known sizes only."""

    nodes: tuple[str, ...]
    macs: int | None
    weight_bytes: int
    in_bytes: int
    out_bytes: int


class LayoutLine(Record):
    """Transposes in the graph, and those that the runtime is expected to add around the partitions."""

    held: int
    held_bytes: int
    inserted: int
    inserted_bytes: int
    unknown_sizes: int
    source: str


class EvidenceLine(Record):
    """What one run said of this graph on this target, with nodes by name."""

    source: str
    soc: str
    is_simulated: bool
    applies: bool
    file: str
    words: str
    taken: tuple[str, ...]
    left: tuple[str, ...]
    delegated: int | None
    total: int | None
    refused: str


class TargetSupport(Record):
    """One target's answer. `macs_share`: share of MACs kept on the accelerator, None = not known."""

    counts: dict[str, int]
    partitions: int
    macs_share: float | None
    verdicts: tuple[NodeVerdict, ...]
    partition_list: tuple[PartitionLine, ...]
    layout: LayoutLine
    evidence: tuple[EvidenceLine, ...]


class ProblemLine(Record):
    """One reason with all its nodes, by name."""

    target: str
    verdict: str
    op: str
    nodes: tuple[str, ...]
    sentence: str
    source: str
    tier: str
    fixes: tuple[str, ...]
    macs_share: float | None
    partitions: int
    partitions_if_fixed: int | None


class OperatorLine(Record):
    """A row of the matrix of operators and targets; a verdict that no node has is left out."""

    op: str
    nodes: int
    targets: dict[str, dict[str, int]]


class SupportAnswer(Record):
    """What `support --json` prints."""

    targets: dict[str, TargetSupport]
    problems: tuple[ProblemLine, ...]
    operators: tuple[OperatorLine, ...]
    tools: dict[str, str]  # with --tool: target id → the tool that answered, and its version
    notes: tuple[str, ...]


def answer_of(
    graph: Graph,
    verdicts: dict[str, TargetVerdicts],
    problems: tuple[Problem, ...],
    tools: dict[str, str],
    notes: tuple[str, ...],
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
                tier=str(p.tier),
                fixes=p.fixes,
                macs_share=p.macs_share,
                partitions=p.partitions,
                partitions_if_fixed=p.partitions_if_fixed,
            )
            for p in problems
        ),
        operators=tuple(
            OperatorLine(
                op=row.op,
                nodes=row.nodes,
                targets={t: {str(v): n for v, n in cell.items()} for t, cell in row.cells.items()},
            )
            for row in operator_matrix(graph, verdicts)
        ),
        tools=tools,
        notes=notes,
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
                partition=_partition(found, node),
                cut=found.cuts.get(graph.label(node), ""),
            )
        )
    tax = layout_tax(graph, found)
    return TargetSupport(
        counts=found.counts(),
        partitions=len(found.partitions),
        macs_share=found.macs_share,
        verdicts=tuple(nodes),
        partition_list=tuple(
            PartitionLine(
                nodes=tuple(map(graph.label, p.nodes)),
                macs=p.macs,
                weight_bytes=p.weight_bytes,
                in_bytes=p.boundary_in_bytes,
                out_bytes=p.boundary_out_bytes,
            )
            for p in found.partitions
        ),
        layout=LayoutLine(
            held=tax.held,
            held_bytes=tax.held_bytes,
            inserted=tax.inserted,
            inserted_bytes=tax.inserted_bytes,
            unknown_sizes=tax.unknown_sizes,
            source=tax.source,
        ),
        evidence=tuple(
            EvidenceLine(
                source=e.source,
                soc=e.soc,
                is_simulated=e.is_simulated,
                applies=e.applies,
                file=e.file,
                words=e.words,
                taken=tuple(map(graph.label, e.taken)),
                left=tuple(map(graph.label, e.left)),
                delegated=e.delegated,
                total=e.total,
                refused=e.refused,
            )
            for e in found.evidence
        ),
    )


def _partition(found: TargetVerdicts, node: int) -> int | None:
    if node >= len(found.partition_of) or found.partition_of[node] < 0:
        return None
    return int(found.partition_of[node])
