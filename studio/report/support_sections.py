"""The report's part about targets: a table of verdicts and the problems, dearest first."""

from __future__ import annotations

import numpy as np

from studio.recipes.fixes import FIXES
from studio.report import charts
from studio.report.content import ReportContent
from studio.report.palette import ICONS, VERDICT_ICONS
from studio.report.words import count_text, escape, size_text, table
from studio.support import Evidence, Problem, Tier, layout_tax, operator_matrix
from studio.targets import TARGETS

_PROBLEMS_SHOWN = 20
_NODES_SHOWN = 4
_OPERATORS_SHOWN = 60
_ASKED = {Tier.TOOL: "tool asked", Tier.MEASURED: "measured"}
_LEGEND = (
    '<p class="quiet">Runs: on the target. Conditional: if what its reason names holds. Falls back: on the '
    "CPU instead. Fails: the model does not run there. Unknown: nobody has said yes or no. Verdicts by rule "
    "predict; a tool that was asked stands over rules, and a run on a device over both.</p>"
)


def support_section(content: ReportContent) -> str:
    """Verdicts and problems; empty when no target was judged."""
    if not content.verdicts:
        return ""
    rows = []
    for target_id, found in content.verdicts.items():
        counts = found.counts()
        target = TARGETS[target_id]
        status = f' <span class="tag quiet">{escape(target.status)}</span>' if target.status else ""
        tiers = {found.reasons[i].tier for i in np.unique(found.reason_of).tolist()}
        status += "".join(f' <span class="tag">{_ASKED[tier]}</span>' for tier in _ASKED if tier in tiers)
        rows.append(
            (
                f"<b>{escape(target_id)}</b>{status}<br>{charts.verdict_bar(counts)}",
                *(_count(verdict, number) for verdict, number in counts.items()),
                str(len(found.partitions)),
                "–" if found.macs_share is None else f"{100 * found.macs_share:.0f} %",
            )
        )
    head = ("target", *(v.replace("_", " ") for v in VERDICT_ICONS), "partitions", "MACs kept")
    shown = content.problems[:_PROBLEMS_SHOWN]
    parts = [
        table(head, rows, "lrrrrrrr"),
        _LEGEND,
        _measured(content),
        _partitions(content),
        _matrix(content),
    ]
    if shown:
        parts.append(f"<h3>Problems ({len(content.problems)})</h3>")
        parts += [_problem(content, problem) for problem in shown]
    if len(content.problems) > len(shown):
        more = len(content.problems) - len(shown)
        parts.append(
            f'<p class="quiet">… and {more} more: <code>deployment-studio support '
            f"{escape(content.project_file)}</code> lists them.</p>"
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
                "–" if largest.macs is None else count_text(largest.macs),
                size_text(sum(p.boundary_in_bytes for p in found.partitions)),
                size_text(sum(p.boundary_out_bytes for p in found.partitions)),
                f"{tax.held:,} ({size_text(tax.held_bytes)})",
                f"{tax.inserted:,} ({size_text(tax.inserted_bytes)})" if tax.source else "–",
            )
        )
    if not rows:
        return ""
    head = ("target", "partitions", "nodes in largest", "its MACs", "in", "out", "held", "added")
    words = (
        "In and out: bytes that cross the partitions' borders per inference. Held: transposes in the graph. "
        "Added: about so many more are expected from the runtime, which computes channels-last."
    )
    return (
        "<h3>Partitions and layout</h3>"
        + table(head, rows, "lrrrrrrr")
        + f'<p class="quiet">{escape(words)}</p>'
    )


def _matrix(content: ReportContent) -> str:
    """Operators against targets; empty without a graph."""
    if content.graph is None or not content.graph.node_count:
        return ""
    found = operator_matrix(content.graph, content.verdicts)
    rows = [
        (
            escape(row.op),
            f"{row.nodes:,}",
            *(
                " ".join(_count(str(v), n) for v, n in row.cells[target].items())
                for target in content.verdicts
            ),
        )
        for row in found[:_OPERATORS_SHOWN]
    ]
    head = ("operator", "nodes", *map(escape, content.verdicts))
    more = len(found) - len(rows)
    words = f'<p class="quiet">… and {more:,} more operators.</p>' if more > 0 else ""
    return "<h3>Operators</h3>" + table(head, rows, "lr" + "l" * len(content.verdicts)) + words


def _measured(content: ReportContent) -> str:
    """What runs on devices said of where nodes ran; empty when none did."""
    rows = []
    for target_id, found in content.verdicts.items():
        for piece in found.evidence:
            ran, left = f"{len(piece.taken):,}", f"{len(piece.left):,}"
            if piece.refused or not (piece.taken or piece.left):
                ran = left = "–"
            rows.append(
                (
                    escape(target_id),
                    escape(piece.source) + (f"<br>as {escape(piece.file)}" if piece.file else ""),
                    ran,
                    left,
                    escape(_weight(piece)),
                )
            )
    if not rows:
        return ""
    head = ("target", "run", "nodes on it", "not on it", "what it counts for")
    return "<h3>Measured on devices</h3>" + table(head, rows, "llrrl")


def _weight(piece: Evidence) -> str:
    """What a run counts for, in words."""
    if piece.refused:
        return f"Did not run: {piece.refused}"
    if piece.is_simulated:
        return "A simulated phone: says nothing of a real one."
    if not piece.applies:
        return "Another SoC than the project's: shown, not counted."
    if not piece.taken and not piece.left:
        return f"It ran; which nodes where is not known: {piece.words}." if piece.words else "It ran."
    return "Stands over rules and tools."


def sign(verdict: str) -> str:
    """A verdict's sign as SVG, drawn so that no font must have it."""
    path, filled = ICONS[VERDICT_ICONS[verdict]]
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
        cost.append(f"if fixed: {problem.partitions} → {problem.partitions_if_fixed} partitions")
    graph = content.graph
    names = [graph.label(n) if graph is not None else f"#{n}" for n in problem.nodes[:_NODES_SHOWN]]
    more = len(problem.nodes) - len(names)
    source = problem.source if problem.tier is Tier.MEASURED else f"{problem.source} (by {problem.tier})"
    fixes = "; ".join(f"{FIXES[f].title} ({f})" if f in FIXES else f for f in problem.fixes)
    fixes = f"<br>Fixes: {escape(fixes)}" if fixes else ""
    return (
        f'<div class="problem"><p><span class="{verdict}">{sign(verdict)}<b>{escape(words)}</b></span>'
        f"{'; '.join(['', *map(escape, cost)])}</p><p>{escape(problem.sentence)}</p>"
        f'<p class="quiet">Nodes: {escape(", ".join(names))}{f" and {more} more" if more > 0 else ""}'
        f"<br>Source: {escape(source)}{fixes}</p></div>"
    )
