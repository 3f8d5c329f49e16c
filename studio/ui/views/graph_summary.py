"""What the graph is as a whole, shown while no node is selected."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QVBoxLayout, QWidget

from studio.graph.cost import Costs
from studio.ui.domain_texts import translate_sentence
from studio.ui.node_facts import tensor_type
from studio.ui.session import Session
from studio.ui.stages import OpenedGraph
from studio.ui.texts import fill, translate
from studio.ui.views.partition_rows import partition_rows
from studio.ui.views.step_texts import bytes_text, count_text
from studio.ui.widgets.parts import label

_MOST_NOTES = 4


def _tr(text: str) -> str:
    return translate("GraphSummary", text)


def graph_summary(session: Session, on_nodes: Callable[[tuple[int, ...], str], object]) -> QWidget:
    """A page with format, opsets, interface, size, cost and partitions; or a hint when nothing is open.

    `on_nodes(nodes, words)`: a partition was clicked.
    """
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(14, 2, 12, 8)
    column.setSpacing(6)
    opened = session.opened
    if opened is None or opened.graph.node_count:
        hint = _tr("Select a node to see what every target does with it, and why.")
        column.addWidget(label(hint, "quiet", wrap=True))
    if opened is None:
        column.addStretch(1)
        return page
    column.addSpacing(4)
    parts = [_rows(opened), partition_rows(session, on_nodes)]
    if session.overlay == "partitions":
        parts.reverse()  # what is looked at first: a low window shows little below the facts
    for part in parts:
        column.addLayout(part)
        column.addSpacing(4)
    for note in opened.notes[:_MOST_NOTES]:
        column.addWidget(label(translate_sentence(note), "small", wrap=True, selectable=True))
    if len(opened.notes) > _MOST_NOTES:
        more = fill(_tr("… and {n} more notes in the log"), n=len(opened.notes) - _MOST_NOTES)
        column.addWidget(label(more, "small"))
    column.addStretch(1)
    return page


def _macs_text(costs: Costs) -> str:
    """The total; “≥” when some nodes are unknown, a word when all are."""
    if not costs.unknown_macs:
        return count_text(costs.total_macs)
    return f"≥ {count_text(costs.total_macs)}" if costs.total_macs else _tr("unknown: symbolic shapes")


def _rows(opened: OpenedGraph) -> QFormLayout:
    graph, costs = opened.graph, opened.costs
    form = QFormLayout()
    form.setVerticalSpacing(4)
    form.setHorizontalSpacing(12)

    def add(name: str, value: str) -> None:
        text = label(value, wrap=True, selectable=True)
        text.setAlignment(Qt.AlignmentFlag.AlignRight)
        form.addRow(label(name, "quiet"), text)

    opsets = ", ".join(
        f"{domain or 'ai.onnx'} {version}" for domain, version in list(graph.opsets.items())[:3]
    )
    add(_tr("Format"), graph.format + (f" · {opsets}" if opsets else ""))
    if graph.producer:
        add(_tr("Made by"), graph.producer)
    add(_tr("Nodes"), f"{graph.node_count:,}")
    if costs is not None:
        if graph.node_count:
            add(_tr("MACs"), _macs_text(costs))
        add(_tr("Weights"), bytes_text(costs.total_weight_bytes))
        if costs.peak_activation_bytes is not None:
            prefix = "≥ " if costs.unknown_bytes else ""
            add(_tr("Peak activations"), prefix + bytes_text(costs.peak_activation_bytes))
        if costs.assumed_dims:
            add(_tr("Assumed"), ", ".join(f"{k} = {v}" for k, v in costs.assumed_dims.items()))
    for title, tensors in ((_tr("Input"), graph.main_inputs()), (_tr("Output"), graph.main_outputs())):
        for tensor in tensors[:4]:
            add(title, f"{graph.tensor_name[tensor]}\n{tensor_type(graph, tensor)}")
        if len(tensors) > 4:
            add(title, fill(_tr("… {n} in all"), n=len(tensors)))
    return form
