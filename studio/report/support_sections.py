"""The report's part about targets: a table of verdicts and the problems, dearest first."""

from __future__ import annotations

from studio.report import charts
from studio.report.content import ReportContent
from studio.report.palette import ICONS
from studio.report.words import escape, size_text, table
from studio.support import Problem, layout_tax
from studio.targets import TARGETS

_PROBLEMS_SHOWN = 20
_NODES_SHOWN = 4
_SIGN = {
    "runs": "check", "conditional": "diamond", "falls_back": "triangle", "fails": "cross",
    "unknown": "question",
}  # fmt: skip


def support_section(content: ReportContent) -> str:
    """Verdicts and problems; empty when no target was judged."""
    if not content.verdicts:
        return ""
    rows = []
    for target_id, found in content.verdicts.items():
        counts = found.counts()
        target = TARGETS[target_id]
        status = f' <span class="tag quiet">{escape(target.status)}</span>' if target.status else ""
        rows.append(
            (
                f"<b>{escape(target_id)}</b>{status}<br>{charts.verdict_bar(counts)}",
                *(_count(verdict, number) for verdict, number in counts.items()),
                str(len(found.partitions)),
                "–" if found.macs_share is None else f"{100 * found.macs_share:.0f} %",
            )
        )
    head = ("target", *(v.replace("_", " ") for v in _SIGN), "partitions", "MACs kept")
    shown = content.problems[:_PROBLEMS_SHOWN]
    parts = [table(head, rows, "lrrrrrrr"), _partitions(content)]
    if shown:
        parts.append(f"<h3>Problems ({len(content.problems)})</h3>")
        parts += [_problem(content, problem) for problem in shown]
    if len(content.problems) > len(shown):
        more = len(content.problems) - len(shown)
        parts.append(
            f'<p class="quiet">… and {more} more: <code>deployment-studio support '
            f"{escape(content.project_file)}</code> lists them.</p>"
        )
    parts.append(
        '<p class="quiet">Verdicts by rule predict; a tool or a device that was asked is named in the '
        "source. Unknown means that nobody has said yes or no.</p>"
    )
    return "<section>\n<h2>Targets</h2>\n" + "\n".join(parts) + "\n</section>"


def _partitions(content: ReportContent) -> str:
    """The accelerators' partitions with what crosses their borders, and the transposes; empty without."""
    graph = content.graph
    rows = []
    for target_id, found in content.verdicts.items():
        if graph is None or not TARGETS[target_id].is_accelerator or not found.partitions:
            continue
        tax = layout_tax(graph, found)
        largest = max(found.partitions, key=lambda p: len(p.nodes))
        rows.append(
            (
                escape(target_id),
                str(len(found.partitions)),
                f"{len(largest.nodes):,}",
                "–" if largest.macs is None else f"{largest.macs / 1e6:,.1f} M",
                size_text(sum(p.boundary_in_bytes for p in found.partitions)),
                size_text(sum(p.boundary_out_bytes for p in found.partitions)),
                f"{tax.held:,} ({size_text(tax.held_bytes)})",
                f"{tax.inserted:,} ({size_text(tax.inserted_bytes)})" if tax.source else "–",
            )
        )
    head = ("target", "partitions", "largest: nodes", "its MACs", "bytes in", "bytes out",
            "transposes held", "expected around partitions")  # fmt: skip
    return "<h3>Partitions and layout</h3>" + table(head, rows, "lrrrrrrr") if rows else ""


def sign(verdict: str) -> str:
    """A verdict's sign as SVG, drawn so that no font must have it."""
    path, filled = ICONS[_SIGN[verdict]]
    return f'<svg class="sign" viewBox="0 0 14 14"><path{" class=full" if filled else ""} d="{path}"/></svg>'


def _count(verdict: str, number: int) -> str:
    if not number:
        return '<span class="quiet">–</span>'
    return f'<span class="{verdict}">{sign(verdict)}{number:,}</span>'


def _problem(content: ReportContent, problem: Problem) -> str:
    verdict = str(problem.verdict)
    words = f"{problem.op} ×{len(problem.nodes)} {verdict.replace('_', ' ')} on {problem.target_id}"
    cost = []
    if problem.macs_share:
        cost.append(f"{100 * problem.macs_share:.1f} % of MACs")
    if problem.partitions_if_fixed is not None and problem.partitions_if_fixed != problem.partitions:
        cost.append(f"without it {problem.partitions} → {problem.partitions_if_fixed} partitions")
    graph = content.graph
    names = [graph.label(n) if graph is not None else f"#{n}" for n in problem.nodes[:_NODES_SHOWN]]
    more = len(problem.nodes) - len(names)
    fixes = f"<br>Fixes: {escape(', '.join(problem.fixes))}" if problem.fixes else ""
    return (
        f'<div class="problem"><p><span class="{verdict}">{sign(verdict)}<b>{escape(words)}</b></span>'
        f"{'; '.join(['', *map(escape, cost)])}</p><p>{escape(problem.sentence)}</p>"
        f'<p class="quiet">Nodes: {escape(", ".join(names))}{f" and {more} more" if more > 0 else ""}'
        f"<br>Source: {escape(problem.source)} ({problem.tier}){fixes}</p></div>"
    )
