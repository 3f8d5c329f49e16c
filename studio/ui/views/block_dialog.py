"""BlockDialog: two blocks of one graph that look alike, side by side, with what differs."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from studio.graph import Graph
from studio.graph.layout import lay_out
from studio.graph.part import diff_scopes, part_of
from studio.graph.scopes import scope_tree
from studio.graph.view import GraphView
from studio.ui.canvas import CompareCanvas
from studio.ui.tables.change_table import ChangeTable, difference_list
from studio.ui.texts import fill
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.parts import button, label


class BlockDialog(Dialog):
    """Compares two scopes: operators, attributes, shapes, types."""

    def __init__(self, graph: Graph, scope: int, other: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        tree = scope_tree(graph)
        self.setWindowTitle(self.tr("Compare blocks"))
        ours, theirs, diff = diff_scopes(graph, scope, graph, other)
        first, second = part_of(graph, ours), part_of(graph, theirs)
        self.canvas = CompareCanvas()
        view = GraphView()
        self.canvas.set_graphs(
            (first, lay_out(first, view)),
            (second, lay_out(second, view)),
            diff,
            titles=(tree.path(scope), tree.path(other)),
        )
        self.table = ChangeTable(self)
        self.table.set_diff(diff, first, second)
        counts = diff.counts()
        words = (
            fill(
                self.tr("{same} nodes same · {changed} changed · {added} added · {removed} removed"),
                **{name: f"{n:,}" for name, n in counts.items()},
            )
            if diff.changes
            else fill(self.tr("Both are the same but for their weights: {n} nodes."), n=f"{len(ours):,}")
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 10, 0, 10)
        said = label(words, "quiet")
        said.setContentsMargins(14, 0, 14, 0)
        column.addWidget(said)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(self.canvas)
        listed = difference_list(self.table, self._go)
        splitter.addWidget(listed)
        splitter.setSizes([420, 140])
        listed.setVisible(bool(diff.changes))
        column.addWidget(splitter, 1)
        row = QHBoxLayout()
        row.setContentsMargins(14, 0, 14, 0)
        row.addStretch(1)
        close = button(self.tr("Close"), self.accept)
        close.setDefault(True)
        row.addWidget(close)
        column.addLayout(row)
        self.resize(960, 680)

    def showEvent(self, event: QShowEvent) -> None:
        """Shows all of both blocks, once their sizes are known."""
        super().showEvent(event)
        QTimer.singleShot(0, self, self._fit)

    def _fit(self) -> None:
        self.canvas.first.fit(animated=False)

    def _go(self, row: int) -> None:
        change = self.table.change(row)
        self.canvas.show_pair(change.node_a, change.node_b)
