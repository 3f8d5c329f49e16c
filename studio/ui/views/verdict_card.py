"""Verdict cards: per target a pill, a reason, its source, its fixes; below, the node's own figures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from studio.support import Evidence, Reason, TargetVerdicts, Tier, Verdict
from studio.targets import TARGETS
from studio.ui.canvas.measured import error_words, latency_words
from studio.ui.domain_texts import translate_sentence
from studio.ui.look_jobs import ask_tools
from studio.ui.node_facts import tensor_type
from studio.ui.session import Session
from studio.ui.stages import OpenedGraph
from studio.ui.texts import QT_TRANSLATE_NOOP, fill, translate
from studio.ui.views.partition_rows import node_tax_text
from studio.ui.views.step_texts import bytes_text, count_text
from studio.ui.widgets.parts import button, label
from studio.ui.widgets.row import Row
from studio.ui.widgets.verdict_pill import VerdictPill, word

_TIERS = {
    Tier.RULE: QT_TRANSLATE_NOOP("VerdictCard", "rule"),
    Tier.TOOL: QT_TRANSLATE_NOOP("VerdictCard", "tool"),
    Tier.MEASURED: QT_TRANSLATE_NOOP("VerdictCard", "measured"),
}


def _tr(text: str) -> str:
    return translate("VerdictCard", text)


def verdict_page(
    session: Session,
    node: int,
    on_source: Callable[[str, int], object],
    on_fix: Callable[[str, int], object],
) -> QWidget:
    """The page: the current target's card in full, the others as rows, then the node's figures."""
    opened = session.opened
    assert opened is not None
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(10, 8, 10, 8)
    column.setSpacing(4)
    current = opened.verdicts.get(session.target_id)
    if current is not None:
        column.addWidget(verdict_card(opened, current, node, on_fix))
        if current.reason(node).tier is Tier.RULE:
            ask = partial(ask_tools, session, (session.target_id,))
            column.addWidget(button(session.tr("Ask the real tools"), lambda: ask(), role="link"))
    for target_id, verdicts in opened.verdicts.items():
        if target_id != session.target_id:
            column.addWidget(_other_row(session, target_id, verdicts, node))
    if not opened.verdicts:
        column.addWidget(
            label(_tr("No target is chosen, or this graph could not be judged."), "quiet", wrap=True)
        )
    column.addSpacing(4)
    column.addLayout(_figures(opened, node, on_source))
    column.addStretch(1)
    return page


def verdict_card(
    opened: OpenedGraph, verdicts: TargetVerdicts, node: int, on_fix: Callable[[str, int], object]
) -> QFrame:
    """What one target does with the node, why, who says so, and what helps."""
    reason = verdicts.reason(node)
    card = QFrame()
    card.setObjectName("Card")
    column = QVBoxLayout(card)
    column.setContentsMargins(12, 10, 12, 10)
    column.setSpacing(6)
    head = QHBoxLayout()
    head.setSpacing(8)
    head.addWidget(VerdictPill(verdicts.verdict(node)))
    head.addWidget(label(TARGETS[verdicts.target_id].title), 1)
    column.addLayout(head)
    column.addWidget(label(translate_sentence(reason.text), wrap=True, selectable=True))
    cut = verdicts.cuts.get(opened.graph.label(node))
    if cut:
        column.addWidget(label(translate_sentence(cut), "warn", wrap=True))
    column.addWidget(label(source_text(reason), "small", wrap=True, selectable=True))
    outputs = opened.graph.outputs_of(node)
    size = int(opened.graph.tensor_bytes[outputs[0]]) if len(outputs) and outputs[0] >= 0 else -1
    tax = node_tax_text(opened.layout_tax(verdicts.target_id), node, size)
    if tax:
        column.addWidget(label(tax, "small", wrap=True))
    for piece in verdicts.evidence:
        said = evidence_text(piece, node)
        if said and piece.source != reason.source:
            column.addWidget(label(said, "small", wrap=True, selectable=True))
    if reason.fixes and verdicts.verdict(node) is not Verdict.RUNS:
        row = QHBoxLayout()
        row.setSpacing(6)
        for fix_id in reason.fixes[:2]:
            row.addWidget(button(fix_title(fix_id), partial(on_fix, fix_id, node), role="primary"))
        row.addStretch(1)
        column.addLayout(row)
    return card


def source_text(reason: Reason) -> str:
    """Who says so; a measurement names its device itself."""
    if reason.tier is Tier.MEASURED:
        return translate_sentence(reason.source)
    tier = _tr(_TIERS[reason.tier])
    return f"{tier}: {reason.source}" if reason.source else tier


def evidence_text(piece: Evidence, node: int) -> str:
    """What a run says of a node beside the verdict, in a sentence; empty when it says nothing of it."""
    source = translate_sentence(piece.source)
    if piece.refused:
        return fill(_tr("Not run: {why} ({source})"), why=translate_sentence(piece.refused), source=source)
    if node in piece.taken:
        return fill(_tr("Ran on this target: {source}"), source=source)
    if node in piece.left:
        return fill(_tr("Did not run on this target: {source}"), source=source)
    return ""


def fix_title(fix_id: str) -> str:
    """ "Fix: …" with the fix's own title where it is known."""
    from studio.recipes.fixes import FIXES

    fix = FIXES.get(fix_id)
    return fill(_tr("Fix: {what}"), what=translate_sentence(fix.title) if fix else fix_id)


def _other_row(session: Session, target_id: str, verdicts: TargetVerdicts, node: int) -> Row:
    verdict = verdicts.verdict(node)
    reason = translate_sentence(verdicts.reason(node).text)
    row = Row()
    row.show_texts(
        TARGETS[target_id].title,
        value=word(verdict),
        value_color=verdict.value,
        icon=f"verdict-{verdict.value}",
        icon_color=verdict.value,
        tip=reason,
    )
    row.clicked.connect(lambda: session.set_target(target_id))
    return row


def _figures(opened: OpenedGraph, node: int, on_source: Callable[[str, int], object]) -> QFormLayout:
    graph, costs = opened.graph, opened.costs
    form = QFormLayout()
    form.setContentsMargins(4, 0, 4, 0)
    form.setVerticalSpacing(4)

    def add(name: str, value: str) -> None:
        text = label(value, wrap=True, selectable=True)
        text.setAlignment(Qt.AlignmentFlag.AlignRight)
        form.addRow(label(name, "quiet"), text)

    for tensor in graph.outputs_of(node).tolist()[:2]:
        if tensor >= 0:
            add(_tr("Output"), tensor_type(graph, tensor))
    if costs is not None:
        macs = int(costs.macs[node])
        if macs > 0:
            share = f" ({100 * macs / costs.total_macs:.1f} %)" if costs.total_macs else ""
            add(_tr("MACs"), count_text(macs) + share)
        if costs.weight_bytes[node] > 0:
            add(_tr("Weights"), bytes_text(int(costs.weight_bytes[node])))
        if costs.activation_bytes[node] > 0:
            add(_tr("Activations"), bytes_text(int(costs.activation_bytes[node])))
    if opened.profile is not None:
        add(_tr("Latency"), latency_words(graph, opened.profile, node))
    if opened.layer_errors is not None:
        add(_tr("Error"), error_words(graph, opened.layer_errors, node))
    provenance = graph.node_provenance.get(node)
    if provenance is not None:
        if provenance.module:
            kind = f" ({provenance.module_type.rpartition('.')[2]})" if provenance.module_type else ""
            add(_tr("Module"), provenance.module + kind)
        if provenance.file:
            name = provenance.file.replace("\\", "/").rpartition("/")[2]
            where = button(
                f"{name}:{provenance.line}",
                lambda: on_source(provenance.file, provenance.line),
                role="link",
                tip=_tr("Show this line in the editor"),
            )
            form.addRow(label(_tr("Python"), "quiet"), where)
    return form
