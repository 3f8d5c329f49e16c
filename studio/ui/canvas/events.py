"""CanvasEvents: the Qt side of the canvas: which event goes where."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QResizeEvent,
    QShowEvent,
    QTouchEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip

from studio.ui.canvas.fingers import Fingers
from studio.ui.canvas.interaction import Interaction
from studio.ui.canvas.pointing import PointedSurface


class CanvasEvents(PointedSurface):
    """Hands events to `interaction`, `fingers` and the camera."""

    _interaction: Interaction | None = None

    def start(self) -> None:
        """Begins to take events; the canvas must be complete."""
        self._interaction = Interaction(self)
        self._fingers = Fingers(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_AcceptTouchEvents)
        self.setMinimumSize(160, 120)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def sizeHint(self) -> QSize:
        return QSize(900, 600)

    def showEvent(self, event: QShowEvent) -> None:
        self._settle()
        super().showEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._settle()
        super().resizeEvent(event)

    def _settle(self) -> None:
        """Takes the widget's size, and fits the graph when that was waiting for it."""
        if self._interaction is None:
            return
        camera = self.camera
        camera.resize(self.width(), self.height(), self.devicePixelRatioF())
        if camera.needs_fit:
            camera.begin()
            camera.needs_fit = not self.isVisible()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._interaction is not None:
            self._interaction.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._interaction is not None:
            self._interaction.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._interaction is not None:
            self._interaction.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._interaction is not None:
            self._interaction.double_click(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._interaction is not None:
            self._interaction.wheel(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._interaction is None or not self._interaction.key(event):
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        place = event.globalPos()
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            place = self.mapToGlobal(self.selected_place().toPoint())
        else:
            self.select_for_menu(QPointF(event.pos()))
        self.menu_requested.emit(place)
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        self.hover(QPointF(-1e6, -1e6))
        super().leaveEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if self._interaction is not None:
            if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
                self.wear_theme()
            elif event.type() is QEvent.Type.FontChange:
                self.wear_font()
        super().changeEvent(event)

    def event(self, event: QEvent) -> bool:
        hands = self._interaction
        if hands is not None:
            if hands.tab(event):
                return True
            if isinstance(event, QNativeGestureEvent) and hands.native_gesture(event):
                return True
            if isinstance(event, QTouchEvent) and self._fingers.touch(event):
                event.accept()
                return True
            if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
                self._show_tooltip(event)
                return True
        return super().event(event)

    def _show_tooltip(self, event: QHelpEvent) -> None:
        words = self.tooltip_at(QPointF(event.pos()))
        # tooltips guess rich text; names from files must stay text
        lines = "<br>".join(escape(line) for line in words.splitlines())
        QToolTip.showText(event.globalPos(), f"<qt>{lines}</qt>" if words else "", self)
