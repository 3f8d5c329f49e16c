"""GraphCanvas: the widget that shows a graph. Mouse and keys are in `interaction`, motion in `camera`,
detail in `painter`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QTimer, Signal
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QWidget

from studio.graph import Graph
from studio.graph.layout import Layout
from studio.ui import theme
from studio.ui.canvas import export
from studio.ui.canvas.camera import Camera, Held
from studio.ui.canvas.colors import CanvasColors, of_theme
from studio.ui.canvas.crumbs import crumbs_for
from studio.ui.canvas.describe import describe_item, describe_tensor
from studio.ui.canvas.events import CanvasEvents
from studio.ui.canvas.labels import clean
from studio.ui.canvas.legend import Legend
from studio.ui.canvas.marks import Marks
from studio.ui.canvas.overlay import Overlay
from studio.ui.canvas.painter import Detail, ScenePainter
from studio.ui.canvas.panels import Panels
from studio.ui.canvas.scene import Scene, empty_layout
from studio.ui.canvas.viewport import Place, Viewport

FRAME_TITLE = 24.0
EDGE_REACH = 5.0  # pixels
SHARPEN_MS = 60  # after a coarse frame
SLICE_MS = 4.0  # of sharpening, before whatever else waits is served


class GraphCanvas(CanvasEvents):
    """Shows a graph by its layout; one overlay colours it. All state is set by the methods below."""

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
        self._sharpening = QTimer(self)
        self._sharpening.setSingleShot(True)
        self._sharpening.timeout.connect(self._sharpen)
        self.setAccessibleName(self.tr("Graph"))
        self.start()

    def _on_moved(self) -> None:
        self.view_changed.emit()
        self.update()

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
        self._subgraph = subgraph
        self.scene = Scene(graph, layout)
        self._painter = ScenePainter(self.scene, self._painter.colors, self.font(), self._overlay)
        self._hover_item = -1
        self.selected_item = self._painter.selected_item = self.scene.item_of_node(self._selected_node)
        self._refresh_marks()
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

    # Moving about

    def fit(self, *, animated: bool = True) -> None:
        """Shows the whole graph."""
        self.camera.resize(self.width(), self.height(), self.devicePixelRatioF())
        self.camera.fit(animated=animated)

    def zoom_to(self, nodes: Iterable[int]) -> None:
        """Shows these nodes, as large as they fit."""
        scene = self.scene
        items = np.array([scene.item_of_node(n) for n in nodes], np.int32)
        items = items[items >= 0]
        if len(items):
            self.camera.zoom_to_rect(
                float(scene.left[items].min()),
                float(scene.top[items].min()),
                float(scene.right[items].max()),
                float(scene.bottom[items].max()),
            )

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zooms by a factor round a point of the widget, by default its middle."""
        at = at if at is not None else QPointF(self.width() / 2, self.height() / 2)
        self.camera.zoom(factor, at.x(), at.y())

    def go_back(self) -> None:
        """Goes to the place before the last jump."""
        self._arrive(self.camera.back(self._selected_node))

    def go_forward(self) -> None:
        """Undoes `go_back`."""
        self._arrive(self.camera.forward(self._selected_node))

    @property
    def can_go_back(self) -> bool:
        return self.camera.can_go_back

    @property
    def can_go_forward(self) -> bool:
        return self.camera.can_go_forward

    def _arrive(self, place: Place | None) -> None:
        """Selects what was selected at a place."""
        if place is not None:
            self.select(place.selected, center=False)
            self.node_selected.emit(self._selected_node)

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

    # What the pointer and the keys mean (called by `interaction`)

    def press_panel(self, at: QPointF) -> bool:
        """Lets a panel take a press; False when none is there."""
        if self.is_on_minimap(at):
            self.camera.leave(self._selected_node)
            self.center_from_minimap(at)
            return True
        return self._panels.press(at)

    def is_on_minimap(self, at: QPointF) -> bool:
        return self._panels.is_on_minimap(at)

    def center_from_minimap(self, at: QPointF) -> None:
        """Goes to the place under a point of the minimap."""
        self.camera.show(self.viewport.centred(*self._panels.minimap_point(at, self.scene)))

    def click(self, at: QPointF) -> None:
        """Selects what is under a point: a box, a portal's other end, an edge, or nothing."""
        x, y = self.viewport.to_layout(at.x(), at.y())
        item = self.scene.item_at(x, y)
        if item >= 0:
            self.select_item(item, center=False)
            return
        end = self._painter.portal_at(at)
        if end is not None:
            layout = self.scene.layout
            self.select_item(int((layout.edge_target if end.is_source else layout.edge_source)[end.edge]))
            return
        edge = self.scene.edge_at(x, y, EDGE_REACH / self.viewport.scale)
        tensor = int(self.scene.layout.edge_tensor[edge]) if edge >= 0 else -1
        self._mark(-1, node=-1, tensor=tensor, center=False)
        if edge >= 0:
            self.tensor_selected.emit(tensor)
        else:
            self.node_selected.emit(-1)

    def select_for_menu(self, at: QPointF) -> None:
        """Selects what is under a point, frames of open scopes included, unless it is selected already."""
        x, y = self.viewport.to_layout(at.x(), at.y())
        item = self.scene.item_at(x, y)
        frame = self.scene.frame_at(x, y, FRAME_TITLE) if item < 0 else -1
        if item >= 0 and item == self.selected_item:
            return
        self.click(at)
        if frame >= 0:
            self.scope_selected.emit(int(self.scene.layout.frame_scope[frame]))

    def selected_place(self) -> QPointF:
        """Where on the widget the selected box is; the middle when nothing is selected."""
        if self.selected_item < 0:
            return QPointF(self.width() / 2, self.height() / 2)
        x, y = self.viewport.to_screen(*self.scene.center(self.selected_item))
        return QPointF(min(max(x, 0), self.width()), min(max(y, 0), self.height()))

    def activate_at(self, at: QPointF) -> None:
        """Double click: opens or closes the scope there, or activates the node."""
        x, y = self.viewport.to_layout(at.x(), at.y())
        item = self.scene.item_at(x, y)
        frame = self.scene.frame_at(x, y, FRAME_TITLE) if item < 0 else -1
        self._toggled_at = at
        if item >= 0:
            self.activate(item)
        elif frame >= 0:
            self.scope_toggled.emit(int(self.scene.layout.frame_scope[frame]))
        self._toggled_at = None

    def activate(self, item: int) -> None:
        """Wishes a scope to be opened, or activates a node."""
        scope, node = self.scene.scope_of_item(item), self.scene.node_of_item(item)
        if scope >= 0:
            self.scope_toggled.emit(scope)
        elif node >= 0:
            self.node_activated.emit(node)

    def collapse_around_selection(self) -> None:
        """Wishes the innermost open scope around the selected box to be closed."""
        if self.selected_item >= 0:
            x, y = self.scene.center(self.selected_item)
            found = self.scene.frames_in(x, y, x, y)
            if len(found):
                self.scope_toggled.emit(int(self.scene.layout.frame_scope[found[-1]]))

    def hover(self, at: QPointF) -> None:
        """Marks the box under the pointer."""
        item = -1 if self._panels.are_at(at) else self.scene.item_at(*self.viewport.to_layout(at.x(), at.y()))
        if item != self._hover_item:
            self._hover_item = self._painter.hovered_item = item
            self.hovered.emit(self.scene.node_of_item(item))
            self.update()

    def tooltip_at(self, at: QPointF) -> str:
        """What the tooltip at a point says; empty when nothing is there."""
        if self._panels.are_at(at):
            return self._panels.words_at(at)
        scene = self.scene
        x, y = self.viewport.to_layout(at.x(), at.y())
        item = scene.item_at(x, y)
        if item >= 0:
            return self._words_about(item)
        end = self._painter.portal_at(at)
        if end is not None:
            about = describe_tensor(scene.graph, int(scene.layout.edge_tensor[end.edge]))
            return f"{about}\n{self.tr('Click to go to the other end.')}"
        edge = scene.edge_at(x, y, EDGE_REACH / self.viewport.scale)
        return describe_tensor(scene.graph, int(scene.layout.edge_tensor[edge])) if edge >= 0 else ""

    def _words_about(self, item: int) -> str:
        gathered = self._painter.coloring.items
        counts, value = gathered.counts[item].tolist(), float(gathered.value[item])
        return describe_item(self.scene, item, self._overlay, counts, value)

    def _describe(self) -> None:
        """Tells screen readers and the bread crumb what is selected."""
        item = self.selected_item
        self.say(self._words_about(item) if item >= 0 else self.tr("Nothing is selected."))
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

    # Pictures

    def paint_into(self, painter: QPainter) -> None:
        """Paints one frame with its panels."""
        drawn = self._painter
        drawn.paint(painter, self.viewport)
        self._panels.paint(painter, self.viewport, drawn, self.font())
        if drawn.is_coarse:
            self._sharpening.start(SHARPEN_MS)

    def _sharpen(self) -> None:
        """Makes sharp what was painted coarsely, slice by slice; a change of view or colours begins anew."""
        if not self._painter.is_coarse:
            return
        if self._painter.refine(SLICE_MS):
            self.update()
        else:
            self._sharpening.start(0)

    def grab_image(self, *, whole: bool = True, scale: float = 1.0) -> QImage:
        """A picture of the whole graph or of what is in sight; see `export.grab_image`."""
        return export.grab_image(
            self._painter, self.viewport, whole=whole, scale=scale, legend=self._picture_legend()
        )

    def _picture_legend(self) -> export.PictureLegend:
        """The legend for a picture, which has no panels but this one."""
        drawn, legend, overlay = self._painter, Legend(), self._overlay
        counts = overlay.counts if overlay is not None else []
        items, colors, font = drawn.coloring.items, drawn.colors, self.font()
        width, height = legend.size(overlay, counts, items, colors, font)

        def paint(brush: QPainter, view: Viewport) -> None:
            legend.paint(brush, view, overlay, counts, items, colors, font, as_vectors=True)

        return export.PictureLegend(width, height, paint)

    def save_png(self, path: str, *, whole: bool = True, scale: float = 2.0) -> None:
        """Writes a PNG; raises InputError when it cannot be written."""
        export.save_png(self.grab_image(whole=whole, scale=scale), path)

    def save_pdf(self, path: str, *, whole: bool = True) -> None:
        """Writes a PDF of one page; raises InputError when it cannot be written."""
        title = clean(self.scene.graph.name)
        legend = self._picture_legend()
        export.save_pdf(self._painter, self.viewport, path, whole=whole, title=title, legend=legend)
