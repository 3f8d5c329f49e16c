"""What the Netron page is coloured with: every node's verdict and reason per target, and the style for it.

The page's own part is `resources/netron/verdicts.js`, which finds the drawn nodes. A node goes there with
its first output, its name and its operator without domain and overload, as Netron names them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from studio.graph.graph import Graph
from studio.graph.store import load_graph
from studio.records import Record, to_json
from studio.report.palette import DARK, ICONS, LIGHT, VERDICT_ICONS, Palette, mix
from studio.support import VERDICTS, TargetVerdicts, Verdict

_TINT = 0.22  # share of the verdict's colour under a node's title; its text stays the theme's own


class PageNode(Record):
    """How the page finds a node. `op` is plain: lower case letters and digits. `main`: not in a body."""

    output: str
    name: str
    op: str
    main: bool


class PageVerdict(Record):
    """One verdict's word and sign (a path on a 14 × 14 grid)."""

    key: str
    title: str
    sign: str
    filled: bool


class PageTarget(Record):
    """One target's columns, as in `TargetVerdicts`."""

    counts: dict[str, int]
    codes: list[int]
    reason_of: list[int]
    reasons: list[str]


class PageData(Record):
    """Everything; the page asks for it once, as JSON."""

    nodes: list[PageNode]
    verdicts: list[PageVerdict]
    targets: dict[str, PageTarget]
    first: str
    style: str


def page_data(graph_path: Path, verdict_paths: Mapping[str, str], *, first: str = "") -> bytes:
    """The JSON for a packed graph and the packed verdicts of its targets; `first` is shown first."""
    graph = load_graph(graph_path)
    targets = {name: _target(TargetVerdicts.load(Path(path))) for name, path in verdict_paths.items()}
    data = PageData(
        nodes=[_node(graph, node) for node in range(graph.node_count)],
        verdicts=[_verdict(verdict) for verdict in VERDICTS],
        targets=targets,
        first=first if first in targets else next(iter(targets)),
        style=_style(LIGHT) + f"@media (prefers-color-scheme: dark) {{\n{_style(DARK)}}}\n",
    )
    return to_json(data).encode()


def _node(graph: Graph, node: int) -> PageNode:
    outputs = graph.outputs_of(node)
    output = graph.tensor_name[int(outputs[0])] if len(outputs) else ""
    return PageNode(
        output=output.removeprefix("value ") if graph.format == "pte" else output,
        name=graph.node_name[node],
        op=plain_operator(graph.node_op[node]),
        main=int(graph.node_subgraph[node]) == 0,
    )


def plain_operator(op: str) -> str:
    """The operator as both sides can write it: `aten.exp.default` → `exp`, `CONV_2D` → `conv2d`."""
    name = op.rsplit("::", 1)[-1]
    parts = name.split(".")
    name = parts[1] if len(parts) > 1 else name
    return "".join(c for c in name.lower() if c.isascii() and c.isalnum())


def _verdict(verdict: Verdict) -> PageVerdict:
    sign, filled = ICONS[VERDICT_ICONS[verdict]]
    return PageVerdict(key=str(verdict), title=str(verdict).replace("_", " "), sign=sign, filled=filled)


def _target(verdicts: TargetVerdicts) -> PageTarget:
    return PageTarget(
        counts=verdicts.counts(),
        codes=verdicts.codes.tolist(),
        reason_of=verdicts.reason_of.tolist(),
        reasons=[reason.text for reason in verdicts.reasons],
    )


def _style(palette: Palette) -> str:
    rules = [
        f"#studio-legend {{ position: absolute; top: 12px; right: 28px; width: 210px; padding: 8px 12px; "
        f"border: 1px solid {palette.line}; border-radius: 8px; background: {palette.panel}; "
        f"color: {palette.text}; font-size: 12px; line-height: 20px; }}",
        f"#studio-legend select {{ width: 100%; font: inherit; background: {palette.panel}; "
        f"color: {palette.text}; border: 1px solid {palette.line}; border-radius: 4px; padding: 2px; }}",
        "#studio-legend svg { width: 18px; height: 18px; vertical-align: -4px; margin-right: 6px; }",
        f"#studio-note {{ color: {palette.quiet}; line-height: 16px; margin-top: 4px; }}",
        f".studio-sign circle {{ fill: {palette.panel}; stroke-width: 1.5; }}",
        ".studio-sign path.line { fill: none; stroke-width: 2; }",
    ]
    for verdict in VERDICTS:
        name, color = f".studio-{verdict}", getattr(palette, str(verdict))
        rules += [
            f"{name}.node-item-type path {{ fill: {mix(palette.panel, color, _TINT)}; }}",
            f"{name}.node-item-type text {{ fill: {palette.text}; }}",
            f"{name} > .node-border {{ stroke: {color}; stroke-width: 2px; }}",
            f"{name}.studio-sign circle {{ stroke: {color}; }}",
            f"{name}.studio-sign path.line {{ stroke: {color}; }}",
            f"{name}.studio-sign path.full {{ fill: {color}; stroke: none; }}",
        ]
    return "\n".join(rules) + "\n"
