"""WindowPanels: the window with its views in place, before anything is connected."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QStatusBar, QTabBar, QVBoxLayout, QWidget

from studio.ui.session import Session
from studio.ui.views.devices import DevicePanel
from studio.ui.views.job_bar import JobBar
from studio.ui.views.log_panel import LogPanel
from studio.ui.views.node_panel import NodePanel
from studio.ui.views.problem_panel import ProblemPanel
from studio.ui.views.recipe_panel import RecipePanel
from studio.ui.views.stage_area import StageArea
from studio.ui.views.start_page import StartPage
from studio.ui.views.target_bar import TargetBar
from studio.ui.widgets.banner import Banner
from studio.ui.widgets.focus_order import move_focus


class WindowPanels(QMainWindow):
    """Menu bar and targets above, the pages in the middle, jobs below; `Docks` puts the panels round them."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.target_bar = TargetBar(session)
        self.stage_area = StageArea(session)
        self.start_page = StartPage(session)
        self.recipe_panel = RecipePanel(session)
        self.node_panel = NodePanel(session)
        self.problem_panel = ProblemPanel(session)
        self.device_panel = DevicePanel(session)
        self.log_panel = LogPanel(session)
        self.job_bar = JobBar(session)
        self.banner = Banner()
        self.pages = QStackedWidget()
        self.pages.addWidget(self.start_page)
        self.pages.addWidget(self.stage_area)
        centre = QWidget()
        centre.setObjectName("Canvas")
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.banner)
        column.addWidget(self.pages, 1)
        self.setCentralWidget(centre)
        top = QWidget()
        outer = QVBoxLayout(top)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self.menu_bar = self.menuBar()
        outer.addWidget(self.menu_bar)
        outer.addWidget(self.target_bar)
        self.setMenuWidget(top)
        status = QStatusBar()
        status.setSizeGripEnabled(False)
        status.addWidget(self.job_bar, 1)
        self.setStatusBar(status)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab goes as one reads: targets, recipe, the middle, node, problems, devices, log, jobs."""
        direct = Qt.FindChildOption.FindDirectChildrenOnly
        tabs = [
            bar
            for bar in self.findChildren(QTabBar, options=direct)
            if self.rect().intersects(bar.geometry())  # those of docks that are alone wait outside
        ]
        places = (self.target_bar, self.recipe_panel, self.centralWidget(), self.node_panel,
                  self.problem_panel, *tabs, self.device_panel, self.log_panel, self.job_bar)  # fmt: skip
        return move_focus(places, forward=next)
