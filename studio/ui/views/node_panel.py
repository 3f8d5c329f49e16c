"""NodePanel: what the selected node is, what every target does with it and why, and how to fix it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from studio.ui.look_jobs import doc_of
from studio.ui.node_facts import node_text
from studio.ui.session import Session
from studio.ui.texts import fill
from studio.ui.views.graph_summary import graph_summary
from studio.ui.views.node_pages import about_page, attribute_page, tensor_page
from studio.ui.views.verdict_card import verdict_page
from studio.ui.widgets.parts import ElidedLabel, copy_text, icon_button, label

_PAGES = ("verdicts", "attributes", "tensors", "about")


class NodePanel(QWidget):
    """Four pages: verdicts, attributes, tensors, about. Without a node: what the graph is."""

    source_requested = Signal(str, int)
    """Show this file at this line in the editor."""
    tensor_requested = Signal(int)
    """Show the values of this constant."""
    nodes_requested = Signal(object, str)
    """Mark these nodes in the graph; what they are, in words."""
    fix_requested = Signal(str, int)
    """Apply this fix where this node needs it."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("DockBody")
        self._session = session
        self._page = self._page_before = 0
        self._is_edge = False
        self._op = label("", "title")
        self._name = ElidedLabel("", "quiet", Qt.TextElideMode.ElideMiddle)
        self._scope = ElidedLabel("", "small", Qt.TextElideMode.ElideMiddle)
        self._copy = icon_button("copy", self.tr("Copy the node as text"), self.copy_node)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._op)
        head.addWidget(self._name, 1)
        head.addWidget(self._copy)
        self._header = QWidget()
        column = QVBoxLayout(self._header)
        column.setContentsMargins(14, 0, 8, 4)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self._scope)
        self._tabs = QTabBar()
        self._tabs.setObjectName("Segments")
        self._tabs.setAccessibleName(self.tr("Pages of the node"))
        self._tabs.setExpanding(True)
        self._tabs.setDrawBase(False)
        for title in (self.tr("Verdicts"), self.tr("Attributes"), self.tr("Tensors"), self.tr("About")):
            self._tabs.addTab(title)
        self._tabs.currentChanged.connect(self._on_tab)
        self._stack = QStackedWidget()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self._header)
        outer.addWidget(self._tabs)
        outer.addWidget(self._stack, 1)
        for signal in (session.selection_changed, session.target_changed, session.stage_opened,
                       session.stages_changed, session.docs_read, session.project_changed,
                       session.facts_changed):  # fmt: skip
            signal.connect(self.refresh)
        session.overlay_changed.connect(self.refresh)
        self.refresh()

    def show_page(self, name: str) -> None:
        """Turns to "verdicts", "attributes", "tensors" or "about"."""
        self._tabs.setCurrentIndex(_PAGES.index(name))

    def refresh(self, *_: object) -> None:
        """Follows the selection."""
        opened = self._session.opened
        node = self._session.selection.node
        tensor = self._session.selection.tensor
        if opened is not None and node is None and tensor is not None:
            producer = int(opened.graph.producer_of[tensor])
            node = producer if producer >= 0 else None
        self._turn_for_edge(self._session.selection.node is None and tensor is not None)
        has_node = opened is not None and node is not None and node < opened.graph.node_count
        self._header.setVisible(has_node)
        self._tabs.setVisible(has_node)
        if not has_node or opened is None or node is None:
            self._show(graph_summary(self._session, self.nodes_requested.emit))
            return
        graph = opened.graph
        self._op.setText(graph.node_op[node])
        self._name.setText(graph.label(node))
        domain = graph.node_domain[node]
        scope = graph.scope_path(int(graph.node_scope[node])) if len(graph.node_scope) else ""
        parts = [scope, domain if domain not in ("", "ai.onnx") else ""]
        self._scope.setText(" · ".join(p for p in parts if p))
        self._scope.setVisible(bool(self._scope.text()))
        doc = doc_of(self._session, node)
        if self._page == 0:
            page = verdict_page(self._session, node, self.source_requested.emit, self.fix_requested.emit)
        elif self._page == 1:
            page = attribute_page(graph, node, doc)
        elif self._page == 2:
            page = tensor_page(graph, node, doc, self.tensor_requested.emit)
        else:
            page = about_page(graph.node_op[node], doc)
        self._show(page)
        self.setAccessibleDescription(fill("{op} {name}", op=graph.node_op[node], name=graph.label(node)))

    def _show(self, page: QWidget) -> None:
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(page)
        while (old := self._stack.currentWidget()) is not None:
            self._stack.removeWidget(old)
            old.deleteLater()
        self._stack.addWidget(area)

    def _turn_for_edge(self, is_edge: bool) -> None:
        """Shows the tensors while an edge is selected, and afterwards the page that was shown before."""
        if is_edge == self._is_edge:
            return
        self._is_edge = is_edge
        if is_edge:
            self._page_before, self._page = self._page, _PAGES.index("tensors")
        else:
            self._page = self._page_before
        self._tabs.blockSignals(True)
        self._tabs.setCurrentIndex(self._page)
        self._tabs.blockSignals(False)

    def _on_tab(self, index: int) -> None:
        self._page = index
        self.refresh()

    def copy_node(self) -> None:
        """Puts the selected node on the clipboard as text."""
        opened, node = self._session.opened, self._session.selection.node
        if opened is not None and node is not None:
            copy_text(node_text(opened.graph, node))
