"""Interaction: what mouse, wheel, touchpad and keys do to a canvas.

Mouse: drag pans; wheel zooms at the cursor (as in Netron and CAD); Shift+wheel scrolls sideways;
a click selects, a double click opens or closes a scope; the side buttons go back and forward.
Touchpad: two fingers pan, Ctrl+two fingers or a pinch zoom; a double tap with two fingers goes to
100 % there, or back to the whole graph. Touch screen: a finger pans and taps, two fingers zoom and pan.
Keys: arrows follow edges and neighbours, Shift+arrows pan; + − zoom, 0 fits, 1 is 100 %;
Home End first and last box; Page Up/Down a screen; Enter opens a scope, Backspace closes the
one around; Tab and Shift+Tab the next and previous match; Alt+Left/Right back and forward;
Escape clears the selection.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QInputDevice, QKeyEvent, QMouseEvent, QNativeGestureEvent, QWheelEvent

from studio.ui.canvas.navigation import beside, follow, nearest_to
from studio.ui.canvas.pointing import PointedSurface

DRAG_START = 4.0
WHEEL_STEP = 1.2  # zoom per notch of 120
PAN_STEP = 80.0


class Interaction:
    """Turns events into calls of the canvas; keeps only what is being dragged."""

    def __init__(self, canvas: PointedSurface) -> None:
        self._canvas = canvas
        self._pressed: QPointF | None = None
        self._last = QPointF()
        self._is_panning = False
        self._on_minimap = False

    @property
    def is_dragging(self) -> bool:
        return self._is_panning or self._on_minimap

    def press(self, event: QMouseEvent) -> None:
        canvas, at = self._canvas, event.position()
        button = event.button()
        if button is Qt.MouseButton.BackButton:
            canvas.go_back()
        elif button is Qt.MouseButton.ForwardButton:
            canvas.go_forward()
        elif button in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            if button is Qt.MouseButton.LeftButton and canvas.press_panel(at):
                self._on_minimap = canvas.is_on_minimap(at)
                return
            self._pressed = self._last = at
            self._is_panning = False

    def move(self, event: QMouseEvent) -> None:
        canvas, at = self._canvas, event.position()
        if self._on_minimap:
            canvas.center_from_minimap(at)
            return
        if self._pressed is None:
            canvas.hover(at)
            return
        if not self._is_panning and (at - self._pressed).manhattanLength() >= DRAG_START:
            self._is_panning = True
            canvas.setCursor(Qt.CursorShape.ClosedHandCursor)
        if self._is_panning:
            delta = at - self._last
            self._last = at
            canvas.camera.pan(delta.x(), delta.y())

    def release(self, event: QMouseEvent) -> None:
        was_click = self._pressed is not None and not self._is_panning
        if self._is_panning:
            self._canvas.unsetCursor()
        self._pressed = None
        self._is_panning = self._on_minimap = False
        if was_click and event.button() is Qt.MouseButton.LeftButton:
            self._canvas.click(event.position())

    def double_click(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._canvas.activate_at(event.position())

    def wheel(self, event: QWheelEvent) -> None:
        canvas = self._canvas
        device = event.device()
        is_pad = event.phase() is not Qt.ScrollPhase.NoScrollPhase or (
            device is not None and device.type() is QInputDevice.DeviceType.TouchPad
        )
        pixels, angle = event.pixelDelta(), event.angleDelta()
        controls = event.modifiers()
        if is_pad and not controls & Qt.KeyboardModifier.ControlModifier:
            step = pixels if not pixels.isNull() else angle / 2
            canvas.camera.pan(step.x(), step.y())
        elif controls & Qt.KeyboardModifier.ShiftModifier:
            canvas.camera.pan(angle.y() or angle.x(), 0)
        elif angle.y():
            canvas.zoom(WHEEL_STEP ** (angle.y() / 120), event.position())
        event.accept()

    def native_gesture(self, event: QNativeGestureEvent) -> bool:
        """Follows a touchpad; False for a gesture that means nothing here."""
        canvas, kind = self._canvas, event.gestureType()
        if kind is Qt.NativeGestureType.ZoomNativeGesture:
            canvas.zoom(max(1 + event.value(), 0.1), event.position())
        elif kind is Qt.NativeGestureType.PanNativeGesture:
            canvas.camera.pan(event.delta().x(), event.delta().y())
        elif kind is Qt.NativeGestureType.SmartZoomNativeGesture:
            scale = canvas.viewport.scale
            if scale < 1.0:
                canvas.zoom(1.0 / scale, event.position())
            else:
                canvas.fit()
        else:
            return False
        return True

    def key(self, event: QKeyEvent) -> bool:
        """Handles a key; False when it means nothing here."""
        canvas, key = self._canvas, Qt.Key(event.key())
        controls = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if controls == Qt.KeyboardModifier.AltModifier:
            if key is Qt.Key.Key_Left:
                canvas.go_back()
            elif key is Qt.Key.Key_Right:
                canvas.go_forward()
            else:
                return False
            return True
        if controls & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.MetaModifier):
            return False
        if key in _ARROWS:
            dx, dy = _ARROWS[key]
            if controls & Qt.KeyboardModifier.ShiftModifier:
                canvas.camera.pan(-dx * PAN_STEP, -dy * PAN_STEP)
            else:
                self._walk(key)
            return True
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            canvas.zoom(1.25)
        elif key in (Qt.Key.Key_Minus, Qt.Key.Key_Underscore):
            canvas.zoom(1 / 1.25)
        elif key is Qt.Key.Key_0:
            canvas.fit()
        elif key is Qt.Key.Key_1:
            canvas.camera.zoom_to_scale(1.0)
        elif key is Qt.Key.Key_Home:
            canvas.select_item(0 if canvas.scene.count else -1)
        elif key is Qt.Key.Key_End:
            canvas.select_item(canvas.scene.count - 1)
        elif key is Qt.Key.Key_PageUp:
            canvas.camera.pan(0, canvas.height() * 0.85)
        elif key is Qt.Key.Key_PageDown:
            canvas.camera.pan(0, -canvas.height() * 0.85)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if canvas.selected_item >= 0:
                canvas.activate(canvas.selected_item)
        elif key is Qt.Key.Key_Backspace:
            canvas.collapse_around_selection()
        elif key is Qt.Key.Key_Escape:
            canvas.select(None)
        else:
            return False
        return True

    def _walk(self, key: Qt.Key) -> None:
        canvas = self._canvas
        scene, item = canvas.scene, canvas.selected_item
        if item < 0:
            x, y = canvas.viewport.to_layout(canvas.width() / 2, canvas.height() / 2)
            canvas.select_item(nearest_to(scene, x, y))
            return
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            found = follow(scene, item, down=key is Qt.Key.Key_Down)
        else:
            found = beside(scene, item, right=key is Qt.Key.Key_Right)
        if found >= 0:
            canvas.select_item(found)

    def tab(self, event: QEvent) -> bool:
        """Goes to the next or previous match; False when there are none, so that focus moves on."""
        if not isinstance(event, QKeyEvent) or event.type() is not QEvent.Type.KeyPress:
            return False
        if Qt.Key(event.key()) is Qt.Key.Key_Tab and not event.modifiers():
            return self._canvas.next_match(1)
        if Qt.Key(event.key()) is Qt.Key.Key_Backtab:
            return self._canvas.next_match(-1)
        return False


_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
