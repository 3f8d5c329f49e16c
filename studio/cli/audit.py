"""The audit behind `support --audit CORPUS`: the rules against the real tools, node by node.

JSON: `studio.jobs.audit_table.Audited`: `{"date", "rows": [{"target_id", "level", "tool", "files", "nodes",
"yes", "no", "agree", "false_yes", "false_no", "left_open"}], "disagreements": [{"file", "target_id", "kind",
"node", "op", "rule", "tool"}], "notes"}`. Exit code 1: a rule said yes where the tool says no.
"""

from __future__ import annotations

from pathlib import Path

from studio.cli import tables
from studio.cli.output import Output
from studio.jobs.audit import Audit
from studio.jobs.audit import run as audit
from studio.jobs.audit_table import Audited

_SHOWN = 30


def run_audit(corpus: str, target_ids: tuple[str, ...], soc: str, output: Output) -> int:
    """Audits a folder of model files; 0, or 1 when there is a false yes."""
    spec = Audit(corpus=str(Path(corpus).absolute()), targets=target_ids, soc=soc)
    found = audit(spec, output.report)
    output.result(found, text_of(found))
    return 1 if any(row.false_yes for row in found.rows) else 0


def text_of(found: Audited) -> str:
    """The table of agreement, then what disagrees."""
    rows = [
        (row.target_id, row.level, f"{row.nodes:,}", tables.percent(row.agreement, 2), str(row.false_yes),
         str(row.false_no), str(row.left_open), row.tool)
        for row in found.rows
    ]  # fmt: skip
    head = ("target", "graph", "nodes", "agreement", "false yes", "false no", "left open", "tool")
    lines = [tables.table(head, rows, right="llrrrrrl")] if rows else ["No tool answered for any file."]
    for one in found.disagreements[:_SHOWN]:
        lines.append(f"{one.kind}: {one.file} {one.node} ({one.op}) on {one.target_id}")
        lines.append(f"    rule: {one.rule}")
        lines.append(f"    tool: {one.tool}")
    if len(found.disagreements) > _SHOWN:
        lines.append(f"… and {len(found.disagreements) - _SHOWN} more: --json has them all.")
    return "\n".join([*lines, *(f"note: {note}" for note in found.notes)])
