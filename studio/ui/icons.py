"""Icons: the pictures of `resources/icons/`, in the colour that the place wants, sharp at any scale.

A file draws with `currentColor`; `icon("open")` is quiet text, `icon("play", "on_accent")` wears
that palette colour. Icons follow the theme because the colour is looked up when painting.
"""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from studio.paths import resources
from studio.support import Verdict
from studio.ui import theme


@cache
def _source(name: str) -> str:
    return (resources() / "icons" / f"{name}.svg").read_text(encoding="utf-8")


@cache
def _renderer(name: str, color: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(_source(name).replace("currentColor", color).encode()))


class _ThemedEngine(QIconEngine):
    """Paints one file in a palette colour that is asked for at paint time."""

    def __init__(self, name: str, color: str) -> None:
        super().__init__()
        self._name = name
        self._color = color

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        colors = theme.current().colors
        field = "quiet" if mode is QIcon.Mode.Disabled else self._color
        color = str(getattr(colors, field, field))
        if mode is QIcon.Mode.Disabled:
            painter.setOpacity(0.6)
        side = min(rect.width(), rect.height())
        box = QRectF(0, 0, side, side)
        box.moveCenter(QRectF(rect).center())
        if rect.width() > side:  # a button asks for a wide icon: the room is the gap before its text
            box.moveLeft(rect.left())
        _renderer(self._name, color).render(painter, box)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        picture = QPixmap(size)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return picture

    def clone(self) -> QIconEngine:
        return _ThemedEngine(self._name, self._color)


def icon(name: str, color: str = "text") -> QIcon:
    """The icon of that file; `color` is a field of `theme.Colors` or `#rrggbb`."""
    return QIcon(_ThemedEngine(name, color))


def verdict_icon(verdict: Verdict) -> QIcon:
    """The icon of a verdict, in its colour."""
    return icon(f"verdict-{verdict.value}", verdict.value)


def paint_icon(painter: QPainter, name: str, rect: QRectF, color: str) -> None:
    """Draws an icon into `rect`; `color` as in `icon`."""
    value = str(getattr(theme.current().colors, color, color))
    _renderer(name, value).render(painter, rect)
