"""CompareCanvas: two graphs side by side that move together, coloured by what became of every node."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSplitter, QVBoxLayout, QWidget

from studio.graph import Graph
from studio.graph.diff import GraphDiff, Status
from studio.graph.layout import Layout
from studio.ui.canvas.canvas import GraphCanvas
from studio.ui.canvas.navigation import nearest_to
from studio.ui.canvas.overlay import NO_CATEGORY, Category, Hatch, Icon, Overlay
from studio.ui.texts import translate

Ints = npt.NDArray[np.int32]
MOST_LINES = 6  # differences in a tooltip


def diff_overlay(diff: GraphDiff, *, is_second: bool) -> Overlay:
    """What became of every node: same, changed, and removed (first graph) or added (second graph)."""
    status = diff.status_b if is_second else diff.status_a
    code_of = np.full(256, NO_CATEGORY, np.uint8)
    code_of[[Status.SAME, Status.CHANGED, Status.REMOVED, Status.ADDED]] = 0, 1, 2, 2
    words: dict[int, list[str]] = {}
    for change in diff.changes:
        node = change.node_b if is_second else change.node_a
        if node >= 0 and change.node_a >= 0 and change.node_b >= 0:
            words.setdefault(node, []).append(f"{change.what}: {change.before} → {change.after}")
    gone = (
        Category(translate("Canvas", "added"), "added", Icon.PLUS, Hatch.STRIPES, 3, True)
        if is_second
        else Category(translate("Canvas", "removed"), "removed", Icon.MINUS, Hatch.CROSSED, 3, True)
    )
    categories = (
        Category(translate("Canvas", "same"), "same"),
        Category(translate("Canvas", "changed"), "changed", Icon.DELTA, Hatch.DIAGONAL, 2, True),
        gone,
    )
    codes = code_of[status]

    def sentence(node: int) -> str:
        if not 0 <= node < len(codes) or codes[node] == NO_CATEGORY:
            return ""
        lines = words.get(node, [])
        more = [f"… +{len(lines) - MOST_LINES}"] if len(lines) > MOST_LINES else []
        return "\n".join([categories[int(codes[node])].title, *lines[:MOST_LINES], *more])

    return Overlay(name=translate("Canvas", "Compare"), categories=categories, codes=codes, sentence=sentence)


class CompareCanvas(QWidget):
    """Two canvases. Moving or selecting in one does the same in the other, by matched nodes: the node
    nearest to the middle that has a partner is kept at the same height and zoom in both."""

    node_selected = Signal(int, int)
    """A node was selected by the user: (node of the first graph, of the second); −1 = has no partner."""
    scope_toggled = Signal(bool, int)
    """The user wishes a scope to be opened or closed: (is it in the second graph, scope)."""
    subgraph_requested = Signal(bool, int)
    """The user wishes to see a subgraph (bread crumb): (is it in the second graph, subgraph)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.first, self.second = self.sides = GraphCanvas(), GraphCanvas()
        self.first.setAccessibleName(self.tr("First graph"))
        self.second.setAccessibleName(self.tr("Second graph"))
        self._titles = QLabel(), QLabel()
        self._diff: GraphDiff | None = None
        self._is_following = False
        self.is_synchronised = True
        splitter = QSplitter(Qt.Orientation.Horizontal)
        for canvas, title in zip((self.first, self.second), self._titles):
            side = QWidget()
            column = QVBoxLayout(side)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(0)
            title.setContentsMargins(12, 6, 12, 6)
            title.setTextFormat(Qt.TextFormat.PlainText)
            title.setMinimumWidth(1)
            column.addWidget(title)
            column.addWidget(canvas, 1)
            splitter.addWidget(side)
            canvas.camera.motion_is_on = False
        splitter.setChildrenCollapsible(False)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(splitter)
        self.first.view_changed.connect(lambda: self._follow(is_second=False))
        self.second.view_changed.connect(lambda: self._follow(is_second=True))
        self.first.node_selected.connect(lambda node: self._select(node, is_second=False))
        self.second.node_selected.connect(lambda node: self._select(node, is_second=True))
        self.first.scope_toggled.connect(lambda scope: self.scope_toggled.emit(False, scope))
        self.second.scope_toggled.connect(lambda scope: self.scope_toggled.emit(True, scope))
        self.first.subgraph_requested.connect(lambda body: self.subgraph_requested.emit(False, body))
        self.second.subgraph_requested.connect(lambda body: self.subgraph_requested.emit(True, body))

    def set_graphs(
        self,
        first: tuple[Graph, Layout],
        second: tuple[Graph, Layout],
        diff: GraphDiff,
        *,
        titles: tuple[str, str] = ("", ""),
        subgraphs: tuple[int, int] = (0, 0),
    ) -> None:
        """Shows two graphs with their layouts and what changed from the first to the second."""
        self._diff = diff
        self._is_following = True
        for is_second, (graph, layout) in enumerate((first, second)):
            canvas = self.sides[is_second]
            canvas.set_view(graph, layout, subgraph=subgraphs[is_second])
            canvas.set_overlay(diff_overlay(diff, is_second=bool(is_second)))
        for label, title in zip(self._titles, titles):
            label.setText(title)
            label.setVisible(bool(title))
        self._is_following = False
        self._follow(is_second=False)

    def set_layout(self, layout: Layout, *, is_second: bool, subgraph: int = 0) -> None:
        """Another layout of one of the graphs (a scope was opened or closed, a body is looked into)."""
        canvas = self.sides[is_second]
        self._is_following = True
        canvas.set_view(canvas.scene.graph, layout, subgraph=subgraph)
        self._is_following = False
        self._follow(is_second=is_second)

    def differences(self) -> Ints:
        """The changed and added nodes of the second graph, then −1 − node for the removed ones."""
        if self._diff is None:
            return np.zeros(0, np.int32)
        changed = np.flatnonzero(self._diff.status_b != Status.SAME)
        removed = np.flatnonzero(self._diff.status_a == Status.REMOVED)
        return np.concatenate([changed, -1 - removed]).astype(np.int32)

    def show_pair(self, node_a: int, node_b: int) -> None:
        """Selects and centres a node in each graph; −1 = there is none in that graph."""
        self.first.select(node_a if node_a >= 0 else None, center=False)
        self.second.select(node_b if node_b >= 0 else None, center=False)
        is_second = node_a < 0
        (self.second if is_second else self.first).select(node_b if is_second else node_a)

    def _partners(self, *, is_second: bool) -> tuple[GraphCanvas, GraphCanvas, Ints]:
        assert self._diff is not None
        if is_second:
            return self.second, self.first, self._diff.match_b
        return self.first, self.second, self._diff.match_a

    def _follow(self, *, is_second: bool) -> None:
        """Moves the other canvas so that matched nodes face each other."""
        if self._is_following or self._diff is None or not self.is_synchronised:
            return
        here, there, match = self._partners(is_second=is_second)
        pair = self._facing_pair(here, there, match)
        if pair is None:
            return
        item, other = pair
        view = here.viewport
        sx, sy = view.to_screen(*here.scene.center(item))
        x, y = there.scene.center(other)
        placed = there.viewport.centred(x, y, view.scale)
        self._is_following = True
        there.camera.show(placed.panned(sx - view.width / 2, sy - view.height / 2))
        self._is_following = False

    @staticmethod
    def _facing_pair(here: GraphCanvas, there: GraphCanvas, match: Ints) -> tuple[int, int] | None:
        """The box nearest to the middle that has a partner in the other graph, and the partner."""
        scene = here.scene
        partner = np.full(scene.count, -1, np.int32)
        nodes = np.flatnonzero(match >= 0)
        shown = nodes[scene.layout.node_item[nodes] >= 0]
        others = there.scene.layout.node_item[match[shown]]
        has = others >= 0
        partner[scene.layout.node_item[shown[has]]] = others[has]
        usable = np.flatnonzero(partner >= 0)
        if not len(usable):
            return None
        x, y = here.viewport.to_layout(here.width() / 2, here.height() / 2)
        selected = here.selected_item
        if selected >= 0 and partner[selected] >= 0:
            sx, sy = here.viewport.to_screen(*scene.center(selected))
            if 0 <= sx <= here.width() and 0 <= sy <= here.height():
                return selected, int(partner[selected])
        nearest = nearest_to(scene, x, y)
        if partner[nearest] < 0:
            dx = (scene.left[usable] + scene.right[usable]) / 2 - x
            dy = (scene.top[usable] + scene.bottom[usable]) / 2 - y
            nearest = int(usable[np.argmin(dx * dx + dy * dy)])
        return nearest, int(partner[nearest])

    def _select(self, node: int, *, is_second: bool) -> None:
        """Selects the partner in the other canvas and says so."""
        if self._diff is None:
            return
        _, there, match = self._partners(is_second=is_second)
        other = int(match[node]) if 0 <= node < len(match) else -1
        there.select(other if other >= 0 else None, center=False)
        self._follow(is_second=is_second)
        self.node_selected.emit(*((other, node) if is_second else (node, other)))
