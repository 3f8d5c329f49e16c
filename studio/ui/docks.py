"""Docks: the panels round the graph, where they are on the first day, and how wide."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QTabBar, QTabWidget

from studio.ui.widgets.dock import Dock
from studio.ui.window_panels import WindowPanels

_LEFT, _RIGHT = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
_BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea


class Docks(QObject):
    """Recipe at the left, node and problems at the right, devices and log along the bottom."""

    def __init__(self, window: WindowPanels) -> None:
        super().__init__(window)
        self._window = window
        for corner in (Qt.Corner.BottomLeftCorner, Qt.Corner.BottomRightCorner):
            window.setCorner(corner, _BOTTOM)
        self.recipe = Dock("recipe", self.tr("Recipe"), window.recipe_panel, window)
        self.node = Dock("node", self.tr("Node"), window.node_panel, window)
        self.problems = Dock("problems", self.tr("Problems"), window.problem_panel, window)
        self.devices = Dock("devices", self.tr("Devices"), window.device_panel, window, is_quiet=True)
        self.log = Dock("log", self.tr("Log"), window.log_panel, window, is_quiet=True)
        for area, dock in ((_LEFT, self.recipe), (_RIGHT, self.node), (_RIGHT, self.problems),
                           (_BOTTOM, self.devices), (_BOTTOM, self.log)):  # fmt: skip
            window.addDockWidget(area, dock)
        window.setTabPosition(_BOTTOM, QTabWidget.TabPosition.North)
        window.tabifyDockWidget(self.devices, self.log)  # lines of a log are long: it takes the whole width
        for bar in window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            bar.setAccessibleName(self.tr("Devices and log"))
        self.log.hide()
        self.all = (self.recipe, self.node, self.problems, self.devices, self.log)
        self.set_sizes()

    def set_sizes(self) -> None:
        """The sizes of the first day; a low window gives the devices less."""
        sideways, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self._window.resizeDocks([self.recipe, self.node], [232, 324], sideways)
        self._window.resizeDocks([self.devices], [self._devices_height()], down)
        self._window.resizeDocks([self.node, self.problems], [370, 220], down)

    def make_room_for_devices(self, *_: object) -> None:
        """The devices grow when a run or one more phone needs it; they never shrink by themselves."""
        wanted = self._devices_height()
        if self.devices.isVisible() and not self.devices.isFloating() and self.devices.height() < wanted:
            self._window.resizeDocks([self.devices], [wanted], Qt.Orientation.Vertical)

    def _devices_height(self) -> int:
        return min(self._window.device_panel.wanted_height(), int(self._window.height() * 0.27))

    def show_problem_count(self, n: int | None) -> None:
        """Puts the number of problems behind the heading; None = no graph."""
        self.problems.set_title(self.tr("Problems"), n)
