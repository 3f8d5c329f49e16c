"""IconLabel: a picture on its own, in the theme's colour."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.ui.icons import paint_icon


class IconLabel(QWidget):
    """Paints an icon in its middle; decoration, so screen readers skip it."""

    def __init__(self, name: str, color: str, side: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name, self._color, self._side = name, color, side
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """A square."""
        return QSize(self._side, self._side)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the icon."""
        painter = QPainter(self)
        box = QRectF(0, 0, self._side, self._side)
        box.moveCenter(QRectF(self.rect()).center())
        paint_icon(painter, self._name, box, self._color)
