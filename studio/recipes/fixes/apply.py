"""Apply a fix: rewrite, prove, judge before and after, write; or refuse and leave everything as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from studio.errors import InputError, UnsupportedError
from studio.graph.labels import percent_text
from studio.recipes.fixes.fix import Fix, FixOptions, Needs, find_fix, rewriter_of
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import keep_lines
from studio.recipes.fixes.prove import Proof, prove
from studio.recipes.fixes.runner import Runner
from studio.records import Record, write_atomically
from studio.targets import TARGETS


class Judged(Record):
    """What a target says of one file: counts per verdict, partitions, share of MACs kept."""

    counts: dict[str, int]
    partitions: int
    macs_share: float | None

    @property
    def taken(self) -> int:
        """Nodes that the accelerator takes, for sure or under conditions."""
        return self.counts.get("runs", 0) + self.counts.get("conditional", 0)

    @property
    def left(self) -> int:
        """Nodes that it does not take, or of which that is not known."""
        return sum(self.counts.values()) - self.taken


class FixOutcome(Record):
    """What a fix did: the files, where it changed something, the proof, verdicts before and after.

    `after` has one entry per file and target; `python_lines` are the places (file:line) in the source that
    the changed nodes were exported from, where the exporter wrote them down.
    """

    fix: str
    title: str
    files: tuple[str, ...]
    changed: tuple[str, ...]
    proof: Proof
    before: dict[str, Judged] = {}
    after: tuple[dict[str, Judged], ...] = ()
    notes: tuple[str, ...] = ()
    torch_advice: str = ""
    python_lines: tuple[str, ...] = ()


def apply_fix(
    path: Path, fix_id: str, out: Path, options: FixOptions, *, targets: tuple[str, ...] = ()
) -> FixOutcome:
    """Rewrites the ONNX file at `path` into `out` (several files get a suffix before the extension).

    Raises UnsupportedError when there is nothing to fix or equality does not hold, InputError for
    bad options; nothing is written then.
    """
    fix = find_fix(fix_id)
    if not options.opset:
        options = msgspec.structs.replace(options, opset=fix.defaults.opset)
    original = without_functions(OnnxEdit.load(path))
    kept = type(original.model)()
    kept.CopyFrom(original.model)
    before = Runner(kept).open()  # a model that does not run is refused before anything touches it
    if Needs.TARGET in fix.needs:
        options = _with_refused(path, fix, options)
    rewrite = rewriter_of(fix)(original, options)
    proof = prove(before, rewrite, options.inputs_path)
    if not proof.holds:
        raise UnsupportedError(
            f"{fix.title} was refused: outputs differ by {proof.max_relative_error:.3g} of their range, "
            f"more than the {proof.tolerance:g} allowed.",
            hint="The file was left as it is.",
            nodes=rewrite.changed,
        )
    files = tuple(out.with_name(f"{out.stem}{suffix}{out.suffix}") for suffix, _ in rewrite.models)
    for file, (_, model) in zip(files, rewrite.models):
        write_atomically(file, _serialized(model, kept))
    was = judged(path, targets, options.soc)
    now = tuple(judged(file, targets, options.soc) for file in files) if targets else ()
    return FixOutcome(
        fix=fix.id,
        title=fix.title,
        files=tuple(str(f) for f in files),
        changed=rewrite.changed,
        proof=proof,
        before=was,
        after=now,
        notes=(*rewrite.notes, *_lost_defaults(kept, rewrite.models[0][1]), *harm(was, now)),
        torch_advice=rewrite.torch_advice or fix.torch_advice,
        python_lines=_lines_of(path, rewrite.changed) if fix.torch_advice else (),
    )


def _lines_of(path: Path, changed: tuple[str, ...]) -> tuple[str, ...]:
    """The Python lines of the changed nodes, each once, in the order of the graph."""
    from studio.graph import open_graph

    graph = open_graph(path)
    wanted = set(changed)
    found: dict[str, None] = {}
    for node, origin in sorted(graph.node_provenance.items()):
        outputs = [graph.tensor_name[int(t)] for t in graph.outputs_of(node) if t >= 0]
        names = {graph.node_name[node] or f"{graph.node_op[node]}→{outputs[0] if outputs else '?'}"}
        if origin.file and wanted & names:
            found[f"{origin.file}:{origin.line}"] = None
    return tuple(found)


def _lost_defaults(old: Any, new: Any) -> tuple[str, ...]:
    """A sentence when inputs that had a default value are constants now."""
    defaults = {v.name for v in old.graph.input} & {t.name for t in old.graph.initializer}
    lost = sorted(defaults - {v.name for v in new.graph.input})
    if not lost:
        return ()
    return (f"Inputs with a default value that are plain constants now: {', '.join(lost[:8])}.",)


def harm(before: dict[str, Judged], after: tuple[dict[str, Judged], ...]) -> tuple[str, ...]:
    """A sentence per target that is worse off in every file that was made; () when none is."""
    found = []
    for target, was in before.items():
        reasons = [_worse(was, made[target]) for made in after]
        if reasons and all(reasons):
            found.append(f"Worse on {TARGETS[target].title}: {reasons[0]}.")
    return tuple(found)


def _worse(was: Judged, now: Judged) -> str:
    """In what the new file is worse for a target; empty when in nothing.

    Fewer nodes taken are no harm where as few are left: they were folded away. More partitions are worse
    only if no more is computed in them than before.
    """
    if was.macs_share is not None and now.macs_share is not None and now.macs_share < was.macs_share - 1e-6:
        return f"{percent_text(was.macs_share, 0)} → {percent_text(now.macs_share, 0)} of the MACs kept"
    if now.left > was.left and now.taken <= was.taken:
        return f"{was.left} → {now.left} nodes not taken"
    gains = now.taken > was.taken or now.left < was.left or (now.macs_share or 0.0) > (was.macs_share or 0.0)
    if now.partitions > max(was.partitions, 1) and not gains:
        return f"{was.partitions} → {now.partitions} partitions"
    return ""


def judged(path: Path, targets: tuple[str, ...], soc: str) -> dict[str, Judged]:
    """What each target says of a file."""
    from studio.graph import open_graph
    from studio.support import judge

    if not targets:
        return {}
    verdicts = judge(open_graph(path), targets, soc=soc)
    return {
        target: Judged(counts=v.counts(), partitions=len(v.partitions), macs_share=v.macs_share)
        for target, v in verdicts.items()
    }


def without_functions(edit: OnnxEdit) -> OnnxEdit:
    """The model with its local functions written out at every call, since rewrites look at the main graph.

    The model itself where onnx cannot do it: its functions are left alone then.
    """
    from onnx import inliner

    if not edit.model.functions:
        return edit
    try:
        inlined = inliner.inline_local_functions(edit.model)
    except Exception:  # bare RuntimeErrors of the C++ side
        return edit
    keep_lines(edit.model, inlined)
    return OnnxEdit(inlined)


def _serialized(model: Any, original: Any) -> bytes:
    """The file's bytes, with the original's metadata and without shapes that no longer hold."""
    if not model.metadata_props:
        model.metadata_props.extend(original.metadata_props)
    model.producer_name = model.producer_name or original.producer_name
    data: bytes = model.SerializeToString()
    return data


def _with_refused(path: Path, fix: Fix, options: FixOptions) -> FixOptions:
    """The options with the nodes that the target does not take."""
    from studio.graph import open_graph
    from studio.support import Verdict, judge

    if options.nodes:
        return options
    if not options.target:
        raise InputError(f"{fix.title} needs a target.", hint="Name one with --target.")
    graph = open_graph(path)
    verdicts = judge(graph, (options.target,), soc=options.soc)[options.target]
    refused = tuple(
        graph.tensor_name[int(graph.outputs_of(node)[0])]
        for node in graph.nodes_in(0)
        if len(graph.outputs_of(node)) and verdicts.verdict(node) in (Verdict.FALLS_BACK, Verdict.FAILS)
    )
    return msgspec.structs.replace(options, nodes=refused)
