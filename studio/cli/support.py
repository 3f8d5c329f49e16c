"""`support FILE --target T`: what each target does with each node, why, says who, and what would fix it.

JSON: see `studio.cli.support_answer`; `--audit` has an answer of its own, see `studio.cli.audit`.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from studio.cli import tables
from studio.cli.data_options import parse_input
from studio.cli.opening import is_project, open_model, open_project
from studio.cli.options import BATCH_IS_1, Parser, add_dims, add_phone, add_targets, dims_of, targets_of
from studio.cli.output import Output
from studio.cli.support_answer import answer_of
from studio.errors import InputError
from studio.graph import Graph
from studio.jobs.ask_tool import ToolAsked
from studio.jobs.measured import derived_of, runs_dirs_of, with_measured
from studio.measure.evidence import evidence_in
from studio.support import Problem, TargetVerdicts, Tier, find_problems, judge, layout_tax
from studio.targets import DEFAULT_TARGETS, TARGETS

_PROBLEMS_SHOWN = 12
_NODES_SHOWN = 3
_PARTITIONS_SHOWN = 3
_SIGNS = {"runs": "✓", "conditional": "◆", "falls_back": "▲", "fails": "✕", "unknown": "?"}


def parser() -> Parser:
    """The options of `support`."""
    result = Parser(
        "support",
        summary="Say what each target does with each node, and why. Unknown is never shown as yes or no.",
        example="deployment-studio support mobilenet.onnx --target ort/nnapi --target litert/gpu",
    )
    result.add_argument(
        "file", nargs="?", default="", help="a model, or a .studio project (then with its targets and SoC)"
    )
    add_targets(result, text="a target id, a runtime (ort), or all; repeatable")
    add_phone(result)
    add_dims(result, otherwise=BATCH_IS_1)
    result.add_argument("--nodes", action="store_true", help="list every node, not only the problems")
    result.add_argument(
        "--tool", action="store_true", help="ask the real partitioners and compilers that are installed"
    )
    result.add_argument(
        "--input", action="append", default=[], metavar="NAME:DTYPE:SHAPE",
        help="for --tool on TorchScript, which does not say its shapes",
    )  # fmt: skip
    result.add_argument(
        "--audit", default="", metavar="CORPUS", help="compare rules and tools over a folder of models"
    )
    return result


def run(options: Namespace, output: Output) -> int:
    """Says the verdicts; 0 (and 1 when an audit finds a false yes)."""
    if options.audit:
        from studio.cli.audit import run_audit

        return run_audit(options.audit, targets_of(options.target, default=()), options.soc, output)
    if not options.file:
        raise InputError("Which model?", hint="Name a file: deployment-studio support FILE")
    path, soc = Path(options.file), options.soc
    default: tuple[str, ...] = DEFAULT_TARGETS
    derived: dict[str, Path] = {}
    runs_dirs = runs_dirs_of(None)
    if is_project(path):
        opened = open_project(path)
        derived, runs_dirs = derived_of(opened.project, opened.folder), runs_dirs_of(opened.path)
        path, soc = opened.graph_path, soc or opened.project.soc
        default = opened.project.targets or default
    target_ids = targets_of(options.target, default=default)
    graph = open_model(path, dims=dims_of(options.dim))
    verdicts = judge(graph, target_ids, soc=soc, android_level=options.android_level)
    tools: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    if options.tool:
        asked = _ask(path, target_ids, soc, options, output)
        tools, notes = asked.tools, asked.notes
        verdicts |= {t: TargetVerdicts.load(Path(file)) for t, file in asked.verdict_paths.items()}
    evidence = evidence_in(*runs_dirs)
    if evidence:
        verdicts = with_measured(graph, graph.file_sha256, verdicts, evidence, soc=soc, derived=derived)
    problems = find_problems(graph, verdicts)
    if output.as_json:
        output.result(answer_of(graph, verdicts, problems, tools, notes))
    else:
        output.line(text_of(graph, verdicts, problems))
        for line in evidence_lines(verdicts):
            output.line(line)
        for target_id, tool in tools.items():
            output.line(f"{target_id} was asked: {tool}")
        for note in notes:
            output.line(f"note: {note}")
        if options.nodes:
            output.line(_nodes_text(graph, verdicts))
    return 0


def _ask(path: Path, target_ids: tuple[str, ...], soc: str, options: Namespace, output: Output) -> ToolAsked:
    """The real tools' answers, over the rules' verdicts."""
    from studio.jobs.ask_tool import AskTool
    from studio.jobs.ask_tool import run as ask

    shapes = tuple(
        tuple(dim if isinstance(dim, int) else 1 for dim in parse_input(text).shape) for text in options.input
    )
    spec = AskTool(
        path=str(path.absolute()),
        targets=target_ids,
        soc=soc,
        android_level=options.android_level,
        input_shapes=shapes,
        dims=dims_of(options.dim),
    )
    return ask(spec, output.report)


def text_of(graph: Graph, verdicts: dict[str, TargetVerdicts], problems: tuple[Problem, ...]) -> str:
    """A table per target and the dearest problems, for people."""
    rows = []
    for target_id, found in verdicts.items():
        counts = (str(n) if n else "–" for n in found.counts().values())
        rows.append((target_id, *counts, str(len(found.partitions)), tables.percent(found.macs_share, 0)))
    head = ("target", *(f"{_SIGNS[v]} {v.replace('_', ' ')}" for v in _SIGNS), "partitions", "MACs kept")
    lines = [tables.table(head, rows, right="lrrrrrrr")]
    lines += [line for target_id, found in verdicts.items() if (line := _partition_text(graph, found))]
    for problem in problems[:_PROBLEMS_SHOWN]:
        lines.append("")
        lines.append(_problem_text(graph, problem))
    if len(problems) > _PROBLEMS_SHOWN:
        lines.append(f"\n… and {len(problems) - _PROBLEMS_SHOWN} more problems: --json has them all.")
    return "\n".join(lines)


def evidence_lines(verdicts: dict[str, TargetVerdicts]) -> list[str]:
    """What runs said, a line each; those that do not stand over the rules say why."""
    lines = []
    for target_id, found in verdicts.items():
        for piece in found.evidence:
            said = piece.refused or f"{len(piece.taken)} nodes ran on it, {len(piece.left)} did not"
            if not piece.refused and not piece.taken and not piece.left:
                said = piece.words or "it ran; which nodes where is not known"
            whose = f" (as {piece.file})" if piece.file else ""
            aside = "" if piece.applies else "; shown beside the verdicts, which are for another device"
            if piece.is_simulated:
                aside = "; a simulated phone, which says nothing of a real one"
            elif piece.refused:
                aside = "; verdicts are as before"
            lines.append(f"{target_id} {piece.source}{whose}: {said.rstrip('.')}{aside}.")
    return lines


def _at_least(size: int, unknown_sizes: int) -> str:
    """Bytes; "≥" where some sizes are not known, and never 0 for what is not known."""
    if not unknown_sizes:
        return tables.size(size)
    return f"≥ {tables.size(size)}" if size else "?"


def _partition_text(graph: Graph, found: TargetVerdicts) -> str:
    """An accelerator's partitions, what crosses their borders, and its transposes, in a line or two."""
    if not TARGETS[found.target_id].is_accelerator or not found.partitions:
        return ""
    shown = [
        f"{len(p.nodes)} node{'s' if len(p.nodes) != 1 else ''}, {tables.count(p.macs)} MACs, "
        f"{tables.size(p.weight_bytes)} weights, "
        f"{_at_least(p.boundary_in_bytes, p.unknown_sizes)} in, "
        f"{_at_least(p.boundary_out_bytes, p.unknown_sizes)} out"
        for p in sorted(found.partitions, key=lambda p: -len(p.nodes))[:_PARTITIONS_SHOWN]
    ]
    more = len(found.partitions) - len(shown)
    text = f"{found.target_id}: {' | '.join(shown)}{f' | and {more} smaller' if more > 0 else ''}"
    tax = layout_tax(graph, found)
    if tax.held or tax.inserted:
        held = _at_least(tax.held_bytes, tax.unknown_sizes)
        text += f"\n    layout: {tax.held} transposes in the graph ({held})"
        if tax.inserted:
            text += (
                f", about {tax.inserted} more that the runtime puts around its partitions "
                f"({_at_least(tax.inserted_bytes, tax.unknown_sizes)})"
            )
    return text


def _problem_text(graph: Graph, problem: Problem) -> str:
    names = ", ".join(graph.label(n) for n in problem.nodes[:_NODES_SHOWN])
    more = len(problem.nodes) - _NODES_SHOWN
    sign, word = _SIGNS[str(problem.verdict)], str(problem.verdict).replace("_", " ")
    source = problem.source if problem.tier is Tier.MEASURED else f"{problem.source} ({problem.tier})"
    lines = [
        f"{sign} {problem.target_id}: {problem.op} ×{len(problem.nodes)} {word}"
        + (f", {tables.percent(problem.macs_share)} of MACs" if problem.macs_share else "")
        + _if_fixed(problem),
        f"    {problem.sentence}",
        f"    nodes: {names}" + (f" and {more} more" if more > 0 else ""),
        f"    source: {source}",
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
