"""Audit: rule against tool, node by node, over a folder of model files.

What tools answered is kept (`kept_answers`), so an audit that was stopped goes on where it was, and one after
a change of the rules asks nothing twice. A file that cannot be read, judged or asked about is listed, and
once a target whose tool is not here.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path

from studio.backends.ask import ToolAnswer, ToolNode, ToolTensor
from studio.errors import InputError, StudioError, ToolError, UnsupportedError
from studio.graph.formats import open_graph
from studio.graph.graph import Graph
from studio.jobs.ask_apart import AskApart, ToolGone
from studio.jobs.ask_tool import NPUS, match_nodes
from studio.jobs.audit_table import Audited, AuditTable, Claim
from studio.jobs.job import Report
from studio.jobs.kept_answers import Kept, KeptAnswers
from studio.records import Record
from studio.support import VERDICTS, TargetVerdicts, Verdict, judge
from studio.support.op_node import ABSENT, OpNode, OpTensor
from studio.support.problems import is_folded
from studio.support.rules import rule_for
from studio.support.ruling import Setting

TARGETS_OF = {
    "pt2": ("executorch/xnnpack", "executorch/vulkan", "litert/cpu"),
    "tflite": ("litert/cpu", *NPUS),
    "onnx": ("ort/cpu", "ort/nnapi", "ort/qnn"),
    "torchscript": ("pytorch-mobile/nnapi",),
    "pt": ("pytorch-mobile/nnapi",),
}
OPTIMIZER = "onnxruntime/core/optimizer/"
SUFFIXES = (".pt2", ".tflite", ".onnx", ".pt")


class Audit(Record):
    """The folder of model files, and which targets (empty: all that a tool answers for)."""

    corpus: str
    targets: tuple[str, ...] = ()
    soc: str = ""


def run(spec: Audit, report: Report) -> Audited:
    """The audit of a corpus. Raises InputError when the folder holds no model files."""
    folder = Path(spec.corpus)
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES and not p.is_dir())
    if not files:
        raise InputError(f"{folder} holds no model files.", hint=f"Put {', '.join(SUFFIXES)} files there.")
    table = AuditTable()
    with AskApart() as apart:
        tools = _Tools(apart)
        for number, path in enumerate(files):
            if report.should_stop():
                table.notes.append(f"Stopped after {number} of {len(files)} files; run it again to go on.")
                break
            name = path.relative_to(folder).as_posix()
            report.progress(f"auditing {name}", number, len(files))
            try:
                _audit_file(path, name, spec, table, tools)
            except StudioError as error:
                table.notes.append(f"{name}: {error}")
            except Exception as error:  # a bug on one stranger's file must not cost the answers on the others
                table.notes.append(f"{name}: could not be audited, {type(error).__name__}: {error}")
    report.progress("done", len(files), len(files))
    return Audited(
        date=datetime.date.today().isoformat(),
        rows=tuple(table.rows[key] for key in sorted(table.rows)),
        disagreements=tuple(table.disagreements),
        notes=tuple(table.notes),
    )


class _Tools:
    """The tools in their own process, asked only what they have not answered before."""

    def __init__(self, apart: AskApart) -> None:
        self._apart = apart
        self._kept = KeptAnswers()

    def ask(
        self, path: Path, format_: str, target_id: str, soc: str, shapes: tuple[tuple[int, ...], ...]
    ) -> ToolAnswer | None:
        """The answer, None when no tool answers for this file. Raises StudioError when it refuses.

        That a tool is not here is not kept: it may be tomorrow.
        """
        place = self._kept.place(path, target_id, soc, shapes)
        kept = self._kept.load(place)
        if kept is None:
            try:
                answer = self._apart.ask(path, format_, target_id, soc=soc, input_shapes=shapes)
                kept = Kept(answer=answer)
            except (ToolGone, UnsupportedError):
                raise
            except StudioError as error:
                kept = Kept(refusal=error.message, hint=error.hint)
            self._kept.save(place, kept)
        if kept.refusal:
            raise ToolError(kept.refusal, hint=kept.hint)
        return kept.answer


def _audit_file(path: Path, name: str, spec: Audit, table: AuditTable, tools: _Tools) -> None:
    graph = open_graph(path)
    format_ = graph.format
    for target_id in TARGETS_OF.get(format_, ()):
        if (spec.targets and target_id not in spec.targets) or target_id in table.absent:
            continue
        shapes = _shapes(path) if format_ in ("torchscript", "pt") else ()
        try:
            answer = tools.ask(path, format_, target_id, spec.soc, shapes)
        except UnsupportedError as error:
            table.absent.add(target_id)
            table.notes.append(f"{target_id} cannot be asked here: {error}")
            continue
        except StudioError as error:
            table.notes.append(f"{name}, {target_id}: {error}")
            continue
        if answer is None:
            continue
        tool = f"{answer.tool}, {answer.version}"
        if any(n.inputs for n in answer.nodes):
            table.count(name, target_id, "tool's graph", tool, _direct(answer, spec.soc))
        verdicts = judge(graph, [target_id], soc=spec.soc)[target_id]
        found = match_nodes(graph, answer)
        level = "source" if format_ == "pt2" else "tool's graph"
        table.count(name, target_id, level, tool, _claims(graph, verdicts, found))


def _claims(graph: Graph, verdicts: TargetVerdicts, found: dict[int, tuple[bool, str]]) -> Iterator[Claim]:
    """The verdicts beside the tool's answers. LiteRT's *runs* counts as a claim on XNNPACK only inside a
    partition: outside, LiteRT's own kernel runs the node, and that is what the tool must confirm.
    """
    for node, (taken, why) in found.items():
        reason = verdicts.reason(node)
        if is_folded(reason.source) or reason.source.startswith(OPTIMIZER):
            continue  # gone before anyone is asked; tools that do not optimise still see it
        if reason.vanishes and verdicts.target_id == "litert/cpu":
            continue  # a part of its neighbours: XNNPACK is asked about those
        verdict = VERDICTS[int(verdicts.codes[node])]
        outside = verdicts.target_id == "litert/cpu" and verdicts.partition_of[node] < 0
        if outside and verdict == Verdict.RUNS:
            verdict = Verdict.FALLS_BACK
        yield graph.label(node), graph.node_op[node], verdict, reason.text, taken, why


def _direct(answer: ToolAnswer, soc: str) -> Iterator[Claim]:
    """The target's own rule on the very nodes that the tool saw, without any prediction."""
    rule = rule_for(answer.target_id).rule
    setting = Setting(target_id=answer.target_id, soc=soc)
    for node in answer.nodes:
        if node.taken is None or node.op == "getitem" or not node.inputs:
            continue
        ruling = rule(op_node(node), setting)
        yield node.name, node.op, ruling.verdict, ruling.text, node.taken, node.reason


def op_node(node: ToolNode) -> OpNode:
    """A tool's node as rules see it."""
    return OpNode(
        op=node.op,
        attributes=node.attributes,
        inputs=tuple(ABSENT if t is None else _tensor(t) for t in node.inputs),
        outputs=tuple(_tensor(t) for t in node.outputs),
        producers=node.producers,
        distinct_inputs=node.distinct_inputs,
    )


def _tensor(tensor: ToolTensor) -> OpTensor:
    shape = None if tensor.shape is None else tuple("?" if d is None else d for d in tensor.shape)
    return OpTensor(dtype=tensor.dtype, shape=shape, is_constant=tensor.is_constant)


def _shapes(path: Path) -> tuple[tuple[int, ...], ...]:
    """Input shapes of a TorchScript file, from the ONNX or exported program of the same name beside it."""
    found = [p for p in (path.with_suffix(".onnx"), path.with_suffix(".pt2")) if p.is_file()]
    if not found:
        return ()
    graph = open_graph(found[0])
    shapes = [graph.tensor_shape[t] or () for t in graph.main_inputs()]
    return tuple(tuple(d if isinstance(d, int) else 1 for d in s) for s in shapes)
