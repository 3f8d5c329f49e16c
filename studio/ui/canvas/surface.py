"""Surface: what a pointer and keys can do to a canvas; `interaction` and `events` know no more of it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from studio.ui.canvas.camera import Camera
from studio.ui.canvas.scene import Scene
from studio.ui.canvas.viewport import Viewport


class Surface(QWidget):
    """A widget that shows a scene through a camera. `GraphCanvas` does what is only named here."""

    menu_requested = Signal(QPoint)
    """The user wishes the menu of what is selected now, at this point of the screen."""

    scene: Scene
    camera: Camera
    selected_item: int

    @property
    def viewport(self) -> Viewport:
        """The part of the layout that is shown."""
        return self.camera.viewport

    # Moving about

    def fit(self, *, animated: bool = True) -> None:
        raise NotImplementedError

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        raise NotImplementedError

    def go_back(self) -> None:
        raise NotImplementedError

    def go_forward(self) -> None:
        raise NotImplementedError

    # Panels over the scene

    def press_panel(self, at: QPointF) -> bool:
        raise NotImplementedError

    def is_on_minimap(self, at: QPointF) -> bool:
        raise NotImplementedError

    def center_from_minimap(self, at: QPointF) -> None:
        raise NotImplementedError

    # Selecting and opening

    def select(self, node: int | None, *, center: bool = True) -> None:
        raise NotImplementedError

    def select_item(self, item: int, *, center: bool = True) -> None:
        raise NotImplementedError

    def next_match(self, step: int = 1) -> bool:
        raise NotImplementedError

    def click(self, at: QPointF) -> None:
        raise NotImplementedError

    def select_for_menu(self, at: QPointF) -> None:
        raise NotImplementedError

    def selected_place(self) -> QPointF:
        raise NotImplementedError

    def activate_at(self, at: QPointF) -> None:
        raise NotImplementedError

    def activate(self, item: int) -> None:
        raise NotImplementedError

    def collapse_around_selection(self) -> None:
        raise NotImplementedError

    def hover(self, at: QPointF) -> None:
        raise NotImplementedError

    def tooltip_at(self, at: QPointF) -> str:
        raise NotImplementedError

    # Looks

    def paint_into(self, painter: QPainter) -> None:
        raise NotImplementedError

    def wear_theme(self) -> None:
        raise NotImplementedError

    def wear_font(self) -> None:
        raise NotImplementedError
