"""Dialog: a dialog that is never lower than what it says.

Qt makes a new window at most two thirds of the screen high and forgets that wrapped texts need more lines in
a narrow window: on a low screen, or at 200 %, the rows below such a text were cut in half.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog


class Dialog(QDialog):
    """The base of the window's dialogs."""

    def showEvent(self, event: QShowEvent) -> None:
        """Grows to its texts before it is seen."""
        self._grow()
        super().showEvent(event)

    def event(self, event: QEvent) -> bool:
        """Grows as well when more is said while it is open."""
        done = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest and self.isVisible():
            self._grow()
        return done

    def _grow(self) -> None:
        layout = self.layout()
        if layout is None:
            return
        layout.activate()
        wanted = layout.totalMinimumHeightForWidth(self.width()) if layout.hasHeightForWidth() else 0
        room = self.screen().availableGeometry().height()
        if self.height() < min(wanted, room):
            self.resize(self.width(), min(wanted, room))
