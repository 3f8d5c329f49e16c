"""`diff FIRST SECOND`: what changed from one graph to another, node by node.

JSON: `{"first", "second", "counts": {"same", "changed", "removed", "added"}, "changes": [{"kind",
"first": {"node", "name", "op"} | null, "second": … | null, "what", "before", "after"}], "weights_compared",
"notes"}`. Exit code 0, or with `--exit-code` 1 when anything differs.
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from pathlib import Path

from studio.cli import tables
from studio.cli.opening import is_project, open_model, open_project
from studio.cli.options import Parser, add_dims, dims_of
from studio.cli.output import Output
from studio.graph import Graph
from studio.graph.diff import Change, ChangeKind, GraphDiff, diff_graphs
from studio.records import Record

_SHOWN = 40


class DiffNode(Record):
    """A node of one of the graphs: its place in the file, its name, its operator."""

    node: int
    name: str
    op: str


class DiffChange(Record):
    """One difference; a node that is not there is null."""

    kind: ChangeKind
    first: DiffNode | None
    second: DiffNode | None
    what: str
    before: str
    after: str


class DiffAnswer(Record):
    """What `diff --json` prints."""

    first: str
    second: str
    counts: dict[str, int]
    changes: tuple[DiffChange, ...]
    weights_compared: bool
    notes: tuple[str, ...]


def parser() -> Parser:
    """The options of `diff`."""
    result = Parser(
        "diff",
        summary="Say what changed from one graph to another: nodes added, removed and changed.",
        example="deployment-studio diff model.onnx model.int8.onnx --weights",
    )
    result.add_argument("first", help="a model, or a .studio project (then its source model)")
    result.add_argument("second", help="a model of the same or another format")
    result.add_argument(
        "--weights", action="store_true", help="compare all constants, not only the small ones (reads them)"
    )
    result.add_argument("--exit-code", action="store_true", help="exit with 1 when anything differs")
    add_dims(result, otherwise="without it the dim stays open")
    return result


def run(options: Namespace, output: Output) -> int:
    """Says what changed; 0, or 1 with `--exit-code` when something did."""
    dims = dims_of(options.dim)
    paths = [Path(options.first), Path(options.second)]
    paths = [open_project(path).graph_path if is_project(path) else path for path in paths]
    first, second = (open_model(path, dims=dims) for path in paths)
    output.report.progress("comparing", 0)
    diff = diff_graphs(
        first,
        second,
        compare_weights=options.weights,
        tell=lambda stage, done, total: output.report.progress(stage, done, total, "nodes"),
    )
    output.report.clear()
    answer = DiffAnswer(
        first=str(paths[0]),
        second=str(paths[1]),
        counts=diff.counts(),
        changes=tuple(_change(first, second, change) for change in diff.changes),
        weights_compared=diff.weights_compared,
        notes=diff.notes,
    )
    output.result(answer, text_of(answer, diff))
    return 1 if options.exit_code and diff.changes else 0


def _change(first: Graph, second: Graph, change: Change) -> DiffChange:
    return DiffChange(
        kind=change.kind,
        first=_node(first, change.node_a),
        second=_node(second, change.node_b),
        what=change.what,
        before=change.before,
        after=change.after,
    )


def _node(graph: Graph, node: int) -> DiffNode | None:
    return DiffNode(node=node, name=graph.node_name[node], op=graph.node_op[node]) if node >= 0 else None


def text_of(answer: DiffAnswer, diff: GraphDiff) -> str:
    """The differences for people: how many of each, and the first of them."""
    counts = answer.counts
    lines = [
        " · ".join(f"{counts[key]:,} {key}" for key in ("same", "changed", "added", "removed")) + " nodes"
    ]
    kinds = Counter(str(change.kind) for change in answer.changes)
    if kinds:
        lines.append(", ".join(f"{n:,} × {kind}" for kind, n in kinds.most_common()))
    rows = [
        (
            str(change.kind),
            _label(change.second or change.first),
            change.what,
            f"{change.before} → {change.after}" if change.before or change.after else "",
        )
        for change in answer.changes[:_SHOWN]
    ]
    if rows:
        lines += ["", tables.table(("difference", "node", "what", "before → after"), rows)]
    if len(answer.changes) > _SHOWN:
        lines.append(f"and {len(answer.changes) - _SHOWN:,} more; --json has them all")
    if not diff.weights_compared:
        lines.append("Large constants were not read; --weights compares them as well.")
    return "\n".join([*lines, *(f"note: {note}" for note in answer.notes)])


def _label(node: DiffNode | None) -> str:
    if node is None:
        return ""
    return f"{node.op} {node.name[-60:]}".rstrip() if node.name else f"{node.op} #{node.node}"
