"""How a verdict looks outside the graph: a pill with icon and count or word, in its colour."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.support import Verdict
from studio.ui import theme
from studio.ui.icons import paint_icon
from studio.ui.texts import QT_TRANSLATE_NOOP, translate

WORDS = {
    Verdict.RUNS: QT_TRANSLATE_NOOP("verdict", "runs"),
    Verdict.CONDITIONAL: QT_TRANSLATE_NOOP("verdict", "conditional"),
    Verdict.FALLS_BACK: QT_TRANSLATE_NOOP("verdict", "falls back"),
    Verdict.FAILS: QT_TRANSLATE_NOOP("verdict", "fails"),
    Verdict.UNKNOWN: QT_TRANSLATE_NOOP("verdict", "unknown"),
}

PILL_HEIGHT = 18
_ICON = 9
_PAD = 6
_GAP = 4


def word(verdict: Verdict) -> str:
    """The verdict's word in the language of the window."""
    return translate("verdict", WORDS[verdict])


def pill_font(base: QFont) -> QFont:
    """The font of a pill's text."""
    font = QFont(base)
    font.setPixelSize(11)
    font.setBold(True)
    return font


def pill_width(text: str, font: QFont) -> int:
    """Pixels that `paint_pill` will take."""
    return _PAD + _ICON + _GAP + QFontMetrics(font).horizontalAdvance(text) + _PAD + 1


def paint_pill(painter: QPainter, x: float, y: float, verdict: Verdict, text: str, font: QFont) -> int:
    """Draws a pill with its top left at (x, y) and returns its width."""
    width = pill_width(text, font)
    colors = theme.current().colors
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colors.of_verdict(verdict)))
    painter.drawRoundedRect(QRectF(x, y, width, PILL_HEIGHT), PILL_HEIGHT / 2, PILL_HEIGHT / 2)
    icon_box = QRectF(x + _PAD, y + (PILL_HEIGHT - _ICON) / 2, _ICON, _ICON)
    paint_icon(painter, f"verdict-{verdict.value}", icon_box, "on_accent")
    painter.setPen(QColor(colors.on_accent))
    painter.setFont(font)
    text_box = QRectF(x + _PAD + _ICON + _GAP, y, width, PILL_HEIGHT)
    painter.drawText(text_box, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), text)
    return width


class VerdictPill(QWidget):
    """A pill as a widget: icon and word."""

    def __init__(self, verdict: Verdict, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._verdict = verdict
        self._text = text or word(verdict)
        self.setAccessibleName(self._text)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """As wide as icon and text."""
        return QSize(pill_width(self._text, pill_font(self.font())), PILL_HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the pill."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_pill(painter, 0, 0, self._verdict, self._text, pill_font(self.font()))
