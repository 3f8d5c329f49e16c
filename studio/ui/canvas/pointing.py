"""PointedSurface: a surface that is moved about and pointed at; what a place or a wish means there.

`interaction` and `fingers` turn mouse, keys and touches into these calls.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QPointF

from studio.ui.canvas.describe import describe_tensor
from studio.ui.canvas.surface import Surface
from studio.ui.canvas.viewport import Place
from studio.ui.texts import translate

FRAME_TITLE = 24.0
EDGE_REACH = 5.0  # pixels


class PointedSurface(Surface):
    """A surface with places to go to and things under the pointer."""

    # Moving about

    def fit(self, *, animated: bool = True) -> None:
        """Shows the whole graph."""
        self.camera.resize(self.width(), self.height(), self.devicePixelRatioF())
        self.camera.fit(animated=animated)

    def fit_width(self) -> None:
        """Makes the graph as wide as the widget, at the height where one looks."""
        left, _, right, _ = self.scene.bounds
        _, y = self.viewport.to_layout(self.width() / 2, self.height() / 2)
        view = self.viewport.fitted(left, y, right, y, margin=28)
        self.camera.move_to(view.centred((left + right) / 2, y, view.scale))

    def zoom_to_scale(self, scale: float) -> None:
        """Zooms round the middle to a scale; 1 = actual size."""
        self.camera.zoom_to_scale(scale)

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

    # What is under the pointer

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
            advice = translate("GraphCanvas", "Click to go to the other end.")
            return f"{about}\n{advice}"
        edge = scene.edge_at(x, y, EDGE_REACH / self.viewport.scale)
        return describe_tensor(scene.graph, int(scene.layout.edge_tensor[edge])) if edge >= 0 else ""
