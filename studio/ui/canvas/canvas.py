"""GraphCanvas: the widget that shows a graph. See `interaction` for mouse and keys, `painter` for detail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QVariantAnimation, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from studio.graph import Graph
from studio.graph.layout import ItemKind, Layout
from studio.ui import theme
from studio.ui.canvas import export
from studio.ui.canvas.colors import CanvasColors, of_theme
from studio.ui.canvas.describe import describe_item, describe_tensor
from studio.ui.canvas.hud import Breadcrumb, Crumb, Minimap
from studio.ui.canvas.interaction import Interaction
from studio.ui.canvas.labels import clean, scope_chain, scope_title
from studio.ui.canvas.legend import Legend
from studio.ui.canvas.navigation import nearest_to
from studio.ui.canvas.overlay import Overlay
from studio.ui.canvas.painter import Detail, ScenePainter
from studio.ui.canvas.scene import Scene
from studio.ui.canvas.viewport import Place, PlaceHistory, Viewport

MOTION_MS = 140
READABLE = 0.8  # a jump to a node zooms in to at least this
FRAME_TITLE = 24.0
EDGE_REACH = 5.0


class GraphCanvas(QWidget):
    """Shows a graph by its layout; one overlay colours it. All state is set by the methods below."""

    node_selected = Signal(int)
    """A node was selected by the user; −1 when nothing or something else is selected now."""
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
        self.scene = Scene(Graph(format=""), _empty_layout())
        self.viewport = Viewport()
        self.selected_item = -1
        self._selected_node = -1
        self._matches: npt.NDArray[np.int32] = np.zeros(0, np.int32)
        self._match_at = -1
        self._dimmed_nodes: npt.NDArray[np.bool_] | None = None
        self._overlay: Overlay | None = None
        self._subgraph = 0
        self._painter = ScenePainter(self.scene, of_theme(theme.current()), self.font())
        self._legend, self._minimap, self._crumbs = Legend(), Minimap(), Breadcrumb()
        self._history = PlaceHistory()
        self._interaction = Interaction(self)
        self._hover_item = -1
        self._needs_fit = True
        self._motion = QVariantAnimation(self)
        self._motion.setDuration(MOTION_MS)
        self._motion.setStartValue(0.0)
        self._motion.setEndValue(1.0)
        self._motion.valueChanged.connect(self._on_motion)
        self._from = self._to = self.viewport
        self.motion_is_on = True
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(160, 120)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName(self.tr("Graph"))

    # What is shown

    def set_view(self, graph: Graph, layout: Layout, *, anchor: int | None = None, subgraph: int = 0) -> None:
        """Shows a layout. Another layout of the same graph keeps the box of `anchor` (a node; by
        default the selected one, else the one in the middle) where it is on the screen; another
        graph is fitted."""
        is_same = graph is self.scene.graph and self.scene.count > 0
        place = self._place(anchor) if is_same else None
        was_moved = self._motion.state() == QVariantAnimation.State.Running
        self._motion.stop()
        if was_moved:
            self.viewport = self._to
        overlay = self._overlay if is_same else None
        if not is_same:
            self._history.clear()
            self._matches, self._match_at = np.zeros(0, np.int32), -1
            self._selected_node, self._dimmed_nodes = -1, None
            self.history_changed.emit()
        self._overlay = overlay
        self._subgraph = subgraph
        self.scene = Scene(graph, layout)
        self._painter = ScenePainter(self.scene, self._painter.colors, self.font(), overlay)
        self._hover_item = -1
        self.selected_item = self.scene.item_of_node(self._selected_node)
        self._refresh_marks()
        if place is not None:
            self._go_to_place(place)
        else:
            self._needs_fit = True
            if self.isVisible():
                self.fit(animated=False)
        self._describe()
        self.update()

    def clear(self) -> None:
        """Shows nothing."""
        self.set_view(Graph(format=""), _empty_layout())

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

    def set_dimmed(self, mask: npt.NDArray[np.bool_] | None) -> None:
        """Fades nodes (True = faded); a box is faded when all its nodes are."""
        self._dimmed_nodes = mask
        self._refresh_marks()
        self.update()

    def set_matches(self, nodes: Sequence[int] | npt.NDArray[np.integer]) -> None:
        """Marks search results (node indices, in the order that Tab walks)."""
        self._matches = np.asarray(nodes, np.int32)
        self._match_at = -1
        self._refresh_marks()
        self.update()

    def next_match(self, step: int = 1) -> bool:
        """Selects the next (or previous, −1) match; False when there are none."""
        if not len(self._matches):
            return False
        count = len(self._matches)
        self._match_at = (
            (self._match_at + step) % count if self._match_at >= 0 else (0 if step > 0 else count - 1)
        )
        self._choose(int(self._matches[self._match_at]))
        return True

    def _refresh_marks(self) -> None:
        count, node_item = self.scene.count, self.scene.layout.node_item
        matched = np.zeros(count, np.bool_)
        inside = self._matches[(self._matches >= 0) & (self._matches < len(node_item))]
        items = node_item[inside]
        matched[items[items >= 0]] = True
        dimmed = np.zeros(count, np.bool_)
        mask = self._dimmed_nodes
        if mask is not None and len(mask) == len(node_item):
            bright = node_item[~mask]
            dimmed = self.scene.layout.item_kind < ItemKind.INPUT
            dimmed[bright[bright >= 0]] = False
        self._painter.set_marks(dimmed, matched)

    # Selection

    @property
    def selected_node(self) -> int:
        """The selected node, −1 when there is none."""
        return self._selected_node

    def select(self, node: int | None, *, center: bool = True) -> None:
        """Selects a node (None: nothing) without sending a signal; a hidden node selects the box around."""
        node = -1 if node is None or not 0 <= node < self.scene.graph.node_count else node
        self._painter.selected_tensor = -1
        self._selected_node = node
        self._set_item(self.scene.item_of_node(node), center=center)

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
        self._painter.selected_tensor = -1
        self._selected_node = node
        self._set_item(item, center=center)
        if scope >= 0:
            self.scope_selected.emit(scope)
        elif node < 0:
            tensor = int(self.scene.layout.item_ref[item])
            self._painter.selected_tensor = tensor
            self.tensor_selected.emit(tensor)
        if node >= 0:
            self.node_selected.emit(node)

    def _choose(self, node: int | None) -> None:
        self.select(node)
        self.node_selected.emit(self._selected_node)

    def _set_item(self, item: int, *, center: bool) -> None:
        if item != self.selected_item and item >= 0 and center:
            self._leave()
        self.selected_item = item
        self._painter.selected_item = item
        if item >= 0 and center:
            self._bring_into_sight(item)
        self._describe()
        self.update()

    def _bring_into_sight(self, item: int) -> None:
        """Centres a box when it is near the rim, out of sight, or too small to read."""
        x, y = self.scene.center(item)
        if self._needs_fit:
            return
        view = self._to if self._motion.state() == QVariantAnimation.State.Running else self.viewport
        sx, sy = view.to_screen(x, y)
        inner = QRectF(0, 0, self.width(), self.height()).adjusted(
            self.width() * 0.18, self.height() * 0.18, -self.width() * 0.18, -self.height() * 0.18
        )
        if inner.contains(sx, sy) and view.scale >= 0.45:
            return
        self._move_to(view.centred(x, y, view.scale if view.scale >= 0.45 else READABLE))

    # Moving about

    def fit(self, *, animated: bool = True) -> None:
        """Shows the whole graph; a long one, which would be a thread, its beginning at a readable width."""
        self._needs_fit = False
        if not self.scene.count:
            self._apply(self.viewport.resized(self.width(), self.height(), self.devicePixelRatioF()))
            return
        self._leave()
        view = self.viewport.resized(self.width(), self.height(), self.devicePixelRatioF())
        self._move_to(view.fitted(*self.scene.bounds, margin=28), animated=animated)

    def fit_width(self, *, animated: bool = True) -> None:
        """Shows the top of the graph at a width that can be read."""
        self._needs_fit = False
        left, top, right, _ = self.scene.bounds
        view = self.viewport.resized(self.width(), self.height(), self.devicePixelRatioF())
        view = view.fitted(left, 0, right, 1)
        scale = max(view.scale, 0.3)
        middle = float(np.median((self.scene.left + self.scene.right) / 2)) if self.scene.count else 0.0
        x = (left + right) / 2 if (right - left) * scale < self.width() else middle
        self._move_to(view.centred(x, top + self.height() / 2 / scale - 40 / scale, scale), animated=animated)

    def zoom_to(self, nodes: Iterable[int]) -> None:
        """Shows these nodes, as large as they fit."""
        items = np.array([self.scene.item_of_node(n) for n in nodes], np.int32)
        items = items[items >= 0]
        if len(items):
            scene = self.scene
            self.zoom_to_rect(
                float(scene.left[items].min()), float(scene.top[items].min()),
                float(scene.right[items].max()), float(scene.bottom[items].max()),
            )  # fmt: skip

    def zoom_to_rect(self, left: float, top: float, right: float, bottom: float) -> None:
        """Shows a rectangle of the layout."""
        self._leave()
        self._move_to(self.viewport.fitted(left, top, right, bottom, margin=48))

    def zoom_to_scale(self, scale: float) -> None:
        """Zooms round the middle to a scale; 1 = 100 %."""
        x, y = self.viewport.to_layout(self.width() / 2, self.height() / 2)
        self._move_to(self.viewport.centred(x, y, scale))

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zooms by a factor round a point of the widget, by default its middle."""
        at = at if at is not None else QPointF(self.width() / 2, self.height() / 2)
        self._motion.stop()
        least = self.viewport.fitted(*self.scene.bounds).scale * 0.5
        self._apply(self.viewport.zoomed(factor, at.x(), at.y(), least=least))

    def pan(self, dx: float, dy: float) -> None:
        """Moves what is shown by pixels; a part of the graph always stays in sight."""
        self._motion.stop()
        view = self.viewport.panned(dx, dy)
        left, top, right, bottom = self.scene.bounds
        x0, y0 = view.to_screen(left, top)
        x1, y1 = view.to_screen(right, bottom)
        keep = 60.0
        fix_x = max(keep - x1, 0.0) or min(self.width() - keep - x0, 0.0)
        fix_y = max(keep - y1, 0.0) or min(self.height() - keep - y0, 0.0)
        self._apply(view.panned(fix_x, fix_y))

    def set_viewport(self, view: Viewport) -> None:
        """Shows exactly this part (for views that move together)."""
        self._motion.stop()
        self._needs_fit = False
        self._apply(view.resized(self.width(), self.height(), self.devicePixelRatioF()))

    def go_back(self) -> None:
        """Goes to the place before the last jump."""
        self._travel(self._history.back(self._place()))

    def go_forward(self) -> None:
        """Undoes `go_back`."""
        self._travel(self._history.forward(self._place()))

    @property
    def can_go_back(self) -> bool:
        return self._history.can_go_back

    @property
    def can_go_forward(self) -> bool:
        return self._history.can_go_forward

    def _travel(self, place: Place | None) -> None:
        if place is None:
            return
        self._selected_node = place.selected
        self.selected_item = self._painter.selected_item = self.scene.item_of_node(place.selected)
        self._go_to_place(place, animated=True)
        self.node_selected.emit(place.selected)
        self.history_changed.emit()
        self._describe()

    def _leave(self) -> None:
        if not self._needs_fit:
            self._history.leave(self._place())
            self.history_changed.emit()

    def _place(self, anchor: int | None = None) -> Place:
        scene, view = self.scene, self.viewport
        item = scene.item_of_node(anchor) if anchor is not None else -1
        if item < 0:
            item = self.selected_item
            if item >= 0:
                sx, sy = view.to_screen(*scene.center(item))
                if not QRectF(0, 0, self.width(), self.height()).contains(sx, sy):
                    item = -1
        if item < 0:
            item = nearest_to(scene, *view.to_layout(self.width() / 2, self.height() / 2))
        if item < 0:
            return Place(-1, 0, 0, view.scale)
        nodes = scene.nodes_of(item)
        node = anchor if anchor is not None else (int(nodes[0]) if len(nodes) else -1)
        if node < 0:  # an input or output: a neighbour that has nodes
            layout = scene.layout
            ends = (*layout.edge_target[scene.edges_from(item)], *layout.edge_source[scene.edges_to(item)])
            for other in map(int, ends):
                if len(scene.nodes_of(other)):
                    node, item = int(scene.nodes_of(other)[0]), other
                    break
        sx, sy = view.to_screen(float(scene.left[item] + scene.right[item]) / 2, float(scene.top[item]))
        return Place(node, sx, sy, view.scale, self._selected_node)

    def _go_to_place(self, place: Place, *, animated: bool = False) -> None:
        item = self.scene.item_of_node(place.node)
        if item < 0:
            self.fit(animated=animated)
            return
        x, y = float(self.scene.left[item] + self.scene.right[item]) / 2, float(self.scene.top[item])
        view = self.viewport.centred(x, y, place.scale)
        view = view.panned(place.screen_x - view.width / 2, place.screen_y - view.height / 2)
        self._move_to(view, animated=animated)

    def _move_to(self, view: Viewport, *, animated: bool = True) -> None:
        self._motion.stop()
        if not animated or not self.motion_is_on or not self.isVisible():
            self._apply(view)
            return
        self._from, self._to = self.viewport, view
        self._motion.start()

    def _on_motion(self, share: float) -> None:
        eased = share * share * (3 - 2 * share)
        self._apply(self._to if share >= 1 else self._from.between(self._to, eased))

    def _apply(self, view: Viewport) -> None:
        if view != self.viewport:
            self.viewport = view
            self.view_changed.emit()
            self.update()

    # What the pointer does (called by Interaction)

    def press_panel(self, at: QPointF) -> bool:
        """Lets a panel take a press; False when none is there."""
        crumb = self._crumbs.crumb_at(at)
        if crumb is not None and crumb.go is not None:
            crumb.go()
            return True
        if self.is_on_minimap(at):
            self._leave()
            self.center_from_minimap(at)
            return True
        return self._legend.rect.contains(at) or self._crumbs.rect.contains(at)

    def is_on_minimap(self, at: QPointF) -> bool:
        return self._minimap.rect.contains(at)

    def center_from_minimap(self, at: QPointF) -> None:
        self._motion.stop()
        self._apply(self.viewport.centred(*self._minimap.layout_point(at, self.scene)))

    def click(self, at: QPointF) -> None:
        """Selects what is under a point: a box, a portal's other end, an edge, or nothing."""
        x, y = self.viewport.to_layout(at.x(), at.y())
        item = self.scene.item_at(x, y)
        if item >= 0:
            self.select_item(item, center=False)
            return
        for end in self._painter.portal_ends:
            if end.place.contains(at):
                layout = self.scene.layout
                other = layout.edge_target if end.is_source else layout.edge_source
                self.select_item(int(other[end.edge]))
                return
        edge = self.scene.edge_at(x, y, EDGE_REACH / self.viewport.scale)
        self._selected_node = -1
        self._set_item(-1, center=False)
        self._painter.selected_tensor = int(self.scene.layout.edge_tensor[edge]) if edge >= 0 else -1
        self.node_selected.emit(-1)
        if edge >= 0:
            self.tensor_selected.emit(self._painter.selected_tensor)

    def activate_at(self, at: QPointF) -> None:
        """Double click: opens or closes the scope there, or activates the node."""
        x, y = self.viewport.to_layout(at.x(), at.y())
        item = self.scene.item_at(x, y)
        if item >= 0:
            self._activate(item)
            return
        frame = self.scene.frame_at(x, y, FRAME_TITLE)
        if frame >= 0:
            self.scope_toggled.emit(int(self.scene.layout.frame_scope[frame]))

    def activate_selection(self) -> None:
        """Opens the selected scope, or activates the selected node."""
        if self.selected_item >= 0:
            self._activate(self.selected_item)

    def _activate(self, item: int) -> None:
        scope, node = self.scene.scope_of_item(item), self.scene.node_of_item(item)
        if scope >= 0:
            self.scope_toggled.emit(scope)
        elif node >= 0:
            self.node_activated.emit(node)

    def collapse_around_selection(self) -> None:
        """Wishes the innermost open scope around the selected box to be closed."""
        if self.selected_item < 0:
            return
        x, y = self.scene.center(self.selected_item)
        found = self.scene.frames_in(x, y, x, y)
        if len(found):
            self.scope_toggled.emit(int(self.scene.layout.frame_scope[found[-1]]))

    def hover(self, at: QPointF) -> None:
        """Marks the box under the pointer."""
        is_on_panel = any(r.contains(at) for r in (self._minimap.rect, self._legend.rect, self._crumbs.rect))
        item = -1 if is_on_panel else self.scene.item_at(*self.viewport.to_layout(at.x(), at.y()))
        if item != self._hover_item:
            self._hover_item = self._painter.hovered_item = item
            self.hovered.emit(self.scene.node_of_item(item))
            self.update()

    def tooltip_at(self, at: QPointF) -> str:
        """What the tooltip at a point says; empty when nothing is there."""
        x, y = self.viewport.to_layout(at.x(), at.y())
        item = self.scene.item_at(x, y)
        if item >= 0:
            return self._words_about(item)
        for end in self._painter.portal_ends:
            if end.place.contains(at):
                about = describe_tensor(self.scene.graph, int(self.scene.layout.edge_tensor[end.edge]))
                return f"{about}\n{self.tr('Click to go to the other end.')}"
        edge = self.scene.edge_at(x, y, EDGE_REACH / self.viewport.scale)
        return (
            describe_tensor(self.scene.graph, int(self.scene.layout.edge_tensor[edge])) if edge >= 0 else ""
        )

    def _words_about(self, item: int) -> str:
        gathered = self._painter.coloring.items
        return describe_item(
            self.scene, item, self._overlay, gathered.counts[item].tolist(), float(gathered.value[item])
        )

    def _describe(self) -> None:
        """Tells screen readers and the bread crumb what is selected."""
        words = (
            self._words_about(self.selected_item)
            if self.selected_item >= 0
            else self.tr("Nothing is selected.")
        )
        if words != self.accessibleDescription():
            self.setAccessibleDescription(words)
            if QAccessible.isActive():
                QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        self._crumbs.crumbs = self._crumbs_of_selection()

    def _crumbs_of_selection(self) -> tuple[Crumb, ...]:
        graph = self.scene.graph
        crumbs: list[Crumb] = []
        chain: list[int] = []
        index = self._subgraph
        while 0 < index < len(graph.subgraphs) and index not in chain:
            chain.append(index)
            parent = graph.subgraphs[index].parent_node
            index = int(graph.node_subgraph[parent]) if 0 <= parent < len(graph.node_subgraph) else 0
        if chain:
            crumbs.append(
                Crumb(clean(graph.name, 40) or self.tr("graph"), lambda: self.subgraph_requested.emit(0))
            )
            crumbs += [
                Crumb(
                    clean(graph.subgraphs[k].name, 40) or f"#{k}", lambda k=k: self.subgraph_requested.emit(k)
                )  # type: ignore[misc]
                for k in reversed(chain)
            ]
        scope = self.scene.scope_of_item(self.selected_item)
        if scope < 0 and self._selected_node >= 0 and len(graph.node_scope):
            scope = int(graph.node_scope[self._selected_node])
        for each in scope_chain(graph, scope):
            crumbs.append(Crumb(scope_title(graph, each)[0], lambda s=each: self._show_scope(s)))  # type: ignore[misc]
        return tuple(crumbs)

    def _show_scope(self, scope: int) -> None:
        layout = self.scene.layout
        frame = np.flatnonzero(layout.frame_scope == scope)
        if len(frame):
            k = int(frame[0])
            x, y = float(layout.frame_x[k]), float(layout.frame_y[k])
            self.zoom_to_rect(x, y, x + float(layout.frame_width[k]), y + float(layout.frame_height[k]))
        else:
            self.select_item(self.scene.item_of_scope(scope))

    # Pictures

    def grab_image(self, *, whole: bool = True, scale: float = 1.0) -> QImage:
        """A picture of the whole graph or of what is in sight; see `export.grab_image`."""
        return export.grab_image(self._painter, self.viewport, whole=whole, scale=scale)

    def save_png(self, path: str, *, whole: bool = True, scale: float = 2.0) -> None:
        """Writes a PNG; raises InputError when it cannot be written."""
        export.save_png(self.grab_image(whole=whole, scale=scale), path)

    def save_pdf(self, path: str, *, whole: bool = True) -> None:
        """Writes a PDF of one page; raises InputError when it cannot be written."""
        export.save_pdf(self._painter, self.viewport, path, whole=whole, title=clean(self.scene.graph.name))

    # Qt

    def sizeHint(self) -> QSize:
        return QSize(900, 600)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.viewport.width != self.width() or self.viewport.height != self.height():
            self.viewport = self.viewport.resized(self.width(), self.height(), self.devicePixelRatioF())
        painter = QPainter(self)
        self.paint_into(painter)
        painter.end()

    def paint_into(self, painter: QPainter) -> None:
        """Paints one frame with its panels."""
        view, drawn = self.viewport, self._painter
        drawn.paint(painter, view)
        counts = self._overlay.counts if self._overlay is not None else []
        values = drawn.coloring.items.value
        largest = float(np.nanmax(values)) if np.isfinite(values).any() else 0.0
        self._legend.paint(painter, view, self._overlay, counts, largest, drawn.colors, self.font())
        self._minimap.place(view, self.scene)
        if not self._minimap.rect.isEmpty():
            self._minimap.paint(painter, view, self.scene, drawn.density, drawn.colors)
        self._crumbs.paint(painter, view, drawn.colors, self.font())

    def resizeEvent(self, event: QResizeEvent) -> None:
        if self._needs_fit:
            self.fit(animated=False)
        else:
            self._motion.stop()
            self._apply(self.viewport.resized(self.width(), self.height(), self.devicePixelRatioF()))
        super().resizeEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._interaction.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._interaction.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._interaction.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._interaction.double_click(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._interaction.wheel(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._interaction.key(event):
            super().keyPressEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.hover(QPointF(-1e6, -1e6))
        super().leaveEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self.set_colors(of_theme(theme.current()))
        elif event.type() is QEvent.Type.FontChange:
            self._painter.set_font(self.font())
            self.update()
        super().changeEvent(event)

    def event(self, event: QEvent) -> bool:
        if self._interaction.tab(event):
            return True
        if isinstance(event, QNativeGestureEvent) and self._interaction.native_gesture(event):
            return True
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            words = self.tooltip_at(QPointF(event.pos()))
            if words:
                QToolTip.showText(event.globalPos(), _as_plain_tooltip(words), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)


def _as_plain_tooltip(words: str) -> str:
    """Tooltips guess rich text; names from files must stay text."""
    from html import escape

    return "<qt>" + "<br>".join(escape(line) for line in words.splitlines()) + "</qt>"


def _empty_layout() -> Layout:
    ints, floats = np.zeros(0, np.int32), np.zeros(0, np.float32)
    return Layout(
        item_kind=np.zeros(0, np.uint8), item_ref=ints, item_x=floats, item_y=floats, item_width=floats,
        item_height=floats, item_nodes=ints, node_item=ints, edge_source=ints, edge_target=ints,
        edge_tensor=ints, edge_offsets=np.zeros(1, np.int32), edge_points=np.zeros((0, 2), np.float32),
        edge_is_portal=np.zeros(0, np.bool_), frame_scope=ints, frame_x=floats, frame_y=floats,
        frame_width=floats, frame_height=floats, frame_depth=ints, width=0.0, height=0.0,
    )  # fmt: skip
