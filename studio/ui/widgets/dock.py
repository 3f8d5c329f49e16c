"""Dock: a movable panel whose title is a quiet heading, with room for small buttons beside it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QHBoxLayout, QLabel, QMainWindow, QSizePolicy, QWidget


class Dock(QDockWidget):
    """A dock with our own title bar. `id_` names it in the saved layout; `is_quiet`: the body has a
    heading of its own, so that a thin strip to drag by is enough."""

    def __init__(
        self, id_: str, title: str, body: QWidget, window: QMainWindow, *, is_quiet: bool = False
    ) -> None:
        super().__init__(title, window)
        self.setObjectName(id_)
        self.setAllowedAreas(Qt.DockWidgetArea.AllDockWidgetAreas)
        body.setAccessibleName(title)
        body.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWidget(body)
        self._bar = QWidget()
        self._bar.setObjectName("DockTitle")
        self._row = QHBoxLayout(self._bar)
        self._row.setContentsMargins(14, 8, 8, 4)
        if is_quiet:
            self._row.setContentsMargins(0, 0, 0, 0)
            self._bar.setFixedHeight(4)
            self._bar.setToolTip(title)
        self._row.setSpacing(4)
        self._label = QLabel()
        self._label.setObjectName("Heading")
        self._label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._row.addWidget(self._label)
        self._label.setHidden(is_quiet)
        self.setTitleBarWidget(self._bar)
        self.set_title(title)

    def set_title(self, title: str, count: int | None = None) -> None:
        """The heading, with a number behind it when given."""
        self._label.setText(title.upper() + (f" · {count:,}" if count is not None else ""))

    def add_title_widget(self, widget: QWidget) -> None:
        """Puts a small button at the right end of the title."""
        self._row.addWidget(widget)
