"""CurveNames: each curve's name at its end, so that no curve is told by its colour alone."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtGui import QFont

from studio.ui import theme

_LINE_PX = 12.0


class CurveNames:
    """Texts inside a plot. From the highest down; a name that would lie on another one is left out (the
    tool tip of the figures has all of them)."""

    def __init__(self, item: pg.PlotItem) -> None:
        self._item = item
        self._texts: list[pg.TextItem] = []

    @property
    def shown(self) -> list[str]:
        """The names in sight, the highest first."""
        return [text.toPlainText() for text in self._texts if text.isVisible()]

    def show(self, at_s: float, ends: Sequence[tuple[float, str]]) -> None:
        """Writes the names of curves that end at (value); one curve alone needs none."""
        while len(self._texts) < len(ends):
            text = pg.TextItem(anchor=(1, 1))
            text.setFont(small_font(text.textItem.font()))
            self._item.addItem(text, ignoreBounds=True)
            self._texts.append(text)
        box = self._item.getViewBox()
        low, high = box.viewRange()[1]
        step = _LINE_PX * (high - low) / max(box.height(), 1.0)
        free = high
        color = theme.current().colors.ink("quiet")
        for text in self._texts:
            text.hide()
        for text, (value, name) in zip(self._texts, sorted(ends, reverse=True)):
            if len(ends) > 1 and value <= free - step:
                text.setText(name, color=color)
                text.setPos(at_s, value)
                text.show()
                free = value


def small_font(base: QFont) -> QFont:
    """The font at the size of the ticks."""
    font = QFont(base)
    font.setPixelSize(11)
    return font
