"""Problems as Markdown, to be pasted into an issue: which model, which targets, whose tools, then a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from studio import __version__
from studio.graph import Graph
from studio.support import Problem, TargetVerdicts, Tier
from studio.support.layout_tax import layout_tax

_NODES_NAMED = 5


def problems_markdown(
    graph: Graph,
    problems: Sequence[Problem],
    verdicts: Mapping[str, TargetVerdicts],
    *,
    file: str,
    soc: str = "",
    versions: Mapping[str, str] | None = None,
) -> str:
    """The text. Targets are those of the problems, else all; `versions`: package → version, as installed."""
    targets = list(dict.fromkeys(p.target_id for p in problems)) or list(verdicts)
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    lines = [f"### {_plain(file)}: {count}", ""]
    facts = [f"{graph.format}", f"{graph.node_count:,} nodes"]
    if graph.file_sha256:
        facts.append(f"SHA-256 `{graph.file_sha256[:16]}…`")
    lines.append(f"- Model: `{_plain(file)}` ({', '.join(facts)})")
    lines += [_target_line(graph, t, verdicts[t]) for t in targets if t in verdicts]
    if soc:
        lines.append(f"- SoC: {_plain(soc)}")
    tools = [f"Deployment Studio {__version__}", *(f"{n} {v}" for n, v in (versions or {}).items() if v)]
    lines.append(f"- Tools: {', '.join(tools)}")
    asked = {
        r.source for t in targets if t in verdicts for r in verdicts[t].reasons if r.tier is not Tier.RULE
    }
    lines += [f"- Asked: {_plain(source)}" for source in sorted(asked)]
    if problems:
        lines += [
            "",
            "| verdict | operator | target | nodes | share of MACs | partitions | reason | source |",
        ]
        lines.append("|---|---|---|---|---|---|---|---|")
        lines += [_row(graph, p) for p in problems]
    return "\n".join(lines) + "\n"


def _target_line(graph: Graph, target_id: str, found: TargetVerdicts) -> str:
    counts = [f"{n} {v.replace('_', ' ')}" for v, n in found.counts().items() if n]
    tax = layout_tax(graph, found)
    kept = "" if found.macs_share is None else f", {found.macs_share * 100:.1f} % of MACs kept"
    layout = f"; transposes: {tax.held} held" if tax.held or tax.inserted else ""
    layout += f", about {tax.inserted} inserted" if tax.inserted else ""
    n = len(found.partitions)
    parts = f"{n} partition{'s' if n != 1 else ''}"
    return f"- Target: `{target_id}`: {', '.join(counts)}; {parts}{kept}{layout}"


def _row(graph: Graph, problem: Problem) -> str:
    names = ", ".join(f"`{_plain(graph.label(n))}`" for n in problem.nodes[:_NODES_NAMED])
    more = len(problem.nodes) - _NODES_NAMED
    fixed = problem.partitions_if_fixed
    cells = (
        problem.verdict.value.replace("_", " "),
        f"{problem.op} ×{len(problem.nodes)}",
        problem.target_id,
        names + (f" and {more} more" if more > 0 else ""),
        "not known" if problem.macs_share is None else f"{problem.macs_share * 100:.1f} %",
        str(problem.partitions) + (f" → {fixed} if fixed" if fixed is not None and fixed < problem.partitions
                                   else ""),
        problem.sentence + (f" Fixes: {', '.join(problem.fixes)}." if problem.fixes else ""),
        problem.source if problem.tier is Tier.MEASURED else f"{problem.source} ({problem.tier})",
    )  # fmt: skip
    return "| " + " | ".join(_plain(cell).replace("|", "\\|") for cell in cells) + " |"


def _plain(text: str) -> str:
    """One line: a stranger's name must not end the table or the list."""
    return " ".join(text.split())
