"""Camera: which part of the scene the canvas shows, how it gets there, and where it has been."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, QPointF, QRectF, QVariantAnimation, Signal

from studio.ui.canvas.navigation import nearest_to
from studio.ui.canvas.scene import Scene
from studio.ui.canvas.viewport import Place, PlaceHistory, Viewport

MOTION_MS = 140
READABLE = 0.8  # a jump to a box zooms in to this when it is too small to read
LEAST_READABLE = 0.45
FIRST_MARGIN = 56  # px above the first box: the bread crumb is there
RIM = 0.18  # share of the screen at each side that does not count as "in sight"
KEEP = 60.0  # pixels of the graph that always stay on the screen


@dataclass(frozen=True, slots=True)
class Held:
    """A scope and where it was on the screen: how far along its width the pointer was, and its top."""

    scope: int
    piece: int  # of a scope that is drawn in several
    x: float
    share: float
    top: float


class Camera(QObject):
    """Moves a viewport over a scene; jumps take MOTION_MS and can be gone back on."""

    moved = Signal()
    history_changed = Signal()

    def __init__(self, scene: Scene, parent: QObject) -> None:
        super().__init__(parent)
        self.scene = scene
        self.viewport = Viewport()
        self.motion_is_on = True
        self.needs_fit = True
        """Until the first fit the size of the screen is not known; until then nothing moves."""
        self._history = PlaceHistory()
        self._from = self._to = self.viewport
        self._motion = QVariantAnimation(self)
        self._motion.setDuration(MOTION_MS)
        self._motion.setStartValue(0.0)
        self._motion.setEndValue(1.0)
        self._motion.valueChanged.connect(self._on_motion)

    # By hand: at once

    def resize(self, width: float, height: float, pixel_ratio: float) -> None:
        """Takes the screen's size; what was in the middle stays there. A jump under way (whatever is told
        of it may take a line from the graph) has arrived."""
        view = self._to if self._is_moving else self.viewport
        self.stop()
        self._apply(view.resized(width, height, pixel_ratio))

    def pan(self, dx: float, dy: float) -> None:
        """Moves what is shown by pixels; a part of the graph always stays in sight."""
        self.stop()
        view = self.viewport.panned(dx, dy)
        left, top, right, bottom = self.scene.bounds
        x0, y0 = view.to_screen(left, top)
        x1, y1 = view.to_screen(right, bottom)
        fix_x = max(KEEP - x1, 0.0) or min(view.width - KEEP - x0, 0.0)
        fix_y = max(KEEP - y1, 0.0) or min(view.height - KEEP - y0, 0.0)
        self._apply(view.panned(fix_x, fix_y))

    def zoom(self, factor: float, x: float, y: float) -> None:
        """Zooms by a factor round a point of the screen, out to half the size of a fit."""
        self.stop()
        least = self.viewport.fitted(*self.scene.bounds).scale * 0.5
        self._apply(self.viewport.zoomed(factor, x, y, least=least))

    def show(self, view: Viewport) -> None:
        """Shows exactly this part."""
        self.stop()
        self.needs_fit = False
        self._apply(view)

    def stop(self) -> None:
        """Ends a motion where it is."""
        self._motion.stop()

    # Jumps

    def fit(self, *, animated: bool = True) -> None:
        """Shows the whole graph."""
        self.leave()
        self.needs_fit = False
        self.move_to(self.viewport.fitted(*self.scene.bounds, margin=28), animated=animated)

    def begin(self) -> None:
        """The first look: all of the graph where that can be read, else its beginning.

        A tall graph fitted into a window is a strip that says nothing; the minimap shows the whole.
        """
        whole = self.viewport.fitted(*self.scene.bounds, margin=28)
        if whole.scale >= LEAST_READABLE or not self.scene.count:
            self.fit(animated=False)
            return
        self.needs_fit = False
        top = int(self.scene.top.argmin())
        x, y = float(self.scene.left[top] + self.scene.right[top]) / 2, float(self.scene.top[top])
        self._apply(self.viewport.centred(x, y + (whole.height / 2 - FIRST_MARGIN) / READABLE, READABLE))

    def zoom_to_rect(self, left: float, top: float, right: float, bottom: float) -> None:
        """Shows a rectangle of the layout."""
        self.leave()
        self.move_to(self.viewport.fitted(left, top, right, bottom, margin=48))

    def zoom_to_scale(self, scale: float) -> None:
        """Zooms round the middle to a scale; 1 = 100 %."""
        x, y = self.viewport.to_layout(self.viewport.width / 2, self.viewport.height / 2)
        self.move_to(self.viewport.centred(x, y, scale))

    def bring_into_sight(self, item: int) -> None:
        """Centres a box when it is near the rim, out of sight, or too small to read."""
        if self.needs_fit:
            return
        x, y = self.scene.center(item)
        view = self._to if self._is_moving else self.viewport
        rim_x, rim_y = view.width * RIM, view.height * RIM
        inner = QRectF(rim_x, rim_y, view.width - 2 * rim_x, view.height - 2 * rim_y)
        if view.scale < LEAST_READABLE:
            self.move_to(view.centred(x, y, READABLE))
        elif not inner.contains(*view.to_screen(x, y)):
            self.move_to(view.centred(x, y))

    def move_to(self, view: Viewport, *, animated: bool = True) -> None:
        """Goes to a part, in a short motion when that helps to follow."""
        self.stop()
        if not animated or not self.motion_is_on:
            self._apply(view)
            return
        self._from, self._to = self.viewport, view
        self._motion.start()

    @property
    def _is_moving(self) -> bool:
        return self._motion.state() == QVariantAnimation.State.Running

    def _on_motion(self, share: float) -> None:
        eased = share * share * (3 - 2 * share)
        self._apply(self._to if share >= 1 else self._from.between(self._to, eased))

    def _apply(self, view: Viewport) -> None:
        if view != self.viewport:
            self.viewport = view
            self.moved.emit()

    # Places

    def set_scene(self, scene: Scene, place: Place | None) -> None:
        """Looks at another scene: at the same place of it, or (None) at all of it when it is fitted next."""
        if self._is_moving:
            self.viewport = self._to
        self.stop()
        self.scene = scene
        if place is None:
            self._history.clear()
            self.needs_fit = True
            self.history_changed.emit()
        else:
            self.go_to(place, animated=False)

    def place(self, selected: int, anchor: int = -1) -> Place:
        """Where the camera is, bound to a node: `anchor`, else the selected one when it is in sight,
        else the one nearest to the middle."""
        scene, view = self.scene, self.viewport
        item = scene.item_of_node(anchor)
        if item < 0:
            item = scene.item_of_node(selected)
            screen = QRectF(0, 0, view.width, view.height)
            if item >= 0 and not screen.contains(*view.to_screen(*scene.center(item))):
                item = -1
        if item < 0:
            item = nearest_to(scene, *view.to_layout(view.width / 2, view.height / 2))
        if item < 0:
            return Place(-1, 0, 0, view.scale, selected)
        item = self._with_nodes(item)
        nodes = scene.nodes_of(item)
        node = anchor if anchor in nodes else int(nodes[0]) if len(nodes) else -1
        x, y = view.to_screen(float(scene.left[item] + scene.right[item]) / 2, float(scene.top[item]))
        return Place(node, x, y, view.scale, selected)

    def _with_nodes(self, item: int) -> int:
        """The box, or for an input or output a neighbour: a place is bound to a node."""
        scene, layout = self.scene, self.scene.layout
        if len(scene.nodes_of(item)):
            return item
        ends = (*layout.edge_target[scene.edges_from(item)], *layout.edge_source[scene.edges_to(item)])
        return next((int(other) for other in ends if len(scene.nodes_of(int(other)))), item)

    def hold(self, scope: int, at: QPointF | None) -> Held | None:
        """Where a scope is, under a point of the screen or as a whole; None when it is not in the scene."""
        places = self.scene.places_of_scope(scope)
        if not len(places) or self.needs_fit:
            return None
        x, y = at.toTuple() if at is not None else (self.viewport.width / 2, self.viewport.height / 2)
        x_there, y_there = self.viewport.to_layout(x, y)
        aside = np.maximum(places[:, 0] - x_there, x_there - places[:, 2]).clip(0)
        above = np.maximum(places[:, 1] - y_there, y_there - places[:, 3]).clip(0)
        piece = int(np.argmin(aside + above))
        left, top, right, _ = places[piece].tolist()
        share = min(max((x_there - left) / max(right - left, 1.0), 0.0), 1.0) if at is not None else 0.5
        x, top = self.viewport.to_screen(left + share * (right - left), top)
        return Held(scope, piece, x, share, top)

    def put_back(self, held: Held) -> None:
        """Shows a scope where it was, at the same zoom; what would then be out of sight is moved in."""
        places = self.scene.places_of_scope(held.scope)
        if not len(places) or self.needs_fit:
            return
        view = self.viewport
        left, top, right, bottom = places[min(held.piece, len(places) - 1)].tolist()
        x, y = view.to_screen(left + held.share * (right - left), top)
        high = (bottom - top) * view.scale
        goal = min(max(held.top, KEEP - high), view.height - KEEP)
        self._apply(view.panned(min(max(held.x, KEEP), view.width - KEEP) - x, goal - y))

    def go_to(self, place: Place, *, animated: bool = True) -> None:
        """Puts a place's node where it was on the screen, at the same zoom."""
        item = self.scene.item_of_node(place.node)
        if item < 0:
            view = self.viewport.fitted(*self.scene.bounds, margin=28)
        else:
            x, y = float(self.scene.left[item] + self.scene.right[item]) / 2, float(self.scene.top[item])
            view = self.viewport.centred(x, y, place.scale)
            view = view.panned(place.screen_x - view.width / 2, place.screen_y - view.height / 2)
        self.move_to(view, animated=animated)

    def leave(self, selected: int = -1) -> None:
        """Notes the place before a jump."""
        if not self.needs_fit:
            self._history.leave(self.place(selected))
            self.history_changed.emit()

    def back(self, selected: int) -> Place | None:
        """Goes to the place before the last jump and answers it; None when there is none."""
        return self._travel(self._history.back(self.place(selected)))

    def forward(self, selected: int) -> Place | None:
        """Undoes `back`."""
        return self._travel(self._history.forward(self.place(selected)))

    def _travel(self, place: Place | None) -> Place | None:
        if place is not None:
            self.go_to(place)
            self.history_changed.emit()
        return place

    @property
    def can_go_back(self) -> bool:
        return self._history.can_go_back

    @property
    def can_go_forward(self) -> bool:
        return self._history.can_go_forward
