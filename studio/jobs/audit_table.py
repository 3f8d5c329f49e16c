"""The table of an audit: counts per target, and every disagreement of rule and tool.

Counted per target: nodes where the rule claims something (runs, or not taken) and the tool answered.
*False yes*: the rule says runs, the tool does not take it. *False no*: the other way round. Conditional and
unknown verdicts claim nothing and are counted as left open.
"""

from __future__ import annotations

from collections.abc import Iterator

from studio.records import Record
from studio.support import Verdict

Claim = tuple[str, str, Verdict, str, bool, str]
"""Node, operator, the rule's verdict and sentence, whether the tool takes it, the tool's reason."""


class Disagreement(Record):
    """A node where rule and tool differ."""

    file: str
    target_id: str
    kind: str  # "false yes" or "false no"
    node: str
    op: str
    rule: str
    tool: str


class AuditRow(Record):
    """The counts of one target. `level`: "tool's graph" (rule alone) or "source" (through a prediction)."""

    target_id: str
    level: str
    tool: str
    files: int = 0
    nodes: int = 0
    yes: int = 0  # what the rule claimed: runs
    no: int = 0  # not taken
    agree: int = 0
    false_yes: int = 0
    false_no: int = 0
    left_open: int = 0

    @property
    def agreement(self) -> float | None:
        """Share of the claims that the tool confirms; None without claims."""
        claims = self.agree + self.false_yes + self.false_no
        return self.agree / claims if claims else None


class Audited(Record):
    """The table, every disagreement, and what could not be asked."""

    date: str
    rows: tuple[AuditRow, ...]
    disagreements: tuple[Disagreement, ...]
    notes: tuple[str, ...] = ()


class AuditTable:
    """Counts as they come in."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], AuditRow] = {}
        self.disagreements: list[Disagreement] = []
        self.notes: list[str] = []
        self.absent: set[str] = set()  # targets whose tool is not here: noted once, not asked again

    def count(
        self,
        file: str,
        target_id: str,
        level: str,
        tool: str,
        claims: Iterator[Claim],
    ) -> None:
        """Adds one file's (node, op, rule's verdict, rule's text, taken, tool's reason)."""
        counts = dict.fromkeys(("nodes", "yes", "no", "agree", "false_yes", "false_no", "left_open"), 0)
        for node, op, verdict, text, taken, why in claims:
            counts["nodes"] += 1
            if verdict in (Verdict.CONDITIONAL, Verdict.UNKNOWN):
                counts["left_open"] += 1
                continue
            says_yes = verdict == Verdict.RUNS
            counts["yes" if says_yes else "no"] += 1
            if says_yes == taken:
                counts["agree"] += 1
                continue
            kind = "false yes" if says_yes else "false no"
            counts["false_yes" if says_yes else "false_no"] += 1
            self.disagreements.append(
                Disagreement(file=file, target_id=target_id, kind=kind, node=node, op=op, rule=text, tool=why)
            )
        old = self.rows.get((target_id, level)) or AuditRow(target_id=target_id, level=level, tool=tool)
        added = {name: getattr(old, name) + value for name, value in counts.items()}
        self.rows[target_id, level] = AuditRow(
            target_id=target_id, level=level, tool=tool, files=old.files + 1, **added
        )


def as_markdown(result: Audited) -> str:
    """The table for people, with every disagreement."""
    lines = [
        f"Rule against tool, {result.date}.",
        "",
        "| Target | Asked on | Tool | Files | Nodes | Claims confirmed | False yes | False no | Left open |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in result.rows:
        share = "–" if row.agreement is None else f"{100 * row.agreement:.1f} %"
        lines.append(
            f"| {row.target_id} | {row.level} | {row.tool} | {row.files} | {row.nodes} | {share} | "
            f"{row.false_yes} | {row.false_no} | {row.left_open} |"
        )
    if result.disagreements:
        lines += [
            "",
            "| File | Target | Kind | Operator | The rule | The tool |",
            "|---|---|---|---|---|---|",
        ]
        for d in result.disagreements:
            lines.append(f"| {d.file} | {d.target_id} | {d.kind} | {d.op} | {d.rule} | {d.tool or '–'} |")
    return "\n".join(lines) + "\n"
