"""TargetChip: a target's name and how many nodes have which verdict, as a checkable pill."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from studio.support import Verdict
from studio.ui import theme
from studio.ui.texts import fill, translate
from studio.ui.widgets.verdict_pill import PILL_HEIGHT, paint_pill, pill_font, pill_width, word

_HEIGHT = 28
_PAD = 11
_GAP = 6


class TargetChip(QAbstractButton):
    """Checked = the target whose verdicts colour the graph."""

    def __init__(self, target_id: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.target_id = target_id
        self._title = title
        self._counts: dict[Verdict, int] = {}
        self._mark = ""
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def show_counts(self, counts: dict[Verdict, int], *, mark: str = "", tip: str = "") -> None:
        """Which verdicts to show (those above 0), and a quiet mark such as “deprecated”."""
        self._counts = {v: n for v, n in counts.items() if n}
        self._mark = mark
        said = ", ".join(f"{n} {word(v)}" for v, n in self._counts.items())
        self.setAccessibleName(
            fill(translate("TargetChip", "{target}: {counts}"), target=self._title, counts=said)
        )
        self.setToolTip(tip or self.accessibleName())
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Title, mark and pills side by side."""
        font = pill_font(self.font())
        width = 2 * _PAD + QFontMetrics(self.font()).horizontalAdvance(self._title)
        if self._mark:
            width += _GAP + QFontMetrics(_mark_font(self.font())).horizontalAdvance(self._mark)
        width += sum(_GAP + pill_width(f"{n:,}", font) for n in self._counts.values())
        return QSize(width - (4 if self._counts else 0), _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the chip."""
        colors = theme.current().colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        outline = colors.accent if self.isChecked() or self.hasFocus() else colors.line
        shows_outline = self.isChecked() or self.hasFocus() or self.underMouse()
        painter.setPen(
            QPen(QColor(outline), 2 if self.hasFocus() and self.isChecked() else 1)
            if shows_outline
            else Qt.PenStyle.NoPen
        )
        painter.setBrush(QColor(colors.selection if self.isChecked() else colors.hover))
        painter.drawRoundedRect(box, _HEIGHT / 2, _HEIGHT / 2)
        metrics = QFontMetrics(self.font())
        x = float(_PAD)
        middle = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        painter.setPen(QColor(colors.text))
        painter.drawText(QRectF(x, 0, self.width(), _HEIGHT), middle, self._title)
        x += metrics.horizontalAdvance(self._title)
        font = pill_font(self.font())
        if self._mark:
            painter.setFont(_mark_font(self.font()))
            painter.setPen(QColor(colors.quiet))
            painter.drawText(QRectF(x + _GAP, 0, self.width(), _HEIGHT), middle, self._mark)
            x += _GAP + QFontMetrics(_mark_font(self.font())).horizontalAdvance(self._mark)
        for verdict, count in self._counts.items():
            x += _GAP
            x += paint_pill(painter, x, (_HEIGHT - PILL_HEIGHT) / 2, verdict, f"{count:,}", font)


def _mark_font(base: QFont) -> QFont:
    font = QFont(base)
    font.setPixelSize(11)
    return font
