"""Surface: what a canvas shows, how it is marked and coloured, and what is selected in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPoint, QPointF, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QWidget

from studio.graph import Graph
from studio.graph.layout import Layout
from studio.ui import theme
from studio.ui.canvas.camera import Camera, Held
from studio.ui.canvas.colors import CanvasColors, of_theme
from studio.ui.canvas.crumbs import crumbs_for
from studio.ui.canvas.describe import describe_item
from studio.ui.canvas.marks import Marks
from studio.ui.canvas.overlay import Overlay
from studio.ui.canvas.painter import Detail, ScenePainter
from studio.ui.canvas.panels import Panels
from studio.ui.canvas.scene import Scene, empty_layout
from studio.ui.canvas.viewport import Viewport
from studio.ui.texts import translate


class Surface(QWidget):
    """A widget with a scene, the camera that looks at it and one selection; it takes no events."""

    menu_requested = Signal(QPoint)
    """The user wishes the menu of what is selected now, at this point of the screen."""
    node_selected = Signal(int)
    """A node was selected by the user; −1 when nothing or a scope is selected now."""
    node_activated = Signal(int)
    """Enter or a double click on a node."""
    scope_selected = Signal(int)
    """A collapsed scope was selected by the user."""
    scope_toggled = Signal(int)
    """The user wishes this scope (an id of `scopes.ScopeTree`) to be opened or closed."""
    subgraph_requested = Signal(int)
    """The user wishes to see this subgraph (bread crumb)."""
    tensor_selected = Signal(int)
    """An edge, input or output was clicked."""
    hovered = Signal(int)
    """The node under the mouse, −1 = none."""
    view_changed = Signal()
    """Zoom or place changed."""
    history_changed = Signal()
    """What back and forward can do may have changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.scene = Scene(Graph(format=""), empty_layout())
        self.selected_item = -1
        self._selected_node = -1
        self._marks = Marks()
        self._panels = Panels()
        self._held: Held | None = None
        self._overlay: Overlay | None = None
        self._subgraph = 0
        self._hover_item = -1
        self._is_telling = False
        self._toggled_at: QPointF | None = None
        self._painter = ScenePainter(self.scene, of_theme(theme.current()), self.font())
        self.camera = Camera(self.scene, self)
        self.camera.moved.connect(self._on_moved)
        self.camera.history_changed.connect(self.history_changed)
        self.setAccessibleName(translate("GraphCanvas", "Graph"))

    def _on_moved(self) -> None:
        self.view_changed.emit()
        self.update()

    @property
    def viewport(self) -> Viewport:
        """The part of the layout that is shown."""
        return self.camera.viewport

    # What is shown

    def set_view(self, graph: Graph, layout: Layout, *, anchor: int = -1, subgraph: int = 0) -> None:
        """Shows a layout. Another layout of the same graph keeps the box of `anchor` (a node; by
        default the selected one, else the one in the middle) where it is on the screen; of another
        graph all is shown where that can be read, else its beginning."""
        is_same = graph is self.scene.graph and self.scene.count > 0 and not self.camera.needs_fit
        place = self.camera.place(self._selected_node, anchor) if is_same else None
        if graph is not self.scene.graph:
            self._marks.clear()
            self._selected_node, self._overlay = -1, None
        self._subgraph, before = subgraph, self.scene.graph
        self.scene = Scene(graph, layout)
        self._painter = ScenePainter(
            self.scene,
            self._painter.colors,
            self.font(),
            self._overlay,
            self._marks.on_boxes(self.scene),
            self._painter.maps.last_small if graph is before else None,
        )
        self._hover_item = -1
        self.selected_item = self._painter.selected_item = self.scene.item_of_node(self._selected_node)
        self.camera.set_scene(self.scene, place)
        if is_same and self._held is not None:
            self.camera.put_back(self._held)
        self._held = None
        if self.camera.needs_fit and self.isVisible():
            self.camera.begin()
        self._describe()
        self.update()

    def clear(self) -> None:
        """Shows nothing."""
        self.set_view(Graph(format=""), empty_layout())

    def hold_scope(self, scope: int) -> None:
        """Keeps a scope that is about to be opened or closed under the pointer in the next layout."""
        self._held = self.camera.hold(scope, self._toggled_at)

    @property
    def detail(self) -> Detail:
        """The level of detail of the last frame."""
        return self._painter.detail

    @property
    def overlay(self) -> Overlay | None:
        return self._overlay

    def set_overlay(self, overlay: Overlay | None) -> None:
        """Colours the nodes by an overlay; its arrays are as long as the graph's nodes."""
        self._overlay = overlay
        self._painter.set_overlay(overlay)
        self._describe()
        self.update()

    def set_colors(self, colors: CanvasColors) -> None:
        """Paints in another palette; the window's theme is followed by itself."""
        self._painter.set_colors(colors)
        self.update()

    def wear_theme(self) -> None:
        """Takes the palette of the window's theme."""
        self.set_colors(of_theme(theme.current()))

    def wear_font(self) -> None:
        """Takes the widget's font."""
        self._painter.set_font(self.font())
        self.update()

    def set_dimmed(self, mask: npt.NDArray[np.bool_] | None) -> None:
        """Fades nodes (True = faded); a box is faded when all its nodes are."""
        self._marks.dimmed = mask
        self._refresh_marks()
        self.update()

    def set_matches(self, nodes: Sequence[int] | npt.NDArray[np.integer]) -> None:
        """Marks search results (node indices, in the order that Tab walks)."""
        self._marks.set_matches(np.asarray(nodes, np.int32))
        self._refresh_marks()
        self.update()

    def next_match(self, step: int = 1) -> bool:
        """Selects the next (or previous, −1) match; False when there are none."""
        node = self._marks.next(step)
        if node >= 0:
            self._choose(node)
        return node >= 0

    def _refresh_marks(self) -> None:
        self._painter.set_marks(*self._marks.on_boxes(self.scene))

    # Selection

    @property
    def selected_node(self) -> int:
        """The selected node, −1 when there is none."""
        return self._selected_node

    def select(self, node: int | None, *, center: bool = True) -> None:
        """Selects a node (None: nothing) without sending a signal; a hidden node selects the box around."""
        if self._is_telling and node is None:
            return  # whoever listens cleared the node because a scope or tensor was selected
        node = -1 if node is None or not 0 <= node < self.scene.graph.node_count else node
        self._mark(self.scene.item_of_node(node), node=node, tensor=-1, center=center)

    def select_tensor(self, tensor: int | None) -> None:
        """Highlights the edges of a tensor without sending a signal."""
        self._painter.selected_tensor = -1 if tensor is None else tensor
        self.update()

    def select_item(self, item: int, *, center: bool = True) -> None:
        """Selects a box as the user does: signals are sent."""
        if not 0 <= item < self.scene.count:
            self._choose(None)
            return
        node, scope = self.scene.node_of_item(item), self.scene.scope_of_item(item)
        is_pill = node < 0 and scope < 0
        tensor = int(self.scene.layout.item_ref[item]) if is_pill else -1
        self._mark(item, node=node, tensor=tensor, center=center)
        if is_pill:
            self.tensor_selected.emit(tensor)
            return
        self._is_telling = True
        self.node_selected.emit(node)
        self._is_telling = False
        if scope >= 0:
            self.scope_selected.emit(scope)

    def _choose(self, node: int | None) -> None:
        self.select(node)
        self.node_selected.emit(self._selected_node)

    def _mark(self, item: int, *, node: int, tensor: int, center: bool) -> None:
        """Makes a box, a node and a tensor the selected ones (−1 = none)."""
        is_jump = center and item >= 0
        if is_jump and item != self.selected_item:
            self.camera.leave(self._selected_node)
        self.selected_item = self._painter.selected_item = item
        self._selected_node = node
        self._painter.selected_tensor = tensor
        if is_jump:
            self.camera.bring_into_sight(item)
        self._describe()
        self.update()

    def show_scope(self, scope: int) -> None:
        """Shows a scope's frame, or its box when it is closed."""
        layout = self.scene.layout
        frames = np.flatnonzero(layout.frame_scope == scope)
        if len(frames):
            k = int(frames[0])
            x, y = float(layout.frame_x[k]), float(layout.frame_y[k])
            right, bottom = x + float(layout.frame_width[k]), y + float(layout.frame_height[k])
            self.camera.zoom_to_rect(x, y, right, bottom)
        else:
            self.select_item(self.scene.item_of_scope(scope))

    def _words_about(self, item: int) -> str:
        gathered = self._painter.coloring.items
        counts, value = gathered.counts[item].tolist(), float(gathered.value[item])
        return describe_item(self.scene, item, self._overlay, counts, value)

    def _say(self, words: str) -> None:
        """Tells screen readers what is selected."""
        if words != self.accessibleDescription():
            self.setAccessibleDescription(words)
            if QAccessible.isActive():
                changed = QAccessibleEvent(self, QAccessible.Event.DescriptionChanged)
                QAccessible.updateAccessibility(changed)

    def _describe(self) -> None:
        """Tells screen readers and the bread crumb what is selected."""
        item = self.selected_item
        self._say(self._words_about(item) if item >= 0 else translate("GraphCanvas", "Nothing is selected."))
        self._panels.set_crumbs(
            crumbs_for(
                self.scene.graph,
                self._subgraph,
                self._selected_node,
                self.scene.scope_of_item(item),
                show_subgraph=self.subgraph_requested.emit,
                show_scope=self.show_scope,
            )
        )
