"""The inspector's pages about the node itself: attributes, tensors, what the operator does."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from studio.graph import Graph
from studio.graph.op_docs import OpDoc
from studio.ui.node_facts import TensorFact, attributes_of, inputs_of, outputs_of
from studio.ui.texts import QT_TRANSLATE_NOOP, fill, translate
from studio.ui.widgets.parts import ElidedLabel, button, heading, label

_CATEGORIES = frozenset(
    {
        QT_TRANSLATE_NOOP("NodePages", "Layer"),
        QT_TRANSLATE_NOOP("NodePages", "Activation"),
        QT_TRANSLATE_NOOP("NodePages", "Pool"),
        QT_TRANSLATE_NOOP("NodePages", "Tensor"),
        QT_TRANSLATE_NOOP("NodePages", "Transform"),
        QT_TRANSLATE_NOOP("NodePages", "Normalization"),
        QT_TRANSLATE_NOOP("NodePages", "Quantization"),
        QT_TRANSLATE_NOOP("NodePages", "Shape"),
        QT_TRANSLATE_NOOP("NodePages", "Attention"),
        QT_TRANSLATE_NOOP("NodePages", "Dropout"),
        QT_TRANSLATE_NOOP("NodePages", "Constant"),
        QT_TRANSLATE_NOOP("NodePages", "Data"),
    }
)
"""The categories of the operators' documentation."""


def _tr(text: str) -> str:
    return translate("NodePages", text)


def attribute_page(graph: Graph, node: int, doc: OpDoc | None) -> QWidget:
    """Names and values; defaults that the file leaves out are quiet. The tool tip documents each."""
    page = QWidget()
    grid = QGridLayout(page)
    grid.setContentsMargins(14, 8, 10, 8)
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(5)
    grid.setColumnStretch(1, 1)
    rows = attributes_of(graph, node, doc)
    for i, fact in enumerate(rows):
        name = label(fact.name, "quiet")
        value = label(fact.value, "quiet" if fact.is_default else "", wrap=True, selectable=True)
        value.setAlignment(Qt.AlignmentFlag.AlignRight)
        tip = "\n".join(
            t for t in (fact.type, _tr("default") if fact.is_default else "", _wrapped(fact.text)) if t
        )
        for widget in (name, value):
            widget.setToolTip(tip)
        grid.addWidget(name, i, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(value, i, 1)
    if not rows:
        grid.addWidget(label(_tr("This operator has no attributes."), "quiet", wrap=True), 0, 0, 1, 2)
    grid.setRowStretch(len(rows) + 1, 1)
    return page


def tensor_page(graph: Graph, node: int, doc: OpDoc | None, on_tensor: Callable[[int], object]) -> QWidget:
    """Inputs and outputs with type, shape and quantisation; constants lead to their values."""
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(14, 8, 10, 8)
    column.setSpacing(4)
    for title, facts in (
        (_tr("Inputs"), inputs_of(graph, node, doc)),
        (_tr("Outputs"), outputs_of(graph, node, doc)),
    ):
        column.addWidget(heading(title))
        for fact in facts:
            column.addWidget(_tensor_row(fact, on_tensor))
        if not facts:
            column.addWidget(label(_tr("none"), "quiet"))
        column.addSpacing(4)
    column.addStretch(1)
    return page


def _tensor_row(fact: TensorFact, on_tensor: Callable[[int], object]) -> QWidget:
    row = QWidget()
    column = QVBoxLayout(row)
    column.setContentsMargins(0, 2, 0, 2)
    column.setSpacing(0)
    first = QHBoxLayout()
    first.setSpacing(8)
    if fact.role:
        first.addWidget(label(fact.role))
    first.addWidget(ElidedLabel(fact.name, "quiet", Qt.TextElideMode.ElideMiddle), 1)
    if fact.is_constant:
        first.addWidget(
            button(_tr("values"), lambda: on_tensor(fact.tensor), role="link",
                   tip=_tr("Statistics, histogram and export of this constant"))
        )  # fmt: skip
    column.addLayout(first)
    second = " · ".join(
        t for t in (fact.type, _tr("constant") if fact.is_constant else "", fact.quantization) if t
    )
    column.addWidget(label(second, "small", wrap=True, selectable=True))
    if fact.value:
        column.addWidget(label(f"= {fact.value}", "small", wrap=True, selectable=True))
    return row


def about_page(op: str, doc: OpDoc | None) -> QWidget:
    """What the operator does, in the words of its specification."""
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(14, 8, 10, 8)
    column.setSpacing(6)
    if doc is None:
        text = fill(_tr("Nothing is known here about {op}: it is no standard operator."), op=op)
        column.addWidget(label(text, "quiet", wrap=True))
    else:
        if doc.category:
            category = _tr(doc.category) if doc.category in _CATEGORIES else doc.category
            column.addWidget(label(fill(_tr("Category: {category}"), category=category), "quiet"))
        column.addWidget(label(doc.text or _tr("There is no description."), wrap=True, selectable=True))
        column.addWidget(label(doc.source, "small", wrap=True))
    column.addStretch(1)
    return page


def _wrapped(text: str, width: int = 80) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(text, width)[:12])
