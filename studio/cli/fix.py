"""`fix FILE --fix ID --out FILE`: rewrite a graph so that a target takes it, and prove it equal.

JSON: `studio.recipes.fixes.apply.FixOutcome`: `{"fix", "title", "files": [path], "changed": [node],
"proof": {"samples", "inputs", "max_abs_error", "max_relative_error", "tolerance"}, "before": {T:
{"counts", "partitions", "macs_share"}}, "after": [{T: …} per file], "notes", "torch_advice",
"python_lines": ["FILE:LINE"]}`. With `--list`: `{"fixes": [{"id", "title", "gain", "needs", …}],
"offers": [{"fix", "target", "verdict", "nodes"}]}`; with a FILE only what helps some target there. Exit code
3: nothing to fix, or refused since the outputs would differ; nothing is written then.
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from pathlib import Path

from studio.cli import tables
from studio.cli.opening import open_model, refuse_itself
from studio.cli.options import Parser, add_out, add_targets, size_of, targets_of
from studio.cli.output import Output
from studio.errors import InputError
from studio.jobs.apply_fix import ApplyFix
from studio.jobs.apply_fix import run as apply
from studio.recipes.fixes import FIXES, Fix, FixOptions, FixOutcome
from studio.records import Record, check_writable
from studio.support import Verdict, find_problems, judge
from studio.targets import DEFAULT_TARGETS


class Offer(Record):
    """A fix that helps a target with nodes that it does not simply run."""

    fix: str
    target: str
    verdict: Verdict
    nodes: int


class FixList(Record):
    """What `fix --list --json` prints; with a FILE: the fixes that are offered there, and for what."""

    fixes: tuple[Fix, ...]
    offers: tuple[Offer, ...] = ()


def parser() -> Parser:
    """The options of `fix`."""
    result = Parser(
        "fix",
        summary="Rewrite an ONNX graph so that a target takes it; proven equal on inputs, or refused.",
        example="deployment-studio fix net.onnx --fix freeze-dims --dim batch=1 --out fixed.onnx",
    )
    result.add_argument("file", nargs="?", default="", help="an .onnx file")
    result.add_argument("--fix", default="", metavar="ID", help="which fix; see --list")
    add_out(result, text="where to write (default: FILE-ID.onnx)")
    result.add_argument(
        "--list",
        action="store_true",
        help="list the fixes and what they gain; of FILE: those that help a target",
    )
    add_targets(result, text="show verdicts before and after for T; split-unsupported goes by the first")
    result.add_argument("--soc", default="", metavar="SOC", help="the phone's SoC, e.g. SM8650")
    result.add_argument(
        "--dim", action="append", default=[], metavar="NAME=N[,N…]", help="sizes of a dim; one model each"
    )
    result.add_argument("--opset", type=int, default=0, metavar="N", help="for opset-up and opset-down")
    result.add_argument("--limit", type=float, default=65504.0, metavar="X", help="for clamp-inf-masks")
    result.add_argument("--inputs", default="", metavar="NPZ", help="real inputs, one array per input name")
    result.add_argument("--node", action="append", default=[], metavar="NAME", help="only there; repeatable")
    return result


def run(options: Namespace, output: Output) -> int:
    """Applies the fix; 0."""
    if options.list and options.file:
        return _list_offers(options, output)
    if options.list:
        rows = [(f.id, f.title, f.gain, ", ".join(map(str, f.needs))) for f in FIXES.values()]
        output.result(
            FixList(fixes=tuple(FIXES.values())), tables.table(("fix", "what", "why", "needs"), rows)
        )
        return 0
    if not options.file or not options.fix:
        raise InputError(
            "A file and a fix are needed.", hint="deployment-studio fix FILE --fix ID, or --list"
        )
    path = Path(options.file)
    out = Path(options.out) if options.out else path.with_name(f"{path.stem}-{options.fix}.onnx")
    refuse_itself(str(out), path)
    if not options.out and path.is_file():  # a given one was checked while it was read
        check_writable(out.absolute())
    targets = targets_of(options.target, default=())
    spec = ApplyFix(
        path=str(path),
        fix=options.fix,
        out=str(out),
        options=FixOptions(
            dims=_buckets(options.dim),
            opset=options.opset,
            limit=options.limit,
            target=targets[0] if targets else "",
            soc=options.soc,
            inputs_path=options.inputs,
            nodes=tuple(options.node),
        ),
        targets=targets,
    )
    outcome = apply(spec, output.report)
    output.result(outcome, text_of(outcome))
    return 0


def _list_offers(options: Namespace, output: Output) -> int:
    """Lists the fixes that the verdicts on a file name; 0."""
    graph = open_model(
        Path(options.file), dims={name: sizes[0] for name, sizes in _buckets(options.dim).items()}
    )
    targets = targets_of(options.target, default=DEFAULT_TARGETS)
    counts: Counter[tuple[str, str, Verdict]] = Counter()
    for problem in find_problems(graph, judge(graph, targets, soc=options.soc)):
        for fix in problem.fixes:
            counts[fix, problem.target_id, problem.verdict] += len(problem.nodes)
    offers = tuple(Offer(fix=f, target=t, verdict=v, nodes=n) for (f, t, v), n in counts.items())
    named = {offer.fix for offer in offers}
    fixes = tuple(fix for fix in FIXES.values() if fix.id in named)
    rows = [
        (fix.id, fix.title, ", ".join(_helped(o) for o in offers if o.fix == fix.id), ", ".join(fix.needs))
        for fix in fixes
    ]
    text = tables.table(("fix", "what", "nodes that it helps", "needs"), rows)
    output.result(FixList(fixes=fixes, offers=offers), text if rows else "No fix helps these targets here.")
    return 0


def _helped(offer: Offer) -> str:
    return f"{offer.target} {offer.nodes} ({offer.verdict})"


def text_of(outcome: FixOutcome) -> str:
    """The outcome for people."""
    proof = outcome.proof
    shown = ", ".join(outcome.changed[:6]) + (" …" if len(outcome.changed) > 6 else "")
    lines = [
        f"{outcome.title}: {len(outcome.changed)} place(s): {shown}",
        f"Equal on {proof.samples} samples ({proof.inputs}): largest difference "
        f"{proof.max_relative_error:.2g} of the output's range, {proof.tolerance:g} allowed.",
        *outcome.notes,
    ]
    rows = []
    for target, before in outcome.before.items():
        for file, after in zip(outcome.files, outcome.after):
            now = after[target]
            rows.append(
                (
                    target,
                    Path(file).name,
                    f"{before.partitions} → {now.partitions}",
                    f"{_taken(before.counts)} → {_taken(now.counts)}",
                    f"{tables.percent(before.macs_share, 0)} → {tables.percent(now.macs_share, 0)}",
                )
            )
    if rows:
        lines.append(tables.table(("target", "file", "partitions", "nodes taken", "MACs kept"), rows))
    lines += [f"Wrote {file}" for file in outcome.files]
    if outcome.torch_advice:
        where = ", ".join(outcome.python_lines[:4]) + (" …" if len(outcome.python_lines) > 4 else "")
        lines.append(f"In the Python source{f' ({where})' if where else ''}: {outcome.torch_advice}")
    return "\n".join(lines)


def _taken(counts: dict[str, int]) -> str:
    return f"{counts['runs'] + counts['conditional']}/{sum(counts.values())}"


def _buckets(pairs: list[str]) -> dict[str, tuple[int, ...]]:
    """`["N=1,8"]` as `{"N": (1, 8)}`. Raises InputError."""
    found: dict[str, tuple[int, ...]] = {}
    for pair in pairs:
        name, _, sizes = pair.partition("=")
        parts = sizes.split(",")
        if not name or not all(map(size_of, parts)):
            raise InputError(f"--dim {pair} has no size after a name.", hint="For example: --dim batch=1,8")
        found[name] = tuple(map(size_of, parts))
    return found
